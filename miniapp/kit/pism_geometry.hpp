// The geometry of PICO as PISM 2.3.2 computes it, with its behaviours one by one: to tell a file of
// PISM that differs because of them from one that is wrong otherwise. Serial, on whole grids in
// raster order, on every rank. Written from descriptions; contains no code of PISM. docs/pism.md
// has an example of each. Neighbours: check_pico.hpp (uses it), kernels/pico (the other method).
#pragma once

#include "kernels/grid/patch.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/pico/options.hpp"
#include "kernels/pico/shelves.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace nunatak::kit {

/// What PISM 2.3.2 does otherwise than physics and paper; bits, so that each can be left out.
///
/// lost_labels: equivalences of labels are lost. A row is scanned from left to right; a run of
/// cells has a current label L, at first a new one; T is the label of the run above a cell. T < L:
/// table[L] = T unless L is new, then L = T; T > L: table[T] = L. The table is written at the
/// labels, not at the roots of their trees, so that the previous entry is lost:
///
///   1000002     The first run of the last row records that 3 is 1, the second one that 3 is 2. One
///   1033302     component becomes two: 1 is alone. This happens within patches, not across their
///   3330222     boundaries, so that the result depends on the ranks.
///
enum PismBehaviour : unsigned {
  lost_labels = 1,
  saturation = 2,   ///< a neighbour counts for 2 max(Mx, My) at most: no distance exceeds that + 1
  lake_shelves = 4, ///< what is no shelf is divided over basins, too: lakes with ocean in them
  wrapping = 8,     ///< cells on opposite edges are neighbours: for seeds, fronts, and one step
  basin_0 = 16,     ///< basin 0 may be the main basin of a shelf, without adjacent ones
  icy_contshelf = 32, ///< pico_contshelf_mask is 1 on ice, too
  rounded_boxes = 64, ///< ties between boxes are decided by rounding
  no_water = 128,     ///< water of 0 K and 0 g kg-1 enters shelves without a front
  all_of_pism = 255
};

constexpr std::pair<unsigned, const char*> pism_behaviours[] = {
    {lost_labels, "labels that lose equivalences"},
    {saturation, "distances that saturate"},
    {lake_shelves, "lakes that become shelves"},
    {wrapping, "neighbours across the edge of the grid"},
    {basin_0, "basin 0 as a main basin"},
    {icy_contshelf, "continental shelf below ice"},
    {rounded_boxes, "ties between boxes that are rounded"},
    {no_water, "shelves without a front and without water"}};

using Raster = std::vector<int>;

struct PismGeometry {
  Raster ice_rise, ocean, lake, contshelf, shelf, distance_gl, distance_cf, box; // pico_..._mask
  pico::ShelfTable table;
};

struct PismGrid {
  const Decomposition& d;
  bool lost_labels;

  int cells() const { return d.Mx * d.My; }

  /// True if f(m) is, for any neighbour m of cell n: 4, or 8 with `corners`; with `wrap` also those
  /// on the opposite edge. f is called until then.
  template <class F> bool any_near(int n, bool corners, bool wrap, const F& f) const {
    const int j = n / d.Mx, i = n % d.Mx;
    for (int dj = -1; dj <= 1; ++dj) {
      for (int di = -1; di <= 1; ++di) {
        if ((dj == 0 && di == 0) || (dj != 0 && di != 0 && !corners)) continue;
        const bool inside = j + dj >= 0 && j + dj < d.My && i + di >= 0 && i + di < d.Mx;
        if (!inside && !wrap) continue;
        if (f((j + dj + d.My) % d.My * d.Mx + (i + di + d.Mx) % d.Mx)) return true;
      }
    }
    return false;
  }
  bool on_edge(int n) const {
    return n / d.Mx == 0 || n / d.Mx == d.My - 1 || n % d.Mx == 0 || n % d.Mx == d.Mx - 1;
  }

  /// Components of cells with inside(n), by patches and then across their boundaries: -1 outside,
  /// 0 if attached(m) is true for any cell m of it, else a number.
  template <class Inside, class Attached>
  Raster components(const Inside& inside, const Attached& attached) const {
    Raster label(static_cast<std::size_t>(cells()), -1);
    std::vector<int> table{0};
    const auto root = [&](int l) {
      while (table[l] != l) l = table[l];
      return l;
    };
    const auto join = [&](int a, int b) {
      const int A = root(a), B = root(b);
      table[std::max(A, B)] = std::min(A, B);
    };
    for (int rank = 0; rank < d.size(); ++rank) {
      const Patch p = d.patch(rank);
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) {
          if (!inside(p.cell(j, i))) continue;
          const int first = i;
          int L = -1; // new
          for (; i <= p.xm && inside(p.cell(j, i)); ++i) {
            for (const int T :
                 {attached(p.cell(j, i)) ? 0 : -1, j > 1 ? label[p.cell(j - 1, i)] : -1}) {
              if (T < 0 || T == L) continue;
              if (L >= 0 && lost_labels) table[std::max(L, T)] = std::min(L, T);
              if (L >= 0 && !lost_labels) join(L, T);
              L = L < 0 ? T : std::min(L, T);
            }
          }
          if (L < 0) {
            L = static_cast<int>(table.size());
            table.push_back(L);
          }
          std::fill_n(label.begin() + p.cell(j, first), i - first, L);
        }
      }
    }
    for (int& l : table) l = root(l); // the lost equivalences stay lost
    for (int n = 0; n < cells(); ++n) {
      for (const int m : {n % d.Mx > 0 ? n - 1 : n, n / d.Mx > 0 ? n - d.Mx : n}) {
        if (label[n] >= 0 && label[m] >= 0 && rank_of(n) != rank_of(m)) join(label[n], label[m]);
      }
    }
    for (int& l : label) l = l < 0 ? l : root(l);
    return label;
  }

  int rank_of(int n) const {
    const auto part = [](const std::vector<int>& starts, int at) {
      return std::upper_bound(starts.begin(), starts.end(), at) - starts.begin();
    };
    return static_cast<int>(part(d.y, n / d.Mx) * d.px + part(d.x, n % d.Mx));
  }
};

