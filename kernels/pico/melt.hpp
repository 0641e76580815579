// The physics of PICO on all shelves: basin means, shelf inputs, boxes one after the other, melt.
//
//   sum (i)   per basin: T, S, cells of continental shelf          -> T0, S0 of each shelf
//             per (shelf, box): cells, p
//   sum (ii)  per (shelf, box): T of box 1 and of fallback cells   -> means of T and S of every
//             per shelf: x = T0 - T1 over box 1                       box, q
//
// Two sums suffice: T and S of box k >= 2 are affine in p, so that their means follow from the mean
// of p, and so does the total melt, which is affine in T, S and p. All sums are exact (FixedSum)
// and means are divided once, after the sum: the same bits on every decomposition.
//
// Reese et al. (2018), The Cryosphere 12, 1969. Formulas: physics.hpp; boxes: geometry.hpp.
#pragma once

#include "kernels/grid/sums.hpp"
#include "kernels/pico/geometry.hpp"
#include "kernels/pico/one_by_one.hpp"
#include "kernels/pico/shelf_water.hpp"

namespace nunatak::pico {

constexpr double largest_term = 1e5; ///< in m, K, g kg-1; within the range of FixedSum

KOKKOS_INLINE_FUNCTION double usable(double value, std::int64_t& bad) {
  const bool good = std::fabs(value) < largest_term; // false for NaN
  if (!good) bad += 1;
  return good ? value : 0.0;
}

/// Continental shelf, per basin: cells, T, S. `bad`: invalid values. Does nothing if *changed.
inline void add_sea(const LocalShelves& local, const PicoInput& in, const int* changed,
                    std::int64_t* sums, std::int64_t* bad) {
  const double *T = in.theta.data(), *S = in.salt.data();
  const int* basin = in.basins.data();
  const std::pair<int, int>* ranges = local.sea.data();
  const int last = static_cast<int>(local.sea.size()) - 1;
  for_each_place(
      "pico: continental shelf", local.sea, KOKKOS_LAMBDA(int r) {
        if (changed != nullptr && *changed != 0) return;
        const std::pair<int, int> range = ranges[r], next = ranges[r + 4 <= last ? r + 4 : r];
        prefetch(T + next.first, next.second - next.first);
        prefetch(S + next.first, next.second - next.first);
        prefetch(basin + next.first, next.second - next.first);
        std::int64_t unusable = 0;
        for (int c = range.first; c < range.second;) {
          const int here = basin[c], first = c;
          FixedSum sum_T, sum_S;
          for (; c < range.second && basin[c] == here; ++c) {
            if (here == 0) continue;
            sum_T.add(usable(T[c], unusable));
            sum_S.add(usable(S[c], unusable));
          }
          std::int64_t* at = sums + 5 * here;
          put(c - first, at);
          put(sum_T, at + 1);
          put(sum_S, at + 3);
        }
        put(unusable, bad);
      });
}

/// Shelf cells: pressures; per (shelf, box): cells, p. `bad` and `changed` as above.
inline void add_pressures(const LocalShelves& local, const Array2<double>& H, const int* changed,
                          ShelfCells& cells, std::int64_t* sums, std::int64_t* bad) {
  const int* cell = local.cell.data();
  const double* thk = H.data();
  const int cells_here = static_cast<int>(local.cell.size());
  double* p = cells.p.data();
  for_each_in(
      "pico: pressures", cells.runs, KOKKOS_LAMBDA(const Run& run) {
        if (changed != nullptr && *changed != 0) return;
        FixedSum sum;
        std::int64_t unusable = 0;
        for (int n = run.first; n < run.end; ++n) {
          prefetch(thk + cell_ahead(cell, n, cells_here));
          p[n] = base_pressure(usable(thk[cell[n]], unusable));
          sum.add(p[n]);
        }
        std::int64_t* at = sums + 3 * run.slot;
        put(run.end - run.first, at);
        put(sum, at + 1);
        put(unusable, bad);
      });
}

/// Cooling x; sum (ii): [warnings; per (shelf, box): T, T; per shelf from `x_at` on: x, x].
inline void add_box_one(ShelfCells& cells, const List<BoxWater>& of_slots, double C,
                        std::size_t x_at) {
  const BoxWater* water = of_slots.data();
  const double* p = cells.p.data();
  double* x = cells.x.data();
  std::int64_t* sums = cells.sums.data();
  for_each_in(
      "pico: box 1", cells.runs, KOKKOS_LAMBDA(const Run& run) {
        const BoxWater w = water[run.slot];
        if (run.box != 1 && !w.fallback) return;
        FixedSum sum_x, sum_T;
        std::int64_t warned = 0;
        for (int n = run.first; n < run.end; ++n) {
          const double T0 = clip_T0(w.T0, w.S0, p[n]);
          double T = T0;
          if (run.box == 1) {
            const BoxOne one = box_one(w.g1, C, T0, w.S0, p[n]);
            x[n] = one.x;
            T -= one.x;
            warned += one.warned;
            sum_x.add(one.x);
          }
          sum_T.add(T);
        }
        put(warned, sums);
        put(sum_x, sums + x_at + 2 * run.shelf);
        put(sum_T, sums + 1 + 2 * run.slot);
      });
}

class ShelfMelt {
public:
  ShelfMelt(Ranks& ranks, double dx, double dy, PicoOptions options)
      : m_ranks(ranks), m_cell_area(dx * dy), m_options(options),
        m_cells(static_cast<std::size_t>(ranks.local_size())) {
    options.check();
  }

