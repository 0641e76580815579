// nunatak-io: the cost of writing the state of a model with several methods. Output only, any size.
//
//   mpiexec -n 2 nunatak-io -workload pism:G5km -scale 0.3 -ways pnetcdf,serial -repeat 7
//
// Methods A, B, ... alternate with a raw write baseline P (as many bytes by plain pwrite()):
// P A B, A B P, B P A, ... A repetition ends when its file is durable. Examples:
// docs/explanation/output.md. Neighbours in miniapp/tools/io/: workload.hpp (what is written),
// turn.hpp (one repetition), host.hpp, io_report.hpp (tables and JSON).
#include "miniapp/base/error.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/world_comm.hpp"
#include "miniapp/tools/io/bench_options.hpp"
#include "miniapp/tools/io/host.hpp"
#include "miniapp/tools/io/io_report.hpp"
#include "miniapp/tools/io/turn.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

using namespace nunatak;
using namespace nunatak::tools;

namespace {

/// A method of writing and its results.
struct Way {
  WayResults results;
  std::unique_ptr<io::Writer> writer;
  std::string file; ///< file name in the folder
};

std::vector<Way> make_ways(const std::vector<NamedWay>& named, MPI_Comm comm) {
  std::vector<Way> ways;
  for (const NamedWay& name : named) {
    Way way;
    way.results.named = name;
    way.writer = io::make_writer(comm, name.options);
    way.file = "way" + std::to_string(ways.size()) + ".nc";
    ways.push_back(std::move(way));
  }
  return ways;
}

/// Disk: all files at a time. Memory: one record of all arrays, and half of it for copies.
void require_space(const BenchOptions& options, const Workload& workload, const Record& host,
                   const Record& disk, std::uint64_t bytes, const std::vector<Way>& ways) {
  const bool joined = std::any_of(ways.begin(), ways.end(), [](const Way& w) {
    return is_in_subfiles(w.results.named.options);
  });
  const std::uint64_t files = (options.keep ? ways.size() : 1) + (joined ? 1 : 0);
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
          (workload.bytes_per_record() + workload.fixed_bytes()) / ranks * fullest * 3 / 2,
          host["available_memory"].get<std::uint64_t>());
}

Record workload_record(const Workload& workload, const BenchOptions& options, const Arrays& arrays,
                       MPI_Comm comm) {
  std::array<std::int64_t, 2> most{static_cast<std::int64_t>(arrays.bytes()),
                                   -static_cast<std::int64_t>(arrays.bytes())};
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 2, MPI_INT64_T, MPI_MAX, comm);
  Record record;
  record["name"] = workload.name;
  record["scale"] = options.scale;
  record["text"] = workload.text;
  for (const WorkloadDimension& d : workload.dimensions) record["dimensions"][d.name] = d.length;
  record["variables"] = workload.variables.size() + 1; // includes time
  record["records"] = options.records;
  record["bytes_per_record"] = workload.bytes_per_record();
  record["fixed_bytes"] = workload.fixed_bytes();
  record["memory_per_rank"] = {{"min", -most[1]},
                               {"max", most[0]}}; // bytes with ghosts; 0: a rank without cells
  return record;
}

struct TurnsOf {
  MPI_Comm comm;
  const BenchOptions& options;
  const std::vector<io::ReadBy>& reads;
  const Scratch& scratch;
  const Compute& compute;
  Arrays& arrays;

  /// Writes, reads and removes a file. The first of several repetitions is the warm-up.
  void take(Way& way, std::size_t turn, std::size_t turns) const {
    const NamedWay& named = way.results.named;
    const auto records = static_cast<std::size_t>(options.records);
    const bool counts = turn > 0 || turns == 1;
    const WriteTurn written = write_turn(comm, *way.writer, arrays, named.order,
                                         scratch.path(way.file), records, compute);
    const std::int64_t size = scratch.bytes(way.file);
    if (counts) {
      way.results.writes.push_back(written);
      way.results.file_bytes.push_back(size);
    }

    const bool verify = options.verify == "all" || (options.verify == "first" && turn == 0);
    const std::vector<io::ReadBy> by =
        reads.empty() && verify ? std::vector{io::ReadBy::each} : reads;
    std::string file = way.file;
    if (is_in_subfiles(named.options) && !by.empty()) {
      file += ".joined";
      const double seconds = join_turn(comm, scratch.path(way.file), scratch.path(file));
      if (counts) way.results.joins.push_back(seconds);
    }
    for (const io::ReadBy each : by) {
      if (!has_file(named.options)) {
        way.results.not_read[io::word_of(each)] = "there is no file";
        continue;
      }
      io::ReadOptions how;
      how.by = each;
      how.hints = named.options.hints;
      how.ranks_per_node = named.options.ranks_per_node;
      scratch.drop_from_cache(file);
      const ReadTurn read =
          read_turn(comm, scratch.path(file), named, how, arrays, records, verify);
      if (counts && !reads.empty()) way.results.reads[io::word_of(each)].push_back(read);
      way.results.verified += read.compared;
    }
    if (!options.keep || turn + 1 < turns) {
      scratch.remove(way.file);
      scratch.remove("manifest");
    }
  }
};

