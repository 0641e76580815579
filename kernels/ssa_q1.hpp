// One bilinear (Q1) finite element of the shallow shelf approximation: load, residual and Jacobian from values at four corners.
//
// Unknowns u, v live at cell centres, so that an element is the square between four centres; its four Gauss points lie one in
// each quadrant, and a quadrant belongs to one cell:
//
//      cell 2  |  cell 3         2-----3     corners: bit 0 = +x, bit 1 = +y
//       +------+------+          | 2 3 |     Gauss point g lies in the quadrant of corner g,
//       |   2  |  3   |          | 0 1 |     at 1/2 +- 1/(2 sqrt 3), with weight dx dy/4
//   ----+------+------+----      0-----1
//       |   0  |  1   |
//       +------+------+
//      cell 0  |  cell 1
//
// Weak form (MacAyeal 1989; in the notation of Schoof 2006), for all test functions (phi, psi):
//
//   int 2 nu H [ (2 u_x + v_y) phi_x + 1/2 (u_y + v_x) phi_y ]  and  2 nu H [ (2 v_y + u_x) psi_y + 1/2 (u_y + v_x) psi_x ]
//     + int beta (u phi + v psi) = - int rho g H (h_x phi + h_y psi) + int_front P (n_x phi + n_y psi)
//
// The margin. The domain is exactly the union of the icy cells: a Gauss point counts only if the cell of its quadrant is icy, and
// there are unknowns only in icy cells. In an element with ice-free corners every field (u, v, H, h) is extended from the icy
// corners by a linear operator E:
//
//   3 icy corners: the plane through them        2 adjacent: constant across
//   2 diagonal:    their mean                    1: constant
//
// and the element contributes E^T r, E^T K E: the operator stays symmetric, the front lies on cell faces as the natural boundary,
// and no difference of the surface is taken across it. The front term, and drag lumped at the nodes, are added cell by cell
// (miniapp/ssa_assembly.cpp). Material laws: kernels/ssa_rheology.hpp.
#pragma once

#include "kernels/ssa_rheology.hpp"

namespace nunatak {

/// Shape functions of the element, dx x dy (m), and the extensions E for the 16 patterns of icy corners (bit c: corner c is icy).
struct Q1Element {
  double N[4][4];     ///< N[g][c]: shape function of corner c at Gauss point g
  double Nx[4][4];    ///< its x-derivative, m-1
  double Ny[4][4];    ///< its y-derivative, m-1
  double E[16][4][4]; ///< E[ice][c][d]: weight of corner d in the extended value at corner c
  double weight;      ///< dx dy / 4, m2

  Q1Element(double dx, double dy) : weight(0.25 * dx * dy) {
    const double near = 0.5 - 0.5 / Kokkos::sqrt(3.0);
    for (int g = 0; g < 4; ++g) {
      const double x = (g & 1) != 0 ? 1.0 - near : near, y = (g & 2) != 0 ? 1.0 - near : near;
      for (int c = 0; c < 4; ++c) {
        const double X = (c & 1) != 0 ? x : 1.0 - x, Y = (c & 2) != 0 ? y : 1.0 - y;
        N[g][c] = X * Y;
        Nx[g][c] = ((c & 1) != 0 ? Y : -Y) / dx;
        Ny[g][c] = ((c & 2) != 0 ? X : -X) / dy;
      }
    }
    for (int ice = 0; ice < 16; ++ice) {
      for (int c = 0; c < 4; ++c) {
        for (int d = 0; d < 4; ++d) E[ice][c][d] = 0.0;
        const auto icy = [ice](int corner) { return (ice >> corner & 1) != 0; };
        const int a = c ^ 1, b = c ^ 2, opposite = c ^ 3; // the neighbours of corner c along x and y, and the one across
        if (icy(c)) {
          E[ice][c][c] = 1.0;
        } else if (icy(a) && icy(b)) {
          const bool plane = icy(opposite);
          E[ice][c][a] = E[ice][c][b] = plane ? 1.0 : 0.5;
          if (plane) E[ice][c][opposite] = -1.0;
        } else if (icy(a) || icy(b)) {
          E[ice][c][icy(a) ? a : b] = 1.0;
        } else if (icy(opposite)) {
          E[ice][c][opposite] = 1.0;
        }
      }
    }
  }

