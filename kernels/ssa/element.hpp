// One bilinear (Q1) element of the shallow shelf approximation: residual and Jacobian.
//
// Unknowns u, v live at cell centres, so that an element is the square between four centres; its
// four Gauss points lie one in each quadrant, and a quadrant belongs to one cell:
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
//   int 2 nu H [ (2 u_x + v_y) phi_x + 1/2 (u_y + v_x) phi_y ]
//   and 2 nu H [ (2 v_y + u_x) psi_y + 1/2 (u_y + v_x) psi_x ]
//     + int beta (u phi + v psi)
//     = - int rho g H (h_x phi + h_y psi) + int_front P (n_x phi + n_y psi)
//
// Viscosity is one number per element, from the mean of e^2 over the element and the mean of B H:
// with the symmetric matrix K of the quadratic form, int e^2 = 1/2 w.K w for the eight velocities
// w, everything follows from p = K w and the element's area a:
//
//   e^2 = w.p/(2 a),   residual = 2 nu H p,   Picard 2 nu H K
//   Newton 2 nu H K + (2 nu H)'/a p p^T
//
// The discrete SSA is then the minimum of the convex energy  sum a B H W(e^2) + drag - load,  W' =
// 2 nu/B,  and one cube root per element is enough.
//
// The margin. The domain is exactly the union of the icy cells: a Gauss point counts only if the
// cell of its quadrant is icy, and only icy cells have unknowns. In an element with ice-free
// corners a linear operator E extends every field (u, v, B H, flotation) from the icy corners:
//
//   3 icy corners: the plane through them        2 adjacent: constant across
//   2 diagonal:    their mean                    1: constant
//
// and the element contributes E^T r, E^T K E: the operator stays symmetric, and the front, on cell
// faces, is a natural boundary. Elements with two icy corners resist rotation; those with three or
// four would not: ice with a staircase margin could spin around one grounded cell, or around a
// corner at which it touches other ice, without any strain, and its equations would be singular. In
// an element with three icy corners e^2 therefore includes 1/4 s (u_y - v_x)^2 with a small s
// (spin_resistance). Driving stress, front term and drag are added cell by cell (load.hpp).
#pragma once

#include "kernels/ssa/rheology.hpp"

namespace nunatak {

constexpr double spin_resistance = 0.01; ///< s above

/// Data of an element (dx x dy, m) and of its set of icy corners (bit c of `ice`: corner c).
struct Q1Element {
  double N[4][4];     ///< N[g][c]: shape function of corner c at Gauss point g
  double Nx[4][4];    ///< its x-derivative, m-1
  double Ny[4][4];    ///< its y-derivative, m-1
  double E[16][4][4]; ///< E[ice][c][d]: weight of corner d in the extended value at corner c
  /// K[ice]: int e^2 = 1/2 w.K w; w[2 c], w[2 c + 1] = u, v at corner c; 0 for ice-free corners
  double K[16][8][8];
  /// mean[ice][c]: weight of corner c in the mean of a field over the icy quadrants
  double mean[16][4];
  double area[16]; ///< of the icy quadrants, m2
  double weight;   ///< of a Gauss point, dx dy / 4, m2

