// nunatak-io: what does it cost to write a model's state, in this way or in that? Output only, any size, no model.
//
//   mpiexec -n 2 nunatak-io -workload pism:G5km -scale 0.3 -ways pnetcdf,serial -repeat 7 -json out.json
//
// All ways take turns with a probe, which writes as many bytes with plain pwrite(), in one run: probe A B, probe A B, ... Each
// turn ends when its file is durable. docs/output.md has examples. Neighbours: io/workload.hpp (what is written), io/turn.hpp
// (one turn), io/probe.hpp, io/io_report.hpp (what is told), tool.hpp (main of all tools).
#include "io/error.hpp"
#include "miniapp/error.hpp"
#include "miniapp/paths.hpp"
#include "miniapp/tools/io/host.hpp"
#include "miniapp/tools/io/io_report.hpp"
#include "miniapp/tools/io/probe.hpp"
#include "miniapp/tools/io/turn.hpp"
#include "miniapp/tools/tool.hpp"
#include "miniapp/tools/words.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>

using namespace nunatak;
using namespace nunatak::tools;

namespace {

struct BenchOptions {
  std::string workload = "pism:G5km", ways, order, read = "no", verify = "first", folder = ".", json;
  double scale = 0.1, compute = 0.0;
  bool scale_levels = false, keep = false;
  int repeat = 7, records = 1;
  std::vector<std::string> knobs; ///< text of each of io::knobs()

  BenchOptions() {
    for (const io::Knob& knob : io::knobs()) knobs.push_back(io::knob_text(io::Options(), knob));
  }

  void add_to(OptionTable& table) {
    table.group("What is written");
    table.add("workload", &workload, "", "a model and a size, see below");
    table.add("scale", &scale, "", "horizontal lengths times this; odd ones stay odd");
    table.add("scale_levels", &scale_levels, "", "number of levels too");
    table.add("records", &records, "", "records per file", 1);
    table.add("compute", &compute, "s", "synthetic computation between records, not counted", 0.0);
    table.group("How");
    table.add("ways", &ways, "",
              "ways of writing that take turns: format/layout/knob=value/..., a list, each beginning with its format; also "
              "order=yxz|zyx "
              "(none: one way, by the options -io_...)");
    table.add("repeat", &repeat, "", "turns that count, after one that is dropped; 1: that one is not dropped", 1);
    table.add("io_order", &order, "",
              "of dimensions in the file: levels fastest (yxz) or slowest (zyx); none: the workload's own");
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      const io::Knob& knob = io::knobs()[k];
      const std::string words = knob.words;
      table.add(std::string("io_") + knob.name, &knobs[k], "", knob.doc + (words.empty() ? "" : ": " + words));
    }
    table.group("Reading");
    table.add("read", &read, "", "read each file again: no, or ways of reading, a list of " + reading_words("|"));
    table.add("verify", &verify, "", "compare every value that is read: of the first turn, of all, or no: first|all|no");
    table.group("Where");
    table.add("o", &folder, "", "folder; the files are in its folder nunatak-io.files, which is removed");
    table.add("keep", &keep, "", "leave the files of the last turn there");
    table.add("json", &json, "", "JSON file of all that was measured");
  }

  static std::string reading_words(const std::string& between) {
    std::string words;
    for (const std::string& word : ways_of_reading()) words += (words.empty() ? "" : between) + word;
    return words;
  }

  io::Options base() const {
    io::Options options;
    for (std::size_t k = 0; k < knobs.size(); ++k) {
      const io::Knob& knob = io::knobs()[k];
      if (!knobs[k].empty()) io::set_knob(options, knob, knobs[k], std::string("option -io_") + knob.name);
    }
    return options;
  }

  std::vector<std::string> reads() const {
    if (read == "no") return {};
    const std::vector<std::string> known = ways_of_reading();
    for (const std::string& word : split(read, ',')) {
      if (std::find(known.begin(), known.end(), word) == known.end()) {
        throw Error("option -read: expected no or a list of " + reading_words(", ") + ", found '" + word + "'");
      }
    }
    return split(read, ',');
  }
};

/// A way of writing that takes its turns.
struct Way {
  WayResults results;
  std::unique_ptr<io::Writer> writer;
  std::string file; ///< its name in the folder
};

