// What costs a GPU time besides memory, by label: launches of loops, and waits of the host for them
// (fences, among them those of copies and of reductions into host variables). From Kokkos'
// profiling callbacks, as on a GPU in a build with -DNUNATAK_DEVICE_MEMORY=ON (memory.hpp), also on
// a CPU.
#pragma once

#include "kernels/grid/memory.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>

namespace nunatak {

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

/// Counts from its construction to its end, of this process; another tool goes on. One at a time.
class LaunchCounter {
public:
  LaunchCounter() {
    s_counts = &m_counts;
    s_others = Kokkos::Tools::Experimental::get_callbacks();
    Kokkos::Tools::Experimental::EventSet all = s_others;
    all.begin_parallel_for = launched<&Set::begin_parallel_for>;
    all.begin_parallel_reduce = launched<&Set::begin_parallel_reduce>;
    all.begin_parallel_scan = launched<&Set::begin_parallel_scan>;
    all.begin_fence = waited;
    Kokkos::Tools::Experimental::set_callbacks(all);
  }
  ~LaunchCounter() { Kokkos::Tools::Experimental::set_callbacks(s_others); }
  LaunchCounter(const LaunchCounter&) = delete;
  LaunchCounter& operator=(const LaunchCounter&) = delete;

  const Launches& counts() const { return m_counts; }

private:
  using Set = Kokkos::Tools::Experimental::EventSet;

  template <auto other>
  static void launched(const char* label, std::uint32_t device, std::uint64_t* kernel) {
    s_counts->loops[label] += 1;
    if (s_others.*other != nullptr) (s_others.*other)(label, device, kernel);
  }
  static void waited(const char* label, std::uint32_t device, std::uint64_t* fence) {
    namespace tools = Kokkos::Tools::Experimental;
    // each space of Kokkos has its fence, and so has each callback
    if (tools::identifier_from_devid(device).type == tools::DeviceTypeTraits<Exec>::id &&
        std::strstr(label, "Profile Tool Fence") == nullptr)
      s_counts->waits[label] += 1;
    if (s_others.begin_fence != nullptr) s_others.begin_fence(label, device, fence);
  }
  static inline Launches* s_counts = nullptr;
  static inline Set s_others;
  Launches m_counts;
};

} // namespace nunatak
