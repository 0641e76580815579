// What the mass transport (kernels/ice/transport.hpp, which has the equations) does with cells of a
// row, many at once, without a branch; on a CPU compiled by itself (packs.cpp).
#pragma once

#include "kernels/grid/packs.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/grid/widths.hpp"
#include "kernels/ice/edges.hpp"

#include <cstddef>

namespace nunatak {

/// Where the ice of a step went: sums over cells of metres of ice; times dx dy it is m3.
///   volume after - volume before = surface - basal - calved + edge + clipped
struct MassBudget {
  FixedSum surface; ///< surface balance asked for; a negative one only where there was ice to take
  FixedSum basal;   ///< basal melt of floating ice asked for (negative: freezing)
  FixedSum calved;  ///< ice that crossed the front, or lay in ice-free ocean
  FixedSum edge;    ///< ice that entered through the edge of the domain (negative: left)
  FixedSum clipped; ///< asked for, but there was no more ice: H was set to 0 instead of below it

  KOKKOS_INLINE_FUNCTION MassBudget& operator+=(const MassBudget& other) {
    surface += other.surface;
    basal += other.basal;
    calved += other.calved;
    edge += other.edge;
    clipped += other.clipped;
    return *this;
  }
  double change() const {
    return surface.value() - basal.value() - calved.value() + edge.value() + clipped.value();
  }
};

/// Flux of sliding through the face from cell a to cell b (m2 s-1), whose edge is `edge`
/// (kernels/ice/edges.hpp): the mean velocity of the cells with ice carries the thickness of the
/// upwind cell. None where the surface does not continue, but ice may slide out of the front; the
/// ocean sends none. Without a branch.
KOKKOS_INLINE_FUNCTION double sliding_flux(double edge, int type_a, double H_a, double u_a,
                                           int type_b, double H_b, double u_b) {
  const bool ice_a = icy(type_a), ice_b = icy(type_b);
  const bool front = (type_a == ice_free_ocean) | (type_b == ice_free_ocean);
  const double mean = 0.5 * (u_a + u_b), of_one = ice_a ? u_a : u_b,
               u = ice_a == ice_b ? mean : of_one, H = u > 0.0 ? H_a : H_b;
  const bool inwards = (ice_a & (u < 0.0)) | (!ice_a & (u > 0.0));
  return only_if((ice_a | ice_b) & ((front & !inwards) | (!front & (edge < surface_ends))), u * H);
}

/// Cells of a row, and their upper and right faces; pointers to what belongs to the first of them.
/// `row`: from a cell to that above.
struct TransportRow {
  const double *H, *q_x, *q_y; ///< m, m2 s-1
  const int* mask;
  std::ptrdiff_t row;
  double dt_x, dt_y, dt; ///< dt/dx, dt/dy, s m-1; s
};
/// What the thickness needs besides: f; surface balance in m s-1 of M_unit, basal melt of floating
/// ice in m s-1.
struct Sources {
  const double *f, *M, *m;
  double M_unit;
};

namespace detail {
KOKKOS_FORCEINLINE_FUNCTION void add_sliding(const double* edge, const double* speed,
                                             const double* H, const int* mask, std::ptrdiff_t next,
                                             int n, const double* q_sia, double* q) {
  NUNATAK_INDEPENDENT
  for (int p = 0; p < n; ++p) {
    const std::ptrdiff_t to = p + next;
    q[p] = q_sia[p] + sliding_flux(edge[p], mask[p], H[p], speed[p], mask[to], H[to], speed[to]);
  }
}
KOKKOS_FORCEINLINE_FUNCTION void outflow_factors(const TransportRow& of, int n, double* f) {
  const TransportRow c = of;
  NUNATAK_INDEPENDENT
  for (int p = 0; p < n; ++p) {
    const auto out = [](double q) { return q > 0.0 ? q : 0.0; };
    const double F_out = (out(c.q_x[p]) + out(-c.q_x[p - 1])) * c.dt_x +
                         (out(c.q_y[p]) + out(-c.q_y[p - c.row])) * c.dt_y;
    const double share = c.H[p] / F_out;
    f[p] = F_out > c.H[p] ? share : 1.0;
  }
}
/// The ice that crosses a face in a step, as metres on a cell.
KOKKOS_FORCEINLINE_FUNCTION double crossing(double dt_d, double q, double f_from, double f_to) {
  return dt_d * (q * (q > 0.0 ? f_from : f_to));
}
KOKKOS_FORCEINLINE_FUNCTION void move_ice(const TransportRow& of, const Sources& sources, int n,
                                          double* H_new, MassBudget& budget) {
  const TransportRow c = of;
  const Sources from = sources;
  const double* f = from.f;
  double surface[cells_at_once], basal[cells_at_once], calved[cells_at_once],
      clipped[cells_at_once];
  NUNATAK_INDEPENDENT
  for (int p = 0; p < n; ++p) {
    const double w = crossing(c.dt_x, c.q_x[p - 1], f[p - 1], f[p]),
                 e = crossing(c.dt_x, c.q_x[p], f[p], f[p + 1]);
    const double s = crossing(c.dt_y, c.q_y[p - c.row], f[p - c.row], f[p]),
                 t = crossing(c.dt_y, c.q_y[p], f[p], f[p + c.row]);
    const double moved = c.H[p] + ((w - e) + (s - t)), balance = from.M[p] / from.M_unit;
    const bool sea = c.mask[p] == ice_free_ocean, keeps = !sea, floats = c.mask[p] == floating_ice;
    surface[p] = only_if(keeps & ((balance > 0.0) | (moved > 0.0)), c.dt * balance);
    basal[p] = only_if(floats, c.dt * from.m[p]);
    calved[p] = only_if(sea, moved);
    const double left = moved + (surface[p] - basal[p]);
    clipped[p] = only_if(keeps & (left < 0.0), -left);
    H_new[p] = only_if(keeps & (left > 0.0), left);
  }
  budget.surface.add(surface, n), budget.basal.add(basal, n);
  budget.calved.add(calved, n), budget.clipped.add(clipped, n);
}
} // namespace detail

// add_sliding: the flux of shearing, and sliding at n faces to the cells `next` away.
// outflow_factors: f of n cells. move_ice: their thickness after the step, and all of the budget
// but what crosses the edge of the domain.
NUNATAK_WIDE(void, add_sliding,
             (const double* edge, const double* speed, const double* H, const int* mask,
              std::ptrdiff_t next, int n, const double* q_sia, double* q),
             (edge, speed, H, mask, next, n, q_sia, q))
NUNATAK_WIDE(void, outflow_factors, (const TransportRow& row, int n, double* f), (row, n, f))
NUNATAK_WIDE(void, move_ice,
             (const TransportRow& row, const Sources& sources, int n, double* H_new,
              MassBudget& budget),
             (row, sources, n, H_new, budget))

} // namespace nunatak