/// "pnetcdf,netcdf4/chunk=y=8,x=8/order=zyx": a new way begins where a word begins with no "=", that is with a format.
std::vector<std::string> list_of_ways(const std::string& text) {
  std::vector<std::string> ways;
  for (const std::string& word : split(text, ',')) {
    const bool goes_on = word.substr(0, word.find('/')).find('=') != std::string::npos;
    if (goes_on && !ways.empty()) {
      ways.back() += "," + word;
    } else {
      ways.push_back(word);
    }
  }
  return ways;
}

std::string known_order(const std::string& order, const std::string& what) {
  if (order == "yxz" || order == "zyx") return order;
  throw Error(what + ": expected yxz or zyx, found '" + order + "'");
}

std::vector<Way> make_ways(const BenchOptions& options, const Workload& workload, MPI_Comm comm) {
  const io::Options base = options.base();
  const std::string order = options.order.empty() ? workload.order : known_order(options.order, "option -io_order");
  std::vector<Way> ways;
  for (const std::string& text : list_of_ways(options.ways.empty() ? base.format + "/" + base.layout : options.ways)) {
    Way way;
    way.results.text = text;
    way.results.order = order;
    std::string of_writer;
    for (const std::string& word : split(text, '/')) {
      if (word.rfind("order=", 0) == 0) {
        way.results.order = known_order(word.substr(6), "way of writing '" + text + "', order");
      } else {
        of_writer += (of_writer.empty() ? "" : "/") + word;
      }
    }
    way.results.options = io::parse_way(of_writer, base);
    way.writer = io::make_writer(comm, way.results.options);
    way.file = "way" + std::to_string(ways.size()) + ".nc";
    ways.push_back(std::move(way));
  }
  return ways;
}

/// The folder nunatak-io.files; rank 0 makes and empties it. Never timed.
class Scratch {
public:
  Scratch(MPI_Comm comm, const std::string& folder, bool keep)
      : m_comm(comm), m_path(folder + "/nunatak-io.files"), m_keep(keep) {
    MPI_Comm_rank(comm, &m_rank);
    io::agree(comm, [&] {
      if (m_rank != 0) return;
      std::filesystem::create_directories(m_path);
      for (const std::string& path : files_of(m_path, "")) std::filesystem::remove(path);
    });
  }
  ~Scratch() {
    std::error_code none; // nothing can be done here
    if (m_rank == 0 && !m_keep) std::filesystem::remove_all(m_path, none);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return m_path + "/" + name; }
  const std::string& folder() const { return m_path; }

  void remove(const std::string& name) const {
    io::agree(m_comm, [&] {
      if (m_rank != 0) return;
      for (const std::string& path : files_of(m_path, name)) std::filesystem::remove(path);
    });
  }
  std::int64_t bytes(const std::string& name) const { // on all ranks
    std::int64_t sum = 0;
    io::agree(m_comm, [&] {
      if (m_rank == 0) sum = bytes_of_files(files_of(m_path, name));
    });
    MPI_Bcast(&sum, 1, MPI_INT64_T, 0, m_comm);
    return sum;
  }

private:
  MPI_Comm m_comm;
  int m_rank = 0;
  std::string m_path;
  bool m_keep;
};

void require_space(const BenchOptions& options, const Record& disk, std::uint64_t bytes, std::size_t ways) {
  const std::uint64_t needed = bytes * (options.keep ? ways : 1) * 21 / 20, free = disk["free_bytes"].get<std::uint64_t>();
  if (needed > free) {
    throw Error("option -o '" + options.folder + "': expected " + std::to_string(needed) + " bytes free, found " +
                std::to_string(free) + " (-scale makes the files smaller)");
  }
}

Record workload_record(const Workload& workload, const BenchOptions& options, const State& state, MPI_Comm comm) {
  std::array<std::int64_t, 2> most{static_cast<std::int64_t>(state.bytes()), -static_cast<std::int64_t>(state.bytes())};
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_INT64_T, MPI_MAX, comm);
  Record record;
  record["name"] = workload.name, record["scale"] = options.scale, record["text"] = workload.text;
  for (const WorkloadDimension& d : workload.dimensions) record["dimensions"][d.name] = d.length;
  record["variables"] = workload.variables.size() + 1; // and time
  record["records"] = options.records;
  record["bytes_per_record"] = workload.bytes_per_record(), record["fixed_bytes"] = workload.fixed_bytes();
  record["memory_per_rank"] = {{"min", -most[1]}, {"max", most[0]}}; // bytes, ghosts included; 0: a rank without cells
  return record;
}

