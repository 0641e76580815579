// How many loops a step launches and how often it waits for them.
#include "launches.hpp"

#include "kernels/grid/virtual_ranks.hpp"
#include "kernels/ssa/newton.hpp"
#include "kernels/step/hybrid.hpp"
#include "miniapp/tools/sheet.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace nunatak;

namespace {

class Watch final : public StepWatch {
public:
  void begin(const char* part) override {
    events["between"] = LaunchLog::take();
    m_part = part;
  }
  void end() override { events[m_part] = LaunchLog::take(); }
  std::map<std::string, std::vector<LaunchEvent>> events; ///< of the last step

private:
  std::string m_part;
};

/// Steps of the synthetic continent on one rank.
struct Case {
  explicit Case(double dx, std::int64_t one_launch = 0)
      : ranks(decomposition(dx), std::nullopt, Halo::loops),
        levels(make_levels(5000.0, 6, LevelSpacing::quadratic)) {
    synthetic::Sheet sheet = synthetic::make_sheet(ranks, dx, levels, 1);
    HybridOptions options;
    options.pico = PicoOptions{};
    options.pico->by_loops = true; // as on a GPU
    SsaOptions ssa;
    ssa.multigrid.one_launch = one_launch;
    hybrid = std::make_unique<Hybrid>(ranks, dx, dx, levels, options,
                                      std::make_unique<SsaNewton>(ranks, dx, dx, ssa),
                                      std::move(sheet.states), std::move(sheet.forcings), watch);
  }
  static Decomposition decomposition(double dx) {
    const int M = synthetic::marine_points(dx);
    return Decomposition::make(M, M, 1);
  }
  void step() {
    hybrid->diagnose();
    hybrid->advance(hybrid->stable_step().dt);
  }
  Watch watch;
  VirtualRanks ranks;
  Levels levels;
  std::unique_ptr<Hybrid> hybrid;
};

std::string text(const std::vector<LaunchEvent>& events) {
  const Launches n = count(events);
  std::string lines = "launches " + std::to_string(n.launches()) + ", synchronisations " +
                      std::to_string(n.synchronisations()) + ":";
  std::map<std::string, int> names;
  for (const LaunchEvent& e : events) names[e.label] += 1;
  for (const auto& [name, times] : names) lines += "\n  " + std::to_string(times) + " " + name;
  return lines;
}

int times(const std::vector<LaunchEvent>& events, const char* label) {
  return static_cast<int>(std::count_if(events.begin(), events.end(),
                                        [&](const LaunchEvent& e) { return e.label == label; }));
}

/// No more than that. A number that has become smaller: lower it here and in docs/gpu.md. On a GPU
/// they are only told: there main() waits after each loop, and mirrors of Views are copies.
void check_at_most(const char* what, const std::vector<LaunchEvent>& events, int launches,
                   int synchronisations) {
  if (!loops_on_host) {
    WARN(what << ": " << text(events));
    return;
  }
  const Launches found = count(events);
  INFO(what << ": expected at most " << launches << " launches and " << synchronisations
            << " synchronisations, found " << text(events));
  CHECK(found.launches() <= launches);
  CHECK(found.synchronisations() <= synchronisations);
}

} // namespace

TEST_CASE("a step outside the SSA launches and waits no more often than docs/gpu.md says") {
  Case c(100e3);
  LaunchLog::start();
  for (int n = 0; n < 2; ++n) c.step();
  struct Most {
    const char* part;
    int launches, synchronisations;
  };
  // the geometry of PICO is new in each step
  const Most most[] = {{"ocean", 33, 5},
                       {"stress balance: till, hardness", 4, 0},
                       {"stress balance: SIA", 1, 0},
                       {"stress balance: 3-D velocity", 4, 1},
                       {"energy", 2, 0},
                       {"mass transport", 7, 0},
                       {"between", 0, 0}};
  for (const Most& m : most)
    check_at_most(m.part, c.watch.events.at(m.part), m.launches, m.synchronisations);
  CHECK(c.watch.events.size() == std::size(most) + 1); // and the SSA
  for (int n = 0; n < 2; ++n) c.hybrid->diagnose();
  REQUIRE(c.hybrid->last_ocean().geometry_kept);
  check_at_most("ocean, the geometry of the last diagnose()", c.watch.events.at("ocean"), 6, 2);
}

