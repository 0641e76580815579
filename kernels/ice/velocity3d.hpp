// The velocity at every level, from the surface slope and the sliding velocity, and strain heating.
//
//   U(z) = U_b - [2 A (rho g)^n/(n+1)] |grad h|^(n-1) grad h [H^(n+1) - (H-z)^(n+1)]
//   mean over depth: U_b - [2 A (rho g)^n/(n+2)] |grad h|^(n-1) grad h H^(n+1)
//   w(z) = w_b - int_0^z (u_x + v_y) dz'
//   Sigma = 2 A (rho g |grad h| (H-z))^(n+1)   (W m-3, of shearing)
//
// (Winkelmann et al. 2011, eq. 1 and 7.) z is the height above the base, in which incompressibility
// keeps its form; w is the velocity across the levels, w = w_true - u . grad(base) - d(base)/dt, as
// the temperature equation needs it. At the base w_b = -(melt of floating ice).
//
// grad h at a cell: the mean of the differences to its neighbours, except across a front or a cliff
// (sia.hpp):
//      h_i - h_(i-1)   h_(i+1) - h_i      grounded ice shears; floating ice only slides: U(z) = U_b
//     |-------------o-------------|       ice-free cells: all zero
//                                         above the ice: u, v, w keep their surface values
// Ghosts beyond the domain repeat its edge, across which nothing flows (sia.hpp): the difference
// of 0 to them counts, so that ice in the outermost cells has half the slope and divergence of its
// inner side.
#pragma once

#include "kernels/ice/levels.hpp"
#include "kernels/ice/sia.hpp"

namespace nunatak {

struct HorizontalVelocity {
  Array3<double> u, v;                 ///< m s-1
  Array2<double> heating;              ///< strain heating Sigma = heating (H-z)^4, W m-7
  Array2<double> u_surface, v_surface; ///< m s-1
  Array2<double> u_mean, v_mean;       ///< means over depth, m s-1
  Array2<std::int8_t> moved;           ///< 0: the columns of u, v and w are zero

  static HorizontalVelocity make(const Patch& patch, int Mz) {
    return {make_columns<double>("uvel", patch, Mz),     make_columns<double>("vvel", patch, Mz),
            make_array<double>("strain_heating", patch), make_array<double>("uvelsurf", patch),
            make_array<double>("vvelsurf", patch),       make_array<double>("ubar", patch),
            make_array<double>("vbar", patch),           make_array<std::int8_t>("moved", patch)};
  }
};

/// The surface slope at a cell along one axis, from its edges on both sides.
KOKKOS_INLINE_FUNCTION double cell_slope(double to_cell, double from_cell, double spacing) {
  MeanRise rise;
  rise.add_both(to_cell, from_cell);
  return rise.value() / spacing;
}

/// All of HorizontalVelocity, in owned cells. Needs the edges, and H (m), mask, rate factor A (Pa-3
/// s-1) and sliding velocity u_b, v_b (m s-1) of the owned cells.
inline void horizontal_velocity(const Patch& patch, double dx, double dy, const Levels& levels,
                                const Edges& edges, const Array2<double>& H,
                                const Array2<int>& mask, const Array2<double>& A,
                                const Array2<double>& u_b, const Array2<double>& v_b,
                                const HorizontalVelocity& out) {
  const Column z = levels.z;
  const int Mz = levels.size();
  for_each_cell(
      "horizontal velocity", patch, KOKKOS_LAMBDA(int j, int i) {
        const bool ice = icy(mask(j, i)), shears = mask(j, i) == grounded_ice;
        const double thickness = H(j, i), ub = ice ? u_b(j, i) : 0.0, vb = ice ? v_b(j, i) : 0.0;
        const double h_x = shears ? cell_slope(edges.x(j, i - 1), edges.x(j, i), dx) : 0.0;
        const double h_y = shears ? cell_slope(edges.y(j - 1, i), edges.y(j, i), dy) : 0.0;
        const double slope2 = h_x * h_x + h_y * h_y;
        constexpr double rho_g = rho_ice * gravity;
        const double rate = shears ? 2.0 * A(j, i) * (rho_g * rho_g * rho_g) * slope2 : 0.0;
        const double H4 = thickness * thickness * thickness * thickness;
        const double shear = rate / (glen_n + 1);
        const double us = ub - shear * h_x * H4, vs = vb - shear * h_y * H4;
        if (ice || out.moved(j, i) != 0) {
          const int n = ice ? levels_in_ice(z, thickness) : 0;
          for (int k = 0; k < n; ++k) {
            const double d = thickness - z(k), d4 = d * d * d * d;
            out.u(j, i, k) = ub - shear * h_x * (H4 - d4);
            out.v(j, i, k) = vb - shear * h_y * (H4 - d4);
          }
          for (int k = n; k < Mz; ++k) {
            out.u(j, i, k) = us;
            out.v(j, i, k) = vs;
          }
          out.moved(j, i) = 1;
        }
        out.heating(j, i) = rate * rho_g * slope2;
        out.u_surface(j, i) = us;
        out.v_surface(j, i) = vs;
        out.u_mean(j, i) = ub - rate / (glen_n + 2) * h_x * H4;
        out.v_mean(j, i) = vb - rate / (glen_n + 2) * h_y * H4;
      });
}

/// w (m s-1, upwards across the levels) in owned cells, by the trapezoidal rule. Needs ghosts of u,
/// v and mask; H and the basal melt m (m s-1 of ice, used where floating) of the owned cells.
/// Derivatives are centred, one-sided next to an ice-free cell, zero between two of them.
inline void vertical_velocity(const Patch& patch, double dx, double dy, const Levels& levels,
                              const Array2<double>& H, const Array2<int>& mask,
                              const Array2<double>& m, const HorizontalVelocity& velocity,
                              const Array3<double>& w) {
  const Column z = levels.z;
  const int Mz = levels.size();
  const auto u = velocity.u, v = velocity.v;
  const auto moved = velocity.moved;
  for_each_cell(
      "vertical velocity", patch, KOKKOS_LAMBDA(int j, int i) {
        const bool ice = icy(mask(j, i));
        if (!ice && moved(j, i) == 0) return;
        if (!ice) {
          for (int k = 0; k < Mz; ++k) w(j, i, k) = 0.0;
          moved(j, i) = 0;
          return;
        }
        const int l = icy(mask(j, i - 1)) ? 1 : 0, r = icy(mask(j, i + 1)) ? 1 : 0;
        const int b = icy(mask(j - 1, i)) ? 1 : 0, t = icy(mask(j + 1, i)) ? 1 : 0;
        const double per_x = l + r > 0 ? 1.0 / ((l + r) * dx) : 0.0;
        const double per_y = b + t > 0 ? 1.0 / ((b + t) * dy) : 0.0;
        const auto divergence = [&](int k) {
          return (u(j, i + r, k) - u(j, i - l, k)) * per_x +
                 (v(j + t, i, k) - v(j - b, i, k)) * per_y;
        };
        const int n = levels_in_ice(z, H(j, i));
        double here = mask(j, i) == floating_ice ? -m(j, i) : 0.0, below = divergence(0);
        w(j, i, 0) = here;
        for (int k = 1; k < n; ++k) {
          const double above = divergence(k);
          here -= 0.5 * (below + above) * (z(k) - z(k - 1));
          w(j, i, k) = here;
          below = above;
        }
        const double at_surface = n < Mz ? divergence(n) : below;
        here -= 0.5 * (below + at_surface) * (H(j, i) - z(n - 1));
        for (int k = n; k < Mz; ++k) w(j, i, k) = here;
      });
}

} // namespace nunatak
