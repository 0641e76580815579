// What a program asks of its execution space, as Kokkos tells a tool: loops, reductions, scans,
// copies between Views, and how often the host waits. For tests and tools; one at a time, on the
// main thread.
//
//   LaunchLog::start();
//   ... one step ...
//   const Launches found = count(LaunchLog::take());
//
// A synchronisation is a fence of the execution space, whoever asks for it: ours, that of a
// reduction into a number of the host, of an allocation, of a copy. What happens inside a copy
// between two Views counts as the copy alone, which is a synchronisation, too. On a CPU a mirror of
// a View is the View itself and nothing is copied: where loops run on a GPU there are more copies.
#pragma once

#include "kernels/grid/array.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace nunatak {

struct LaunchEvent {
  enum class Kind { loop, reduction, scan, copy, fence } kind;
  std::string label;
};

struct Launches {
  int loops = 0, reductions = 0, scans = 0, copies = 0, fences = 0;
  int launches() const { return loops + reductions + scans; }
  int synchronisations() const { return copies + fences; }
};

class LaunchLog {
public:
  static void start() {
    namespace tools = Kokkos::Tools::Experimental;
    tools::set_begin_parallel_for_callback([](const char* label, std::uint32_t device,
                                              std::uint64_t*) { add(Kind::loop, label, device); });
    tools::set_begin_parallel_reduce_callback(
        [](const char* label, std::uint32_t device, std::uint64_t*) {
          add(Kind::reduction, label, device);
        });
    tools::set_begin_parallel_scan_callback([](const char* label, std::uint32_t device,
                                               std::uint64_t*) { add(Kind::scan, label, device); });
    tools::set_begin_fence_callback([](const char* label, std::uint32_t device, std::uint64_t*) {
      add(Kind::fence, label, device);
    });
    tools::set_begin_deep_copy_callback([](Handle, const char* to, const void*, Handle,
                                           const char* from, const void*, std::uint64_t) {
      s_events.push_back({Kind::copy, std::string(from) + " -> " + to});
      s_in_copy = true;
    });
    tools::set_end_deep_copy_callback([] { s_in_copy = false; });
    s_events.clear();
  }
  /// Since start() or the last call.
  static std::vector<LaunchEvent> take() { return std::exchange(s_events, {}); }

private:
  using Kind = LaunchEvent::Kind;
  using Handle = Kokkos::Tools::SpaceHandle;

  static void add(Kind kind, const char* label, std::uint32_t device) {
    namespace tools = Kokkos::Tools::Experimental;
    const bool ours =
        tools::identifier_from_devid(device).type == tools::DeviceTypeTraits<Exec>::id;
    const bool of_this_log =
        kind == Kind::fence && std::strstr(label, "Profile Tool Fence") != nullptr;
    if (ours && !s_in_copy && !of_this_log) s_events.push_back({kind, label});
  }
  static inline std::vector<LaunchEvent> s_events;
  static inline bool s_in_copy = false;
};

inline Launches count(const std::vector<LaunchEvent>& events) {
  Launches all;
  for (const LaunchEvent& e : events) {
    switch (e.kind) {
    case LaunchEvent::Kind::loop:
      all.loops += 1;
      break;
    case LaunchEvent::Kind::reduction:
      all.reductions += 1;
      break;
    case LaunchEvent::Kind::scan:
      all.scans += 1;
      break;
    case LaunchEvent::Kind::copy:
      all.copies += 1;
      break;
    case LaunchEvent::Kind::fence:
      all.fences += 1;
      break;
    }
  }
  return all;
}

} // namespace nunatak
