// nunatak-io: the cost of writing the state of a model with several methods. Output only, any size.
//
//   mpiexec -n 2 nunatak-io -workload pism:G5km -scale 0.3 -methods pnetcdf,serial -repeat 7
//
// Methods A, B, ... alternate with the raw write baseline R (as many bytes by plain pwrite(), in
// three ways, of which the fastest counts):
// R A B, A R B, ... A repetition ends when its file is durable.
// Neighbours: workload.hpp (what is written), repetition.hpp, host.hpp,
// io_report.hpp (tables and JSON).
#include "common/error.hpp"
#include "common/text.hpp"
#include "io/methods/registry.hpp"
#include "miniapp/base/io_options.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/bench/host.hpp"
#include "miniapp/bench/io_report.hpp"
#include "miniapp/bench/output_model.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

struct BenchOptions {
  WorkloadOptions workload;
  std::string methods, order, read = "no", verify = "first", folder = ".", json;
  double compute = 0.0, raw = 0.0;
  bool keep = false;
  int repeat = 7, records = 1;
  io::Options io;       // -io_<name>
  OutputOptions limits; // rates and number of storage servers

  void add_to(OptionTable& table) {
    table.section("What is written");
    table.add(text("workload", workload.name,
                   "model and size, from the list below, or file:NAME, NetCDF or (.cdl) its text"));
    table.add(text("decomposition", workload.decomposition,
                   "of a file, in place of its attribute nunatak_io: 'blocks y x', 'owners ncells "
                   "FILE:VARIABLE' (from the folder of the file), 'runs ncells 4', ..."));
    table.add(text("scale", workload.scale,
                   "factor of horizontal lengths; odd ones stay odd; z=0.5: of a dimension"));
    table.add(number("variables", workload.variables, "",
                     "number of variables, evenly from the list (0: all)", 0));
    table.add(number("records", records, "", "records per file", 1));
    table.add(number("compute", compute, "s", "synthetic computation between records, not counted",
                     0.0, 1e6));
    table.add(
        number("raw", raw, "", "raw writes of that many bytes alone (0: the workload)", 0.0, 1e18));
    table.section("How it is written");
    table.add(text("methods", methods,
                   "methods of output to compare, a list: format/layout/name=value/..., where name "
                   "is one of the options -io_... without io_: "
                   "direct,netcdf4/zslab/deflate=1/order=zyx; the options below apply to all of "
                   "them (none: one method, by these options)"));
    table.add(number("repeat", repeat, "",
                     "timed repetitions, after a warm-up (1: one repetition without a warm-up)",
                     1));
    table.add(choice("io_order", order, "yxz|zyx",
                     "order of dimensions in the file, levels fastest or slowest (none: the "
                     "workload's own)"));
    add_io_options(table, io);
    table.section("Reading");
    table.add(text("read", read,
                   "methods of reading each file again: no, or a list of " + io::reader_words()));
    table.add(choice("verify", verify, "first|all|no",
                     "comparison of every value read: in the first repetition, in all, or never"));
    table.section("Limit: the least time that cards and storage servers allow a method");
    table.add(number("card_rate", limits.card_rate, "",
                     "bytes per second of a node's network card (0: no limit is computed)", 0));
    table.add(
        number("server_rate", limits.server_rate, "", "bytes per second of a storage server", 1));
    table.add(number("servers", limits.servers, "", "storage servers of the file system", 1, 1e6));
    table.section("Where");
    table.add(text("o", folder, "folder, in which nunatak-io.files is created and removed"));
    table.add(flag("keep", keep, "the files of the last repetition are kept"));
    table.add(text("report", json, "JSON file of all measurements"));
    std::vector<std::string> notes{"Workloads with a name"};
    for (const auto& [name, text] : named_workloads) notes.push_back("  " + name);
    table.notes(notes);
  }
};

