// Times the steps of a model, their parts and their loops beside passes of the STREAM triad: what
// bench_kernels (the synthetic continent) and bench_model (any input of the model) share.
// docs/performance.md explains the JSON.
#pragma once

#include "kernels/ice/levels.hpp"
#include "kernels/step/state.hpp"
#include "perf/bandwidth.hpp"
#include "perf/kernel_bytes.hpp"
#include "perf/loop_times.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace nunatak::bench {

using Seconds = std::map<std::string, double>;

/// What is timed.
struct Subject {
  std::function<double()> step;   ///< one step and its checks; its length, s
  std::function<Seconds()> parts; ///< of its parts so far, on this rank; only names of steps
  Sizes sizes;
};

/// Sizes that the bytes are counted from, over all ranks. Reads on the host.
inline Sizes sizes_of(const Patch& p, const Levels& levels, const State& state) {
  Kokkos::fence();
  std::int64_t icy_cells = 0, points = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      if (!icy(state.mask(j, i))) continue;
      icy_cells += 1;
      points += std::lower_bound(levels.z_host.begin() + 1, levels.z_host.end(), state.thk(j, i)) -
                levels.z_host.begin();
    }
  }
  const auto sum = [](std::int64_t n) { return static_cast<double>(World().sum(n)); };
  return {static_cast<double>(p.Mx) * p.My, sum(icy_cells), sum(points), levels.size()};
}

/// 2026/11/23 10:40:45.123: as nvidia-smi writes the time of what it has sampled.
inline std::string local_time() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  char date[32], text[40];
  std::strftime(date, sizeof date, "%Y/%m/%d %H:%M:%S", std::localtime(&seconds));
  std::snprintf(text, sizeof text, "%s.%03d", date, static_cast<int>(ms));
  return text;
}

class StepTimes {
public:
  explicit StepTimes(const Subject& subject) : m_subject(subject) {}

  /// A first step, with the solve from rest, and `repeat` steps that count.
  void run(int repeat) {
    if (loops_on_host) LoopTimes::start();
    one(m_steps);
    m_from = local_time();
    for (int n = 0; n < repeat; ++n) one(m_steps);
    m_until = local_time();
  }
  /// Where loops are waited for to be timed: as many steps more, for them alone.
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

  /// Seconds of the whole step, of each part and each loop ("loop: ..."), on its slowest rank.
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
      if (k.kernel != nullptr) seconds[std::string("loop: ") + k.kernel] = loops[k.kernel].seconds;
    }
    for (auto& [name, slowest] : seconds) slowest = World().max(slowest);
    steps.push_back(seconds);
    m_years.push_back(length / seconds_per_year);
    for (int n = 0; n < 3; ++n) m_triad.run();
  }

  /// What a name took, the first step apart, and its share of the triad if its bytes are counted.
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

} // namespace nunatak::bench
