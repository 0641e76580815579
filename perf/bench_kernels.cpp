// bench_kernels: times hybrid steps of the synthetic continent, their parts and loops, and relates
// them to the bytes that they must move. MPI is optional. Prints one JSON object.
//
//   bench_kernels -grid_dx 8e3
//
// Steps as in nunatak-step (kernels/step/hybrid.hpp), each with the checks of the model: values
// that are not finite or an open mass budget are errors. "fields" is the fingerprint of
// nunatak-step -sliding_q 0.25 after as many steps, on every machine. With -count_launches it
// counts instead what a GPU waits for, from rest and later (launches.hpp; on a CPU in a build with
// -DNUNATAK_DEVICE_MEMORY=ON, which runs the loops of a GPU). The JSON:
// docs/explanation/performance.md.
#include "common/error.hpp"
#include "kernels/ssa/newton.hpp"
#include "kernels/step/checks.hpp"
#include "kernels/step/hybrid.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/bench/sheet.hpp"
#include "perf/bandwidth.hpp"
#include "perf/kernel_bytes.hpp"
#include "perf/launches.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

using Seconds = std::map<std::string, double>;

struct Arguments {
  double dx = 16e3, dt_max = 0.02; // m; years
  int Mz = 31, seed = 1, repeat = 7;
  std::string stress = "ssa+sia";
  bool count_launches = false;
};

/// The measured functions.
struct Subject {
  std::function<double()> step;   ///< one step and its checks; returns its length, s
  std::function<Seconds()> parts; ///< seconds of its parts so far, on this rank
  Sizes sizes;
};

/// Sizes for the byte counts, over all ranks. Counts on the host.
Sizes sizes_of(const Patch& p, const Levels& levels, const State& state) {
  Kokkos::fence();
  const auto mask = on_host(state.mask);
  const auto thk = on_host(state.thk);
  std::int64_t icy_cells = 0, points = 0;
  for_each_owned(p, [&](int j, int i) {
    if (!icy(mask(j, i))) return;
    icy_cells += 1;
    points += std::lower_bound(levels.z_host.begin() + 1, levels.z_host.end(), thk(j, i)) -
              levels.z_host.begin();
  });
  const auto sum = [](std::int64_t n) { return static_cast<double>(World().sum(n)); };
  return {static_cast<double>(p.Mx) * p.My, sum(icy_cells), sum(points), levels.size()};
}

/// The time in the format of nvidia-smi: 2026/11/23 10:40:45.123.
std::string local_time() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  char date[32], text[40];
  std::strftime(date, sizeof date, "%Y/%m/%d %H:%M:%S", std::localtime(&seconds));
  std::snprintf(text, sizeof text, "%s.%03d", date, static_cast<int>(ms));
  return text;
}

namespace tools = Kokkos::Tools::Experimental;

/// The time of each loop by its label, from Kokkos's profiling callbacks. Asynchronous loops (GPU)
/// are fenced, which slows the step; its parts are therefore timed in other steps.
class LoopTimes {
public:
  /// Times all loops from now on.
  static void start() {
    tools::set_begin_parallel_for_callback(begin);
    tools::set_begin_parallel_reduce_callback(begin);
    tools::set_end_parallel_for_callback(end);
    tools::set_end_parallel_reduce_callback(end);
  }
  /// Seconds since the last call.
  static Seconds take() { return std::exchange(s_loops, {}); }

private:
  static void begin(const char* label, std::uint32_t, std::uint64_t*) {
    if (!loops_on_host) Kokkos::fence("loop times: begin");
    s_label = label;
    s_begin = SteadyClock::now();
  }
  static void end(std::uint64_t) {
    if (!loops_on_host) Kokkos::fence("loop times: end");
    s_loops[s_label] += seconds_since(s_begin);
  }
  static inline Seconds s_loops;
  static inline std::string s_label;
  static inline SteadyClock::time_point s_begin;
};

class StepTimes {
public:
  explicit StepTimes(const Subject& subject) : m_subject(subject) {}

