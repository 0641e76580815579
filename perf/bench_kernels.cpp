// bench_kernels: times hybrid steps of the synthetic continent, their parts and their loops,
// against the bytes that they must move. Needs a compiler and Kokkos (and MPI where it was built
// with it). Prints one JSON object.
//
//   bench_kernels -grid_dx 8e3
//
// The steps are those of nunatak-step (kernels/step/hybrid.hpp) with the checks of the model after
// each: a field that is no number or a mass budget that does not close is an error. "fields" is
// what nunatak-step -sliding_q 0.25 prints after as many steps: the same bits on every machine.
// docs/performance.md explains the JSON; bench_model does the same for any input of the model.
#include "kernels/ssa/newton.hpp"
#include "kernels/step/checks.hpp"
#include "kernels/step/hybrid.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/tools/sheet.hpp"
#include "perf/time_steps.hpp"

#include <iostream>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

struct Arguments {
  double dx = 16e3, dt_max = 0.02; // m; years
  int Mz = 31, seed = 1, repeat = 7;
  std::string stress = "ssa+sia";
};

/// Seconds of each part.
class PartTimes final : public StepWatch {
public:
  void begin(const char* part) override { m_part = part, m_begin = SteadyClock::now(); }
  void end() override {
    Kokkos::fence();
    seconds[m_part] += seconds_since(m_begin);
  }
  Seconds seconds;

private:
  std::string m_part;
  SteadyClock::time_point m_begin;
};

/// The checks of the model, on one rank of `ranks` per process.
class Checks {
public:
  Checks(Ranks& ranks, const Levels& levels) : m_ranks(ranks), m_Lz(levels.Lz()) {}

  void start(const State& state) { m_start = sum(state.thk); }
  void add(const Hybrid& hybrid) {
    const Patch patch = m_ranks.patch(0);
    const Seen seen = look_over(patch, hybrid.state(0), &hybrid.flow(0));
    m_budget += sum_over_ranks(m_ranks, hybrid.step_sums()).budget; // look_over has waited
    m_misses = closure(m_start, sum_over_ranks<FixedSum>(m_ranks, {seen.volume}), m_budget);
    if (const auto broken = World().sum(seen.broken); broken > 0)
      throw Error("wrong result: thickness or temperature is no number in " +
                  std::to_string(broken) + " cells");
    if (World().max(seen.thickness.value) > m_Lz)
      throw Error("wrong result: ice has grown above the highest level");
    if (!(std::fabs(m_misses) < 1e-9))
      throw Error("wrong result: the mass budget does not close: the volume misses " +
                  std::to_string(m_misses) + " of itself");
  }
  double misses() const { return m_misses; }

private:
  FixedSum sum(const Array2<double>& thk) {
    return sum_over_ranks<FixedSum>(m_ranks, {sum_thickness(m_ranks.patch(0), thk)});
  }

  Ranks& m_ranks;
  double m_Lz, m_misses = 0.0;
  FixedSum m_start;
  MassBudget m_budget;
};

nlohmann::json run(const Arguments& a) {
  const Levels levels = make_levels(5000.0, a.Mz, LevelSpacing::quadratic);
  const int M = synthetic::marine_points(a.dx);
  const auto ranks = World().ranks(Decomposition::make(M, M, World().size()));
  synthetic::Sheet sheet =
      synthetic::make_sheet(*ranks, a.dx, levels, static_cast<std::uint64_t>(a.seed));
  const Sizes sizes = sizes_of(ranks->patch(0), levels, sheet.states[0]);
  HybridOptions options;
  options.dt_max = a.dt_max * seconds_per_year;
  options.pico = PicoOptions{};
  options.pico->skip_unchanged = false; // every update is a whole one
  std::unique_ptr<SsaSolver> sliding;
  if (a.stress != "sia") sliding = std::make_unique<SsaNewton>(*ranks, a.dx, a.dx, SsaOptions{});
  PartTimes times;
  Checks checks(*ranks, levels);
  checks.start(sheet.states[0]);
  Hybrid hybrid(*ranks, a.dx, a.dx, levels, options, std::move(sliding), std::move(sheet.states),
                std::move(sheet.forcings), times);
  int nonlinear = 0, linear = 0;
  const Subject subject{[&] {
                          hybrid.diagnose();
                          const double dt = hybrid.stable_step().dt;
                          hybrid.advance(dt);
                          const StepPart part(times, checks_part);
                          checks.add(hybrid);
                          nonlinear += hybrid.stress_balance().last_solve().steps;
                          linear += hybrid.stress_balance().last_solve().linear_iterations;
                          return dt;
                        },
                        [&] { return times.seconds; }, sizes};
  StepTimes steps(subject);
  steps.run(a.repeat);
  const SsaReport last = hybrid.stress_balance().last_solve();
  nlohmann::json ssa = {{"unknown_cells", last.unknown_cells},
                        {"nonlinear_steps", nonlinear},
                        {"linear_iterations", linear}};
  const auto all = static_cast<std::uint64_t>(
      World().sum(static_cast<std::int64_t>(synthetic::fingerprint(*ranks, hybrid))));
  char fields[17];
  std::snprintf(fields, sizeof fields, "%016llx", static_cast<unsigned long long>(all));
  const double ssa_seconds = times.seconds["stress balance: SSA"];
  steps.run_loops();

  nlohmann::json json = steps.report();
  json["input"] = "synthetic continent, seed " + std::to_string(a.seed);
  json["grid"] = {{"Mx", M}, {"My", M}, {"Mz", a.Mz}, {"dx", a.dx}, {"dy", a.dx}};
  json["ranks"] = {{"size", World().size()},
                   {"px", ranks->decomposition().px},
                   {"py", ranks->decomposition().py}};
  if (nonlinear > 0) { // all steps, the first one with its solve from rest, too
    const double bytes = ssa_bytes(static_cast<double>(last.unknown_cells), nonlinear, linear);
    ssa["bytes_per_unknown_cell_and_step"] =
        bytes / static_cast<double>(last.unknown_cells) / (a.repeat + 1);
    ssa["share_of_triad"] = 1e-9 * bytes / ssa_seconds / json["triad"]["GB_per_s"].get<double>();
  }
  json["ssa"] = ssa;
  json["mass_budget"] = {{"closure", checks.misses()}};
  json["fields"] = fields;
  return json;
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "bench_kernels", [&](Libraries&) {
    Arguments a;
    OptionTable table("bench_kernels: times the loops and the parts of steps of the synthetic "
                      "continent; prints JSON",
                      "bench_kernels -grid_dx 8e3");
    table.section("Problem");
    table.add(number("grid_dx", a.dx, "m", "width of a cell", 500, 500e3));
    table.add(number("grid_Mz", a.Mz, "", "levels", 2, max_levels));
    table.add(number("seed", a.seed, "", "seed of the continent", 0));
    table.add(word("stress", a.stress, "ssa+sia|sia", "stress balance"));
    table.add(number("dt_max", a.dt_max, "year", "longest step", 1e-6, 100));
    table.section("Benchmark");
    table.add(number("repeat", a.repeat, "", "steps that count, after a first one that does not", 3,
                     1000));
    if (!table.read(argc, argv)) return;
    const nlohmann::json json = run(a);
    if (World().rank() == 0) std::cout << json.dump(2) << std::endl;
  });
}