  /// Writes the fields of floating ice: temperature ... base_temperature. Communicates two sums.
  /// Throws runtime_error on all ranks if H, theta or salt are invalid where they are used.
  void update(const Shelves& shelves, const std::vector<PicoInput>& in,
              std::vector<PicoFields>& out, PicoReport& report) {
    start(shelves, in);
    finish(shelves, in, out, report);
  }

  /// The same in two halves. The first ends with sum (i), which includes changes of the geometry
  /// (`changed[local]` nonzero). Returns false if there is one on any rank, without further effect.
  bool start(const Shelves& shelves, const std::vector<PicoInput>& in,
             const std::vector<Answer>& changed = {}) {
    const FirstSum at{shelves.table.basins, slot(shelves.table.shelves + 1, 0)};
    std::vector<std::vector<std::int64_t>> sums(in.size(), std::vector<std::int64_t>(at.size()));
    for (const int r : m_ranks.locals()) {
      if (changed.empty())
        m_cells[r].set(shelves.local[r].shelf, shelves.local[r].box, m_options.boxes);
      launch_first_sum(shelves.local[r], in[r], at, changed.empty() ? nullptr : changed[r].data(),
                       m_cells[r]);
    }
    Kokkos::fence("pico: first sum");
    for (const int r : m_ranks.locals()) {
      if (changed.empty() || changed[r]() == 0)
        read_first_sum(r, shelves.local[r], sums[r]);
      else
        sums[r][FirstSum::changed_ranks] = 1;
    }
    sum(m_ranks, m_options, ocean_sums, sums);
    if (sums[0][FirstSum::changed_ranks] != 0) return false;
    if (const std::int64_t bad = sums[0][FirstSum::bad_values]; bad != 0) {
      throw std::runtime_error(
          "PICO: thk, theta_ocean, salinity_ocean: expected numbers below 1e5, found " +
          std::to_string(bad) + " values that are not, on shelves or on the continental shelf");
    }
    const Turn turn(m_ranks); // every rank does the same
    average_basins(shelves.table.basins, &sums[0][at.basins()]);
    fill_shelves(shelves.table, &sums[0][at.boxes()]);
    return true;
  }
  void finish(const Shelves& shelves, const std::vector<PicoInput>& in,
              std::vector<PicoFields>& out, PicoReport& report) {
    second_sum(report);
    {
      const Turn turn(m_ranks); // every rank does the same
      follow_boxes(report);
      copy_water();
    }
    for (const int r : m_ranks.locals())
      write_melt(shelves.local[r], m_cells[r], m_of_slots, in[r].H, m_options.gamma_T,
                 m_options.overturning_coefficient, out[r]);
  }

