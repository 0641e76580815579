// Mass transport: one explicit step of dH/dt = M - m - div q, with every metre of ice accounted for.
//
//   q = q_SIA (kernels/ice/sia.hpp) + upwind(face-mean sliding velocity * H)
//
// Positivity (Smolarkiewicz 1989, Mon. Weather Rev. 117, 2626-2632): what may leave a cell in a step, F_out = dt * (sum of the
// outgoing q/dx), is scaled to what is there: each outgoing flux times f = min(1, H/F_out) of its donor cell. A face keeps one
// flux for both of its cells, so ice is neither made nor lost.
//
//           q_y(j, i)             three functions, one exchange of ghosts between the last two:
//         +-----^-----+             total_flux       q from q_SIA, H, u, v             edges, ghosts of H, mask, u, v
//  q_x    |           | q_x         outflow_factor   f at owned cells                  no ghosts; then exchange f
//  (j,i-1)>   (j, i)  > (j, i)      update_thickness H after the step, mass budget     ghosts of f
//         +-----^-----+
//           q_y(j-1, i)           The order of operations in a cell is fixed: H is the same to the bit on any number of ranks.
//
// Calving: the front is fixed. A cell that is ice-free ocean before the step stays so: ice that slides into it has calved.
// Where a shelf melts away the front has retreated for good. This suits runs of decades; ice-free land may be overrun freely.
//
// Edge of the domain: ghosts repeat the edge cell. Shearing has no flux there; sliding ice leaves (or enters) with the velocity
// and thickness of the edge cell, and the budget counts it.
#pragma once

#include "kernels/grid/over_ranks.hpp"
#include "kernels/ice/sia.hpp"

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
  double change() const { return surface.value() - basal.value() - calved.value() + edge.value() + clipped.value(); }
};

/// Sum of the thickness of the owned cells (m); times dx dy it is the volume.
inline FixedSum sum_thickness(const Patch& patch, const Array2<double>& H) {
  return reduce_over<FixedSum>(
      "sum of thickness", owned_cells(patch), KOKKOS_LAMBDA(int j, int i, FixedSum& sum) { sum.add(H(j, i)); });
}

/// Flux of sliding through the face from cell a to cell b (m2 s-1), whose edge is `edge` (kernels/ice/edges.hpp): the mean
/// velocity of the cells with ice carries the thickness of the upwind cell. None where the surface does not continue, but ice may
/// slide out of the front.
KOKKOS_INLINE_FUNCTION double sliding_flux(double edge, int type_a, double H_a, double u_a, int type_b, double H_b, double u_b) {
  const bool ice_a = icy(type_a), ice_b = icy(type_b);
  if (!ice_a && !ice_b) return 0.0;
  const bool front = type_a == ice_free_ocean || type_b == ice_free_ocean;
  if (!front && edge == surface_ends) return 0.0;
  const double u = ice_a && ice_b ? 0.5 * (u_a + u_b) : ice_a ? u_a : u_b;
  if (front && (ice_a ? u < 0.0 : u > 0.0)) return 0.0; // the ocean sends no ice
  return u > 0.0 ? u * H_a : u * H_b;
}

/// q = q_SIA + sliding, on all faces of the owned cells (m2 s-1). Needs edges, ghosts of H (m), mask and the sliding velocity
/// u, v (m s-1, used in cells with ice only). q_sia_x, q_sia_y: from sia_fluxes.
inline void total_flux(const Patch& patch, const Edges& edges, const Array2<double>& H, const Array2<int>& mask,
                       const Array2<double>& u, const Array2<double>& v, const Array2<double>& q_sia_x,
                       const Array2<double>& q_sia_y, const Array2<double>& q_x, const Array2<double>& q_y) {
  for_each_of(
      "total flux", cells_with_faces(patch), KOKKOS_LAMBDA(int j, int i) {
        const auto slide = [&](const Array2<double>& edge, const Array2<double>& velocity, int j1, int i1) {
          return sliding_flux(edge(j, i), mask(j, i), H(j, i), velocity(j, i), mask(j1, i1), H(j1, i1), velocity(j1, i1));
        };
        if (j > 0) q_x(j, i) = q_sia_x(j, i) + slide(edges.x, u, j, i + 1);
        if (i > 0) q_y(j, i) = q_sia_y(j, i) + slide(edges.y, v, j + 1, i);
      });
}