inline std::vector<int> sizes(const Raster& components) {
  std::vector<int> size(1, 0);
  for (const int c : components) {
    if (c >= static_cast<int>(size.size())) size.resize(static_cast<std::size_t>(c) + 1);
    if (c >= 0) size[c] += 1;
  }
  return size;
}

/// Steps from the seeds, which have 1, within the domain; 0 where there is no path, -1 outside.
template <class Inside, class Seed>
Raster distances(const PismGrid& g, const Inside& inside, const Seed& seed, unsigned behaviours) {
  Raster d(static_cast<std::size_t>(g.cells()), -1);
  std::vector<int> queue;
  for (int n = 0; n < g.cells(); ++n) {
    if (!inside(n)) continue;
    d[n] = seed(n) ? 1 : 0;
    if (d[n] == 1) queue.push_back(n);
  }
  const std::size_t seeds = queue.size();
  for (std::size_t at = 0; at < queue.size(); ++at) {
    // the first step alone may leave the grid and enter it on the other side
    const bool wraps = (behaviours & wrapping) != 0 && at < seeds;
    g.any_near(queue[at], false, wraps, [&](int m) {
      if (d[m] == 0) {
        d[m] = d[queue[at]] + 1;
        queue.push_back(m);
      }
      return false;
    });
  }
  const int most = 2 * std::max(g.d.Mx, g.d.My) + 1;
  if (behaviours & saturation)
    for (int& v : d) v = std::min(v, most);
  return d;
}

/// Box with the largest k of those where (n - k)/n <= (1 - r)^2 <= (n - k + 1)/n, in floating
/// point.
inline int rounded_box(int d_gl, int d_cf, int n) {
  if (d_gl <= 0 || d_cf <= 0) return 0;
  const double r = d_gl / static_cast<double>(d_gl + d_cf), C = std::pow(1.0 - r, 2.0);
  int k = n;
  while (k > 1 &&
         !((n - k) / static_cast<double>(n) <= C && C <= (n - k + 1) / static_cast<double>(n)))
    --k;
  return std::min(d_gl, k);
}

/// Cells and fronts of each (shelf, basin), those of no shelf included.
inline pico::ShelfTable count(const Raster& shelf, const Raster& basins, const Raster& front) {
  pico::ShelfTable table;
  table.reset(*std::max_element(shelf.begin(), shelf.end()),
              *std::max_element(basins.begin(), basins.end()));
  for (std::size_t n = 0; n < shelf.size(); ++n) {
    table.cells[table.at(shelf[n], basins[n])] += 1;
    table.front_cells[table.at(shelf[n], basins[n])] += front[n];
  }
  return table;
}

/// The number of the part of shelf s in basin b: shelf_of[table.at(s, b)].
inline std::vector<int> divide(const pico::ShelfTable& table, const std::vector<char>& adjacent,
                               unsigned behaviours) {
  std::vector<int> shelf_of(table.cells.size());
  int shelves = table.shelves;
  for (int s = 0; s <= table.shelves; ++s) {
    int main = behaviours & basin_0 ? 0 : std::min(1, table.basins);
    for (int b = main; b <= table.basins; ++b)
      if (table.cells[table.at(s, b)] > table.cells[table.at(s, main)]) main = b;
    for (int b = 0; b <= table.basins; ++b) {
      const bool split = b > 0 && b != main && adjacent[b * (table.basins + 1) + main] == 0 &&
                         table.front_cells[table.at(s, b)] > 0 &&
                         (s > 0 || (behaviours & lake_shelves) != 0);
      shelf_of[table.at(s, b)] = split ? ++shelves : s;
    }
  }
  return shelf_of;
}