/// Prints the results and writes them as JSON, starting from `json`.
void report(const BenchOptions& options, Record json, const std::vector<Way>& ways,
            const std::vector<double>& probe_seconds) {
  std::vector<Record> of_ways;
  for (const Way& way : ways) of_ways.push_back(way_record(way.results, probe_seconds));
  json["ways"] = of_ways;
  if (World().rank() == 0) {
    const Record &host = json["host"], &workload = json["workload"];
    std::cout << workload["name"].get<std::string>() << ", scale " << options.scale << ": "
              << workload["text"].get<std::string>() << "; " << json["probe"]["bytes"]
              << " bytes in " << options.records << " record(s), " << host["ranks"] << " ranks on "
              << host["nodes"] << " node(s) of " << host["cores_per_node"] << " cores, "
              << json["file_system"]["type"].get<std::string>() << ", "
              << host["mpi_io"].get<std::string>() << "\n";
    if (host["oversubscribed"].get<bool>())
      std::cout << "more ranks than cores: for correctness, not for times\n";
    std::cout << "\n";
    print_ways(std::cout, of_ways, json["probe"]);
    std::cout << std::flush;
  }
  write_json(options.json, json);
}

void run(const BenchOptions& options, MPI_Comm comm) {
  const int rank = io::rank_in(comm), ranks = io::size_of(comm);
  // 1. what is written, how and where; impossible requests fail before anything is written
  const Workload workload = make_workload(options.workload, options.scale, options.scale_levels,
                                          static_cast<std::size_t>(options.variables));
  std::vector<Way> ways = make_ways(options.named_ways(workload.order), comm);
  const std::vector<io::ReadBy> reads = options.reads();
  World().on_rank_0([&] {
    check_files({{"-report", options.json}});
    require_writable("-report", options.json);
  });
  const auto records = static_cast<std::size_t>(options.records);
  const std::uint64_t bytes = workload.fixed_bytes() + workload.bytes_per_record() * records;
  const Record host = host_facts(comm);
  const Scratch scratch(comm, options.folder, options.keep);
  const Record disk = file_system_facts(comm, scratch.folder());
  require_space(options, workload, host, disk, bytes, ways);
  Arrays arrays(workload, rank, ranks);
  const Compute compute(options.compute);

  // 2. repetitions; the order rotates, so that no method always has the same predecessor
  Probe probe(comm, scratch.path("probe"), bytes);
  const TurnsOf turns_of{comm, options, reads, scratch, compute, arrays};
  std::vector<double> probe_seconds;
  const std::size_t turns = options.repeat > 1 ? static_cast<std::size_t>(options.repeat) + 1 : 1,
                    n = ways.size() + 1;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const bool counts = turn > 0 || turns == 1;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t next = (turn + k) % n;
      if (next > 0) {
        turns_of.take(ways[next - 1], turn, turns);
        continue;
      }
      const double seconds = probe.run();
      if (counts) probe_seconds.push_back(seconds);
      scratch.remove("probe");
    }
  }

  // 3. results
  Record json;
  json["tool"] = "nunatak-io";
  json["version"] = NUNATAK_VERSION;
  json["workload"] = workload_record(workload, options, arrays, comm);
  json["host"] = host;
  json["file_system"] = disk;
  json["turns"] = probe_seconds.size();
  json["first_turn_dropped"] = turns > 1;
  json["read_cache"] =
      "dropped by POSIX_FADV_DONTNEED before each read, as far as the system does it";
  json["probe"]["bytes"] = bytes;
  json["probe"]["seconds"] = spread_of_turns(probe_seconds);
  report(options, json, ways, probe_seconds);
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "nunatak-io", [&](Libraries&) {
    BenchOptions options;
    OptionTable table(
        "nunatak-io: writes and reads the state of a model, in several ways that take turns",
        "mpiexec -n 2 nunatak-io -workload pism:G5km -scale 0.3 -ways pnetcdf,serial -report "
        "out.json");
    options.add_to(table);
    if (table.read(argc, argv)) return run(options, world_comm());
    if (World().rank() != 0) return;
    std::cout << "\nWorkloads, with -scale 1\n";
    for (const std::string& line : workload_table()) std::cout << "  " << line << "\n";
    std::cout << "  gcrm:R with R from 0 to 12\n";
  });
}