/// The items of -methods. Hints and chunks have commas: name=value continues an item.
std::vector<std::string> items_of(const std::string& text) {
  std::vector<std::string> items;
  for (const std::string& word : split(text, ',')) {
    const bool goes_on = word.substr(0, word.find('/')).find('=') != std::string::npos;
    if (goes_on && !items.empty()) {
      items.back() += "," + word;
    } else {
      items.push_back(word);
    }
  }
  return items;
}

/// The methods of -methods; without it one, from -io_<name>. Throws Error for unknown names.
std::vector<Method> methods_of(const BenchOptions& options, const std::string& usual_order,
                               MPI_Comm comm) {
  std::vector<Method> methods;
  for (const std::string& name :
       items_of(options.methods.empty() ? options.io.format + "/" + options.io.layout
                                        : options.methods)) {
    Method method{name, usual_order, options.io};
    std::string of_writer;
    for (const std::string& word : split(name, '/')) {
      if (word.rfind("order=", 0) != 0) {
        of_writer += (of_writer.empty() ? "" : "/") + word;
        continue;
      }
      method.order = word.substr(6);
      if (method.order != "yxz" && method.order != "zyx")
        throw Error("method of output '" + name + "', order: expected yxz or zyx, found '" +
                    method.order + "'");
    }
    method.options = io::parse_method(of_writer, options.io, "order");
    method.writer = std::make_unique<io::Writer>(comm, method.options);
    method.file = "method" + std::to_string(methods.size()) + ".nc";
    methods.push_back(std::move(method));
  }
  return methods;
}

/// The methods of -read; empty: no reading. Throws Error for unknown names.
std::vector<io::ReadBy> reads_of(const std::string& list) {
  std::vector<io::ReadBy> reads;
  if (list == "no") return reads;
  for (const std::string& word : split(list, ',')) {
    try {
      reads.push_back(io::read_by(word));
    } catch (const Error& error) {
      throw Error(std::string("option -read: ") + error.what());
    }
  }
  return reads;
}

/// Disk: the files at any time. Memory: one record of all arrays, and half of it for copies.
void require_space(const BenchOptions& options, const Workload& workload, const Record& host,
                   const Record& disk, std::uint64_t bytes, const std::vector<Method>& methods) {
  const bool joined = std::any_of(methods.begin(), methods.end(),
                                  [](const Method& m) { return m.leaves_subfiles(); });
  const std::uint64_t files = (options.keep ? methods.size() : 1) + (joined ? 1 : 0);
  const auto require = [&](const std::string& what, std::uint64_t needed, std::uint64_t found) {
    if (needed <= found) return;
    throw Error("workload '" + workload.name + "': expected " + std::to_string(needed) + " bytes " +
                what + ", found " + std::to_string(found) + " (-scale makes it smaller)");
  };
  require("free on the disk of '" + options.folder + "'", bytes * files * 21 / 20,
          disk["free_bytes"].get<std::uint64_t>());
  const auto ranks = host["ranks"].get<std::uint64_t>(),
             fullest = host["ranks_per_node"].get<std::uint64_t>();
  require("of memory on a node",
          (workload.bytes(true) + workload.bytes(false)) / ranks * fullest * 3 / 2,
          host["available_memory"].get<std::uint64_t>());
}

/// HDF5 writes a block by one call of all ranks: many thousands would take hours.
void require_few_calls(const Arrays& arrays, const std::vector<Method>& methods) {
  constexpr std::size_t most = 20000;
  for (const Method& method : methods) {
    const io::Options& options = method.options;
    const bool is_native = options.layout == "native" || options.layout == "default";
    if (options.format != "netcdf4" || !is_native || arrays.n_blocks() <= most) continue;
    throw Error("method of output '" + method.text + "': expected at most " + std::to_string(most) +
                " blocks per rank and record, each a collective call, found " +
                std::to_string(arrays.n_blocks()) +
                " (a layout that moves values makes few of them: netcdf4/box:1)");
  }
}