/// f = min(1, H/F_out) of the owned cells, the part of the outgoing ice that may leave. Exchange its ghosts next.
inline void outflow_factor(const Patch& patch, double dx, double dy, double dt, const Array2<double>& H,
                           const Array2<double>& q_x, const Array2<double>& q_y, const Array2<double>& f) {
  const double dt_x = dt / dx, dt_y = dt / dy;
  for_each_cell(
      "outflow factor", patch, KOKKOS_LAMBDA(int j, int i) {
        const auto out = [](double q) { return q > 0.0 ? q : 0.0; };
        const double F_out = (out(q_x(j, i)) + out(-q_x(j, i - 1))) * dt_x + (out(q_y(j, i)) + out(-q_y(j - 1, i))) * dt_y;
        f(j, i) = F_out > H(j, i) ? H(j, i) / F_out : 1.0;
      });
}

/// H_new = H + dt (M - m - div q), limited by f (ghosts needed). H, mask: before the step. M: surface balance, m: basal melt of
/// floating ice, in m s-1 of ice, of the owned cells; M in kg m-2 s-1 if M_unit = rho_ice. Returns the budget of the owned cells:
/// add it up with sum_over_ranks (`later`: as of reduce_over). Sources act after the ice has moved; neither acts on ice-free
/// ocean, and m only on floating ice. H_new is valid in owned cells.
inline MassBudget update_thickness(const Patch& patch, double dx, double dy, double dt, const Array2<double>& H,
                                   const Array2<int>& mask, const Array2<double>& q_x, const Array2<double>& q_y,
                                   const Array2<double>& f, const Array2<double>& M, const Array2<double>& m,
                                   const Array2<double>& H_new, double M_unit = 1.0, const Later<MassBudget>& later = {}) {
  const Patch p = patch;
  const double dt_x = dt / dx, dt_y = dt / dy;
  return reduce_over<MassBudget>(
      "update thickness", owned_cells(patch), later, KOKKOS_LAMBDA(int j, int i, MassBudget& local) {
        // the ice that crosses each side in this step, as metres on a cell: left, right, lower, upper
        const double w = dt_x * (q_x(j, i - 1) * (q_x(j, i - 1) > 0.0 ? f(j, i - 1) : f(j, i)));
        const double e = dt_x * (q_x(j, i) * (q_x(j, i) > 0.0 ? f(j, i) : f(j, i + 1)));
        const double s = dt_y * (q_y(j - 1, i) * (q_y(j - 1, i) > 0.0 ? f(j - 1, i) : f(j, i)));
        const double n = dt_y * (q_y(j, i) * (q_y(j, i) > 0.0 ? f(j, i) : f(j + 1, i)));
        if (p.global_i(i) == 0) local.edge.add(w);
        if (p.global_i(i) == p.Mx - 1) local.edge.add(-e);
        if (p.global_j(j) == 0) local.edge.add(s);
        if (p.global_j(j) == p.My - 1) local.edge.add(-n);

        const double moved = H(j, i) + ((w - e) + (s - n));
        if (mask(j, i) == ice_free_ocean) {
          if (moved != 0.0) local.calved.add(moved);
          H_new(j, i) = 0.0;
          return;
        }
        const double balance = M(j, i) / M_unit, surface = balance > 0.0 || moved > 0.0 ? dt * balance : 0.0;
        const double basal = mask(j, i) == floating_ice ? dt * m(j, i) : 0.0;
        const double left = moved + (surface - basal);
        local.surface.add(surface);
        local.basal.add(basal);
        if (left < 0.0) local.clipped.add(-left);
        H_new(j, i) = left > 0.0 ? left : 0.0;
      });
}

} // namespace nunatak
