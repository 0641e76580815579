// Times the Eikonal equation (kernels/distance/eikonal.hpp) on a mask from a file: compare_eikonal.py runs it beside scikit-fmm.
//
//   bench_eikonal MASK Mx My dx dy PX PY DISTANCE
//
// MASK: My rows of Mx bytes: 1 seed, 0 domain, 255 (or -1) outside. dx, dy in m. PX x PY virtual ranks. DISTANCE is written: rows
// of doubles, m, infinity outside and where no seed reaches. Prints JSON: processor time of the second solve, visits of cells,
// rounds.
#include "kernels/distance/eikonal.hpp"
#include "kernels/grid/virtual_ranks.hpp"

#include <Kokkos_Core.hpp>

#include <ctime>
#include <fstream>
#include <iostream>

using namespace nunatak;

namespace {

int positive(const char* name, const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos || std::stoi(text) == 0) {
    throw std::invalid_argument(std::string(name) + ": expected a number from 1 to 999999, found '" + text + "'");
  }
  return std::stoi(text);
}

std::vector<signed char> read_mask(const std::string& name, int Mx, int My) {
  std::vector<signed char> mask(static_cast<std::size_t>(Mx) * static_cast<std::size_t>(My));
  std::ifstream file(name, std::ios::binary | std::ios::ate);
  const auto bytes = file ? static_cast<std::int64_t>(file.tellg()) : -1;
  if (bytes != static_cast<std::int64_t>(mask.size())) {
    throw std::runtime_error("mask '" + name + "': expected a file of " + std::to_string(mask.size()) + " bytes, found " +
                             (bytes < 0 ? "none" : std::to_string(bytes)));
  }
  file.seekg(0);
  file.read(reinterpret_cast<char*>(mask.data()), bytes);
  return mask;
}

void run(const std::vector<std::string>& a) {
  if (a.size() != 8) throw std::invalid_argument("expected 8 arguments: MASK Mx My dx dy PX PY DISTANCE");
  const int Mx = positive("Mx", a[1]), My = positive("My", a[2]);
  VirtualRanks ranks(Decomposition::make(Mx, My, positive("PX", a[5]), positive("PY", a[6])));
  const std::vector<signed char> mask = read_mask(a[0], Mx, My);
  DistanceFields start(1);
  MetreFields metres(1);
  const auto for_each = [&](int r, const auto& f) {
    const Patch p = ranks.patch(r);
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) f(static_cast<std::size_t>(p.cell(j, i)), j, i);
    }
  };
  for (int r = 0; r < ranks.local_size(); ++r) {
    start[0].push_back(make_array<int>("start", ranks.patch(r)));
    metres[0].push_back(make_array<double>("metres", ranks.patch(r)));
    for_each(r, [&](std::size_t cell, int j, int i) { start[0][r](j, i) = mask[cell]; });
  }
  double seconds = 0.0;
  DistanceReport report;
  for (int n = 0; n < 2; ++n) {
    const std::clock_t begin = std::clock();
    report = solve_eikonal(ranks, std::stod(a[3]), std::stod(a[4]), start, metres);
    seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  }
  std::vector<double> all(mask.size());
  for (int r = 0; r < ranks.local_size(); ++r) {
    for_each(r, [&](std::size_t cell, int j, int i) { all[cell] = metres[0][r](j, i); });
  }
  std::ofstream file(a[7], std::ios::binary);
  file.write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(double)));
  if (!file.flush()) throw std::runtime_error("distance '" + a[7] + "': expected to write it, found that this failed");
  std::cout << "{\"seconds\": " << seconds << ", \"visits\": " << ranks.traffic().work / 2 << ", \"rounds\": " << report.rounds
            << "}\n";
}

} // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  try {
    run(std::vector<std::string>(argv + 1, argv + argc));
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "bench_eikonal: " << e.what() << '\n';
    return 1;
  }
}