Record workload_record(const Workload& workload, const BenchOptions& options, const Arrays& arrays,
                       MPI_Comm comm) {
  const auto range = [&](std::size_t of_rank) {
    std::array<std::int64_t, 2> most{static_cast<std::int64_t>(of_rank),
                                     -static_cast<std::int64_t>(of_rank)};
    std::int64_t sum = most[0];
    MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_INT64_T, MPI_MAX, comm);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    return Record{{"min", -most[1]}, {"max", most[0]}, {"sum", sum}};
  };
  Record dimensions;
  for (const WorkloadDimension& d : workload.dimensions)
    if (d.length > 0) dimensions[d.name] = d.length;
  return {{"name", workload.name},
          {"scale", options.workload.scale},
          {"text", workload.text},
          {"order", workload.order},
          {"dimensions", dimensions},
          {"variables", workload.variables.size()}, // includes time
          {"records", options.records},
          {"bytes_per_record", workload.bytes(true)},
          {"fixed_bytes", workload.bytes(false)},
          // bytes with ghosts; 0: a rank without cells
          {"memory_per_rank", range(arrays.bytes())},
          {"runs_per_rank", range(arrays.runs())}};
}

/// least_seconds() of a method that has written `path`; 0 if its plan is not known. Collective.
double limit_of(const Method& method, const BenchOptions& options, const Arrays& arrays,
                MPI_Comm comm, const std::string& path) {
  double least = 0.0;
  if (options.limits.card_rate == 0.0 || method.options.transport != "sync" ||
      !method.leaves_file() || method.leaves_subfiles())
    return least;
  const io::Topology nodes = io::make_topology(comm, method.options.ranks_per_node);
  const std::vector<io::Parts> parts = arrays.parts(comm);
  const io::Stripes stripes = io::stripes_at(comm, path, method.options);
  World().on_rank_0([&] {
    const std::optional<io::ClassicLayout> layout = io::read_classic_layout(path);
    if (!layout) return;
    least = least_seconds(options.limits, nodes, stripes.bytes, [&](io::PlanWatch& watch) {
      io::plan_records(schema_of(arrays.workload()), *layout, method.options, nodes, stripes, parts,
                       static_cast<std::size_t>(options.records), watch);
    });
  });
  return least;
}

struct Repetitions {
  MPI_Comm comm;
  const BenchOptions& options;
  const std::vector<io::ReadBy>& reads;
  const Scratch& scratch;
  std::map<std::string, Arrays>& arrays_of; ///< by order
  int all;                                  ///< repetitions, the warm-up included

  /// The first of several repetitions is the warm-up.
  bool is_counted(int repetition) const { return repetition > 0 || all == 1; }

  /// Writes, reads and removes a file.
  void run(Method& method, int repetition) const {
    const auto records = static_cast<std::size_t>(options.records);
    const bool counted = is_counted(repetition);
    Arrays& arrays = arrays_of.at(method.order);
    const Writing written = write_file(comm, *method.writer, arrays, scratch.path(method.file),
                                       records, options.compute);
    method.file_bytes = scratch.bytes(method.file);
    if (repetition == 0)
      method.least = limit_of(method, options, arrays, comm, scratch.path(method.file));
    if (counted) method.writings.push_back(written);

    const bool verify = options.verify == "all" || (options.verify == "first" && repetition == 0);
    const std::vector<io::ReadBy> by =
        reads.empty() && verify ? std::vector{io::ReadBy::each} : reads;
    std::string file = method.file;
    if (method.leaves_subfiles() && !by.empty()) {
      file += ".joined";
      const double seconds = join_file(comm, scratch.path(method.file), scratch.path(file));
      if (counted) method.joins.push_back(seconds);
    }
    for (const io::ReadBy each : by) {
      if (!method.leaves_file()) {
        method.not_read[io::word_of(each)] = "there is no file";
        continue;
      }
      io::ReadOptions how;
      how.by = each;
      how.hints = method.options.hints;
      how.ranks_per_node = method.options.ranks_per_node;
      scratch.drop_from_cache(file);
      const Reading read = read_file(comm, scratch.path(file), how, arrays, records, verify);
      if (counted && !reads.empty()) method.readings[io::word_of(each)].push_back(read);
      method.verified += read.compared;
    }
    if (!options.keep || repetition + 1 < all) {
      scratch.remove(method.file);
      scratch.remove("manifest");
    }
  }
};

