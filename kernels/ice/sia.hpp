// Shallow ice approximation: diffusivity and flux on cell faces (Mahaffy 1976, J. Geophys. Res.
// 81(6), 1059-1066).
//
//   q = -D grad h,  D = Gamma H^(n+2) |grad h|^(n-1),  Gamma = 2 A (rho g)^n/(n + 2),  n = 3
//
//   x-face (j, i+1/2):                 Faces: q_x(j, i) lies between (j, i) and (j, i+1) for i =
//   0..xm, q_y(j, i) between
//       N_L     N_R     j+1            (j, i) and (j+1, i) for j = 0..ym: all faces of the owned
//       cells, in view indices.
//        |   |   |                     s_x = (h_R - h_L)/dx
//        L---D---R      j              s_y = mean of the four differences N_L - L, L - S_L, N_R -
//        R, R - S_R, over dy |   |   |                     D   = Gamma ((H_L + H_R)/2)^(n+2) (s_x^2
//        + s_y^2)^((n-1)/2)
//       S_L     S_R     j-1            q_x = -D s_x  (m2 s-1)
//
// The differences are those of kernels/ice/edges.hpp, with its rule for fronts and cliffs: the mean
// leaves out where the surface ends. kernels/ice/face_pack.hpp finds slopes, thickness and rate
// factor of many faces at once; kernels/ice/transport.hpp adds sliding.
#pragma once

#include "kernels/ice/face_pack.hpp"

#include <limits>

namespace nunatak {

/// D (m2 s-1) from the rate factor A (Pa-3 s-1), thickness (m) and squared surface slope. The
/// default of sia_fluxes: A does not change with depth, so the integral over the column is exact.
struct SiaDiffusivity {
  KOKKOS_INLINE_FUNCTION double operator()(double A, double H, double slope2) const {
    constexpr double rho_g = rho_ice * gravity;
    const double H2 = H * H;
    return 2.0 * A * (rho_g * rho_g * rho_g) / (glen_n + 2) * (H2 * H2 * H) * slope2;
  }
};

struct SiaParameters {
  double D_limit = std::numeric_limits<double>::infinity(); ///< largest diffusivity allowed, m2
                                                            ///< s-1; the default limits nothing
};

struct SiaResult {
  double D_max = 0.0; ///< largest diffusivity on a face of this patch, m2 s-1 (for the time step)
  std::int64_t limited_faces =
      0; ///< faces of this patch where D was cut to D_limit; a face on a seam counts on both sides
  KOKKOS_INLINE_FUNCTION SiaResult& operator+=(const SiaResult& other) {
    D_max = D_max > other.D_max ? D_max : other.D_max;
    limited_faces += other.limited_faces;
    return *this;
  }
};

/// Fluxes by shearing, q_x and q_y (m2 s-1), on all faces of the owned cells.
/// Needs edges, and ghosts of thickness H (m), mask and rate factor A (Pa-3 s-1; in ice-free cells
/// it is not used next to ice). At an edge of the domain the ghosts repeat the edge: the surface
/// has no slope there, the flux is zero. `diffusivity`: a function of (A, H, slope squared), see
/// SiaDiffusivity; 0 if A and the slope are. Communicates nothing: both sides of a seam compute the
/// same bits. Reduce D_max with max_over_ranks (kernels/grid/over_ranks.hpp). `later`: as of
/// reduce_over.
template <class Diffusivity = SiaDiffusivity>
SiaResult sia_fluxes(const Patch& patch, double dx, double dy, const SiaParameters& parameters,
                     const Edges& edges, const Array2<double>& H, const Array2<int>& mask,
                     const Array2<double>& A, const Array2<double>& q_x, const Array2<double>& q_y,
                     const Diffusivity& diffusivity = {}, const Later<SiaResult>& later = {}) {
  constexpr int P = FacePack::P;
  const double D_limit = parameters.D_limit, per_dx = 1.0 / dx, per_dy = 1.0 / dy;
  const int end = patch.xm + 1, row = patch.xm + 2;
  // packs of cells (j, i..): each cell has the face to its right and the one above it; row 0 and
  // column 0 have one of the two
  return reduce_over<SiaResult>(
      "sia fluxes", Cells{0, patch.ym + 1, 0, (end + P - 1) / P}, later,
      KOKKOS_LAMBDA(int j, int n_pack, SiaResult& local) {
        FacePack pack;
        for (int axis = j == 0 ? 1 : 0; axis < 2; ++axis) {
          const int i = n_pack == 0 ? axis : P * n_pack, left = end - P * n_pack,
                    n = P * n_pack + (left < P ? left : P) - i;
          const Array2<double>&cut = axis == 0 ? edges.x : edges.y,
                &along = axis == 0 ? edges.y : edges.x;
          const int J = 1 - axis, I = axis; // step along the face
          const FaceRow faces{&cut(j, i),
                              &along(j - J, i - I),
                              &along(j, i),
                              &H(j, i),
                              &A(j, i),
                              &mask(j, i),
                              axis == 0 ? 1 : row,
                              axis == 0 ? per_dx : per_dy,
                              axis == 0 ? per_dy : per_dx};
          double* q = &(axis == 0 ? q_x : q_y)(j, i);
          if (!find_slopes(faces, n, pack)) {
            for (int p = 0; p < n; ++p) q[p] = 0.0;
            continue;
          }
          double D[P] = {};
          // lab 6 begin: the flux through the faces of the pack | stub: throw "lab 6: not written
          // yet";
          NUNATAK_INDEPENDENT
          for (int p = 0; p < n; ++p) D[p] = diffusivity(pack.A[p], pack.H[p], pack.s2[p]);
          for (int p = 0; p < n && D_limit < std::numeric_limits<double>::infinity(); ++p) {
            if (D[p] > D_limit) D[p] = D_limit, local.limited_faces += 1;
          }
          NUNATAK_INDEPENDENT
          for (int p = 0; p < n; ++p) q[p] = -D[p] * pack.s[p];
          // lab 6 end
          local += SiaResult{largest_of(D), 0};
        }
      });
}

} // namespace nunatak
