// The physics of PICO on all shelves: basin means, shelf inputs, boxes one after the other, melt.
//
//   sum (i)   per basin: T, S, cells of continental shelf          -> T0, S0 of each shelf
//             per (shelf, box): cells, p
//   sum (ii)  per (shelf, box): T of box 1 and of fallback cells;  -> means of T and S of every box, q
//             per shelf: x = T0 - T1 over box 1
//
// Two sums suffice: T and S of box k >= 2 are affine in p, so that their means follow from the mean of p. The total melt follows
// from the same means, since melt is affine in T, S and p. All sums are exact (FixedSum), so that every number is the same, bit
// for bit, on every decomposition. Means are divided once, after the sum.
//
// Reese et al. (2018), The Cryosphere 12, 1969. Neighbours: physics.hpp (the formulas), geometry.hpp (shelves and boxes).
#pragma once

#include "kernels/fixed_sum.hpp"
#include "kernels/pico/geometry.hpp"
#include "kernels/pico/physics.hpp"

namespace nunatak::pico {

/// Water below one shelf, box by box.
struct ShelfWater {
  double T0 = default_T0, S0 = default_S0; ///< before the clip
  std::vector<std::int64_t> cells;         ///< of box 0, 1, ..., n_max
  std::vector<double> mean_p;              ///< dbar
  std::vector<double> T, S;                ///< means over the box
  std::vector<NextBox> from;               ///< how box k follows from box k - 1
  double q = 0.0;                          ///< mean overturning of box 1, m3 s-1

  /// Box 0, a box after an empty one, and all boxes if there is no overturning: no box water.
  bool fallback(int k) const {
    if (k == 0) return true;
    return k >= 2 && (cells[static_cast<std::size_t>(k - 1)] == 0 || cells[1] == 0);
  }
};

class ShelfMelt {
public:
  ShelfMelt(Ranks& ranks, double dx, double dy, PicoOptions options)
      : m_ranks(ranks), m_cell_area(dx * dy), m_options(options), m_p(static_cast<std::size_t>(ranks.local_size())),
        m_x(m_p.size()) {
    options.check();
  }

  /// Writes the fields of ice that floats: temperature ... base_temperature. Needs no ghosts. Communicates: two sums.
  /// runtime_error, the same on all ranks, if H, theta or salt are not numbers of a sensible size where they are used.
  void update(const Shelves& shelves, const std::vector<PicoInput>& in, std::vector<PicoFields>& out, PicoReport& report) {
    first_sum(shelves, in);
    second_sum(shelves, report);
    follow_boxes(report);
    for (std::size_t r = 0; r < in.size(); ++r) write(shelves.local[r], r, in[r], out[r]);
  }

  /// Of each shelf (1..n; 0 is not used), after update().
  const std::vector<ShelfWater>& water() const { return m_water; }

private:
  static constexpr double largest_term = 1e5; // of m, K, g kg-1; inside the range of FixedSum

  static void put(const FixedSum& sum, std::int64_t* at) { at[0] += sum.hi, at[1] += sum.lo; }
  static double get(const std::int64_t* at) { return FixedSum{at[0], at[1]}.value(); }
  std::size_t slot(int shelf, int box) const {
    return static_cast<std::size_t>(shelf) * static_cast<std::size_t>(m_options.boxes + 1) + static_cast<std::size_t>(box);
  }

