// nunatak-step: hybrid steps of the synthetic continent without PETSc or files, on thousands of
// virtual ranks in one process or on real ones: traffic, modelled time and wall time per part of a
// step. Exit status 1 if the fields are not bitwise the same on all sets of ranks.
//
//   nunatak-step -grid_dx 8000 -virtual_ranks 1,16,256,4096
//   nunatak-step -grid_dx 8000 -virtual_ranks 1,16,256 -output direct,async:8     records of a run
//                                                                             (output_model.hpp)
// Neighbours: kernels/step/hybrid.hpp, miniapp/base/rank_sets.hpp.
#include "common/error.hpp"
#include "kernels/distance/distance.hpp"
#include "kernels/grid/balance.hpp"
#include "kernels/ssa/newton.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/printed.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/rank_sets.hpp"
#include "miniapp/base/step_options.hpp"
#include "miniapp/base/world.hpp"
#include "miniapp/bench/output_model.hpp"
#include "miniapp/bench/sheet.hpp"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

struct StepOptions {
  double dx = 32e3, dt_max = 1.0; // m, -grid_dx; years
  int Mz = 31, seed = 1, steps = 1, repeat = 0;
  SsaOptions ssa;
  PicoOptions pico;
  RankOptions ranks;
  OutputOptions output;
  std::string ocean = "auto", cut = "equal", halo = "packed", json;
};

/// Counts the traffic of each part and reads the clocks of virtual ranks. For tools of Kokkos each
/// part is a region.
class Counter final : public StepWatch {
public:
  struct Counts {
    Traffic traffic;
    double modelled = 0.0, work = 0.0; // s

    /// Adds another part `times` times.
    void add(const Counts& other, int times = 1) {
      traffic.exchanges += times * other.traffic.exchanges;
      traffic.messages += times * other.traffic.messages;
      traffic.bytes += times * other.traffic.bytes;
      traffic.collectives += times * other.traffic.collectives;
      modelled += times * other.modelled;
      work += times * other.work;
    }
  };

  Counter(RankSet& set, const std::vector<std::int64_t>& icy_cells, int levels)
      : m_set(set), m_icy(icy_cells), m_levels(levels) {}

  /// The ranks begin together. Collective.
  void start() {
    World().barrier();
    m_since_start.reset();
  }
  void begin(const char* part) override {
    m_part = &Hybrid::part(part);
    m_before = now();
    Kokkos::Profiling::pushRegion(part);
  }
  void end() override {
    Kokkos::Profiling::popRegion();
    Kokkos::fence();
    const double end = m_since_start.seconds();
    m_set.ranks->start_turn(); // what was between turns until here belongs to this part
    for (std::size_t n = 0; n < m_icy.size(); ++n) {
      const Patch patch = m_set.ranks->patch(static_cast<int>(n));
      const double visits =
          m_part->cell * patch.xm * patch.ym +
          (m_part->icy_cell + m_part->level * m_levels) * static_cast<double>(m_icy[n]);
      m_set.ranks->work(static_cast<int>(n), std::llround(visits), m_part->loop);
    }
    Counts after = now();
    after.add(m_before, -1);
    auto found = std::find_if(m_parts.begin(), m_parts.end(),
                              [this](const auto& part) { return part.first == m_part->name; });
    if (found == m_parts.end()) found = m_parts.insert(found, {m_part->name, Counts()});
    found->second.add(after);
    m_ends.emplace_back(found - m_parts.begin(), end);
  }
  /// In order of first call.
  const std::vector<std::pair<std::string, Counts>>& parts() const { return m_parts; }
  /// Seconds from the end of the part before until the last rank has ended it, as on the critical
  /// path of virtual ranks: a rank that comes early waits in the next part. Collective.
  std::vector<double> wall() const {
    std::vector<double> wall(m_parts.size(), 0.0);
    double before = 0.0;
    for (const auto& [part, end] : m_ends) {
      const double last = World().max(end);
      wall[static_cast<std::size_t>(part)] += last - before;
      before = last;
    }
    return wall;
  }

private:
  Counts now() const {
    Counts part;
    part.traffic = m_set.ranks->traffic();
    if (m_set.machine != nullptr) {
      const VirtualClock::Path path = m_set.machine->clock()->critical();
      part.modelled = path.time;
      part.work = path.work;
    }
    return part;
  }

