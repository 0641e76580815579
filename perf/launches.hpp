// Counts what costs a GPU time besides memory: launches of loops, and waits of the host for them
// (fences, among them those of copies and of reductions into host variables), by label, from
// Kokkos' profiling callbacks. Counts as on a GPU: in a build with -DNUNATAK_DEVICE_MEMORY=ON
// (kernels/grid/memory.hpp), also on a CPU.
#pragma once

#include "kernels/grid/memory.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace nunatak {

namespace tools = Kokkos::Tools::Experimental;

struct Launches {
  std::map<std::string, std::int64_t> loops, waits; ///< by label

  static std::int64_t sum(const std::map<std::string, std::int64_t>& counts) {
    std::int64_t all = 0;
    for (const auto& [label, count] : counts) all += count;
    return all;
  }
  std::int64_t all_loops() const { return sum(loops); }
  std::int64_t all_waits() const { return sum(waits); }
  /// A model of the time that they take, s: 5 us a launch, 10 us a wait.
  double seconds() const {
    return 5e-6 * static_cast<double>(all_loops()) + 10e-6 * static_cast<double>(all_waits());
  }
};

/// Counts from its construction to its end, besides what another tool does. One at a time.
class LaunchCounter {
public:
  LaunchCounter() {
    s_counts = &m_counts;
    s_others = tools::get_callbacks();
    tools::set_begin_parallel_for_callback(
        [](const char* label, std::uint32_t d, std::uint64_t* k) {
          s_counts->loops[label] += 1;
          if (s_others.begin_parallel_for != nullptr) s_others.begin_parallel_for(label, d, k);
        });
    tools::set_begin_parallel_reduce_callback(
        [](const char* label, std::uint32_t d, std::uint64_t* k) {
          s_counts->loops[label] += 1;
          if (s_others.begin_parallel_reduce != nullptr)
            s_others.begin_parallel_reduce(label, d, k);
        });
    tools::set_begin_parallel_scan_callback(
        [](const char* label, std::uint32_t d, std::uint64_t* k) {
          s_counts->loops[label] += 1;
          if (s_others.begin_parallel_scan != nullptr) s_others.begin_parallel_scan(label, d, k);
        });
    tools::set_begin_fence_callback([](const char* label, std::uint32_t d, std::uint64_t* k) {
      // each space of Kokkos has its fence, and so has each callback
      if (tools::identifier_from_devid(d).type == tools::DeviceTypeTraits<Exec>::id &&
          std::strstr(label, "Profile Tool Fence") == nullptr)
        s_counts->waits[label] += 1;
      if (s_others.begin_fence != nullptr) s_others.begin_fence(label, d, k);
    });
  }
  ~LaunchCounter() { tools::set_callbacks(s_others); }
  LaunchCounter(const LaunchCounter&) = delete;
  LaunchCounter& operator=(const LaunchCounter&) = delete;

  const Launches& counts() const { return m_counts; }

private:
  static inline Launches* s_counts = nullptr;
  static inline tools::EventSet s_others;
  Launches m_counts;
};

} // namespace nunatak
