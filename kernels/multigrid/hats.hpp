// Linear hat functions on every second point of an axis: the basis of the next coarser grid.
//
//   fine     0   1   2   3   4   5     a coarse point lies on every even fine point;
//            |   .   |   .   |   .     an odd fine point is the mean of its two coarse neighbours
//   coarse   0       1       2   (3)
//
// With an even number of points the last coarse point, (3) above, lies beyond the end, so that
// every fine point has two neighbours. On a periodic axis the right neighbour of the last odd point
// is coarse point 0; with an odd number of points the first and the last are both even, and they
// are neighbours on both grids. Two points become one, whose hat is 1 on both; on a periodic axis
// it is its own neighbour on both sides.
//
// In two dimensions a hat is a product of two; multigrid.hpp restricts it to the unknowns. Hats of
// an axis that is not coarsened are the points themselves.
#pragma once

#include "kernels/grid/patch.hpp"

#include <Kokkos_Core.hpp>

namespace nunatak {

/// One axis of a patch. View indices of owned points: 1..fine_m (fine), 1..coarse_m (coarse).
struct HatAxis {
  bool halved = false, periodic = false;
  int fine_M = 0, coarse_M = 0; ///< points of the whole axis
  int fine_s = 0, fine_m = 0;   ///< first owned point, number of owned points
  int coarse_s = 0, coarse_m = 0;

  /// Left coarse neighbour (0..coarse_m) of an owned fine point; weights of it and the next one.
  KOKKOS_INLINE_FUNCTION int parent(int i) const {
    return halved ? (fine_s + i - 1) / 2 - coarse_s + 1 : fine_s + i - coarse_s;
  }
  KOKKOS_INLINE_FUNCTION double right_weight(int i) const {
    return halved && coarse_M > 1 && (fine_s + i - 1) % 2 == 1 ? 0.5 : 0.0;
  }

  /// The fine point (view index) on which coarse point I lies.
  KOKKOS_INLINE_FUNCTION int centre(int I) const {
    return halved ? 2 * (coarse_s + I - 1) - fine_s + 1 : coarse_s + I - fine_s;
  }
  /// Value of hat I at that point + o, o = -1, 0, 1; 0 beyond the end.
  KOKKOS_INLINE_FUNCTION double value(int I, int o) const {
    if (o == 0 || (halved && coarse_M == 1 && !periodic)) return 1.0;
    return halved && !across_closure(I, o) && centre(I) + o <= fine_m + 1 ? 0.5 : 0.0;
  }
  /// True if hats I to I + n - 1 have the values 0.5, 1, 0.5 there.
  KOKKOS_INLINE_FUNCTION bool inside(int I, int n) const {
    return halved && coarse_M > 1 && uniform() && centre(I + n - 1) <= fine_m;
  }
  /// Value of hat I + s, s = -1, 0, 1, at the point centre(I) + o, o = -2..2.
  KOKKOS_INLINE_FUNCTION double neighbour_value(int I, int o, int s) const {
    if (!halved || across_closure(I, o)) return o == s ? 1.0 : 0.0;
    if (coarse_M == 1) return s == 0 ? 1.0 : 0.0; // all neighbours are the point itself
    const int distance = o > 2 * s ? o - 2 * s : 2 * s - o;
    return distance == 0 ? 1.0 : distance == 1 ? 0.5 : 0.0;
  }

  /// True if neighbour_value is the same for all I.
  KOKKOS_INLINE_FUNCTION bool uniform() const { return !periodic || fine_M % 2 == 0; }

private:
  /// True where a periodic axis with an odd number of points closes, without an odd point.
  KOKKOS_INLINE_FUNCTION bool across_closure(int I, int o) const {
    if (uniform()) return false;
    const int C = coarse_s + I - 1;
    return (C == coarse_M - 1 && o == 1) || (C == 0 && o == -1);
  }
};

/// The axes to be halved; the other keeps its points.
struct Halving {
  bool x = false, y = false;
};

/// The coarser decomposition: a coarse point belongs to the rank of its fine point, or to the last.
inline Decomposition coarser(const Decomposition& fine, Halving halving) {
  Decomposition coarse = fine;
  const auto halve = [](int M, bool periodic) {
    return periodic ? (M + 1) / 2 : M == 2 ? 1 : M / 2 + 1;
  };
  if (halving.x) coarse.Mx = halve(fine.Mx, fine.periodic_x);
  if (halving.y) coarse.My = halve(fine.My, fine.periodic_y);
  for (int& start : coarse.x) start = halving.x ? (start + 1) / 2 : start;
  for (int& start : coarse.y) start = halving.y ? (start + 1) / 2 : start;
  coarse.x.back() = coarse.Mx;
  coarse.y.back() = coarse.My;
  return coarse;
}

inline HatAxis x_axis(const Decomposition& d, const Patch& fine, const Patch& coarse,
                      Halving halving) {
  return {halving.x, d.periodic_x, fine.Mx, coarse.Mx, fine.xs, fine.xm, coarse.xs, coarse.xm};
}
inline HatAxis y_axis(const Decomposition& d, const Patch& fine, const Patch& coarse,
                      Halving halving) {
  return {halving.y, d.periodic_y, fine.My, coarse.My, fine.ys, fine.ym, coarse.ys, coarse.ym};
}

} // namespace nunatak