  /// [bad values; per basin: cells, T, T, S, S; per (shelf, box): cells, p, p]
  void first_sum(const Shelves& shelves, const std::vector<PicoInput>& in) {
    const ShelfTable& table = shelves.table;
    const std::size_t boxes_at = 1 + 5 * static_cast<std::size_t>(table.basins + 1);
    const std::size_t slots = slot(table.shelves + 1, 0);
    std::vector<std::vector<std::int64_t>> sums(in.size(), std::vector<std::int64_t>(boxes_at + 3 * slots, 0));
    for (std::size_t r = 0; r < in.size(); ++r) {
      const LocalShelves& local = shelves.local[r];
      std::int64_t& bad = sums[r][0];
      const auto usable = [&bad](double value) {
        const bool good = std::fabs(value) < largest_term; // false for NaN
        if (!good) bad += 1;
        return good ? value : 0.0;
      };
      const double *T = in[r].theta.data(), *S = in[r].salt.data(), *H = in[r].H.data();
      const int* basin = in[r].basins.data();
      for (const auto& [from, to] : local.sea) {
        for (int c = from; c < to; ++c) {
          if (basin[c] == 0) continue;
          std::int64_t* at = &sums[r][1 + 5 * static_cast<std::size_t>(basin[c])];
          FixedSum sum_T, sum_S;
          sum_T.add(usable(T[c])), sum_S.add(usable(S[c]));
          at[0] += 1, put(sum_T, at + 1), put(sum_S, at + 3);
        }
      }
      m_p[r].resize(local.cell.size());
      for (std::size_t n = 0; n < local.cell.size(); ++n) {
        m_p[r][n] = base_pressure(usable(H[local.cell[n]]));
        std::int64_t* at = &sums[r][boxes_at + 3 * slot(local.shelf[n], local.box[n])];
        FixedSum p;
        p.add(m_p[r][n]);
        at[0] += 1, put(p, at + 1);
      }
    }
    m_ranks.sum(sums);
    const std::vector<std::int64_t>& sum = sums[0];
    if (sum[0] != 0) {
      throw std::runtime_error("PICO: thk, theta_ocean, salinity_ocean: expected numbers below 1e5, found " +
                               std::to_string(sum[0]) + " values that are not, on shelves or on the continental shelf");
    }
    m_basin_T.assign(static_cast<std::size_t>(table.basins) + 1, default_T0);
    m_basin_S.assign(m_basin_T.size(), default_S0);
    for (std::size_t b = 1; b < m_basin_T.size(); ++b) {
      const std::int64_t* at = &sum[1 + 5 * b];
      if (at[0] == 0) continue;
      m_basin_T[b] = get(at + 1) / static_cast<double>(at[0]);
      m_basin_S[b] = get(at + 3) / static_cast<double>(at[0]);
    }
    m_water.assign(static_cast<std::size_t>(table.shelves) + 1, ShelfWater{});
    for (int s = 1; s <= table.shelves; ++s) {
      ShelfWater& w = m_water[static_cast<std::size_t>(s)];
      mix_basins(table, s, w);
      for (int k = 0; k <= m_options.boxes; ++k) {
        const std::int64_t* at = &sum[boxes_at + 3 * slot(s, k)];
        w.cells.push_back(at[0]);
        w.mean_p.push_back(at[0] > 0 ? get(at + 1) / static_cast<double>(at[0]) : 0.0);
      }
    }
  }

  /// T0, S0: mean over the basins in which the shelf has a front, weighted by its cells there; the default if there is none.
  void mix_basins(const ShelfTable& table, int s, ShelfWater& w) const {
    double T = 0.0, S = 0.0;
    std::int64_t cells = 0;
    for (int b = 1; b <= table.basins; ++b) {
      if (table.front_cells[table.at(s, b)] == 0) continue;
      const std::int64_t n = table.cells[table.at(s, b)];
      T += static_cast<double>(n) * m_basin_T[static_cast<std::size_t>(b)];
      S += static_cast<double>(n) * m_basin_S[static_cast<std::size_t>(b)];
      cells += n;
    }
    if (cells > 0) w.T0 = T / static_cast<double>(cells), w.S0 = S / static_cast<double>(cells);
  }

  double g1(const ShelfWater& w, int k) const { // A_k gamma
    return static_cast<double>(w.cells[static_cast<std::size_t>(k)]) * m_cell_area * m_options.gamma_T;
  }