  /// Per shelf (1..n; 0 is unused), after update().
  const std::vector<ShelfWater>& water() const { return m_water; }

private:
  /// Sum (i): bad values; changed ranks; per basin: cells, T, T, S, S; per (shelf, box): cells, p,
  /// p
  struct FirstSum {
    static constexpr std::size_t bad_values = 0, changed_ranks = 1;
    int largest_basin;
    std::size_t slots; ///< (shelf, box)
    static constexpr std::size_t basins() { return 2; }
    std::size_t boxes() const { return basins() + 5 * static_cast<std::size_t>(largest_basin + 1); }
    std::size_t size() const { return boxes() + 3 * slots; }
  };

  static double get(const std::int64_t* at) { return FixedSum{at[0], at[1]}.value(); }
  std::size_t slot(int shelf, int box) const {
    return static_cast<std::size_t>(shelf) * static_cast<std::size_t>(m_options.boxes + 1) +
           static_cast<std::size_t>(box);
  }

  static void launch_first_sum(const LocalShelves& local, const PicoInput& in, const FirstSum& at,
                               const int* changed, ShelfCells& cells) {
    cells.sums.assign(at.size(), 0);
    std::int64_t *all = cells.sums.data(), *bad = all + FirstSum::bad_values;
    add_sea(local, in, changed, all + at.basins(), bad);
    add_pressures(local, in.H, changed, cells, all + at.boxes(), bad);
  }
  void read_first_sum(int r, const LocalShelves& local, std::vector<std::int64_t>& sums) {
    // work of the physics and of two sums
    const auto cells = static_cast<std::int64_t>(local.cell.size());
    m_ranks.work(r, 4 * cells + 3 * local.sea_cells, Work::pico);
    sums.assign(m_cells[r].sums.begin(), m_cells[r].sums.end());
  }

  /// Mean T and S on the continental shelf of each basin, from its part of sum (i).
  void average_basins(int basins, const std::int64_t* sums) {
    m_basin_T.assign(static_cast<std::size_t>(basins) + 1, default_T0);
    m_basin_S.assign(m_basin_T.size(), default_S0);
    for (std::size_t b = 1; b < m_basin_T.size(); ++b) {
      const std::int64_t* at = sums + 5 * b;
      if (at[0] == 0) continue;
      m_basin_T[b] = get(at + 1) / static_cast<double>(at[0]);
      m_basin_S[b] = get(at + 3) / static_cast<double>(at[0]);
    }
  }

  /// T0 and S0 of each shelf; cells and mean pressure of its boxes, from their part of sum (i).
  void fill_shelves(const ShelfTable& table, const std::int64_t* sums) {
    m_water.assign(static_cast<std::size_t>(table.shelves) + 1, ShelfWater{});
    for (int s = 1; s <= table.shelves; ++s) {
      ShelfWater& w = m_water[s];
      mix_basins(table, s, w);
      w.from.resize(static_cast<std::size_t>(m_options.boxes) + 1);
      for (int k = 0; k <= m_options.boxes; ++k) {
        const std::int64_t* at = sums + 3 * slot(s, k);
        w.cells.push_back(at[0]);
        w.mean_p.push_back(at[0] > 0 ? get(at + 1) / static_cast<double>(at[0]) : 0.0);
      }
    }
  }

  /// T0, S0: mean over the basins in which the shelf has front cells, weighted by them, or default.
  void mix_basins(const ShelfTable& table, int s, ShelfWater& w) const {
    double T = 0.0, S = 0.0;
    std::int64_t cells = 0;
    for (int b = 1; b <= table.basins; ++b) {
      if (table.front_cells[table.at(s, b)] == 0) continue;
      const std::int64_t n = table.cells[table.at(s, b)];
      T += static_cast<double>(n) * m_basin_T[b];
      S += static_cast<double>(n) * m_basin_S[b];
      cells += n;
    }
    if (cells == 0 && table.dry) w.T0 = w.S0 = 0.0;
    if (cells == 0) return;
    w.T0 = T / static_cast<double>(cells);
    w.S0 = S / static_cast<double>(cells);
  }

