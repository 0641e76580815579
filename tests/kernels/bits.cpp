// The bits of the kernels: three hybrid steps of a small ice sheet, all parts of the model, on one
// rank and on six virtual ones, and a hash of every field after them. The same on every processor,
// compiler and vector width, unless something is fused, reordered or of libm. With FILE also the
// distances on a disc by every solver, on one rank and on six.
//
//   bits FILE          compares with the hashes of FILE (tests/kernels/bits.txt); status 4: this
//                      processor lacks what the program was compiled for
//   bits FILE loops    the same with ghosts that loops exchange and the geometry of PICO by loops,
//                      as on a GPU
//   bits               prints them: the new bits.txt when the equations have changed on purpose
#include "kernels/distance/distance.hpp"
#include "perf/launches.hpp"
#include "sheet.hpp"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace nunatak {
namespace {

template <class T> std::uint64_t bits_of(T x) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  return Kokkos::bit_cast<Bits>(x);
}

/// A hash of the owned cells, whatever the cut. Zeros of both signs count as one.
template <class A> std::uint64_t hash(const Patch& p, const A& field) {
  const auto a = on_host(field);
  std::uint64_t sum = 0;
  const std::size_t width = a.extent(2);
  for (const auto& [j, i] : cells_of(p)) {
    for (std::size_t k = 0; k < width; ++k) {
      const auto x = a.access(j, i, k);
      const std::uint64_t key = static_cast<std::uint64_t>(p.cell(j, i)) * width + k;
      sum += hash64((x == 0 ? 0 : bits_of(x)) ^ hash64(key));
    }
  }
  return sum;
}

std::map<std::string, std::uint64_t> hashes(const Sheet& sheet) {
  Kokkos::fence();
  std::map<std::string, std::uint64_t> all;
  for (int n = 0; n < sheet.ranks.local_size(); ++n) {
    const auto add = [&](const char* name, const auto& field) {
      all[name] += hash(sheet.ranks.patch(n), field);
    };
    const State& s = sheet.hybrid->state(n);
    const Flow& f = sheet.hybrid->flow(n);
    const PicoFields& o = sheet.hybrid->ocean(n);
    add("thickness", s.thk), add("surface", s.usurf), add("mask", s.mask),
        add("temperature", s.temp);
    add("sliding u", s.u_ssa), add("sliding v", s.v_ssa), add("hardness", f.hardav),
        add("yield stress", f.tauc);
    add("flux of the SIA x", f.q_x), add("flux of the SIA y", f.q_y),
        add("velocity u", f.velocity.u);
    add("velocity v", f.velocity.v), add("velocity w", f.w),
        add("strain heating", f.velocity.heating);
    add("PICO: distance", o.distance_gl), add("PICO: boxes", o.box_mask), add("PICO: melt", o.melt);
  }
  return all;
}

bool processor_has_it() {
#ifdef __AVX2__
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

/// Distances of a disc from its border on one rank and on six, by every solver.
bool solvers_agree() {
  const auto distances = [](const std::string& name, int px, int py) {
    VirtualRanks ranks(Decomposition::make(31, 29, px, py));
    DistanceFields fields(1);
    for (const int r : ranks.locals()) {
      const Patch p = ranks.patch(r);
      fields[0].push_back(shared_array<int>("disc", p));
      Kokkos::fence();
      for (const auto& [j, i] : cells_of(p)) {
        const int x = p.global_i(i) - 15, y = p.global_j(j) - 14, r2 = x * x + y * y;
        fields[0].back()(j, i) = r2 > 169 ? -1 : r2 > 121 ? 1 : 0;
      }
    }
    Distances(ranks, name).solve({fields});
    Kokkos::fence();
    std::uint64_t sum = 0;
    for (const int r : ranks.locals()) sum += hash(ranks.patch(r), fields[0][r]);
    return sum;
  };
  bool agree = true;
  const std::uint64_t steps = distances("bfs", 1, 1);
  for (const DistanceSolver& solver : distance_solvers()) {
    const std::uint64_t of_one = distances(solver.name, 1, 1);
    if (distances(solver.name, 3, 2) == of_one && (of_one == steps || !solver.counts_steps))
      continue;
    std::cout << "distances by " << solver.name << " differ\n";
    agree = false;
  }
  return agree;
}

int run(const char* expected_file, Halo halo) {
  Sheet one(1, 1, halo), six(3, 2, halo);
  auto counter = std::make_unique<LaunchCounter>();
  one.step();
  const Launches counts = counter->counts();
  counter.reset();
  six.step();
  for (int n = 1; n < 3; ++n) one.step(), six.step();
  if (!loops_on_host) {
    std::cout << counts.all_loops() << " launches, " << counts.all_waits() << " waits from rest\n";
    if (counts.all_loops() > 327 || counts.all_waits() > 58)
      return 1; // on a GPU they are what a step takes; a change that needs fewer lowers the limits
  }
  const auto of_one = hashes(one);
  if (hashes(six) != of_one) {
    std::cout << "one rank and six differ\n";
    return 1;
  }
  std::ostringstream found;
  for (const auto& [name, bits] : of_one) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(bits));
    found << digits << "  " << name << '\n';
  }
  if (expected_file == nullptr) {
    std::cout << found.str();
    return 0;
  }
  std::ifstream file(expected_file);
  std::istringstream lines(found.str());
  std::string expected, line;
  int different = 0;
  while (std::getline(lines, line)) {
    if (std::getline(file, expected) && line == expected) continue;
    std::cout << "expected " << expected << "\nfound    " << line << '\n';
    different += 1;
  }
  std::cout << different << " fields differ from " << expected_file << '\n';
  return different == 0 && solvers_agree() ? 0 : 1;
}

} // namespace
} // namespace nunatak

int main(int argc, char** argv) {
  if (!nunatak::processor_has_it()) return 4;
  const Kokkos::ScopeGuard guard(argc, argv);
  const bool loops = argc > 2 && std::string(argv[2]) == "loops";
  return nunatak::run(argc > 1 ? argv[1] : nullptr,
                      loops ? nunatak::Halo::loops : nunatak::default_halo);
}