  Q1Element() = default;
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
      set_extension(ice);
      set_integrals(ice);
    }
  }

  /// Extends f from the icy corners to all corners, in place.
  KOKKOS_INLINE_FUNCTION void extend(int ice, double (&f)[4]) const {
    if (ice == 15) return;
    const double known[4] = {ice & 1 ? f[0] : 0.0, ice & 2 ? f[1] : 0.0, ice & 4 ? f[2] : 0.0,
                             ice & 8 ? f[3] : 0.0};
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

private:
  void set_extension(int ice) {
    const auto icy = [ice](int corner) { return (ice >> corner & 1) != 0; };
    for (int c = 0; c < 4; ++c) {
      for (int d = 0; d < 4; ++d) E[ice][c][d] = 0.0;
      const int a = c ^ 1, b = c ^ 2,
                opposite = c ^ 3; // neighbours of corner c along x and y; diagonal
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

  void set_integrals(int ice) {
    const bool three = ice == 7 || ice == 11 || ice == 13 || ice == 14;
    const double spin = three ? spin_resistance : 0.0;
    const double same = 0.5 * (1.0 + spin);
    const double mixed = 0.5 * (1.0 - spin);
    int quadrants = 0;
    for (int c = 0; c < 4; ++c) mean[ice][c] = 0.0;
    for (auto& row : K[ice]) {
      for (double& k : row) k = 0.0;
    }
    for (int g = 0; g < 4; ++g) {
      if ((ice >> g & 1) == 0) continue;
      quadrants += 1;
      double n[4] = {N[g][0], N[g][1], N[g][2], N[g][3]},
             x[4] = {Nx[g][0], Nx[g][1], Nx[g][2], Nx[g][3]},
             y[4] = {Ny[g][0], Ny[g][1], Ny[g][2], Ny[g][3]};
      for (auto* f : {&n, &x, &y}) gather(ice, *f); // shape functions of the extended field
      for (int c = 0; c < 4; ++c) {
        mean[ice][c] += n[c];
        if ((ice & (ice - 1)) == 0) continue; // one corner: no strain, exactly
        for (int d = 0; d < 4; ++d) {
          K[ice][2 * c][2 * d] += weight * (2.0 * x[c] * x[d] + same * (y[c] * y[d]));
          K[ice][2 * c][2 * d + 1] += weight * (x[c] * y[d] + mixed * (y[c] * x[d]));
          K[ice][2 * c + 1][2 * d] += weight * (y[c] * x[d] + mixed * (x[c] * y[d]));
          K[ice][2 * c + 1][2 * d + 1] += weight * (2.0 * y[c] * y[d] + same * (x[c] * x[d]));
        }
      }
    }
    for (int c = 0; c < 4; ++c) mean[ice][c] /= quadrants > 0 ? quadrants : 1;
    area[ice] = quadrants * weight;
  }
};

/// Value at a Gauss point: dot(q1.N[g], f); derivatives with Nx, Ny.
KOKKOS_INLINE_FUNCTION double dot(const double (&a)[4], const double (&b)[4]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/// Area fraction of a triangle where a linear function with corner values a, b, c is positive.
KOKKOS_INLINE_FUNCTION double positive_fraction(double a, double b, double c) {
  const int n = (a > 0.0) + (b > 0.0) + (c > 0.0);
  if (n == 0 || n == 3) return n / 3;
  // corner p differs in sign: it cuts off p/(p-q) of the edge to q, and likewise to r
  const bool one_positive = n == 1;
  const bool a_alone = (a > 0.0) == one_positive, b_alone = (b > 0.0) == one_positive;
  const double p = a_alone ? a : (b_alone ? b : c);
  const double q = a_alone ? b : (b_alone ? c : a);
  const double r = a_alone ? c : (b_alone ? a : b);
  const double cut = p * p / ((p - q) * (p - r));
  return one_positive ? cut : 1.0 - cut;
}

/// Grounded fraction of each quadrant, from the height above flotation F = b + rho/rho_w H (m) at
/// the corners, linear on the two triangles of a quadrant: drag acts on the grounded part of a cell
/// (Feldmann et al. 2014; SEP of Seroussi et al. 2014).
///
///    face --- centre of the element      F on faces and at the centre: means of the corners
///     |  \    |   |
///     |    \  |                           The diagonal runs from the centre of the cell
///    cell --- face                        to the centre of the element.
KOKKOS_INLINE_FUNCTION void ssa_element_grounded(const Q1Element& q1, int ice, double (&F)[4],
                                                 double (&fraction)[4]) {
  q1.extend(ice, F);
  const double centre = 0.25 * (F[0] + F[1] + F[2] + F[3]);
  for (int c = 0; c < 4; ++c) {
    const double face_x = 0.5 * (F[c] + F[c ^ 1]), face_y = 0.5 * (F[c] + F[c ^ 2]);
    fraction[c] =
        0.5 * (positive_fraction(F[c], face_x, centre) + positive_fraction(F[c], face_y, centre));
  }
}

/// One element at given velocities: p = K w and 2 nu H. w (m s-1): as in Q1Element::K; BH = B H (Pa
/// s^(1/n) m) at the corners. Both must be finite, even in ice-free corners.
struct SsaElement {
  double p[8];
  double nuH2;  ///< 2 nu H, Pa s m
  double slope; ///< its derivative with respect to e^2, divided by the area
  double e2;    ///< mean of e^2, s-2

  SsaElement() = default;
  KOKKOS_INLINE_FUNCTION SsaElement(const Q1Element& q1, const GlenLaw& law, int ice,
                                    const double (&w)[8], const double (&BH)[4]) {
    e2 = strain2(q1, ice, w, p);
    nuH2 = dot(q1.mean[ice], BH) * law.viscosity(e2);
    slope = nuH2 * law.log_slope(e2) / q1.area[ice];
  }

  /// Mean of e^2 over the element (s-2) for the velocities w, and K w.
  KOKKOS_INLINE_FUNCTION static double strain2(const Q1Element& q1, int ice, const double (&w)[8],
                                               double (&Kw)[8]) {
    // relative to one icy corner, to avoid cancellation in fast, stiff ice
    const int corner = (ice & 1) != 0 ? 0 : (ice & 2) != 0 ? 1 : (ice & 4) != 0 ? 2 : 3;
    double relative[8];
    for (int a = 0; a < 8; ++a) relative[a] = w[a] - w[2 * corner + (a & 1)];
    double product = 0.0;
    for (int a = 0; a < 8; ++a) {
      Kw[a] = 0.0;
      for (int b = 0; b < 8; ++b) Kw[a] += q1.K[ice][a][b] * relative[b];
      product += relative[a] * Kw[a];
    }
    return 0.5 * product / q1.area[ice];
  }

  /// Scales Newton's term: 1 all, 0 none (Picard).
  KOKKOS_INLINE_FUNCTION void weigh(double newton) { slope *= newton; }

  KOKKOS_INLINE_FUNCTION double residual(int a) const { return nuH2 * p[a]; }

  /// Entry (a, b) of the Jacobian, symmetric positive semidefinite for all weights: the Newton term
  /// takes at most 1 - 1/n of the Picard form (Cauchy-Schwarz).
  KOKKOS_INLINE_FUNCTION double jacobian(const Q1Element& q1, int ice, int a, int b) const {
    return nuH2 * q1.K[ice][a][b] + slope * p[a] * p[b];
  }
};

} // namespace nunatak