  /// A first step, with the solve from rest, and `repeat` steps that are measured.
  void run(int repeat) {
    if (loops_on_host) LoopTimes::start();
    one(m_steps);
    m_from = local_time();
    for (int n = 0; n < repeat; ++n) one(m_steps);
    m_until = local_time();
  }
  /// If timing requires fences: as many additional steps, for the loops alone.
  void run_loops() {
    if (loops_on_host) return;
    LoopTimes::start();
    for (std::size_t n = 0; n < m_steps.size(); ++n) one(m_steps_of_loops);
  }

  nlohmann::json report() const {
    const Sizes& sizes = m_subject.sizes;
    nlohmann::json json = {{"benchmark", "kernels"},
                           {"started", m_from},
                           {"ended", m_until},
                           {"repetitions", m_steps.size() - 1}};
    json["sizes"] = {{"cells", sizes.cells},
                     {"icy_cells", sizes.icy_cells},
                     {"points_in_ice", sizes.points_in_ice}};
    json["execution_space"] = Exec::name();
    json["threads"] = Exec().concurrency();
    json["versions"] = {{"kokkos", KOKKOS_VERSION}, {"compiler", __VERSION__}};
    json["years_per_step"] = m_years;
    json["triad"] = {{"GB_per_s", m_triad.GB_per_s()}, {"GB_per_s_max", m_triad.best_GB_per_s()}};
    const auto& of_loops = loops_on_host ? m_steps : m_steps_of_loops;
    for (const KernelBytes& k : kernel_bytes) {
      if (k.kernel == nullptr || (!loops_on_host && of_loops.empty())) continue;
      json["kernels"][k.kernel] =
          figures(of_loops, std::string("loop: ") + k.kernel, k.per_call(sizes));
    }
    double bytes_of_rest = 0.0;
    std::vector<Seconds> steps = m_steps;
    for (const auto& [name, seconds] : m_steps.front()) {
      if (name.rfind("loop: ", 0) == 0 || name == whole) continue;
      const double bytes = bytes_of_part(name.c_str(), sizes);
      json["parts"][name] = figures(m_steps, name, bytes);
      if (bytes == 0.0) continue;
      bytes_of_rest += bytes;
      for (Seconds& step : steps) step["without SSA"] += step.at(name);
    }
    json["step"] = figures(m_steps, whole, 0.0);
    json["without_ssa"] = figures(steps, "without SSA", bytes_of_rest);
    return json;
  }

private:
  static constexpr const char* whole = "whole step";

  /// Appends the seconds of the step, of each part and loop ("loop: ..."), on the slowest rank.
  void one(std::vector<Seconds>& steps) {
    const Seconds before = m_subject.parts();
    const auto begin = SteadyClock::now();
    const double length = m_subject.step();
    Kokkos::fence();
    Seconds seconds = {{whole, seconds_since(begin)}};
    for (const auto& [name, now] : m_subject.parts()) {
      const auto found = before.find(name);
      seconds[name] = now - (found == before.end() ? 0.0 : found->second);
    }
    auto loops = LoopTimes::take();
    for (const KernelBytes& k : kernel_bytes) {
      if (k.kernel != nullptr) seconds[std::string("loop: ") + k.kernel] = loops[k.kernel];
    }
    for (auto& [name, slowest] : seconds) slowest = World().max(slowest);
    steps.push_back(seconds);
    m_years.push_back(length / seconds_per_year);
    for (int n = 0; n < 3; ++n) m_triad.run();
  }

  /// Times of a name without the first step; fraction of the triad if its bytes are counted.
  nlohmann::json figures(const std::vector<Seconds>& steps, const std::string& name,
                         double bytes) const {
    std::vector<double> seconds;
    for (std::size_t n = 1; n < steps.size(); ++n) seconds.push_back(steps[n].at(name));
    const double typical = median(seconds),
                 least = *std::min_element(seconds.begin(), seconds.end());
    nlohmann::json json = {{"median_ms", 1e3 * typical},
                           {"min_ms", 1e3 * least},
                           {"first_ms", 1e3 * steps.front().at(name)}};
    if (bytes > 0.0) {
      json["bytes_per_cell"] = bytes / m_subject.sizes.cells;
      json["share_of_triad"] = 1e-9 * bytes / typical / m_triad.GB_per_s();
      json["share_of_triad_best"] = 1e-9 * bytes / least / m_triad.best_GB_per_s();
    }
    return json;
  }

