// Shallow ice approximation: diffusivity and flux on cell faces (Mahaffy 1976, J. Geophys. Res.
// 81(6), 1059-1066), and the rule for where the surface of the ice continues at margins.
//
//   q = -D grad h,  D = Gamma H^(n+2) |grad h|^(n-1),  Gamma = 2 A (rho g)^n/(n + 2),  n = 3
//
//  x-face (j, i+1/2):         Faces: q_x(j, i) lies between (j, i) and (j, i+1) for i = 0..xm,
//      N_L     N_R     j+1    q_y(j, i) between (j, i) and (j+1, i) for j = 0..ym: all faces of the
//       |   |   |             owned cells, in view indices.
//       L---D---R      j      s_x = (h_R - h_L)/dx
//       |   |   |             s_y = mean of N_L - L, L - S_L, N_R - R, R - S_R, over dy
//      S_L     S_R     j-1    D   = Gamma ((H_L + H_R)/2)^(n+2) (s_x^2 + s_y^2)^((n-1)/2)
//                             q_x = -D s_x  (m2 s-1)
//
// Differences across a calving front or a cliff are no slopes of the ice: the mean leaves them out.
// transport.hpp adds sliding. Slopes of the faces of a row are computed in packs, without branches:
// on a CPU by a function compiled for several widths (packs.cpp, kernels/grid/widths.hpp).
#pragma once

#include "kernels/grid/widths.hpp"
#include "kernels/ice/geometry.hpp"

#include <cstddef>

