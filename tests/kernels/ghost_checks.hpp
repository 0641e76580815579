// One check of the ghost exchange for every kind of Ranks: fill owned cells with their global
// index, exchange, look at every ghost. Three arrays of different types travel together.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "tests/kernels/cells.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

namespace nunatak {

inline std::int64_t expected_cell(const Decomposition& d, int gj, int gi) {
  const auto fold = [](int g, int M, bool periodic) {
    return periodic ? (g + M) % M : g < 0 ? 0 : g >= M ? M - 1 : g;
  };
  return static_cast<std::int64_t>(fold(gj, d.My, d.periodic_y)) * d.Mx +
         fold(gi, d.Mx, d.periodic_x);
}

/// f(d) with each periodicity: none, x, y, both.
template <class F> void with_each_periodicity(Decomposition d, const F& f) {
  for (int periodic = 0; periodic < 4; ++periodic) {
    d.periodic_x = (periodic & 1) != 0;
    d.periodic_y = (periodic & 2) != 0;
    f(d);
  }
}

inline void check_ghosts(Ranks& ranks) {
  const int Mz = 3;
  std::vector<Array2<std::int64_t>> a;
  std::vector<Array2<int>> b;
  std::vector<Array3<double>> c;
  std::vector<std::vector<Ghosted>> all;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    a.push_back(make_array<std::int64_t>("a", p));
    b.push_back(make_array<int>("b", p));
    c.push_back(make_columns<double>("c", p, Mz));
    for (const auto& [j, i] : cells_of(p)) {
      a[r](j, i) = p.cell(j, i);
      b[r](j, i) = static_cast<int>(2 * p.cell(j, i));
      for (int k = 0; k < Mz; ++k) c[r](j, i, k) = static_cast<double>(p.cell(j, i)) + 0.25 * k;
    }
    all.push_back({a[r], b[r], c[r]});
  }
  ranks.update_ghosts(all);
  int wrong = 0;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    for (const auto& [j, i] : cells_and_ghosts_of(p)) {
      const std::int64_t n = expected_cell(ranks.decomposition(), p.global_j(j), p.global_i(i));
      const auto see = [&, j = j, i = i](const char* array, double expected, double found) {
        if (found == expected || wrong++ > 0) return;
        const std::string side = std::string(j == 0     ? "south"
                                             : j > p.ym ? "north"
                                                        : "") +
                                 (i == 0     ? "west"
                                  : i > p.xm ? "east"
                                             : "");
        FAIL_CHECK("rank " << owner_of(ranks.decomposition(), p.ys, p.xs) << ", "
                           << (side.empty() ? "owned cell" : "ghost in the " + side) << " (j " << j
                           << ", i " << i << "), array of " << array << ": expected " << expected
                           << ", found " << found); // the first one
      };
      see("64-bit integers", static_cast<double>(n), static_cast<double>(a[r](j, i)));
      see("integers", 2.0 * static_cast<double>(n), b[r](j, i));
      for (int k = 0; k < Mz; ++k) see("doubles", static_cast<double>(n) + 0.25 * k, c[r](j, i, k));
    }
  }
}

} // namespace nunatak
