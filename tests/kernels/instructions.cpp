// For callgrind: two hybrid steps of a small ice sheet, and of the loops of the second one a dump
// of the counts after each, under the loop's label. Run by instructions.py. Prints what the counts
// depend on: compiler, and whether there is AVX2 to choose.
#include "sheet.hpp"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_TOGGLE_COLLECT
#define CALLGRIND_DUMP_STATS_AT(label)
#endif

#include <iostream>
#include <string>

namespace {

std::string label;
void begin(const char* name, std::uint32_t, std::uint64_t*) {
  label = name;
  CALLGRIND_TOGGLE_COLLECT; // on: it begins switched off
}
void end(std::uint64_t) {
  CALLGRIND_TOGGLE_COLLECT;
  CALLGRIND_DUMP_STATS_AT(label.c_str());
}

std::string compiler() {
#if defined(__clang__)
  return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__);
#elif defined(__GNUC__)
  return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__);
#else
  return "another compiler";
#endif
}

bool has_avx2() {
#if defined(__GNUC__) && defined(__x86_64__)
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}

} // namespace

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard guard(argc, argv);
  std::cout << compiler() << (has_avx2() ? ", AVX2" : "") << std::endl;
  nunatak::Sheet sheet(1, 1);
  sheet.step();
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(begin);
  tools::set_begin_parallel_reduce_callback(begin);
  tools::set_end_parallel_for_callback(end);
  tools::set_end_parallel_reduce_callback(end);
  sheet.step();
  tools::pause_tools();
}