  RankSet& m_set;
  std::vector<std::int64_t> m_icy;
  int m_levels;
  const Hybrid::Part* m_part = nullptr;
  Counts m_before;
  std::vector<std::pair<std::string, Counts>> m_parts;
  std::vector<std::pair<std::ptrdiff_t, double>> m_ends; // of each part, s since the start
  Kokkos::Timer m_since_start;
};

/// Every patch cut into n x n patches of as many cells, on a grid n times as fine.
Decomposition refined(const Decomposition& d, int n) {
  const auto edges_of = [n](const std::vector<int>& coarse) {
    std::vector<int> fine;
    for (std::size_t r = 0; r + 1 < coarse.size(); ++r) {
      for (int k = 0; k < n; ++k) fine.push_back(coarse[r] * n + k * (coarse[r + 1] - coarse[r]));
    }
    fine.push_back(coarse.back() * n);
    return fine;
  };
  return {d.Mx * n, d.My * n, d.px * n, d.py * n, false, false, edges_of(d.x), edges_of(d.y)};
}

/// Runs the steps on one set of ranks: a record per part, and a total, and those of its output.
/// Returns the fingerprint. anew: not once more for -work measured.
std::uint64_t run(const StepOptions& o, RankSet& set, bool anew, std::vector<Record>& records,
                  std::vector<Record>& output) {
  Ranks& ranks = *set.ranks;
  synthetic::Sheet sheet =
      synthetic::make_sheet(ranks, o.dx, o.Mz, static_cast<std::uint64_t>(o.seed));
  HybridOptions options;
  options.dt_max = o.dt_max * seconds_per_year;
  options.till = o.ssa.till();
  if (o.ocean != "none") options.pico = o.pico;
  Counter counter(set, sheet.icy_cells, o.Mz);
  ranks.set_watch(counter);
  Hybrid hybrid(ranks, o.dx, o.dx, sheet.levels, options,
                std::make_unique<SsaNewton>(ranks, o.dx, o.dx, o.ssa), std::move(sheet.states),
                std::move(sheet.forcings));
  if (set.machine != nullptr) set.machine->restart_clock(anew);
  counter.start();
  int nonlinear = 0, linear = 0;
  const auto now = [&] { return set.machine ? set.machine->clock()->critical().time : 0.0; };
  const std::int64_t at_start = ranks.traffic().collectives;
  std::int64_t collectives = at_start; // at the begin of the last step
  double before = 0.0, years = 0.0;    // the same; of the steps
  for (int n = 0; n < o.steps; ++n) {
    before = now();
    collectives = ranks.traffic().collectives;
    hybrid.diagnose();
    nonlinear += hybrid.stress_balance().last_solve().steps;
    linear += hybrid.stress_balance().last_solve().linear_iterations;
    hybrid.advance(hybrid.stable_step().dt);
    years += hybrid.stable_step().dt / seconds_per_year;
    const StepPart sums(ranks, part::transport);
    Kokkos::fence("sums of a step");
    sum_over_ranks(ranks, hybrid.step_sums()); // counts the reduction of the model
  }
  if (!o.output.methods.empty()) {
    const int finer = o.output.refine;
    const LogGP machine = o.ranks.machine.machine();
    const StressBalance& stress = hybrid.stress_balance();
    SteppedRun whole{refined(ranks.decomposition(), finer), o.Mz, o.ocean != "none"};
    // on the finer grid trees are higher, and steps are shorter
    const double higher =
        machine.reduction(whole.cut.size(), 8) - machine.reduction(ranks.decomposition().size(), 8);
    const auto trees = [&](std::int64_t since) {
      return higher * static_cast<double>(ranks.traffic().collectives - since);
    };
    whole.last = now() - before + trees(collectives);
    whole.last_years = time_step(o.dx / finer, o.dx / finer, stress.D_max(),
                                 finer * stress.advection_rate_max(), options.dt_max)
                           .dt /
                       seconds_per_year;
    if (o.output.every == 0.0) hybrid.diagnose(); // as at the end of a run
    whole.all = now() + trees(at_start);
    whole.years = years;
    whole.steps = o.steps;
    for (Record& record : output_records(o.output, o.ranks.machine, whole))
      output.push_back(std::move(record));
  }
  const Spread ice = spread_of(set, sheet.icy_cells);
  const std::string solver = hybrid.stress_balance().sliding()->describe();
  const Decomposition& d = ranks.decomposition();
  Counter::Counts all;
  const auto add = [&](const std::string& name, const Counter::Counts& part, double wall) {
    const bool is_virtual = set.machine != nullptr, is_all = name == "step";
    records.push_back(
        {{"ranks", d.size()},
         {"px", d.px},
         {"py", d.py},
         {"part", name},
         {"loop", is_all ? Record()
                         : Record(work_names[static_cast<std::size_t>(Hybrid::part(name).loop)])},
         {"exchanges", part.traffic.exchanges},
         {"messages", World().sum(part.traffic.messages)},
         {"bytes", World().sum(part.traffic.bytes)},
         {"collectives", part.traffic.collectives},
         {"loggp_s", is_virtual ? Record(part.modelled) : Record()},
         {"loggp_work_s", is_virtual ? Record(part.work) : Record()},
         {"wall_s", wall},
         {"nonlinear_steps", is_all ? Record(nonlinear) : Record()},
         {"linear_iterations", is_all ? Record(linear) : Record()},
         {"ice_imbalance", is_all ? ice.imbalance() : Record()},
         {"solver", is_all ? Record(solver) : Record()}});
  };
  const std::vector<double> wall = counter.wall();
  for (std::size_t n = 0; n < wall.size(); ++n) {
    const auto& [name, part] = counter.parts()[n];
    add(name, part, wall[n]);
    all.add(part);
  }
  add("step", all, std::accumulate(wall.begin(), wall.end(), 0.0));
  return static_cast<std::uint64_t>(
      World().sum(static_cast<std::int64_t>(synthetic::fingerprint(ranks, hybrid))));
}

