// Mass transport: one explicit step of dH/dt = M - m - div q, with a closed mass budget.
//
//   q = q_SIA (sia.hpp) + upwind(face-mean sliding velocity * H)
//
// Positivity (Smolarkiewicz 1989, Mon. Weather Rev. 117, 2626-2632): the outflow of a cell in a
// step, F_out = dt * (sum of the outgoing q/dx), is limited to H by the factor f = min(1, H/F_out)
// of the donor cell. Both cells of a face use the same flux, so mass is conserved.
//
//           q_y(j, i)         function          result                      ghosts needed
//         +-----^-----+       total_flux        q from q_SIA, H, u, v       edges, H, mask, u, v
//  q_x    |           | q_x   outflow_factor    f at owned cells            none
//  (j,i-1)>   (j, i)  > (j,i) (exchange f)
//         +-----^-----+       update_thickness  H after the step, budget    f
//           q_y(j-1, i)
//
// The order of operations in a cell is fixed: H has the same bits on any number of ranks.
//
// Calving: the front is fixed. A cell that is ice-free ocean before the step stays so: ice that
// slides into it has calved. Where a shelf melts away the front retreats permanently, which suits
// runs of decades; ice may advance over ice-free land.
//
// Edge of the domain: ghosts repeat the edge cell. Shearing has no flux there; sliding ice leaves
// (or enters) with the velocity and thickness of the edge cell, and the budget counts it.
//
// The functions in `detail` process many cells of a row without branches; on a CPU they are
// compiled for several widths (packs.cpp, kernels/grid/widths.hpp).
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/grid/widths.hpp"
#include "kernels/ice/sia.hpp"

#include <cstddef>

namespace nunatak {

/// Mass budget of a step: sums over cells of metres of ice; times dx dy it is m3.
///   volume after - volume before = surface - basal - calved + edge + clipped
struct MassBudget {
  /// surface balance requested; negative values only where there was ice to remove
  FixedSum surface;
  /// basal melt of floating ice requested (negative: freezing)
  FixedSum basal;
  FixedSum calved;  ///< ice that crossed the front, or lay in ice-free ocean
  FixedSum edge;    ///< ice that entered through the edge of the domain (negative: left)
  FixedSum clipped; ///< melt requested in excess of the ice available: H was set to 0

  KOKKOS_INLINE_FUNCTION MassBudget& operator+=(const MassBudget& o) {
    return add_each(*this, o, &MassBudget::surface, &MassBudget::basal, &MassBudget::calved,
                    &MassBudget::edge, &MassBudget::clipped);
  }
  double change() const {
    return surface.value() - basal.value() - calved.value() + edge.value() + clipped.value();
  }
};

/// Sliding flux through the face from cell a to cell b (m2 s-1), whose edge is `edge` (sia.hpp):
/// the mean velocity of the icy cells carries the thickness of the upwind cell. Zero where the
/// surface does not continue, except that ice may slide out of the front. Branch-free.
KOKKOS_INLINE_FUNCTION double sliding_flux(double edge, int type_a, double H_a, double u_a,
                                           int type_b, double H_b, double u_b) {
  const bool ice_a = icy(type_a), ice_b = icy(type_b);
  const bool front = (type_a == ice_free_ocean) | (type_b == ice_free_ocean);
  const double mean = 0.5 * (u_a + u_b);
  const double of_one = ice_a ? u_a : u_b;
  const double u = ice_a == ice_b ? mean : of_one;
  const double H = u > 0.0 ? H_a : H_b;
  const bool inwards = (ice_a & (u < 0.0)) | (!ice_a & (u > 0.0));
  return only_if((ice_a | ice_b) & ((front & !inwards) | (!front & (edge < surface_ends))), u * H);
}

/// Cells of a row with their upper and right faces, from the first one; `row`: to the next row.
struct TransportRow {
  const double *H, *q_x, *q_y; ///< m, m2 s-1
  const int* mask;
  std::ptrdiff_t row;
  double dt_x, dt_y, dt; ///< dt/dx, dt/dy, s m-1; s
};
/// f; surface balance in units of M_unit m s-1, basal melt of floating ice in m s-1.
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
    const double available = c.H[p] / F_out;
    f[p] = F_out > c.H[p] ? available : 1.0;
  }
}
/// The ice that crosses a face in a step, in metres on a cell.
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
    const double w = crossing(c.dt_x, c.q_x[p - 1], f[p - 1], f[p]);
    const double e = crossing(c.dt_x, c.q_x[p], f[p], f[p + 1]);
    const double s = crossing(c.dt_y, c.q_y[p - c.row], f[p - c.row], f[p]);
    const double t = crossing(c.dt_y, c.q_y[p], f[p], f[p + c.row]);
    const double moved = c.H[p] + ((w - e) + (s - t)), balance = from.M[p] / from.M_unit;
    const bool sea = c.mask[p] == ice_free_ocean, keeps = !sea, floats = c.mask[p] == floating_ice;
    surface[p] = only_if(keeps & ((balance > 0.0) | (moved > 0.0)), c.dt * balance);
    basal[p] = only_if(floats, c.dt * from.m[p]);
    calved[p] = only_if(sea, moved);
    const double left = moved + (surface[p] - basal[p]);
    clipped[p] = only_if(keeps & (left < 0.0), -left);
    H_new[p] = only_if(keeps & (left > 0.0), left);
  }
  budget.surface.add(surface, n);
  budget.basal.add(basal, n);
  budget.calved.add(calved, n);
  budget.clipped.add(clipped, n);
}
} // namespace detail