TEST_CASE("a linear iteration, a nonlinear step and a solve of the SSA launch and wait no more "
          "often than docs/gpu.md says") {
  struct Expected {
    double dx;
    std::int64_t one_launch;
    int levels; // that are smoothed by launches of their own
  };
  for (const auto [dx, one_launch, levels] :
       {Expected{100e3, 0, 4}, {50e3, 0, 5}, {100e3, 3000, 0}, {50e3, 3000, 1}, {25e3, 3000, 2}}) {
    Case c(dx, one_launch);
    LaunchLog::start();
    for (int n = 0; n < 2; ++n) c.step();
    const SsaReport report = c.hybrid->stress_balance().last_solve();
    const std::vector<LaunchEvent> solve = c.watch.events.at("stress balance: SSA");
    REQUIRE(times(solve, "ssa: dot products") == report.linear_iterations);
    REQUIRE(times(solve, "ssa: Jacobian") == report.steps);
    const auto first = [&solve](const char* label) {
      return std::find_if(solve.begin(), solve.end(),
                          [label](const LaunchEvent& e) { return e.label == label; });
    };
    check_at_most("set-up of a solve", {solve.begin(), first("ssa: fixed velocity")}, 11, 1);
    const std::vector<LaunchEvent> new_levels(first("ssa: fixed velocity"), first("ssa: pack"));
    const int grids_made = 1 + times(new_levels, "multigrid: coarse cells");
    check_at_most("levels of new unknowns", new_levels, 3 * grids_made, 7 * grids_made + 12);
    // From the sums of an iteration to those of the next: with a Jacobian between them, or not.
    std::vector<LaunchEvent> one;
    int iterations = 0, steps = 0;
    for (const LaunchEvent& event : solve) {
      one.push_back(event);
      if (event.label != "ssa: dot products") continue;
      INFO(dx << " m, one launch from " << one_launch << ": "
              << c.hybrid->stress_balance().sliding()->describe());
      CHECK(times(one, "multigrid: restrict") == levels);
      CHECK(times(one, "multigrid: last levels") == 1);
      const int launches = (levels > 0 ? 10 * levels - 1 : 1) + 3; // the cycle, and the rest
      const int grids = 1 + times(one, "multigrid: Galerkin");
      if (times(one, "ssa: Jacobian") == 0) {
        check_at_most("linear iteration", one, launches, 1); // a reduction
        iterations += 1;
      } else if (steps++ > 0) { // not with the beginning of the solve
        check_at_most("linear iteration after a nonlinear step", one, launches + 2 * grids + 11, 2);
      }
      one.clear();
    }
    CHECK(iterations > 0);
    CHECK(steps > 1);
  }
}

TEST_CASE("what is not launched is not counted, and what is, is") {
  if (!loops_on_host) return; // main() waits after each loop
  const auto a = make_array<double>("a", Decomposition::make(5, 4, 1).patch(0)),
             b = make_array<double>("b", Decomposition::make(5, 4, 1).patch(0));
  LaunchLog::start();
  const Patch p = Decomposition::make(5, 4, 1).patch(0);
  CHECK(LaunchLog::take().empty());
  for_each_cell(
      "one loop", p, KOKKOS_LAMBDA(int j, int i) { a(j, i) = j + i; });
  Launches found = count(LaunchLog::take());
  CHECK((found.loops == 1 && found.launches() == 1 && found.synchronisations() == 0));
  reduce_over<Largest>(
      "one reduction", owned_cells(p),
      KOKKOS_LAMBDA(int j, int i, Largest& most) { most.see(a(j, i)); });
  found = count(LaunchLog::take());
  CHECK((found.reductions == 1 && found.launches() == 1 && found.synchronisations() == 1));
  Kokkos::deep_copy(b, a);
  found = count(LaunchLog::take());
  CHECK((found.copies == 1 && found.launches() == 0 && found.synchronisations() == 1));
  Kokkos::fence("one fence");
  found = count(LaunchLog::take());
  CHECK((found.fences == 1 && found.synchronisations() == 1));
}
