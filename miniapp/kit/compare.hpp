// Differences between two fields of a grid: counted, located and tabled.
//
//   field       cells  different  largest difference
//   distance    20401          3                   2
//
//   distance: 3 of 20401 cells differ
//     row 0, column 7 (x = 7 km, y = 0 km): expected 8, found 9
//     row 0, column 8 (x = 8 km, y = 0 km): expected 9, found 10
//     row 4, column 1 (x = 1 km, y = 4 km): expected 71, found 73
//
// Neighbours: tool.cpp (answers of solvers), corpus.cpp (files of answers), nunatak_check.cpp.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "miniapp/base/records.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::kit {

/// Values of all grid cells in raster order; NaN where missing.
using GridValues = std::vector<double>;

struct MapGrid {
  int Mx = 0, My = 0;
  std::vector<double> x, y; ///< cell coordinates, m; empty if unknown
};

struct WrongCell {
  std::int64_t cell = 0; ///< in raster order
  double expected = 0.0, found = 0.0;
};

/// The differences of one field.
struct FieldDifference {
  std::string name;
  std::int64_t compared = 0; ///< cells
  std::vector<WrongCell> wrong = {};

  double largest() const; ///< |found - expected|; NaN if a value is missing
  /// A table row: name, numbers of cells, largest difference, and the first wrong cell.
  Record record(const MapGrid& grid) const;
};

/// Cells where `where` is 0 are skipped (empty: none). Equal: |found - expected| <= tolerance
/// (|found| + small), or the same number for a tolerance of 0. A missing value differs. Local.
template <class Values>
FieldDifference compare(const std::string& name, const Values& expected, const Values& found,
                        const GridValues& where = {}, double tolerance = 0.0, double small = 0.0) {
  FieldDifference result{name};
  for (std::size_t n = 0; n < expected.size(); ++n) {
    if (!where.empty() && where[n] == 0.0) continue;
    const auto a = static_cast<double>(expected[n]), b = static_cast<double>(found[n]);
    result.compared += 1;
    if (std::fabs(b - a) <= tolerance * (std::fabs(b) + small)) continue; // false for NaN
    result.wrong.push_back({static_cast<std::int64_t>(n), a, b});
  }
  return result;
}

/// value(r, j, i) of every cell of the grid on all ranks; r: local rank that owns it. Collective.
template <class T = double, class F> std::vector<T> gathered(Ranks& ranks, const F& value) {
  std::vector<std::vector<std::int64_t>> mine;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    mine.emplace_back();
    for_each_owned(p, [&](int j, int i) {
      mine.back().push_back(Kokkos::bit_cast<std::int64_t>(
          static_cast<double>(value(static_cast<std::size_t>(r), j, i))));
    });
  }
  const std::vector<std::int64_t> all = ranks.gather_all(mine);
  const Decomposition& d = ranks.decomposition();
  std::vector<T> values(all.size());
  auto next = all.begin();
  for (int rank = 0; rank < d.size(); ++rank) {
    const Patch p = d.patch(rank);
    for_each_owned(p, [&](int j, int i) {
      values[static_cast<std::size_t>(p.cell(j, i))] =
          static_cast<T>(Kokkos::bit_cast<double>(*next++));
    });
  }
  return values;
}

/// `ours` renumbered like `theirs`: pairs with most common cells match first; others get a new
/// number; 0 stays 0. The partitions are equal if the result equals `theirs`.
GridValues with_numbers_of(const GridValues& ours, const GridValues& theirs);

/// "row 0, column 7 (x = 7 km, y = 0 km): expected 8, found 9", with as many digits, at least 4, as
/// tell both numbers apart; "none" for NaN.
std::string located(const WrongCell& cell, const MapGrid& grid);

/// The lines below the table for one field that differs, each after `indent`.
std::string details(const FieldDifference& difference, const MapGrid& grid,
                    const std::string& indent = "");
/// The table, and the details of the fields that differ.
void print_differences(std::ostream& out, const std::vector<FieldDifference>& fields,
                       const MapGrid& grid);

} // namespace nunatak::kit
