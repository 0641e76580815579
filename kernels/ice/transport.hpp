// Mass transport: one explicit step of dH/dt = M - m - div q, with every metre of ice accounted
// for.
//
//   q = q_SIA (kernels/ice/sia.hpp) + upwind(face-mean sliding velocity * H)
//
// Positivity (Smolarkiewicz 1989, Mon. Weather Rev. 117, 2626-2632): what may leave a cell in a
// step, F_out = dt * (sum of the outgoing q/dx), is scaled to what is there: each outgoing flux
// times f = min(1, H/F_out) of its donor cell. A face keeps one flux for both of its cells, so ice
// is neither made nor lost.
//
//           q_y(j, i)             three functions, one exchange of ghosts between the last two:
//         +-----^-----+             total_flux       q from q_SIA, H, u, v             edges,
//         ghosts of H, mask, u, v
//  q_x    |           | q_x         outflow_factor   f at owned cells                  no ghosts;
//  then exchange f (j,i-1)>   (j, i)  > (j, i)      update_thickness H after the step, mass budget
//  ghosts of f
//         +-----^-----+
//           q_y(j-1, i)           The order of operations in a cell is fixed: H is the same to the
//           bit on any number of ranks.
//
// Calving: the front is fixed. A cell that is ice-free ocean before the step stays so: ice that
// slides into it has calved. Where a shelf melts away the front has retreated for good. This suits
// runs of decades; ice-free land may be overrun freely.
//
// Edge of the domain: ghosts repeat the edge cell. Shearing has no flux there; sliding ice leaves
// (or enters) with the velocity and thickness of the edge cell, and the budget counts it.
#pragma once

#include "kernels/grid/over_ranks.hpp"
#include "kernels/ice/sia.hpp"
#include "kernels/ice/transport_pack.hpp"

namespace nunatak {

/// Sum of the thickness of the owned cells (m); times dx dy it is the volume.
inline FixedSum sum_thickness(const Patch& patch, const Array2<double>& H) {
  return reduce_over<FixedSum>(
      "sum of thickness", owned_cells(patch),
      KOKKOS_LAMBDA(int j, int i, FixedSum& sum) { sum.add(H(j, i)); });
}

/// q = q_SIA + sliding, on all faces of the owned cells (m2 s-1). Needs edges, ghosts of H (m),
/// mask and the sliding velocity u, v (m s-1, used in cells with ice only). q_sia_x, q_sia_y: from
/// sia_fluxes.
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

/// f = min(1, H/F_out) of the owned cells, the part of the outgoing ice that may leave. Exchange
/// its ghosts next.
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

/// H_new = H + dt (M - m - div q), limited by f (ghosts needed). H, mask: before the step. M:
/// surface balance, m: basal melt of floating ice, in m s-1 of ice, of the owned cells; M in kg m-2
/// s-1 if M_unit = rho_ice. Returns the budget of the owned cells: add it up with sum_over_ranks
/// (`later`: as of reduce_over). Sources act after the ice has moved; neither acts on ice-free
/// ocean, and m only on floating ice. H_new is valid in owned cells.
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