inline void number_boxes(PismGeometry& g, const PicoOptions& options, unsigned behaviours) {
  std::vector<int> largest(static_cast<std::size_t>(g.table.shelves) + 1, 0);
  for (std::size_t n = 0; n < g.shelf.size(); ++n)
    if (g.shelf[n] > 0) largest[g.shelf[n]] = std::max(largest[g.shelf[n]], g.distance_gl[n]);
  const int d_max = *std::max_element(largest.begin(), largest.end());
  for (std::size_t n = 0; n < g.shelf.size(); ++n) {
    const int boxes = pico::number_of_boxes(largest[g.shelf[n]], d_max, options.boxes);
    if (g.shelf[n] == 0) continue;
    g.box[n] = behaviours & rounded_boxes ? rounded_box(g.distance_gl[n], g.distance_cf[n], boxes)
                                          : pico::box_of(g.distance_gl[n], g.distance_cf[n], boxes);
  }
}

/// From cell types (ice/geometry.hpp), basins, and 1 where the bed is above the depth of the
/// continental shelf. `d`: of PISM's run. `behaviours`: bits; 0: the answer of kernels/pico.
inline PismGeometry pism_geometry(const Decomposition& d, const Raster& types, const Raster& basins,
                                  const Raster& shallow, double cell_area,
                                  const PicoOptions& options, unsigned behaviours) {
  const PismGrid grid{d, (behaviours & lost_labels) != 0};
  const bool wrap = (behaviours & wrapping) != 0;
  const auto nowhere = [](int) { return false; };
  PismGeometry g;
  for (Raster* a : {&g.ice_rise, &g.ocean, &g.lake, &g.contshelf, &g.shelf, &g.box})
    a->assign(types.size(), 0);
  const auto continental = [&](int n) { return g.ice_rise[n] == 2; };
  const auto is_ocean = [&](int n) { return types[n] == ice_free_ocean; };

  const Raster land = grid.components([&](int n) { return grounded(types[n]); }, nowhere);
  const std::vector<int> land_cells = sizes(land);
  for (int n = 0; n < grid.cells(); ++n) {
    if (types[n] == floating_ice) g.ice_rise[n] = 3;
    if (land[n] >= 0)
      g.ice_rise[n] = options.exclude_ice_rises &&
                              land_cells[land[n]] * cell_area <= options.continental_ice_area
                          ? 1
                          : 2;
  }
  const Raster seas = grid.components(is_ocean, nowhere);
  const std::vector<int> sea_cells = sizes(seas);
  const auto open = std::max_element(sea_cells.begin(), sea_cells.end()) - sea_cells.begin();
  const Raster water = grid.components([&](int n) { return ocean(types[n]); },
                                       [&](int n) { return grid.on_edge(n); });
  const Raster floor =
      grid.components([&](int n) { return shallow[n] != 0 || continental(n); }, continental);
  const auto of_shelf = [&](int n) { return g.ice_rise[n] == 1 || g.ice_rise[n] == 3; };
  const Raster shelves = grid.components(of_shelf, nowhere);
  std::vector<int> number(sizes(shelves).size(), 0);
  int numbered = 0;
  Raster front(types.size(), 0);
  for (int n = 0; n < grid.cells(); ++n) {
    g.ocean[n] = seas[n] < 0 ? 0 : seas[n] == open ? 2 : 1;
    g.lake[n] = water[n] > 0 ? 1 : 0;
    if (floor[n] == 0 && shallow[n] != 0 && is_ocean(n)) g.contshelf[n] = 2;
    if (floor[n] > 0 && (is_ocean(n) || (behaviours & icy_contshelf) != 0)) g.contshelf[n] = 1;
    if (types[n] != floating_ice) continue;
    front[n] = grid.any_near(n, false, wrap, is_ocean) ? 1 : 0;
    if (g.lake[n] != 0) continue;
    int& s = number[shelves[n]];
    s = s == 0 ? ++numbered : s;
    g.shelf[n] = s;
  }

  const auto before = count(g.shelf, basins, front);
  const int stride = before.basins + 1;
  std::vector<char> adjacent(static_cast<std::size_t>(stride) * static_cast<std::size_t>(stride));
  for (int n = 0; n < grid.cells(); ++n) {
    if (!is_ocean(n) || !grid.any_near(n, false, wrap, [&](int m) { return icy(types[m]); }))
      continue;
    grid.any_near(n, false, false, [&](int m) {
      if (is_ocean(m) && basins[n] > 0 && basins[m] > 0)
        adjacent[basins[n] * stride + basins[m]] = adjacent[basins[m] * stride + basins[n]] = 1;
      return false;
    });
  }
  const std::vector<int> shelf_of = divide(before, adjacent, behaviours);
  for (int n = 0; n < grid.cells(); ++n)
    if (types[n] == floating_ice) g.shelf[n] = shelf_of[before.at(g.shelf[n], basins[n])];
  g.table = count(g.shelf, basins, front);
  g.table.dry = (behaviours & no_water) != 0;

  const auto domain = [&](int n) { return of_shelf(n) || g.ocean[n] == 1; };
  g.distance_gl = distances(
      grid, domain, [&](int n) { return grid.any_near(n, true, wrap, continental); }, behaviours);
  g.distance_cf = distances(
      grid, domain,
      [&](int n) { return grid.any_near(n, false, wrap, [&](int m) { return g.ocean[m] == 2; }); },
      behaviours);
  number_boxes(g, options, behaviours);
  return g;
}

} // namespace nunatak::kit