void run(const BenchOptions& options, MPI_Comm comm) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  // 1. what is written, how and where; what cannot be is an error before anything is written
  const Workload workload = make_workload(options.workload, options.scale, options.scale_levels);
  std::vector<Way> ways = make_ways(options, workload, comm);
  const std::vector<std::string> reads = options.reads();
  if (options.verify != "first" && options.verify != "all" && options.verify != "no") {
    throw Error("option -verify: expected first, all or no, found '" + options.verify + "'");
  }
  require_writable(comm, "-json", options.json);
  const auto records = static_cast<std::size_t>(options.records);
  const std::uint64_t bytes = workload.fixed_bytes() + workload.bytes_per_record() * records;
  const Record host = host_facts(comm);
  const Scratch scratch(comm, options.folder, options.keep);
  const Record disk = file_system_facts(scratch.folder());
  require_space(options, disk, bytes, ways.size());
  State state(workload, rank, ranks);
  const Compute compute(options.compute);

  // 2. turns
  Probe probe(comm, scratch.path("probe"), bytes);
  std::vector<double> probe_seconds;
  const int turns = options.repeat > 1 ? options.repeat + 1 : 1;
  for (int turn = 0; turn < turns; ++turn) {
    const bool counts = turn > 0 || turns == 1, keep = options.keep && turn + 1 == turns;
    const double seconds = probe.run();
    if (counts) probe_seconds.push_back(seconds);
    scratch.remove("probe");
    for (Way& way : ways) {
      const std::string path = scratch.path(way.file);
      const WriteTurn written = write_turn(comm, *way.writer, state, way.results.order, path, records, compute);
      const std::int64_t size = scratch.bytes(way.file);
      if (counts) way.results.writes.push_back(written), way.results.file_bytes.push_back(size);

      const bool verify = options.verify == "all" || (options.verify == "first" && turn == 0);
      std::vector<std::string> by = reads;
      if (by.empty() && verify) by = {ways_of_reading()[0]};
      const std::string reason = why_not_read(way.results.options);
      if (!by.empty()) way.results.not_read = reason;
      for (std::size_t r = 0; r < by.size() && reason.empty(); ++r) {
        drop_from_cache({path});
        const ReadTurn read = read_turn(comm, path, by[r], state, way.results.order, records, verify);
        if (counts && !reads.empty()) way.results.reads[by[r]].push_back(read);
        way.results.verified += read.compared;
      }
      if (!keep) scratch.remove(way.file), scratch.remove("manifest");
    }
  }

  // 3. what came out
  Record json;
  json["tool"] = "nunatak-io", json["version"] = NUNATAK_VERSION;
  json["workload"] = workload_record(workload, options, state, comm);
  json["host"] = host, json["file_system"] = disk;
  json["turns"] = probe_seconds.size(), json["first_turn_dropped"] = turns > 1;
  json["read_cache"] = "dropped by POSIX_FADV_DONTNEED before each read, as far as the system does it";
  json["probe"]["bytes"] = bytes, json["probe"]["seconds"] = spread_of_turns(probe_seconds);
  std::vector<Record> told;
  for (const Way& way : ways) told.push_back(way_record(way.results, probe_seconds));
  json["ways"] = told;
  if (rank == 0) {
    std::cout << workload.name << ", scale " << options.scale << ": " << workload.text << "; " << bytes << " bytes in " << records
              << " record(s), " << ranks << " ranks on " << host["nodes"] << " node(s) of " << host["cores_per_node"]
              << " cores, " << disk["type"].get<std::string>() << ", " << host["mpi_io"].get<std::string>() << "\n";
    if (host["oversubscribed"].get<bool>()) std::cout << "more ranks than cores: for correctness, not for times\n";
    std::cout << "\n";
    print_ways(std::cout, told, json["probe"]);
    std::cout << std::flush;
  }
  write_json(comm, options.json, json);
}

} // namespace

int main(int argc, char** argv) {
  return run_tool(argc, argv, "nunatak-io", [&](MPI_Comm comm) {
    BenchOptions options;
    OptionTable table("nunatak-io: writes and reads the state of a model, in several ways that take turns",
                      "mpiexec -n 2 nunatak-io -workload pism:G5km -scale 0.3 -ways pnetcdf,serial -json out.json");
    options.add_to(table);
    table.read(argc, argv);
    if (!table.help_wanted()) return run(options, comm);
    print_help(table, comm);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank != 0) return;
    std::cout << "\nWorkloads, with -scale 1\n";
    for (const std::string& line : workload_table()) std::cout << "  " << line << "\n";
    std::cout << "  gcrm:R with R from 0 to 12\n";
  });
}
