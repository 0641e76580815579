// Shallow ice approximation: diffusivity and flux on cell faces (Mahaffy 1976, J. Geophys. Res. 81(6), 1059-1066).
//
//   q = -D grad h,  D = Gamma H^(n+2) |grad h|^(n-1),  Gamma = 2 A (rho g)^n/(n + 2),  n = 3
//
//   x-face (j, i+1/2):                 Faces: q_x(j, i) lies between (j, i) and (j, i+1) for i = 0..xm, q_y(j, i) between
//       N_L     N_R     j+1            (j, i) and (j+1, i) for j = 0..ym: all faces of the owned cells, in view indices.
//        |   |   |                     s_x = (h_R - h_L)/dx
//        L---D---R      j              s_y = mean of the four differences N_L - L, L - S_L, N_R - R, R - S_R, over dy
//        |   |   |                     D   = Gamma ((H_L + H_R)/2)^(n+2) (s_x^2 + s_y^2)^((n-1)/2)
//       S_L     S_R     j-1            q_x = -D s_x  (m2 s-1)
//
// Differences of h across a calving front or a cliff say nothing about the ice: the mean leaves them out. The rules are the
// two functions at the top; kernels/ice/transport.hpp uses them for sliding, kernels/ice/velocity3d.hpp for gradients at cells.
#pragma once

#include "kernels/ice/geometry.hpp"

#include <limits>

