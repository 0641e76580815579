#include "miniapp/tools/tool.hpp"

#include "io/error.hpp"
#include "io/formats/mpi_io.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/words.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

namespace nunatak::tools {

namespace {

constexpr int most = std::numeric_limits<int>::max();

Decomposition decomposition_of(const std::string& text, int Mx, int My) {
  const std::vector<std::string> words = split(text, 'x');
  const std::string what = "option -virtual_ranks '" + text + "'";
  if (words.size() > 2) throw Error(what + ": expected PxQ or a number of ranks");
  const int first = static_cast<int>(whole_number(words[0], 1, most, what));
  return words.size() == 1 ? Decomposition::make(Mx, My, first)
                           : Decomposition::make(Mx, My, first, static_cast<int>(whole_number(words[1], 1, most, what)));
}

/// Positions in a patch are numbered by ints.
void require_small_patches(const Decomposition& d) {
  for (int rank = 0; rank < d.size(); ++rank) {
    const Patch p = d.patch(rank);
    if ((std::int64_t{p.xm} + 2) * (std::int64_t{p.ym} + 2) > most) {
      throw Error("a patch of " + std::to_string(p.xm) + " x " + std::to_string(p.ym) +
                  " cells: expected at most 2^31; use more ranks");
    }
  }
}

std::vector<std::int64_t> numbers_of(const Traffic& t) {
  return {t.messages, t.bytes, t.exchanges, t.collectives, t.lagged, t.collective_bytes, t.work};
}

} // namespace

int run_tool(int argc, char** argv, const std::string& name, const std::function<void(MPI_Comm comm)>& run) {
  io::prefer_romio(); // before MPI starts
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  int rank = 0, status = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    const Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
    const auto fail_together = [&](const std::exception& error) { // on all ranks: rank 0 speaks for them
      if (rank == 0) std::cerr << name << ": error: " << error.what() << std::endl;
      status = 1;
    };
    try {
      run(MPI_COMM_WORLD);
    } catch (const Error& error) {
      fail_together(error);
    } catch (const io::Error& error) {
      fail_together(error);
    } catch (const std::invalid_argument& error) { // a parameter that the kernels refuse
      fail_together(error);
    } catch (const std::exception& error) { // perhaps on this rank only: nobody may wait for it
      std::cerr << name << ": error: rank " << rank << ": " << error.what() << std::endl;
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}

void print_help(const OptionTable& table, MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == 0) table.print_help(std::cout);
}

void ToolOptions::add_to(OptionTable& table, const std::string& compared_with) {
  mask.add_to(table);
  table.add("domain", &domain, "", "values of the domain, e.g. 0+2 (3 for cell types, else 1)");
  table.group("Ranks");
  table.add("virtual_ranks", &virtual_ranks, "",
            "P x Q ranks in one process, a list: 1x1,4x4,64 (none: the processes of mpiexec)");
  table.add("loggp_L", &machine.L, "s", "latency of the network", 0);
  table.add("loggp_o", &machine.o, "s", "time of a processor for a message, on either side", 0);
  table.add("loggp_g", &machine.g, "s", "least time between two messages of a rank", 0);
  table.add("loggp_G", &machine.G, "s", "time per byte", 0);
  table.add("loggp_visit", &machine.visit, "s", "time per visit of a cell", 0);
  table.group("Checks and output");
  table.add("compare", &compare, "", compared_with + "; status 1 if they differ");
  table.add("expect", &expect, "", "compare with this file of an earlier -o; status 1 if they differ");
  table.add("repeat", &repeat, "", "timed runs, after one that is not timed if more than 1", 1);
  table.add("o", &output, "", "NetCDF file of the mask and the answer");
  table.add("json", &json, "", "JSON file of all that was counted");
  table.add("csv", &csv, "", "the same as a table, one line per run");
  table.add("csv_append", &csv_append, "", "go on in the file of -csv");
}

void ToolOptions::check(MPI_Comm comm) const {
  int size = 1;
  MPI_Comm_size(comm, &size);
  if (!virtual_ranks.empty() && size > 1) {
    throw Error("option -virtual_ranks: expected one process, found " + std::to_string(size));
  }
  if (csv_append && csv.empty()) throw Error("option -csv_append: expected a file by -csv, found none");
  if (!expect.empty() && expect == output)
    throw Error("options -expect and -o: expected different files, found '" + output + "' twice");
  require_writable(comm, "-o", output);
  require_writable(comm, "-json", json);
  require_writable(comm, "-csv", csv);
}

std::string RankSet::name() const {
  const Decomposition& d = ranks->decomposition();
  return std::to_string(d.px) + " x " + std::to_string(d.py) + (machine != nullptr ? " virtual ranks" : " ranks");
}

Patch RankSet::rectangle() const {
  const Decomposition& d = ranks->decomposition();
  return machine != nullptr ? Patch{d.Mx, d.My, 0, 0, d.Mx, d.My} : ranks->patch(0);
}

void for_each_rank_set(const ToolOptions& options, const Mask& mask, MPI_Comm comm, const std::function<void(RankSet&)>& f) {
  if (options.virtual_ranks.empty()) {
    int size = 1;
    MPI_Comm_size(comm, &size);
    const Decomposition d = Decomposition::make(mask.Mx, mask.My, size);
    require_small_patches(d);
    RankSet set{std::make_unique<MpiRanks>(comm, d), nullptr, comm};
    return f(set);
  }
  std::vector<Decomposition> cuts; // all of them, before the first run
  for (const std::string& word : split(options.virtual_ranks, ',')) cuts.push_back(decomposition_of(word, mask.Mx, mask.My));
  for (const Decomposition& d : cuts) require_small_patches(d);
  for (const Decomposition& d : cuts) {
    auto ranks = std::make_unique<VirtualRanks>(d, options.machine);
    VirtualRanks* const machine = ranks.get();
    RankSet set{std::move(ranks), machine, comm};
    f(set);
  }
}

Spread spread_of(const RankSet& set, const std::vector<std::int64_t>& values) {
  Spread spread;
  spread.ranks = set.ranks->decomposition().size();
  for (const std::int64_t v : values) spread.sum += v, spread.max = std::max(spread.max, v);
  MPI_Allreduce(MPI_IN_PLACE, &spread.sum, 1, MPI_INT64_T, MPI_SUM, set.comm);
  MPI_Allreduce(MPI_IN_PLACE, &spread.max, 1, MPI_INT64_T, MPI_MAX, set.comm);
  return spread;
}

Record Spread::imbalance() const {
  return sum > 0 ? Record(static_cast<double>(max) * ranks / static_cast<double>(sum)) : Record();
}

Record measure(RankSet& set, int repeat, const std::function<void()>& prepare, const std::function<void()>& run) {
  Record record;
  std::vector<double> seconds;
  const int runs = repeat > 1 ? repeat + 1 : 1;
  for (int n = 0; n < runs; ++n) {
    prepare();
    if (set.machine != nullptr) set.machine->restart_clock();
    const std::vector<std::int64_t> before = numbers_of(set.ranks->traffic());
    MPI_Barrier(set.comm);
    const double begin = MPI_Wtime();
    run();
    double time = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, &time, 1, MPI_DOUBLE, MPI_MAX, set.comm);
    if (n > 0 || runs == 1) seconds.push_back(time);
    if (n > 0) continue;

    const Decomposition& d = set.ranks->decomposition();
    std::vector<std::int64_t> counts = numbers_of(set.ranks->traffic());
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] -= before[k];
    const Spread work =
        spread_of(set, set.machine != nullptr ? set.machine->work_of_ranks() : std::vector<std::int64_t>{counts[6]});
    record["ranks"] = d.size();
    record["px"] = d.px, record["py"] = d.py;
    record["virtual"] = set.machine != nullptr;
    record["messages"] = spread_of(set, {counts[0]}).sum;
    record["bytes"] = spread_of(set, {counts[1]}).sum;
    record["exchanges"] = spread_of(set, {counts[2]}).max;
    record["collectives"] = spread_of(set, {counts[3]}).max;
    record["lagged"] = spread_of(set, {counts[4]}).max;
    record["collective_bytes"] = spread_of(set, {counts[5]}).sum;
    record["work"] = work.sum, record["work_max"] = work.max;
    record["work_mean"] = static_cast<double>(work.sum) / d.size();
    record["imbalance"] = work.imbalance();
    record["loggp_s"] = record["loggp_work_s"] = record["path_messages"] = record["path_collectives"] = Record();
    if (set.machine != nullptr) {
      const VirtualClock::Path path = set.machine->clock()->critical();
      record["loggp_s"] = path.time, record["loggp_work_s"] = path.work;
      record["path_messages"] = path.messages, record["path_collectives"] = path.collectives;
    }
  }
  std::sort(seconds.begin(), seconds.end());
  record["wall_s"] = 0.5 * (seconds[seconds.size() / 2] + seconds[(seconds.size() - 1) / 2]);
  const bool several = seconds.size() > 1;
  record["wall_min_s"] = several ? Record(seconds.front()) : Record();
  record["wall_max_s"] = several ? Record(seconds.back()) : Record();
  return record;
}

} // namespace nunatak::tools
