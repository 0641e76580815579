// libnunatak_launches.so: what costs a GPU time besides memory, by the program's own parts:
// launches of loops, and waits of the host for them (fences, among them those of copies and
// reductions). A tool of Kokkos, for any program that uses it:
//
//   KOKKOS_TOOLS_LIBS=libnunatak_launches.so nunatak-step -grid_dx 16km
//
// At the end the first process prints its numbers to standard error. With NUNATAK_LAUNCHES=FILE it
// writes them as a CSV instead, by the labels of loops and the reasons of waits:
//
//   part,what,label,count
//   "stress balance: SSA",launch,"multigrid: step",160
//
// A part is the innermost region; "" outside. They are those of a GPU in a build for one or, on a
// CPU, with -DNUNATAK_DEVICE_MEMORY=ON. launches.hpp counts the same inside a program.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace {

using Key = std::tuple<std::string, std::string, std::string>; // part, what, label

std::vector<std::string> parts = {""};                       ///< open regions
std::vector<std::string> order;                              ///< of first launch or wait
std::map<std::uint32_t, std::map<Key, std::int64_t>> counts; ///< by the kind of device

void add(const char* what, const char* label, std::uint32_t device) {
  constexpr int place_of_kind = 24; // of Kokkos' ExecutionSpaceIdentifier, below: device, instance
  const std::uint32_t kind = device >> place_of_kind;
  if (std::find(order.begin(), order.end(), parts.back()) == order.end())
    order.push_back(parts.back());
  counts[kind][{parts.back(), what, label}] += 1;
}

/// The launches on the kind of device that runs the loops, most of what there is.
std::map<Key, std::int64_t> found() {
  std::map<Key, std::int64_t> most;
  std::int64_t launches = 0;
  for (const auto& [kind, all] : counts) {
    std::int64_t sum = 0;
    for (const auto& [key, count] : all) sum += std::get<1>(key) == "launch" ? count : 0;
    if (sum > launches) most = all, launches = sum;
  }
  return most;
}

/// One process is counted: that of rank 0, or the only one.
bool is_first() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* const rank = std::getenv(name);
    if (rank != nullptr) return std::strcmp(rank, "0") == 0;
  }
  return true;
}

void print_table(const std::map<Key, std::int64_t>& found) {
  std::fprintf(stderr, "\n%-40s %10s %10s\n", "part", "launches", "waits");
  std::int64_t all[2] = {0, 0};
  for (const std::string& part : order) {
    std::int64_t sums[2] = {0, 0};
    for (const auto& [key, count] : found) {
      if (std::get<0>(key) == part) sums[std::get<1>(key) == "wait" ? 1 : 0] += count;
    }
    std::fprintf(stderr, "%-40s %10lld %10lld\n", part.empty() ? "outside" : part.c_str(),
                 static_cast<long long>(sums[0]), static_cast<long long>(sums[1]));
    for (const int n : {0, 1}) all[n] += sums[n];
  }
  std::fprintf(stderr, "%-40s %10lld %10lld\n", "all", static_cast<long long>(all[0]),
               static_cast<long long>(all[1]));
}

void write_csv(const char* path, const std::map<Key, std::int64_t>& found) {
  std::FILE* const file = std::fopen(path, "w");
  if (file != nullptr) std::fprintf(file, "part,what,label,count\n");
  for (const auto& [key, count] : found) {
    const auto& [part, what, label] = key;
    if (file != nullptr)
      std::fprintf(file, "\"%s\",%s,\"%s\",%lld\n", part.c_str(), what.c_str(), label.c_str(),
                   static_cast<long long>(count));
  }
  if (file == nullptr || std::ferror(file) != 0 || std::fclose(file) != 0)
    std::fprintf(stderr, "libnunatak_launches.so: cannot write '%s': %s\n", path,
                 std::strerror(errno));
}

} // namespace

/// The names that Kokkos looks for.
extern "C" {
struct Kokkos_Tools_ToolSettings {
  bool requires_global_fencing;
  bool padding[255];
};
void kokkosp_request_tool_settings(const std::uint32_t /*settings*/,
                                   Kokkos_Tools_ToolSettings* settings) {
  settings->requires_global_fencing = false; // fences of the program alone
}
void kokkosp_init_library(const int /*place*/, const std::uint64_t /*version*/,
                          const std::uint32_t /*devices*/, void* /*device*/) {}
void kokkosp_finalize_library() {
  const char* const path = std::getenv("NUNATAK_LAUNCHES");
  if (!is_first()) return;
  path == nullptr ? print_table(found()) : write_csv(path, found());
}
void kokkosp_begin_parallel_for(const char* label, std::uint32_t device, std::uint64_t*) {
  add("launch", label, device);
}
void kokkosp_begin_parallel_reduce(const char* label, std::uint32_t device, std::uint64_t*) {
  add("launch", label, device);
}
void kokkosp_begin_parallel_scan(const char* label, std::uint32_t device, std::uint64_t*) {
  add("launch", label, device);
}
void kokkosp_begin_fence(const char* label, std::uint32_t device, std::uint64_t*) {
  add("wait", label, device);
}
void kokkosp_push_profile_region(const char* part) { parts.emplace_back(part); }
void kokkosp_pop_profile_region() {
  if (parts.size() > 1) parts.pop_back();
}
}
