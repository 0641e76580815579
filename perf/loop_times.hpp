// How long each loop takes, by its label: Kokkos calls back before and after it. Where a loop
// returns before it is done (a GPU) it is waited for, so that a step is slower than without: time
// its parts in another one.
#pragma once

#include "kernels/grid/array.hpp"

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace nunatak::bench {

class LoopTimes {
public:
  struct Loop {
    double seconds = 0.0;
    int calls = 0;
  };

  /// From now on all loops are timed.
  static void start() {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback(begin);
    tools::set_begin_parallel_reduce_callback(begin);
    tools::set_end_parallel_for_callback(end);
    tools::set_end_parallel_reduce_callback(end);
  }
  /// Since the last call.
  static std::map<std::string, Loop> take() { return std::exchange(s_loops, {}); }

private:
  using Clock = std::chrono::steady_clock;
  static void begin(const char* label, std::uint32_t, std::uint64_t*) {
    if (!loops_on_host) Kokkos::fence("loop times: begin");
    s_label = label;
    s_begin = Clock::now();
  }
  static void end(std::uint64_t) {
    if (!loops_on_host) Kokkos::fence("loop times: end");
    Loop& loop = s_loops[s_label];
    loop.seconds += std::chrono::duration<double>(Clock::now() - s_begin).count();
    loop.calls += 1;
  }
  static inline std::map<std::string, Loop> s_loops;
  static inline std::string s_label;
  static inline Clock::time_point s_begin;
};

} // namespace nunatak::bench