/// The chosen decomposition: equal patches, or balanced numbers of icy cells along each axis.
Decomposition cut(const StepOptions& o, const Decomposition& d) {
  if (o.cut == "equal") return d;
  const synthetic::Continent continent(static_cast<std::uint64_t>(o.seed));
  std::vector<int> icy_cells(static_cast<std::size_t>(d.Mx + d.My), 0);
  for (int j = 0; j < d.My; ++j) {
    for (int i = 0; i < d.Mx; ++i) {
      const auto at = [&](int k) { return synthetic::marine_first(d.Mx, o.dx) + k * o.dx; };
      const int one = continent.at(at(i), at(j)).H > ice_free_thickness ? 1 : 0;
      icy_cells[static_cast<std::size_t>(i)] += one;
      icy_cells[static_cast<std::size_t>(d.Mx + j)] += one;
    }
  }
  return balanced(d, icy_cells);
}

void print_output(const std::vector<Record>& output) {
  if (output.empty()) return;
  std::cout << "\n";
  print_table(std::cout, output,
              "ranks, method, written_bytes: bytes, written_operations: calls, messages, "
              "compute_s: compute s, output_s: output s, drain_s: drain s, "
              "sypd_without_output: SYPD without, sypd: SYPD, output_percent: output %, "
              "years_for_10_percent: years for 10 %");
  std::map<std::string, std::string> passes; // by method: the first number of ranks
  for (const Record& r : output) {
    if (r["output_percent"] > 10.0) passes.emplace(r["method"], r["ranks"].dump());
  }
  for (const auto& [method, ranks] : passes)
    std::cout << method << ": output passes 10 % of the run on " << ranks << " ranks\n";
}

