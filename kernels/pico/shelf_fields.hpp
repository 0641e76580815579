// The fields of PICO below ice that floats, from the water of each box. Nothing is communicated.
// Neighbours: melt.hpp finds the water, physics.hpp has the formulas.
#pragma once

#include "kernels/pico/fields.hpp"
#include "kernels/pico/shelf_water.hpp"
#include "kernels/pico/shelves.hpp"

namespace nunatak::pico {

/// What the physics gives to a cell.
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

/// The fields of the water, to be written by loops.
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

/// The water where the geometry before had ice that floats, and the present one (its codes) has no
/// shelf: in a loop.
inline void clear_water(const PicoFields& out, const Array2<Code>& codes) {
  const Code* code = codes.data();
  const WaterFields water(out);
  for_each_in(
      "pico: clear", out.written_before, KOKKOS_LAMBDA(int c) {
        if (!shelf_ice(code[c])) water.clear(c);
      });
}

/// The fields of shelf cells and of ice above lakes.
inline void write_melt(const LocalShelves& local, const ShelfCells& cells,
                       const List<BoxWater>& of_slots, const Array2<double>& H, double gamma,
                       double C, const PicoFields& out) {
  const int* cell = local.cell.data();
  const BoxWater* water = of_slots.data();
  const double *p = cells.p.data(), *x = cells.x.data(), *thk = H.data();
  double *T = out.temperature.data(), *S = out.salinity.data(), *T0 = out.temperature_box0.data(),
         *S0 = out.salinity_box0.data(), *q = out.overturning.data(), *melt = out.melt.data(),
         *base = out.base_temperature.data();
  const int cells_here = static_cast<int>(local.cell.size());
  for_each_in(
      "pico: melt", cells.runs, KOKKOS_LAMBDA(const Run& run) {
        const BoxWater w = water[run.slot];
        melt_of_run(w, run, gamma, C, p, x, [=](int n, const CellMelt& m) {
          const int c = cell[n], next = cell_ahead(cell, n, cells_here);
          if (next % 8 == 0) {
            for (double* field : {T, S, T0, S0, q, melt, base}) prefetch(field + next);
          }
          T[c] = m.T, S[c] = m.S, T0[c] = m.T0, S0[c] = w.S0, q[c] = m.q, melt[c] = m.melt,
          base[c] = m.base;
        });
      });
  for_each_in(
      "pico: lakes", local.lake, KOKKOS_LAMBDA(int c) { base[c] = lake_temperature(thk[c]); });
}

} // namespace nunatak::pico