  /// f at the icy corners -> f at all corners, in place (what stands in ice-free corners is not read).
  KOKKOS_INLINE_FUNCTION void extend(int ice, double (&f)[4]) const {
    if (ice == 15) return;
    const double known[4] = {ice & 1 ? f[0] : 0.0, ice & 2 ? f[1] : 0.0, ice & 4 ? f[2] : 0.0, ice & 8 ? f[3] : 0.0};
    for (int c = 0; c < 4; ++c) {
      f[c] = 0.0;
      for (int d = 0; d < 4; ++d) f[c] += E[ice][c][d] * known[d];
    }
  }
  /// The transpose: loads at all corners -> loads at the icy ones, zeros elsewhere.
  KOKKOS_INLINE_FUNCTION void gather(int ice, double (&r)[4]) const {
    if (ice == 15) return;
    const double all[4] = {r[0], r[1], r[2], r[3]};
    for (int d = 0; d < 4; ++d) {
      r[d] = 0.0;
      for (int c = 0; c < 4; ++c) r[d] += E[ice][c][d] * all[c];
    }
  }
};

/// Value at a Gauss point: dot(q1.N[g], f); derivatives with Nx, Ny.
KOKKOS_INLINE_FUNCTION double dot(const double (&a)[4], const double (&b)[4]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/// The velocity gradient at one Gauss point, and what follows from it.
struct StrainRates {
  double e2;           ///< effective strain rate squared, s-2
  double xx, yy, half; ///< 2 u_x + v_y, 2 v_y + u_x, (u_y + v_x)/2, s-1

  KOKKOS_INLINE_FUNCTION StrainRates(const double (&Nx)[4], const double (&Ny)[4], const double (&u)[4], const double (&v)[4]) {
    const double u_x = dot(Nx, u), u_y = dot(Ny, u), v_x = dot(Nx, v), v_y = dot(Ny, v);
    xx = 2.0 * u_x + v_y;
    yy = 2.0 * v_y + u_x;
    half = 0.5 * (u_y + v_x);
    e2 = u_x * u_x + v_y * v_y + u_x * v_y + half * half;
  }
};

/// Driving load: fx[c] = - int rho g H h_x phi_c, fy likewise (N). H, h (m) at the corners; ice-free ones are not read.
KOKKOS_INLINE_FUNCTION void ssa_element_load(const Q1Element& q1, int ice, double (&H)[4], double (&h)[4], double (&fx)[4],
                                             double (&fy)[4]) {
  q1.extend(ice, H);
  q1.extend(ice, h);
  for (int c = 0; c < 4; ++c) fx[c] = fy[c] = 0.0;
  for (int g = 0; g < 4; ++g) {
    if ((ice >> g & 1) == 0) continue;
    const double s = -rho_ice * gravity * dot(q1.N[g], H) * q1.weight;
    const double s_x = s * dot(q1.Nx[g], h), s_y = s * dot(q1.Ny[g], h);
    for (int c = 0; c < 4; ++c) fx[c] += s_x * q1.N[g][c], fy[c] += s_y * q1.N[g][c];
  }
  q1.gather(ice, fx);
  q1.gather(ice, fy);
}

/// Membrane stresses: ru[c] = int 2 nu H [(2 u_x + v_y) phi_x + (u_y + v_x)/2 phi_y], rv likewise (N).
/// u, v (m s-1) and BH = B H (Pa s^(1/n) m) at the corners; ice-free ones are not read.
KOKKOS_INLINE_FUNCTION void ssa_element_residual(const Q1Element& q1, const GlenLaw& law, int ice, double (&u)[4], double (&v)[4],
                                                 double (&BH)[4], double (&ru)[4], double (&rv)[4]) {
  q1.extend(ice, u);
  q1.extend(ice, v);
  q1.extend(ice, BH);
  for (int c = 0; c < 4; ++c) ru[c] = rv[c] = 0.0;
  for (int g = 0; g < 4; ++g) {
    if ((ice >> g & 1) == 0) continue;
    const double(&Nx)[4] = q1.Nx[g], (&Ny)[4] = q1.Ny[g];
    const StrainRates e(Nx, Ny, u, v);
    const double nuH2 = dot(q1.N[g], BH) * law.viscosity(e.e2) * q1.weight; // 2 nu H, weighted
    for (int c = 0; c < 4; ++c) {
      ru[c] += nuH2 * (e.xx * Nx[c] + e.half * Ny[c]);
      rv[c] += nuH2 * (e.yy * Ny[c] + e.half * Nx[c]);
    }
  }
  q1.gather(ice, ru);
  q1.gather(ice, rv);
}

/// Derivative of the residual: K[c][d] is the 2 x 2 block (row u, v of corner c; column u, v of corner d; row-major).
/// `newton` = 1: the true derivative; 0: viscosity frozen (Picard). Both are symmetric and positive (semi)definite: the Newton
/// term takes at most 2/3 (n = 3; 1 - 1/n) of the Picard form, by the Cauchy-Schwarz inequality.
KOKKOS_INLINE_FUNCTION void ssa_element_jacobian(const Q1Element& q1, const GlenLaw& law, double newton, int ice, double (&u)[4],
                                                 double (&v)[4], double (&BH)[4], double (&K)[4][4][4]) {
  q1.extend(ice, u);
  q1.extend(ice, v);
  q1.extend(ice, BH);
  double upper[4][4][4] = {};
  for (int g = 0; g < 4; ++g) {
    if ((ice >> g & 1) == 0) continue;
    const double(&Nx)[4] = q1.Nx[g], (&Ny)[4] = q1.Ny[g];
    const StrainRates e(Nx, Ny, u, v);
    const double nuH2 = dot(q1.N[g], BH) * law.viscosity(e.e2) * q1.weight;
    const double slope = newton * nuH2 * law.log_slope(e.e2);
    double pu[4], pv[4]; // d(e^2)/du_c, d(e^2)/dv_c
    for (int c = 0; c < 4; ++c) {
      pu[c] = e.xx * Nx[c] + e.half * Ny[c];
      pv[c] = e.yy * Ny[c] + e.half * Nx[c];
    }
    for (int c = 0; c < 4; ++c) {
      for (int d = c; d < 4; ++d) {
        const double xx = Nx[c] * Nx[d], yy = Ny[c] * Ny[d], xy = Nx[c] * Ny[d], yx = Ny[c] * Nx[d];
        double(&k)[4] = upper[c][d];
        k[0] += nuH2 * (2.0 * xx + 0.5 * yy) + slope * pu[c] * pu[d];
        k[1] += nuH2 * (xy + 0.5 * yx) + slope * pu[c] * pv[d];
        k[2] += nuH2 * (yx + 0.5 * xy) + slope * pv[c] * pu[d];
        k[3] += nuH2 * (2.0 * yy + 0.5 * xx) + slope * pv[c] * pv[d];
      }
    }
  }
  for (int c = 0; c < 4; ++c) {
    for (int d = 0; d < c; ++d) {
      upper[c][d][0] = upper[d][c][0], upper[c][d][1] = upper[d][c][2];
      upper[c][d][2] = upper[d][c][1], upper[c][d][3] = upper[d][c][3];
    }
  }
  for (int c = 0; c < 4; ++c) {
    for (int d = 0; d < 4; ++d) {
      for (int m = 0; m < 4; ++m) {
        if (ice == 15) {
          K[c][d][m] = upper[c][d][m];
          continue;
        }
        K[c][d][m] = 0.0; // E^T K E
        for (int a = 0; a < 4; ++a) {
          for (int b = 0; b < 4; ++b) K[c][d][m] += q1.E[ice][a][c] * upper[a][b][m] * q1.E[ice][b][d];
        }
      }
    }
  }
}

} // namespace nunatak