  /// [warnings; per (shelf, box): T, T; per shelf: x, x], then the means of box 1 and of fallback boxes.
  void second_sum(const Shelves& shelves, PicoReport& report) {
    const std::size_t n_shelves = m_water.size(), x_at = 1 + 2 * slot(static_cast<int>(n_shelves), 0);
    std::vector<std::vector<std::int64_t>> sums(m_p.size(), std::vector<std::int64_t>(x_at + 2 * n_shelves, 0));
    for (std::size_t r = 0; r < m_p.size(); ++r) {
      const LocalShelves& local = shelves.local[r];
      m_x[r].assign(local.cell.size(), 0.0);
      for (std::size_t n = 0; n < local.cell.size(); ++n) {
        const int s = local.shelf[n], k = local.box[n];
        const ShelfWater& w = m_water[static_cast<std::size_t>(s)];
        if (k != 1 && !w.fallback(k)) continue;
        const double T0 = clip_T0(w.T0, w.S0, m_p[r][n]);
        if (k == 1) {
          const BoxOne one = box_one(g1(w, 1), m_options.overturning_coefficient, T0, w.S0, m_p[r][n]);
          m_x[r][n] = one.x;
          if (one.warned) sums[r][0] += 1;
          FixedSum x;
          x.add(one.x);
          put(x, &sums[r][x_at + 2 * static_cast<std::size_t>(s)]);
        }
        FixedSum T;
        T.add(T0 - m_x[r][n]);
        put(T, &sums[r][1 + 2 * slot(s, k)]);
      }
    }
    m_ranks.sum(sums);
    report.warnings = sums[0][0];
    for (int s = 1; s < static_cast<int>(n_shelves); ++s) {
      ShelfWater& w = m_water[static_cast<std::size_t>(s)];
      w.T.assign(w.cells.size(), 0.0), w.S.assign(w.cells.size(), w.S0), w.from.assign(w.cells.size(), NextBox{});
      for (int k = 0; k <= m_options.boxes; ++k) {
        const auto box = static_cast<std::size_t>(k);
        if (w.cells[box] > 0) w.T[box] = get(&sums[0][1 + 2 * slot(s, k)]) / static_cast<double>(w.cells[box]);
      }
      if (w.cells[1] == 0) continue;
      const double x = get(&sums[0][x_at + 2 * static_cast<std::size_t>(s)]) / static_cast<double>(w.cells[1]);
      w.S[1] = box_one_S(w.S0, x);
      w.q = overturning(m_options.overturning_coefficient, w.S0, x);
    }
  }

  /// Box k from box k - 1; the total melt from the means of all boxes.
  void follow_boxes(PicoReport& report) {
    report.total_melt = 0.0, report.shelf_cells = 0, report.fallback_cells = 0;
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
        const double melt = w.fallback(k) ? fallback_melt_rate(m_options.gamma_T, w.T[box], w.S0, w.mean_p[box])
                                          : melt_rate(m_options.gamma_T, w.T[box], w.S[box], w.mean_p[box]);
        report.total_melt += melt * static_cast<double>(w.cells[box]) * m_cell_area * rho_ice;
      }
    }
  }

  void write(const LocalShelves& local, std::size_t r, const PicoInput& in, PicoFields& out) const {
    double *T_out = out.temperature.data(), *S_out = out.salinity.data(), *T0_out = out.temperature_box0.data(),
           *S0_out = out.salinity_box0.data(), *q_out = out.overturning.data(), *melt_out = out.melt.data(),
           *base_out = out.base_temperature.data();
    for (std::size_t n = 0; n < local.cell.size(); ++n) {
      const int c = local.cell[n], k = local.box[n];
      const ShelfWater& w = m_water[static_cast<std::size_t>(local.shelf[n])];
      const double p = m_p[r][n], T0 = clip_T0(w.T0, w.S0, p);
      double T = T0, S = w.S0;
      if (k == 1) {
        T = T0 - m_x[r][n];
        S = box_one_S(w.S0, m_x[r][n]);
        q_out[c] = overturning(m_options.overturning_coefficient, w.S0, m_x[r][n]);
      } else if (!w.fallback(k)) {
        T = w.from[static_cast<std::size_t>(k)].T_k(p);
        S = w.from[static_cast<std::size_t>(k)].S_k(T);
      }
      T_out[c] = T, S_out[c] = S, T0_out[c] = T0, S0_out[c] = w.S0;
      melt_out[c] = w.fallback(k) ? fallback_melt_rate(m_options.gamma_T, T0, w.S0, p) : melt_rate(m_options.gamma_T, T, S, p);
      base_out[c] = T_in_situ(S, p);
    }
    for (const int c : local.lake) base_out[c] = lake_temperature(in.H.data()[c]);
  }

  Ranks& m_ranks;
  double m_cell_area;
  PicoOptions m_options;
  std::vector<std::vector<double>> m_p, m_x; // per local rank and shelf cell: pressure, cooling T0 - T1 (0 outside box 1)
  std::vector<double> m_basin_T, m_basin_S;
  std::vector<ShelfWater> m_water;
};

} // namespace nunatak::pico
