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

#include "kernels/grid/sums.hpp"
#include "kernels/pico/geometry.hpp"
#include "kernels/pico/guests.hpp"

namespace nunatak::pico {

class ShelfMelt {
public:
  ShelfMelt(Ranks& ranks, double dx, double dy, PicoOptions options)
      : m_ranks(ranks), m_cell_area(dx * dy), m_options(options), m_own(static_cast<std::size_t>(ranks.local_size())),
        m_guests(ranks) {
    options.check();
  }

  /// Writes the fields of ice that floats: temperature ... base_temperature. Needs no ghosts. Communicates: two sums, and
  /// cells and results if they are redistributed (guests.hpp).
  /// runtime_error, the same on all ranks, if H, theta or salt are not numbers of a sensible size where they are used.
  void update(const Shelves& shelves, const std::vector<PicoInput>& in, std::vector<PicoFields>& out, PicoReport& report) {
    start(shelves, in, true);
    finish(shelves, in, out, report);
  }

  /// The same in two halves. The first ends with the first sum, which also tells whether the shelves still hold:
  /// `changed[local]` is non-zero where they do not. False if so anywhere; nothing has then been done.
  /// `new_shelves`: other ones than in the last update; the same on all ranks.
  bool start(const Shelves& shelves, const std::vector<PicoInput>& in, bool new_shelves, const std::vector<char>& changed = {}) {
    return first_sum(shelves, in, new_shelves && m_guests.wanted(m_options.redistribute, shelves.shelf), new_shelves, changed);
  }
  void finish(const Shelves& shelves, const std::vector<PicoInput>& in, std::vector<PicoFields>& out, PicoReport& report) {
    m_guests.send(m_own, m_options.boxes + 1);
    second_sum(report);
    follow_boxes(report);
    write(shelves, in, out);
    report.moved_cells = m_guests.moved_cells();
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

  /// [bad values; changed ranks; per basin: cells, T, T, S, S; per (shelf, box): cells, p, p; if `plan`: cells of each rank]
  bool first_sum(const Shelves& shelves, const std::vector<PicoInput>& in, bool plan, bool new_shelves,
                 const std::vector<char>& changed) {
    const ShelfTable& table = shelves.table;
    const std::size_t basins_at = 2, boxes_at = basins_at + 5 * static_cast<std::size_t>(table.basins + 1),
                      counts_at = boxes_at + 3 * slot(table.shelves + 1, 0);
    const auto ranks = static_cast<std::size_t>(plan ? m_ranks.decomposition().size() : 0);
    std::vector<std::vector<std::int64_t>> sums(in.size(), std::vector<std::int64_t>(counts_at + ranks, 0));
    for (std::size_t r = 0; r < in.size(); ++r) {
      const LocalShelves& local = shelves.local[r];
      if (plan) sums[r][counts_at + static_cast<std::size_t>(m_ranks.first()) + r] = static_cast<std::int64_t>(local.cell.size());
      if (!changed.empty() && changed[r] != 0) {
        sums[r][1] = 1;
        continue;
      }
      std::int64_t visits = 4 * static_cast<std::int64_t>(local.cell.size()); // the physics included
      for (const auto& [from, to] : local.sea) visits += 3 * (to - from);     // two exact sums
      m_ranks.work(static_cast<int>(r), visits);
      sums[r][0] = add_sea(local, in[r], &sums[r][basins_at]) + add_pressures(local, in[r].H, m_own[r], &sums[r][boxes_at]);
    }
    m_ranks.sum(sums);
    const std::vector<std::int64_t>& sum = sums[0];
    if (sum[1] != 0) return false;
    if (new_shelves) m_guests.plan({sum.begin() + static_cast<std::ptrdiff_t>(counts_at), sum.end()});
    if (sum[0] != 0) {
      throw std::runtime_error("PICO: thk, theta_ocean, salinity_ocean: expected numbers below 1e5, found " +
                               std::to_string(sum[0]) + " values that are not, on shelves or on the continental shelf");
    }
    m_basin_T.assign(static_cast<std::size_t>(table.basins) + 1, default_T0);
    m_basin_S.assign(m_basin_T.size(), default_S0);
    for (std::size_t b = 1; b < m_basin_T.size(); ++b) {
      const std::int64_t* at = &sum[basins_at + 5 * b];
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
    return true;
  }

  /// Continental shelf, per basin: cells, T, S. Returns the number of values that cannot be used.
  static std::int64_t add_sea(const LocalShelves& local, const PicoInput& in, std::int64_t* sums) {
    const double *T = in.theta.data(), *S = in.salt.data();
    const int* basin = in.basins.data();
    std::int64_t bad = 0;
    for (const auto& [from, to] : local.sea) {
      for (int c = from; c < to;) {
        const int here = basin[c];
        FixedSum sum_T, sum_S;
        const int first = c;
        for (; c < to && basin[c] == here; ++c) {
          if (here == 0) continue;
          sum_T.add(usable(T[c], bad)), sum_S.add(usable(S[c], bad));
        }
        std::int64_t* at = sums + 5 * here;
        at[0] += c - first, put(sum_T, at + 1), put(sum_S, at + 3);
      }
    }
    return bad;
  }

  /// Shelf cells: pressures; per (shelf, box): cells, p. Returns the number of values that cannot be used.
  std::int64_t add_pressures(const LocalShelves& local, const Array2<double>& H, ShelfCells& own, std::int64_t* sums) const {
    std::int64_t bad = 0;
    own.shelf = local.shelf.data(), own.box = local.box.data();
    own.p.resize(local.cell.size());
    own.for_each_run([&](int shelf, int box, std::size_t first, std::size_t end) {
      FixedSum sum;
      for (std::size_t n = first; n < end; ++n) {
        own.p[n] = base_pressure(usable(H.data()[local.cell[n]], bad));
        sum.add(own.p[n]);
      }
      std::int64_t* at = sums + 3 * slot(shelf, box);
      at[0] += static_cast<std::int64_t>(end - first), put(sum, at + 1);
    });
    return bad;
  }

  static double usable(double value, std::int64_t& bad) {
    const bool good = std::fabs(value) < largest_term; // false for NaN
    if (!good) bad += 1;
    return good ? value : 0.0;
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
  void second_sum(PicoReport& report) {
    const std::size_t n_shelves = m_water.size(), x_at = 1 + 2 * slot(static_cast<int>(n_shelves), 0);
    std::vector<std::vector<std::int64_t>> sums(m_own.size(), std::vector<std::int64_t>(x_at + 2 * n_shelves, 0));
    for (std::size_t r = 0; r < m_own.size(); ++r) {
      for (ShelfCells* cells : {&m_own[r], &m_guests.cells(r)}) add_box_one(*cells, sums[r], x_at);
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

  /// Cooling x in box 1; sums of x, of T in box 1 and in fallback boxes.
  void add_box_one(ShelfCells& cells, std::vector<std::int64_t>& sums, std::size_t x_at) const {
    cells.x.resize(cells.p.size());
    cells.for_each_run([&](int s, int k, std::size_t first, std::size_t end) {
      const ShelfWater& w = m_water[static_cast<std::size_t>(s)];
      if (k != 1 && !w.fallback(k)) return;
      const double *p = cells.p.data(), area_gamma = g1(w, 1), C = m_options.overturning_coefficient, T_in = w.T0, S0 = w.S0;
      double* x = cells.x.data();
      FixedSum sum_x, sum_T;
      for (std::size_t n = first; n < end; ++n) {
        const double T0 = clip_T0(T_in, S0, p[n]);
        double T = T0;
        if (k == 1) {
          const BoxOne one = box_one(area_gamma, C, T0, S0, p[n]);
          x[n] = one.x, T -= one.x;
          sums[0] += one.warned;
          sum_x.add(one.x);
        }
        sum_T.add(T);
      }
      put(sum_x, &sums[x_at + 2 * static_cast<std::size_t>(s)]);
      put(sum_T, &sums[1 + 2 * slot(s, k)]);
    });
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

  template <class F> void for_each_melt(const ShelfCells& cells, const F& f) const {
    cells.for_each_run([&](int s, int k, std::size_t first, std::size_t end) {
      melt_of_run(m_water[static_cast<std::size_t>(s)], k, m_options.gamma_T, m_options.overturning_coefficient, cells, first,
                  end, f);
    });
  }

  void write(const Shelves& shelves, const std::vector<PicoInput>& in, std::vector<PicoFields>& out) {
    for (std::size_t r = 0; r < in.size(); ++r)
      for_each_melt(m_guests.cells(r), [&](std::size_t n, const CellMelt& m) { m_guests.result(r, n) = m; });
    m_guests.send_results();
    for (std::size_t r = 0; r < in.size(); ++r) {
      const LocalShelves& local = shelves.local[r];
      const int *cell = local.cell.data(), *shelf = local.shelf.data();
      double *T = out[r].temperature.data(), *S = out[r].salinity.data(), *T0 = out[r].temperature_box0.data(),
             *S0 = out[r].salinity_box0.data(), *q = out[r].overturning.data(), *melt = out[r].melt.data(),
             *base = out[r].base_temperature.data();
      const auto store = [&](std::size_t n, const CellMelt& m) {
        const int c = cell[n];
        T[c] = m.T, S[c] = m.S, T0[c] = m.T0, S0[c] = m_water[static_cast<std::size_t>(shelf[n])].S0;
        q[c] = m.q, melt[c] = m.melt, base[c] = m.base;
      };
      for_each_melt(m_own[r], store);
      m_guests.for_each_result(r, store);
      for (const int c : local.lake) base[c] = lake_temperature(in[r].H.data()[c]);
    }
  }

  Ranks& m_ranks;
  double m_cell_area;
  PicoOptions m_options;
  std::vector<ShelfCells> m_own; // per local rank: the cells that it owns and computes
  Guests m_guests;               // and those that others own
  std::vector<double> m_basin_T, m_basin_S;
  std::vector<ShelfWater> m_water;
};

} // namespace nunatak::pico