void run(const StepOptions& o) {
  const World world;
  world.on_rank_0([&] {
    check_files({{"-machine", o.ranks.machine.file, FileUse::read}, {"-report", o.json}});
  });
  o.ranks.check();
  if (!o.output.methods.empty() && o.ranks.virtual_ranks.empty())
    throw Error("option -output: expected -virtual_ranks, whose time is modelled, found none");
  if (o.output.refine > 1 && o.output.every == 0.0)
    throw Error(
        "option -refine: expected -output_every, because the steps are shorter, found none");
  const int M = synthetic::marine_points(o.dx);
  std::vector<Record> records, output;
  std::optional<std::uint64_t> first;
  std::string different;
  const auto run_on = [&](RankSet& set) {
    const bool measured = set.machine != nullptr && o.ranks.machine.given.measured_work;
    const int runs = o.repeat > 0 ? o.repeat : measured ? 3 : 1;
    std::vector<Record> counting, of_output; // of the run that counts
    std::vector<double> least;               // seconds of each part, of all runs
    std::uint64_t print = 0;
    for (int n = 0; n < runs; ++n) {
      std::vector<Record> parts, written;
      print = run(o, set, n == 0, parts, written);
      least.resize(parts.size(), std::numeric_limits<double>::infinity());
      for (std::size_t k = 0; k < parts.size(); ++k)
        least[k] = std::min(least[k], parts[k]["wall_s"].get<double>());
      // measured: the last one, whose loops take the least time of all; the last part is the step
      if (n > 0 && !measured && parts.back()["wall_s"] >= counting.back()["wall_s"]) continue;
      counting = std::move(parts);
      of_output = std::move(written);
    }
    for (std::size_t k = 0; k < least.size(); ++k) counting[k]["wall_min_s"] = least[k];
    records.insert(records.end(), counting.begin(), counting.end());
    output.insert(output.end(), of_output.begin(), of_output.end());
    if (!first) first = print;
    if (print != *first && different.empty()) different = set.name();
  };
  for_each_rank_set(o.ranks, M, M, run_on, [&](const Decomposition& d) { return cut(o, d); });
  const std::string digits = printed("%016llx", static_cast<unsigned long long>(*first));
  if (world.rank() == 0) {
    std::cout << "nunatak-step: " << M << " x " << M << " cells of " << o.dx / 1e3 << " km, "
              << o.Mz << " levels, " << o.steps << (o.steps == 1 ? " step" : " steps")
              << "; fields " << digits << "\n\n";
    print_table(std::cout, records,
                "ranks, part, exchanges, messages, bytes: bytes sent, collectives, "
                "loggp_s*1e3: modelled ms, loggp_work_s*1e3: of which work, "
                "wall_s*1e3: wall ms here");
    print_output(output);
  }
  nlohmann::ordered_json json = {{"tool", "nunatak-step"},
                                 {"grid", {{"Mx", M}, {"My", M}, {"Mz", o.Mz}, {"dx", o.dx}}},
                                 {"steps", o.steps},
                                 {"fields", digits},
                                 {"records", records}};
  if (!output.empty()) json["output"] = output;
  if (!o.ranks.virtual_ranks.empty()) json["machine"] = to_json(o.ranks.machine.machine());
  write_json(o.json, json);
  if (!different.empty())
    throw Difference("the fields on " + different + " differ from those on the first set of ranks");
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "nunatak-step", [&](Libraries&) {
    StepOptions o;
    OptionTable table("nunatak-step: time steps of a synthetic continent: communication and "
                      "modelled time of each part",
                      "nunatak-step -grid_dx 32000 -virtual_ranks 1,16,256");
    table.section("Problem");
    table.add(number("grid_dx", o.dx, "m", "width of a cell", 500, 500e3));
    table.add(number("grid_Mz", o.Mz, "", "levels", 2, max_levels));
    table.add(number("seed", o.seed, "", "seed of the continent", 0));
    table.add(
        number("steps", o.steps, "", "number of steps; the first one starts from rest", 1, 1000));
    table.add(number("dt_max", o.dt_max, "year", "longest step", 1e-6, 100));
    table.add(choice("ocean", o.ocean, "auto|pico|none", "melt below ice shelves (auto: pico)"));
    add_pico_methods(table, o.pico, names_of(distance_solvers()));
    table.section("Solver of the stress balance (SSA)");
    add_sliding_exponent(table, o.ssa);
    add_ssa_options(table, o.ssa);
    table.section("Ranks");
    add_grid_cut(table, o.cut);
    table.add(choice("halo", o.halo, "packed|dmda",
                     "ghost exchange: one message per neighbour for all arrays, or (virtual ranks "
                     "alone) array by array as a DMDA's"));
    o.ranks.add_to(table);
    table.add(number("repeat", o.repeat, "",
                     "runs, of which the fastest counts, with -work measured the least time of "
                     "each loop of a rank (0: 3 with -work measured, else 1)",
                     0, 100));
    o.output.add_to(table);
    table.section("Output");
    table.add(text("report", o.json, "JSON file of all counts and times"));
    if (!table.read(argc, argv)) return;
    if (o.halo == "dmda" && o.ranks.virtual_ranks.empty())
      throw Error("option -halo: expected packed without -virtual_ranks, found dmda");
    if (device_memory && o.halo == "dmda")
      throw Error("option -halo: expected packed, found dmda: the host does not reach arrays "
                  "(NUNATAK_DEVICE_MEMORY)");
    if (o.halo == "dmda") o.ranks.halo = Halo::apart;
    run(o);
  });
}
