// What the flux by shearing needs to know of the faces of a row, many at once: their slopes,
// thickness and rate factor, without a branch. kernels/ice/sia.hpp has the equations. On a CPU
// compiled by itself (packs.cpp), for AVX2 and AVX-512, too, and the processor chooses: the bits do
// not depend on the width. On a GPU a thread has one face.
#pragma once

#include "kernels/grid/widths.hpp"
#include "kernels/ice/edges.hpp"

#include <cstddef>

namespace nunatak {

/// The largest of P numbers, a power of two; the others are overwritten.
template <int P> KOKKOS_INLINE_FUNCTION double largest_of(double (&x)[P]) {
  for (int half = P / 2; half > 0;
       half /= 2) { // halves side by side: no comparison waits for the last one
    NUNATAK_INDEPENDENT
    for (int p = 0; p < half; ++p) x[p] = x[p] > x[p + half] ? x[p] : x[p + half];
  }
  return x[0];
}

/// May ice spread by shearing through the face between two cells? Not where the surface ends, not
/// between two floating cells, not in the ocean.
KOKKOS_INLINE_FUNCTION bool shear_flux_allowed(int type_a, int type_b, double rise) {
  const bool a = grounded(type_a),
             b = grounded(type_b); // named: clang takes | between calls for a slip
  return (a | b) & (rise < surface_ends);
}

/// Rate factor on a face: the mean, or that of the one cell with ice.
KOKKOS_INLINE_FUNCTION double face_softness(int type_a, double A_a, int type_b, double A_b) {
  const double mean = 0.5 * (A_a + A_b), of_one = icy(type_a) ? A_a : A_b;
  return icy(type_a) == icy(type_b) ? mean : of_one;
}

/// A row of faces; pointers to what belongs to the first. The cells of face p are p and p + next
/// (1: to the east, a row: to the north).
struct FaceRow {
  const double* across; ///< edges that the faces cut
  const double *to_cell,
      *from_cell;      ///< edges along the face, of cell p; those of the other cell are at p + next
  const double *H, *A; ///< m, Pa-3 s-1
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
    // lab 6 begin: slopes, thickness and rate factor of one face | stub: throw "lab 6: not written
    // yet";
    const std::ptrdiff_t q = p + f.next;
    MeanRise along;
    along.add_both(f.to_cell[p], f.from_cell[p]);
    along.add_both(f.to_cell[q], f.from_cell[q]);
    const double H = 0.5 * (f.H[p] + f.H[q]),
                 A = face_softness(f.mask[p], f.A[p], f.mask[q], f.A[q]);
    const bool flows = shear_flux_allowed(f.mask[p], f.mask[q], f.across[p]) & !(H <= 0.0);
    const double s = only_if(flows, f.across[p]) * f.per_across,
                 t = only_if(flows, along.value()) * f.per_along;
    pack.s[p] = s, pack.s2[p] = s * s + t * t;
    pack.H[p] = H, pack.A[p] = only_if(flows, A);
    // lab 6 end
  }
  return true;
}
} // namespace detail

/// The slopes of the first n faces of a row. False if there is no ice at any of them: nothing is
/// then written.
NUNATAK_WIDE(bool, find_slopes, (const FaceRow& row, int n, FacePack& pack), (row, n, pack))

} // namespace nunatak