void print(const BenchOptions& options, const Record& json) {
  const Record &host = json["host"], &workload = json["workload"];
  std::cout << workload["name"].get<std::string>() << ", scale " << options.workload.scale;
  if (options.workload.scale != "1") std::cout << " (not the size of that name)";
  std::cout << ": " << workload["text"].get<std::string>() << "; " << json["raw"]["bytes"]
            << " bytes in " << options.records << " record(s), " << host["ranks"] << " ranks on "
            << host["nodes"] << " node(s) of " << host["cores_per_node"] << " cores, "
            << json["file_system"]["type"].get<std::string>() << ", "
            << host["mpi_io"].get<std::string>() << "\n";
  const Record& runs = workload["runs_per_rank"];
  std::cout << "runs of the file per rank and record, in order "
            << workload["order"].get<std::string>() << ": " << runs["min"] << " to " << runs["max"]
            << ", of "
            << workload["bytes_per_record"].get<std::int64_t>() /
                   std::max<std::int64_t>(1, runs["sum"].get<std::int64_t>())
            << " bytes on average\n";
  if (host["oversubscribed"].get<bool>())
    std::cout << "more ranks than cores: for correctness, not for times\n";
  std::cout << "\n";
  print_methods(std::cout, json["methods"].get<std::vector<Record>>(), json["raw"]);
  std::cout << std::flush;
}

/// The raw writes of one repetition after another, each way in turn.
class RawTimes {
public:
  RawTimes(MPI_Comm comm, const Scratch& scratch, std::uint64_t bytes)
      : m_raw(comm, scratch.path("raw"), bytes), m_scratch(scratch), m_bytes(bytes) {}

  void run(bool is_counted) {
    for (std::size_t way = 0; way < RawWrite::ways.size(); ++way) {
      const double seconds = m_raw.run(RawWrite::ways[way]);
      if (is_counted) m_seconds[way].push_back(seconds);
      m_scratch.remove("raw");
    }
  }
  /// Seconds of the method with the least median.
  const std::vector<double>& roof() const {
    return *std::min_element(m_seconds.begin(), m_seconds.end(),
                             [](const auto& a, const auto& b) { return median(a) < median(b); });
  }
  Record record() const {
    Record json = {{"bytes", m_bytes}, {"seconds", spread_of(roof())}};
    for (std::size_t way = 0; way < RawWrite::ways.size(); ++way)
      json["ways"].push_back(
          {{"way", RawWrite::ways[way].text}, {"seconds", spread_of(m_seconds[way])}});
    return json;
  }

private:
  RawWrite m_raw;
  const Scratch& m_scratch;
  std::uint64_t m_bytes;
  std::array<std::vector<double>, RawWrite::ways.size()> m_seconds;
};

/// Raw writes alone: what a run that writes as many bytes is compared with.
void run_raw(const BenchOptions& options, MPI_Comm comm) {
  const Scratch scratch(comm, options.folder, false, {{"-report", options.json}});
  RawTimes raw(comm, scratch, static_cast<std::uint64_t>(options.raw));
  for (int repetition = 0; repetition < options.repeat; ++repetition) raw.run(true);
  const Record json = {{"raw", raw.record()}};
  if (World().rank() == 0) std::cout << json.dump() << std::endl;
  write_json(options.json, json);
}