  const Subject& m_subject;
  Triad m_triad;
  std::vector<Seconds> m_steps, m_steps_of_loops;
  std::vector<double> m_years;
  std::string m_from, m_until;
};

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

/// Launches and waits of a step, by part.
class PartLaunches final : public StepWatch {
public:
  void begin(const char* part) override { m_part = part, m_before = numbers(); }
  void end() override {
    const auto [launches, waits] = numbers();
    parts[m_part]["launches"] = launches - m_before.first;
    parts[m_part]["waits"] = waits - m_before.second;
  }
  nlohmann::json parts;

  /// What the last step took. The model: its launches, its waits, its bytes at those of an H200.
  nlohmann::json report(const SsaReport& solve, double bytes) const {
    const Launches& counts = m_counter.counts();
    const auto of = [&](const char* label) {
      const auto found = counts.loops.find(label);
      return found == counts.loops.end() ? 0.0 : static_cast<double>(found->second);
    };
    double in_cycles = 0.0;
    for (const char* loop : {"restrict", "coarse levels", "prolong", "residual", "step", "finish"})
      in_cycles += of((std::string("multigrid: ") + loop).c_str());
    const double cycles = of("multigrid: coarse levels");
    nlohmann::json json = {{"launches", counts.all_loops()},
                           {"waits", counts.all_waits()},
                           {"nonlinear_steps", solve.steps},
                           {"linear_iterations", solve.linear_iterations},
                           {"parts", parts},
                           {"loops", counts.loops},
                           {"reasons_of_waits", counts.waits},
                           {"modelled_ms", 1e3 * (counts.seconds() + bytes / 3.8e12)}};
    if (cycles > 0.0) json["launches_per_cycle"] = in_cycles / cycles;
    if (solve.steps > 0)
      json["launches_per_nonlinear_step"] =
          parts.at(part::sliding).at("launches").get<double>() / solve.steps;
    return json;
  }

private:
  std::pair<std::int64_t, std::int64_t> numbers() const {
    return {m_counter.counts().all_loops(), m_counter.counts().all_waits()};
  }
  LaunchCounter m_counter;
  std::string m_part;
  std::pair<std::int64_t, std::int64_t> m_before;
};

/// The checks of the model for one rank per process.
class Checks {
public:
  Checks(Ranks& ranks, const Levels& levels) : m_ranks(ranks), m_Lz(levels.Lz()) {}