namespace nunatak {

// --- margins

/// Differences of the surface between neighbouring cells, computed once for each geometry:
///
///         +----y(j, i)----+     x(j, i): from (j, i) to (j, i + 1), rows 0..ym + 1, columns 0..xm
///         |               |     y(j, i): from (j, i) to (j + 1, i), rows 0..ym, columns 0..xm + 1
///   x(j,i-1)   (j, i)   x(j, i) Value: h there minus h here, m; surface_ends where the surface
///         |               |     does not continue.
///         +---y(j-1, i)---+
struct Edges {
  explicit Edges(const Patch& p)
      : x(make_array<double>("edges_x", p)), y(make_array<double>("edges_y", p)) {}
  Array2<double> x, y;
};
constexpr double surface_ends = 1e30; // m, larger than any difference

/// True if the surface of the ice continues from one cell to its neighbour.
///   no   ice-free ocean next to anything but ice-free ocean   a calving front
///   no   floating ice next to ice-free land                   no shelf flows up a beach
///   no   grounded ice next to ice-free land above it          a wall of rock
///   yes  everything else
/// Branch-free: loops over edges vectorise.
KOKKOS_INLINE_FUNCTION bool surface_continues(int type_a, double h_a, int type_b, double h_b) {
  const bool front = (type_a == ice_free_ocean) != (type_b == ice_free_ocean);
  const bool a_blocks = (type_a == ice_free_land) &
                        ((type_b == floating_ice) | ((type_b == grounded_ice) & (h_b < h_a)));
  const bool b_blocks = (type_b == ice_free_land) &
                        ((type_a == floating_ice) | ((type_a == grounded_ice) & (h_a < h_b)));
  return !(front | a_blocks | b_blocks);
}

/// The value of an edge, as a branch-free sum.
KOKKOS_INLINE_FUNCTION double edge(int type_a, double h_a, int type_b, double h_b) {
  return h_b - h_a + (surface_continues(type_a, h_a, type_b, h_b) ? 0.0 : surface_ends);
}

/// All edges between owned cells and ghosts, of the surface h (m) and the mask there.
inline void update_edges(const Patch& patch, const Array2<double>& h, const Array2<int>& mask,
                         const Edges& edges) {
  const int last_j = patch.ym + 1, last_i = patch.xm + 1;
  for_each_cell_and_ghost(
      "edges", patch, KOKKOS_LAMBDA(int j, int i) {
        const int up = j < last_j ? j + 1 : j; // y of the last row is never read
        edges.y(j, i) = edge(mask(j, i), h(j, i), mask(up, i), h(up, i));
        if (i < last_i) edges.x(j, i) = edge(mask(j, i), h(j, i), mask(j, i + 1), h(j, i + 1));
      });
}

/// x if `wanted`, else 0; bitwise, so that no branch is generated.
KOKKOS_INLINE_FUNCTION double only_if(bool wanted, double x) {
  return Kokkos::bit_cast<double>(Kokkos::bit_cast<std::int64_t>(x) &
                                  -static_cast<std::int64_t>(wanted));
}

/// The mean of the differences, without those where the surface ends; 0 if none is left.
struct MeanRise {
  double sum = 0.0, count = 0.0;
  /// Adds the differences along an axis. The pair is summed separately: mirrored input, same bits.
  KOKKOS_INLINE_FUNCTION void add_both(double to_cell, double from_cell) {
    const bool first = to_cell < surface_ends, second = from_cell < surface_ends;
    sum += only_if(first, to_cell) + only_if(second, from_cell);
    count += only_if(first, 1.0) + only_if(second, 1.0);
  }
  KOKKOS_INLINE_FUNCTION double value() const { return sum / (count > 0.0 ? count : 1.0); }
};

// --- slopes on faces

/// The largest of P numbers, P a power of two; overwrites the others.
template <int P> KOKKOS_INLINE_FUNCTION double largest_of(double (&x)[P]) {
  for (int half = P / 2; half > 0; half /= 2) { // independent comparisons
    NUNATAK_INDEPENDENT
    for (int p = 0; p < half; ++p) x[p] = x[p] > x[p + half] ? x[p] : x[p + half];
  }
  return x[0];
}

/// True if ice may shear through a face: not at a surface end, between floating cells, in the
/// ocean.
KOKKOS_INLINE_FUNCTION bool shear_flux_allowed(int type_a, int type_b, double rise) {
  const bool a = grounded(type_a), b = grounded(type_b); // clang warns about | between calls
  return (a | b) & (rise < surface_ends);
}

/// Rate factor on a face: the mean, or the value of the only icy cell.
KOKKOS_INLINE_FUNCTION double face_softness(int type_a, double A_a, int type_b, double A_b) {
  const double mean = 0.5 * (A_a + A_b), of_one = icy(type_a) ? A_a : A_b;
  return icy(type_a) == icy(type_b) ? mean : of_one;
}

/// A row of faces, from the first one on. The cells of face p are p and p + next (1, or a row).
struct FaceRow {
  const double* across;              ///< edges across the faces
  const double *to_cell, *from_cell; ///< edges of cell p along the face; the other cell: p + next
  const double *H, *A;               ///< m, Pa-3 s-1
  const int* mask;
  std::ptrdiff_t next;
  double per_across, per_along; ///< 1/dx and 1/dy, or the reverse, m-1
};

/// Slopes and rate factor are zero where there is no flux.
struct FacePack {
  static constexpr int P = loops_on_host ? 64 : 1;
  double s[P], s2[P]; ///< slope across the face; squared slope
  double H[P], A[P];  ///< m, Pa-3 s-1
};

namespace detail {
KOKKOS_FORCEINLINE_FUNCTION bool find_slopes(const FaceRow& row, int n, FacePack& pack) {
  const FaceRow f = row;
  int ice = 0;
  for (int p = 0; p < n; ++p) ice |= !(f.H[p] <= 0.0) | !(f.H[p + f.next] <= 0.0);
  if (ice == 0) return false;
  NUNATAK_INDEPENDENT
  for (int p = 0; p < n; ++p) {
    // lab 6 begin: slopes, H and A of one face | stub: throw "lab 6: not written yet";
    const std::ptrdiff_t q = p + f.next;
    MeanRise along;
    along.add_both(f.to_cell[p], f.from_cell[p]);
    along.add_both(f.to_cell[q], f.from_cell[q]);
    const double H = 0.5 * (f.H[p] + f.H[q]);
    const double A = face_softness(f.mask[p], f.A[p], f.mask[q], f.A[q]);
    const bool flows = shear_flux_allowed(f.mask[p], f.mask[q], f.across[p]) & !(H <= 0.0);
    const double s = only_if(flows, f.across[p]) * f.per_across;
    const double t = only_if(flows, along.value()) * f.per_along;
    pack.s[p] = s;
    pack.s2[p] = s * s + t * t;
    pack.H[p] = H;
    pack.A[p] = only_if(flows, A);
    // lab 6 end
  }
  return true;
}
} // namespace detail

/// The slopes of the first n faces of a row. Returns false and writes nothing if none has ice.
NUNATAK_WIDE(bool, find_slopes, (const FaceRow& row, int n, FacePack& pack), (row, n, pack))

// --- the flux

/// D (m2 s-1) from the rate factor A (Pa-3 s-1), thickness (m) and squared surface slope. A is
/// independent of depth, so the integral over the column is exact.
KOKKOS_INLINE_FUNCTION double sia_diffusivity(double A, double H, double slope2) {
  constexpr double rho_g = rho_ice * gravity;
  const double H2 = H * H;
  return 2.0 * A * (rho_g * rho_g * rho_g) / (glen_n + 2) * (H2 * H2 * H) * slope2;
}

/// Shear fluxes q_x and q_y (m2 s-1) on all faces of the owned cells. Needs edges, and ghosts of
/// thickness H (m), mask and rate factor A (Pa-3 s-1; that of ice-free cells is not used next to
/// ice). Ghosts beyond the domain repeat the edge: no flux. No communication: both sides of a
/// subdomain boundary compute the same bits. Returns the largest diffusivity on a face (m2 s-1),
/// for max_over_ranks. `later`: as in reduce_over.
inline double sia_fluxes(const Patch& patch, double dx, double dy, const Edges& edges,
                         const Array2<double>& H, const Array2<int>& mask, const Array2<double>& A,
                         const Array2<double>& q_x, const Array2<double>& q_y,
                         const Later<Largest>& later = {}) {
  constexpr int P = FacePack::P;
  const double per_dx = 1.0 / dx, per_dy = 1.0 / dy;
  const int end = patch.xm + 1, row = patch.xm + 2;
  // packs of cells (j, i..) with their right and upper faces; row 0 and column 0 have only one
  const auto flux = KOKKOS_LAMBDA(int j, int n_pack, Largest& D_max) {
    FacePack pack;
    for (int axis = j == 0 ? 1 : 0; axis < 2; ++axis) {
      const int i = n_pack == 0 ? axis : P * n_pack;
      const int left = end - P * n_pack;
      const int n = P * n_pack + (left < P ? left : P) - i;
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
      // lab 6 begin: the flux through the faces | stub: throw "lab 6: not written yet";
      NUNATAK_INDEPENDENT
      for (int p = 0; p < n; ++p) D[p] = sia_diffusivity(pack.A[p], pack.H[p], pack.s2[p]);
      NUNATAK_INDEPENDENT
      for (int p = 0; p < n; ++p) q[p] = -D[p] * pack.s[p];
      // lab 6 end
      D_max.see(largest_of(D));
    }
  };
  const Cells packs{0, patch.ym + 1, 0, (end + P - 1) / P};
  return reduce_over<Largest>("sia fluxes", packs, later, flux).value;
}

} // namespace nunatak
