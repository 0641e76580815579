// The water below the shelves of PICO: shelf cells in runs of one shelf and box, over which the
// physics loops, and the fields derived from the water of each box. No communication. melt.hpp
// finds the water, physics.hpp has the formulas.
#pragma once

#include "kernels/grid/atomics.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/physics.hpp"
#include "kernels/pico/shelves.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace nunatak::pico {

/// Water below one shelf, box by box.
struct ShelfWater {
  double T0 = default_T0, S0 = default_S0; ///< before clipping
  std::vector<std::int64_t> cells;         ///< of box 0, 1, ..., n_max
  std::vector<double> mean_p;              ///< dbar
  std::vector<double> T, S;                ///< means over the box
  std::vector<NextBox> from;               ///< relation of box k to box k - 1
  double q = 0.0;                          ///< mean overturning of box 1, m3 s-1

  /// True without box water: box 0, a box after an empty one, and, without overturning, all others.
  bool fallback(int k) const {
    if (k == 0) return true;
    return k >= 2 && (cells[k - 1] == 0 || cells[1] == 0 || S0 == 0.0);
  }
};

struct BoxWater {
  double T0, S0, g1; ///< g1: A_1 gamma
  NextBox from;
  bool fallback;
};

/// Contiguous shelf cells first..end - 1 of one shelf and box. A thread takes a run.
struct Run {
  static constexpr int longest = loops_on_host ? 4096 : 64; ///< cells
  int shelf, box, slot, first, end;                         ///< slot: (shelf, box)
};

/// Adds atomically; sums of integers do not depend on the order.
KOKKOS_INLINE_FUNCTION void put(std::int64_t n, std::int64_t* at) {
  if (n != 0) atomic_add(at, n);
}
KOKKOS_INLINE_FUNCTION void put(const FixedSum& sum, std::int64_t* at) {
  put(sum.hi, at);
  put(sum.lo, at + 1);
}

/// A cell some positions ahead in a list, for prefetching; cell n near the end of the list.
KOKKOS_INLINE_FUNCTION int cell_ahead(const int* cell, int n, int cells) {
  constexpr int ahead = 64;
  return cell[n + ahead < cells ? n + ahead : n];
}

/// Shelf cells of one or several shelves, as the physics needs them.
struct ShelfCells {
  List<Run> runs;
  List<double> p, x;       ///< per cell: pressure, dbar; cooling T0 - T1 in box 1, K
  List<std::int64_t> sums; ///< accumulated by loops

  /// Sets the list of cells by shelf and box (0..boxes).
  void set(const List<int>& shelf, const List<int>& box, int boxes) {
    const int cells = static_cast<int>(shelf.size());
    p.resize(shelf.size());
    x.resize(shelf.size());
    runs.clear();
    for (int n = 0, end; n < cells; n = end) {
      const int last = std::min(cells, n + Run::longest);
      for (end = n + 1; end < last && shelf[end] == shelf[n] && box[end] == box[n];) ++end;
      runs.push_back({shelf[n], box[n], shelf[n] * (boxes + 1) + box[n], n, end});
    }
  }
};

// --- fields

struct CellMelt {
  double T, S, T0, q, melt, base; ///< K, g kg-1, K, m3 s-1, m s-1 of ice, K
};

/// f(n, CellMelt) for cells of one shelf and box; gamma and C as in PicoOptions.
template <class F>
KOKKOS_INLINE_FUNCTION void melt_of_run(const BoxWater& w, const Run& run, double gamma, double C,
                                        const double* p, const double* x, const F& f) {
  const double T_in = w.T0, S0 = w.S0;
  if (run.box == 1) {
    for (int n = run.first; n < run.end; ++n) {
      const double T0 = clip_T0(T_in, S0, p[n]), T = T0 - x[n], S = box_one_S(S0, x[n]);
      f(n, CellMelt{T, S, T0, overturning(C, S0, x[n]), melt_rate(gamma, T, S, p[n]),
                    T_in_situ(S, p[n])});
    }
  } else if (w.fallback) {
    for (int n = run.first; n < run.end; ++n) {
      const double T0 = clip_T0(T_in, S0, p[n]);
      f(n, CellMelt{T0, S0, T0, 0.0, fallback_melt_rate(gamma, T0, S0, p[n]), T_in_situ(S0, p[n])});
    }
  } else {
    const NextBox from = w.from;
    for (int n = run.first; n < run.end; ++n) {
      const double T = from.T_k(p[n]), S = from.S_k(T);
      f(n, CellMelt{T, S, clip_T0(T_in, S0, p[n]), 0.0, melt_rate(gamma, T, S, p[n]),
                    T_in_situ(S, p[n])});
    }
  }
}

struct WaterFields {
  double *T, *S, *T0, *S0, *q, *melt, *base;

  explicit WaterFields(const PicoFields& out)
      : T(out.temperature.data()), S(out.salinity.data()), T0(out.temperature_box0.data()),
        S0(out.salinity_box0.data()), q(out.overturning.data()), melt(out.melt.data()),
        base(out.base_temperature.data()) {}

  KOKKOS_INLINE_FUNCTION void clear(int c) const {
    T[c] = S[c] = T0[c] = S0[c] = q[c] = melt[c] = 0.0;
    base[c] = T_melting;
  }
};

/// Clears the water where the previous geometry had floating ice and `codes` have no shelf.
inline void clear_water(const PicoFields& out, const SharedArray2<Code>& codes) {
  const Code* code = codes.data();
  const WaterFields water(out);
  for_each_in(
      "pico: clear", out.written_before, KOKKOS_LAMBDA(int c) {
        if (!shelf_ice(code[c])) water.clear(c);
      });
}

/// Writes the fields of shelf cells and of ice above lakes.
inline void write_melt(const LocalShelves& local, const ShelfCells& cells,
                       const List<BoxWater>& of_slots, const Array2<double>& H, double gamma,
                       double C, const PicoFields& out) {
  const int* cell = local.cell.data();
  const BoxWater* of_slot = of_slots.data();
  const double *p = cells.p.data(), *x = cells.x.data(), *thk = H.data();
  const WaterFields water(out);
  const int cells_here = static_cast<int>(local.cell.size());
  for_each_in(
      "pico: melt", cells.runs, KOKKOS_LAMBDA(const Run& run) {
        const BoxWater w = of_slot[run.slot];
        melt_of_run(w, run, gamma, C, p, x, [=](int n, const CellMelt& m) {
          const int c = cell[n], next = cell_ahead(cell, n, cells_here);
          if (next % 8 == 0) {
            for (double* field :
                 {water.T, water.S, water.T0, water.S0, water.q, water.melt, water.base})
              prefetch(field + next);
          }
          water.T[c] = m.T;
          water.S[c] = m.S;
          water.T0[c] = m.T0;
          water.S0[c] = w.S0;
          water.q[c] = m.q;
          water.melt[c] = m.melt;
          water.base[c] = m.base;
        });
      });
  for_each_in(
      "pico: lakes", local.lake,
      KOKKOS_LAMBDA(int c) { water.base[c] = lake_temperature(thk[c]); });
}

} // namespace nunatak::pico