void run(const BenchOptions& options, MPI_Comm comm) {
  // 1. what is written, how and where; impossible requests fail before anything is written
  Workload workload = make_workload(options.workload, comm);
  if (!options.order.empty()) workload = in_order(workload, options.order);
  if (workload.record == none && options.records > 1)
    throw Error("option -records: expected 1 with a workload without record dimension, found " +
                std::to_string(options.records));
  std::vector<Method> methods = methods_of(options, workload.order, comm);
  const std::vector<io::ReadBy> reads = reads_of(options.read);
  std::vector<NamedFile> files = {{"-report", options.json}};
  for (const auto& file : workload.files) files.push_back({"-workload", file, FileUse::read});
  const std::uint64_t bytes =
      workload.bytes(false) + workload.bytes(true) * static_cast<std::uint64_t>(options.records);
  const Record host = host_facts(comm);
  const Scratch scratch(comm, options.folder, options.keep, files);
  const Record disk = file_system_facts(comm, scratch.folder());
  require_space(options, workload, host, disk, bytes, methods);
  std::map<std::string, Arrays> arrays;
  const auto add_order = [&](const std::string& order) {
    arrays.try_emplace(order, in_order(workload, order), io::rank_in(comm), io::size_of(comm));
  };
  add_order(workload.order);
  for (const Method& method : methods) add_order(method.order);
  require_few_calls(arrays.at(workload.order), methods);

  // 2. repetitions; what comes before a method costs it time (memory given back, files removed),
  //    so that each repetition has other neighbours: of six 0 1 5 2 4 3, 1 2 0 3 5 4, ..., of an
  //    odd number every second one backwards (Williams 1949)
  RawTimes raw(comm, scratch, bytes);
  const int all = options.repeat > 1 ? options.repeat + 1 : 1;
  const Repetitions repetitions{comm, options, reads, scratch, arrays, all};
  const std::size_t n = methods.size() + 1;
  std::vector<std::vector<std::size_t>> sequence(static_cast<std::size_t>(all));
  for (int repetition = 0; repetition < all; ++repetition) {
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t at = n % 2 == 1 && repetition % 2 == 1 ? n - 1 - k : k,
                        step = at % 2 == 1 ? (at + 1) / 2 : n - at / 2,
                        next = (static_cast<std::size_t>(repetition) + step) % n;
      sequence[static_cast<std::size_t>(repetition)].push_back(next);
      if (next > 0) {
        repetitions.run(methods[next - 1], repetition);
      } else {
        raw.run(repetitions.is_counted(repetition));
      }
    }
  }

  // 3. results
  std::vector<Record> records;
  for (const Method& method : methods) records.push_back(record_of(method, raw.roof()));
  const Record json = {
      {"tool", "nunatak-io"},
      {"version", NUNATAK_VERSION},
      {"workload", workload_record(workload, options, arrays.at(workload.order), comm)},
      {"host", host},
      {"file_system", disk},
      {"repetitions", raw.roof().size()},
      {"warm_up_dropped", all > 1},
      {"sequence", sequence}, // of each repetition; 0: raw writes, 1: the first method
      {"read_cache",
       "dropped by POSIX_FADV_DONTNEED before each read, as far as the system does it"},
      {"raw", raw.record()},
      {"methods", records}};
  if (World().rank() == 0) print(options, json);
  write_json(options.json, json);
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "nunatak-io", [&](Libraries&) {
    BenchOptions options;
    OptionTable table(
        "nunatak-io: writes and reads the state of a model with several methods, interleaved with "
        "raw writes",
        "mpiexec -n 2 nunatak-io -workload pism:G5km -scale 0.3 -methods pnetcdf,serial -report "
        "out.json");
    options.add_to(table);
    if (!table.read(argc, argv)) return;
    if (argc == 1) return table.print_start(); // it would write for minutes
    if (options.raw > 0.0) {
      run_raw(options, world_comm());
    } else {
      run(options, world_comm());
    }
  });
}