namespace nunatak {

/// Does the surface of the ice continue from one cell to its neighbour?
///   no   ice-free ocean next to anything but ice-free ocean   a calving front: the ice ends at a cliff above the sea
///   no   floating ice next to ice-free land                   no shelf flows up a beach
///   no   grounded ice next to ice-free land above it          a wall of rock
///   yes  everything else
KOKKOS_INLINE_FUNCTION bool surface_continues(int type_a, double h_a, int type_b, double h_b) {
  if ((type_a == ice_free_ocean) != (type_b == ice_free_ocean)) return false;
  if (type_a == ice_free_land && icy(type_b)) return type_b == grounded_ice && h_a <= h_b;
  if (type_b == ice_free_land && icy(type_a)) return type_a == grounded_ice && h_b <= h_a;
  return true;
}

/// May ice spread by shearing through the face between two cells? Not where the surface ends, not between two floating cells,
/// not in the ocean.
KOKKOS_INLINE_FUNCTION bool shear_flux_allowed(int type_a, double h_a, int type_b, double h_b) {
  return surface_continues(type_a, h_a, type_b, h_b) && grounded(type_a) + grounded(type_b) > 0;
}

/// Rate factor on a face: the mean, or that of the one cell with ice.
KOKKOS_INLINE_FUNCTION double face_softness(int type_a, double A_a, int type_b, double A_b) {
  if (icy(type_a) == icy(type_b)) return 0.5 * (A_a + A_b);
  return icy(type_a) ? A_a : A_b;
}

/// D (m2 s-1) from the rate factor A (Pa-3 s-1), thickness (m) and squared surface slope. The default of sia_fluxes: A does not
/// change with depth, so the integral over the column is exact.
struct SiaDiffusivity {
  KOKKOS_INLINE_FUNCTION double operator()(double A, double H, double slope2) const {
    constexpr double rho_g = rho_ice * gravity;
    const double H2 = H * H;
    return 2.0 * A * (rho_g * rho_g * rho_g) / (glen_n + 2) * (H2 * H2 * H) * slope2;
  }
};

/// Sum and number of the differences that count, of a pair of neighbours each.
struct Differences {
  double sum = 0.0;
  int count = 0;
  KOKKOS_INLINE_FUNCTION void add(const Array2<double>& h, const Array2<int>& mask, int j0, int i0, int j1, int i1) {
    if (!surface_continues(mask(j0, i0), h(j0, i0), mask(j1, i1), h(j1, i1))) return;
    sum += h(j1, i1) - h(j0, i0);
    count += 1;
  }
  /// From one neighbour of a cell to the other, at (j -+ J, i -+ I). A pair is summed by itself: mirrored, the same bits.
  KOKKOS_INLINE_FUNCTION void add_both(const Array2<double>& h, const Array2<int>& mask, int j, int i, int J, int I) {
    const double before = sum;
    sum = 0.0;
    add(h, mask, j - J, i - I, j, i);
    add(h, mask, j, i, j + J, i + I);
    sum += before;
  }
  KOKKOS_INLINE_FUNCTION double mean() const { return count > 0 ? sum / count : 0.0; }
};

struct SiaParameters {
  double D_limit = std::numeric_limits<double>::infinity(); ///< largest diffusivity allowed, m2 s-1; the default limits nothing
};

struct SiaResult {
  double D_max = 0.0;             ///< largest diffusivity on a face of this patch, m2 s-1 (for the time step)
  std::int64_t limited_faces = 0; ///< faces of this patch where D was cut to D_limit; a face on a seam counts on both sides
  KOKKOS_INLINE_FUNCTION SiaResult& operator+=(const SiaResult& other) {
    D_max = D_max > other.D_max ? D_max : other.D_max;
    limited_faces += other.limited_faces;
    return *this;
  }
};

/// Fluxes by shearing, q_x and q_y (m2 s-1), on all faces of the owned cells.
/// Needs ghosts of the surface h (m), thickness H (m), mask and rate factor A (Pa-3 s-1; in ice-free cells it is not used
/// next to ice). At an edge of the domain the ghosts repeat the edge: the surface has no slope there, the flux is zero.
/// `diffusivity`: a function of (A, H, slope squared), see SiaDiffusivity.
/// Communicates nothing: both sides of a seam compute the same bits. Reduce D_max with max_over_ranks
/// (kernels/ice/time_step.hpp).
template <class Diffusivity = SiaDiffusivity>
SiaResult sia_fluxes(const Patch& patch, double dx, double dy, const SiaParameters& parameters, const Array2<double>& h,
                     const Array2<double>& H, const Array2<int>& mask, const Array2<double>& A, const Array2<double>& q_x,
                     const Array2<double>& q_y, const Diffusivity& diffusivity = {}) {
  const double D_limit = parameters.D_limit, per_dx = 1.0 / dx, per_dy = 1.0 / dy;
  // each (j, i) computes the face to its right and the face above it; row 0 and column 0 have one of the two
  return reduce_over<SiaResult>(
      "sia fluxes", cells_with_faces(patch), KOKKOS_LAMBDA(int j, int i, SiaResult& local) {
        for (int axis = 0; axis < 2; ++axis) {
          if (axis == 0 ? j == 0 : i == 0) continue;
          const int J = axis, I = 1 - axis; // step across the face; (I, J) is the step along it
          const int j1 = j + J, i1 = i + I;
          double q = 0.0;
          // lab 6 begin: the flux through one face | stub: throw "lab 6: not written yet";
          const bool empty = H(j, i) <= 0.0 && H(j1, i1) <= 0.0;
          if (!empty && shear_flux_allowed(mask(j, i), h(j, i), mask(j1, i1), h(j1, i1))) {
            Differences along;
            along.add_both(h, mask, j, i, I, J);
            along.add_both(h, mask, j1, i1, I, J);
            const double s = (h(j1, i1) - h(j, i)) * (axis == 0 ? per_dx : per_dy),
                         t = along.mean() * (axis == 0 ? per_dy : per_dx);
            const double A_face = face_softness(mask(j, i), A(j, i), mask(j1, i1), A(j1, i1));
            SiaResult face{diffusivity(A_face, 0.5 * (H(j, i) + H(j1, i1)), s * s + t * t), 0};
            if (face.D_max > D_limit) face = {D_limit, 1};
            q = -face.D_max * s;
            local += face;
          }
          // lab 6 end
          (axis == 0 ? q_x : q_y)(j, i) = q;
        }
      });
}

} // namespace nunatak