  /// The current water of each (shelf, box), for loops.
  void copy_water() {
    m_of_slots.resize(slot(static_cast<int>(m_water.size()), 0));
    for (int s = 1; s < static_cast<int>(m_water.size()); ++s) {
      const ShelfWater& w = m_water[s];
      for (int k = 0; k <= m_options.boxes; ++k)
        m_of_slots[slot(s, k)] = {w.T0, w.S0, g1(w, 1), w.from[k], w.fallback(k)};
    }
  }

  double g1(const ShelfWater& w, int k) const { // A_k gamma
    return static_cast<double>(w.cells[k]) * m_cell_area * m_options.gamma_T;
  }

  /// Sum (ii), laid out as in add_box_one; then the means of box 1 and of fallback boxes.
  void second_sum(PicoReport& report) {
    const std::size_t n_shelves = m_water.size();
    const std::size_t x_at = 1 + 2 * slot(static_cast<int>(n_shelves), 0);
    copy_water();
    for (const int r : m_ranks.locals()) {
      m_cells[r].sums.assign(x_at + 2 * n_shelves, 0);
      add_box_one(m_cells[r], m_of_slots, m_options.overturning_coefficient, x_at);
    }
    Kokkos::fence("pico: second sum");
    std::vector<std::vector<std::int64_t>> sums;
    for (const ShelfCells& cells : m_cells) sums.emplace_back(cells.sums.begin(), cells.sums.end());
    sum(m_ranks, m_options, box_sums(m_options.boxes), sums);
    const Turn turn(m_ranks); // every rank does the same
    report.warnings = sums[0][0];
    for (int s = 1; s < static_cast<int>(n_shelves); ++s) {
      ShelfWater& w = m_water[s];
      w.T.assign(w.cells.size(), 0.0);
      w.S.assign(w.cells.size(), w.S0);
      for (int k = 0; k <= m_options.boxes; ++k) {
        const auto box = static_cast<std::size_t>(k);
        if (w.cells[box] > 0)
          w.T[box] = get(&sums[0][1 + 2 * slot(s, k)]) / static_cast<double>(w.cells[box]);
      }
      if (w.cells[1] == 0) continue;
      const double x =
          get(&sums[0][x_at + 2 * static_cast<std::size_t>(s)]) / static_cast<double>(w.cells[1]);
      w.S[1] = box_one_S(w.S0, x);
      w.q = overturning(m_options.overturning_coefficient, w.S0, x);
    }
  }

  /// Box k from box k - 1; total melt from the means of all boxes.
  void follow_boxes(PicoReport& report) {
    report.total_melt = 0.0;
    report.shelf_cells = 0;
    report.fallback_cells = 0;
    for (std::size_t s = 1; s < m_water.size(); ++s) {
      ShelfWater& w = m_water[s];
      for (int k = 0; k <= m_options.boxes; ++k) {
        const auto box = static_cast<std::size_t>(k);
        if (w.cells[box] == 0) continue;
        if (k >= 2 && !w.fallback(k)) {
          w.from[box] = next_box(g1(w, k), w.q, w.T[box - 1], w.S[box - 1]);
          w.T[box] = w.from[box].T_k(w.mean_p[box]);
          w.S[box] = w.from[box].S_k(w.T[box]);
        }
        report.shelf_cells += w.cells[box];
        if (w.fallback(k)) report.fallback_cells += w.cells[box];
        const double melt =
            w.fallback(k) ? fallback_melt_rate(m_options.gamma_T, w.T[box], w.S0, w.mean_p[box])
                          : melt_rate(m_options.gamma_T, w.T[box], w.S[box], w.mean_p[box]);
        report.total_melt += melt * static_cast<double>(w.cells[box]) * m_cell_area * rho_ice;
      }
    }
  }

  Ranks& m_ranks;
  double m_cell_area;
  PicoOptions m_options;
  std::vector<ShelfCells> m_cells; // per local rank
  List<BoxWater> m_of_slots;       // (shelf, box)
  std::vector<double> m_basin_T, m_basin_S;
  std::vector<ShelfWater> m_water;
};

} // namespace nunatak::pico