  void start(const State& state) { m_start = sum(state.thk); }
  void add(const Hybrid& hybrid) {
    const Patch patch = m_ranks.patch(0);
    const Seen seen = look_over(patch, hybrid.state(0), &hybrid.flow(0));
    m_budget += sum_over_ranks(m_ranks, hybrid.step_sums()).budget; // look_over has fenced
    m_misses = closure(m_start, sum_over_ranks<FixedSum>(m_ranks, {seen.volume}), m_budget);
    if (const auto broken = World().sum(seen.broken); broken > 0)
      throw Error("wrong result: thickness or temperature is no number in " +
                  std::to_string(broken) + " cells");
    if (World().max(seen.thickness.value) > m_Lz)
      throw Error("wrong result: ice has grown above the highest level");
    if (!(std::fabs(m_misses) < 1e-9))
      throw Error("wrong result: the mass budget does not close: a fraction " +
                  std::to_string(m_misses) + " of the volume is unexplained");
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
  const int M = synthetic::marine_points(a.dx);
  const auto ranks = World().ranks(Decomposition::make(M, M, World().size()));
  synthetic::Sheet sheet =
      synthetic::make_sheet(*ranks, a.dx, a.Mz, static_cast<std::uint64_t>(a.seed));
  const Sizes sizes = sizes_of(ranks->patch(0), sheet.levels, sheet.states[0]);
  HybridOptions options;
  options.dt_max = a.dt_max * seconds_per_year;
  options.pico = PicoOptions{};
  options.pico->skip_unchanged = false; // computes every update in full
  std::unique_ptr<SsaSolver> sliding;
  if (a.stress != "sia") sliding = std::make_unique<SsaNewton>(*ranks, a.dx, a.dx, SsaOptions{});
  PartTimes times;
  ranks->set_watch(times);
  Checks checks(*ranks, sheet.levels);
  checks.start(sheet.states[0]);
  Hybrid hybrid(*ranks, a.dx, a.dx, sheet.levels, options, std::move(sliding),
                std::move(sheet.states), std::move(sheet.forcings));
  SsaWork work;
  const Subject subject{[&] {
                          hybrid.diagnose();
                          const double dt = hybrid.stable_step().dt;
                          hybrid.advance(dt);
                          const StepPart part(*ranks, part::checks);
                          checks.add(hybrid);
                          const SsaReport solve = hybrid.stress_balance().last_solve();
                          work.cells = static_cast<double>(solve.unknown_cells);
                          work.solves += 1;
                          work.steps += solve.steps;
                          work.iterations += solve.linear_iterations;
                          work.local_solves += solve.local_solves;
                          work.local_cells += static_cast<double>(solve.local_cells);
                          return dt;
                        },
                        [&] { return times.seconds; }, sizes};
  if (a.count_launches) {
    nlohmann::json json = {{"benchmark", "launches"}, {"dx", a.dx}, {"as_on_gpu", !loops_on_host}};
    for (const char* step : {"first", "second", "third"}) {
      PartLaunches launches;
      ranks->set_watch(launches);
      work = {};
      subject.step();
      double bytes = work.steps > 0 ? work.bytes() : 0.0;
      for (const auto& part : launches.parts.items())
        bytes += bytes_of_part(part.key().c_str(), sizes);
      json[step] = launches.report(hybrid.stress_balance().last_solve(), bytes);
    }
    ranks->set_watch(times);
    return json;
  }
  StepTimes steps(subject);
  steps.run(a.repeat);
  nlohmann::json ssa = {{"unknown_cells", hybrid.stress_balance().last_solve().unknown_cells},
                        {"nonlinear_steps", work.steps},
                        {"linear_iterations", work.iterations},
                        {"local_solves", work.local_solves},
                        {"local_cells", work.local_cells}};
  const auto all = static_cast<std::uint64_t>(
      World().sum(static_cast<std::int64_t>(synthetic::fingerprint(*ranks, hybrid))));
  char fields[17];
  std::snprintf(fields, sizeof fields, "%016llx", static_cast<unsigned long long>(all));
  const double ssa_seconds = times.seconds["stress balance: SSA"];
  const SsaWork timed = work; // run_loops() adds to it
  steps.run_loops();

  nlohmann::json json = steps.report();
  json["input"] = "synthetic continent, seed " + std::to_string(a.seed);
  json["grid"] = {{"Mx", M}, {"My", M}, {"Mz", a.Mz}, {"dx", a.dx}, {"dy", a.dx}};
  json["ranks"] = {{"size", World().size()},
                   {"px", ranks->decomposition().px},
                   {"py", ranks->decomposition().py}};
  if (work.steps > 0) { // all steps, including the first one with its solve from rest
    const double bytes = timed.bytes();
    ssa["bytes_per_unknown_cell_and_step"] = bytes / timed.cells / timed.solves;
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
    table.add(choice("stress", a.stress, "ssa+sia|sia", "stress balance"));
    table.add(number("dt_max", a.dt_max, "year", "longest step", 1e-6, 100));
    table.section("Benchmark");
    table.add(number("repeat", a.repeat, "", "steps that count, after a first one that does not", 3,
                     1000));
    table.add(flag("count_launches", a.count_launches, "launches and waits instead of times"));
    if (!table.read(argc, argv)) return;
    const nlohmann::json json = run(a);
    if (World().rank() == 0) std::cout << json.dump(2) << std::endl;
  });
}