// add_sliding: adds the sliding flux to the shear flux at n faces to the cells `next` away.
// outflow_factors: f of n cells.
// move_ice: thickness of n cells after the step, and the budget except for the domain edge.
NUNATAK_WIDE(void, add_sliding,
             (const double* edge, const double* speed, const double* H, const int* mask,
              std::ptrdiff_t next, int n, const double* q_sia, double* q),
             (edge, speed, H, mask, next, n, q_sia, q))
NUNATAK_WIDE(void, outflow_factors, (const TransportRow& row, int n, double* f), (row, n, f))
NUNATAK_WIDE(void, move_ice,
             (const TransportRow& row, const Sources& sources, int n, double* H_new,
              MassBudget& budget),
             (row, sources, n, H_new, budget))

/// Sum of the thickness of the owned cells (m); times dx dy it is the volume.
inline FixedSum sum_thickness(const Patch& patch, const Array2<double>& H) {
  return reduce_over<FixedSum>(
      "sum of thickness", owned_cells(patch),
      KOKKOS_LAMBDA(int j, int i, FixedSum& sum) { sum.add(H(j, i)); });
}

/// q = q_SIA + sliding, on all faces of the owned cells (m2 s-1). Needs edges, ghosts of H (m),
/// mask and the sliding velocity u, v (m s-1, used in icy cells only), and sia_fluxes before.
inline void total_flux(const Patch& patch, const Edges& edges, const Array2<double>& H,
                       const Array2<int>& mask, const Array2<double>& u, const Array2<double>& v,
                       const Array2<double>& q_sia_x, const Array2<double>& q_sia_y,
                       const Array2<double>& q_x, const Array2<double>& q_y) {
  const std::ptrdiff_t row = patch.xm + 2;
  for_each_pack(
      "total flux", cells_with_faces(patch), KOKKOS_LAMBDA(int j, int i, int n) {
        const auto slide = [&](const Array2<double>& edge, const Array2<double>& speed,
                               std::ptrdiff_t next, int first, const Array2<double>& q_sia,
                               const Array2<double>& q) {
          add_sliding(&edge(j, first), &speed(j, first), &H(j, first), &mask(j, first), next,
                      n - (first - i), &q_sia(j, first), &q(j, first));
        };
        if (j > 0) slide(edges.x, u, 1, i, q_sia_x, q_x);
        slide(edges.y, v, row, i > 0 ? i : 1, q_sia_y, q_y); // column 0 is not owned
      });
}

/// f = min(1, H/F_out) of the owned cells. Exchange its ghosts next.
inline void outflow_factor(const Patch& patch, double dx, double dy, double dt,
                           const Array2<double>& H, const Array2<double>& q_x,
                           const Array2<double>& q_y, const Array2<double>& f) {
  const TransportRow size{nullptr, nullptr, nullptr, nullptr, patch.xm + 2, dt / dx, dt / dy, dt};
  for_each_pack(
      "outflow factor", owned_cells(patch), KOKKOS_LAMBDA(int j, int i, int n) {
        outflow_factors(
            {&H(j, i), &q_x(j, i), &q_y(j, i), nullptr, size.row, size.dt_x, size.dt_y, size.dt}, n,
            &f(j, i));
      });
}

/// H_new = H + dt (M - m - div q), limited by f (ghosts needed), in owned cells. H, mask: before
/// the step. M: surface balance, m: basal melt, in m s-1 of ice; M in kg m-2 s-1 if M_unit =
/// rho_ice. Returns the budget of the owned cells, for sum_over_ranks (`later`: as in reduce_over).
/// Sources act after advection; neither acts on ice-free ocean, and m only on floating ice.
inline MassBudget update_thickness(const Patch& patch, double dx, double dy, double dt,
                                   const Array2<double>& H, const Array2<int>& mask,
                                   const Array2<double>& q_x, const Array2<double>& q_y,
                                   const Array2<double>& f, const Array2<double>& M,
                                   const Array2<double>& m, const Array2<double>& H_new,
                                   double M_unit = 1.0, const Later<MassBudget>& later = {}) {
  const Patch p = patch;
  const double dt_x = dt / dx, dt_y = dt / dy;
  const auto ice = KOKKOS_LAMBDA(int j, int i, int n, MassBudget& local) {
    move_ice({&H(j, i), &q_x(j, i), &q_y(j, i), &mask(j, i), p.xm + 2, dt_x, dt_y, dt},
             {&f(j, i), &M(j, i), &m(j, i), M_unit}, n, &H_new(j, i), local);
    const auto across_x = [&](int I) {
      return detail::crossing(dt_x, q_x(j, I), f(j, I), f(j, I + 1));
    };
    const auto across_y = [&](int J, int I) {
      return detail::crossing(dt_y, q_y(J, I), f(J, I), f(J + 1, I));
    };
    if (p.global_i(i) == 0) local.edge.add(across_x(i - 1));
    if (p.global_i(i + n - 1) == p.Mx - 1) local.edge.add(-across_x(i + n - 1));
    for (int c = i; c < i + n && p.global_j(j) == 0; ++c) local.edge.add(across_y(j - 1, c));
    for (int c = i; c < i + n && p.global_j(j) == p.My - 1; ++c) local.edge.add(-across_y(j, c));
  };
  return reduce_over_packs<MassBudget>("update thickness", owned_cells(patch), later, ice);
}

} // namespace nunatak
