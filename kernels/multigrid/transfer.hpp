// P^T A P, P^T r and P x between a grid and the next coarser one, as passes of the fine one
// (passes.hpp). P has the values of the hats (hats.hpp) at the unknowns of the fine grid.
//
//   u . . u . .     u: unknowns, H: coarse points whose hats are not 0 on all unknowns. A coarse
//   H   H   H       point need not be an unknown of the fine grid: the hats beyond a margin exist,
//                   too, and all hats sum to 1 on every unknown.
#pragma once

#include "kernels/multigrid/hats.hpp"
#include "kernels/multigrid/passes.hpp"

namespace nunatak {

/// An array over `patch` and its ghosts: 1 for each coarse point of its part `owned` whose hat is
/// nonzero on an unknown, 0 elsewhere. Needs a ring of ghosts of `active`.
inline Array2<int> coarse_cells(const Patch& patch, const Patch& owned, const Array2<int>& active,
                                const HatAxis& ax, const HatAxis& ay) {
  const auto coarse = make_array<int>("active", patch);
  const int j0 = owned.ys - patch.ys + 1, i0 = owned.xs - patch.xs + 1;
  for_each_of(
      "multigrid: coarse cells", Cells{j0, j0 + owned.ym, i0, i0 + owned.xm},
      KOKKOS_LAMBDA(int J, int I) {
        for (int dj = -1; dj <= 1; ++dj) {
          for (int di = -1; di <= 1; ++di) {
            if (ay.value(J, dj) * ax.value(I, di) > 0.0 &&
                active(ay.centre(J) + dj, ax.centre(I) + di) != 0)
              coarse(J, I) = 1;
          }
        }
      });
  return coarse;
}

/// Values of the hats I, I + 1, ... of a block at their points centre - 1, centre, centre + 1.
template <class Real>
KOKKOS_INLINE_FUNCTION void find_hats(const HatAxis& axis, int I, Real (&hat)[3][lanes_at_once]) {
  const bool inside = axis.inside(I, lanes_at_once);
  for (int o = 0; o < 3; ++o) {
    const auto value = Real(o == 1 ? 1.0 : 0.5);
    for (int k = 0; k < lanes_at_once; ++k)
      hat[o][k] = inside ? value : static_cast<Real>(axis.value(I + k, o - 1));
  }
}

/// Entries of a matrix at the fine points around the coarse ones of a block; 0 without an unknown.
template <class Real> struct FinePoints {
  // Points of three blocks: in a row; or every second one, and then those between them.
  static constexpr int half = lanes + lanes / 2;
  Real entries[36][loops_on_host ? 2 * half : 3];
  int from[3]; ///< entries[m][from[o] + k]: of point `first` + o, and of those around further lanes

  /// `last`: the last block of the matrix; beyond it, and before the first one, anything is read.
  KOKKOS_INLINE_FUNCTION void read(const CellValues<Real>& A, int first, int last, bool halved) {
    const int block = (first + lanes) / lanes - 1, place = first - block * lanes;
    for (int o = 0; o < 3; ++o) {
      const int at = place + o;
      from[o] = !loops_on_host ? o : halved ? at % 2 * half + at / 2 : at;
      const int n = Kokkos::min(Kokkos::max(block + o, 0), last);
      for (int m = 0; m < 36; ++m) {
        if (!loops_on_host) {
          entries[m][o] = A(Kokkos::min(Kokkos::max(first + o, 0), last * lanes + lanes - 1), m);
          continue;
        }
        const Real* const read = &A(n * lanes, m);
        Real* const to = &entries[m][halved ? o * lanes / 2 : o * lanes];
        if (halved) {
          NUNATAK_LANES
          for (int k = 0; k < lanes / 2; ++k) {
            to[k] = read[2 * k];
            to[k + half] = read[2 * k + 1];
          }
        } else {
          NUNATAK_LANES
          for (int k = 0; k < lanes; ++k) to[k] = read[k];
        }
      }
    }
  }
};

/// coarse.A = P^T fine.A P, hat by hat, first along x, then along y. Needs ghosts of fine.A.
template <class Real> struct Galerkin {
  CellValues<Real> A; ///< of the fine grid
  int last;           ///< its last block
  int stride, coarse_stride;
  HatAxis ax, ay;
  KOKKOS_INLINE_FUNCTION void operator()(const CellBlock& block, Real* out) const {
    const int J = block.row, I = block.first - J * coarse_stride;
    // Hats of each coarse point, and of I - 1, I, I + 1 at the points centre - 2 .. centre + 2.
    Real hat[3][lanes_at_once], wx[5][3][lanes_at_once], wy[5][3];
    find_hats(ax, I, hat);
    for (int o = 0; o < 5; ++o) {
      for (int s = 0; s < 3; ++s) {
        wy[o][s] = static_cast<Real>(ay.neighbour_value(J, o - 2, s - 1));
        const auto w = static_cast<Real>(ax.neighbour_value(I, o - 2, s - 1));
        for (int k = 0; k < lanes_at_once; ++k) wx[o][s][k] = w;
        for (int k = 1; k < lanes_at_once && !ax.uniform(); ++k)
          wx[o][s][k] = static_cast<Real>(ax.neighbour_value(I + k, o - 2, s - 1));
      }
    }
    Real sum[36][lanes_at_once] = {};
    for (int oj = 0; oj < 3; ++oj) {
      const auto weight_y = static_cast<Real>(ay.value(J, oj - 1));
      if (weight_y == 0) continue;
      const int first = (ay.centre(J) + oj - 1) * stride + ax.centre(I) - 1;
      FinePoints<Real> a;
      a.read(A, first, last, ax.halved);
      Real line[36][lanes_at_once] = {}; // slots: rows of the fine grid, hats along x
      for (int o = 0; o < 9; ++o) {      // three points, at each three columns of slots
        const int point = o / 3, column = o % 3;
        for (int s = 0; s < 3; ++s) {
          const Real* const x = wx[point + column][s];
          if (ax.uniform() && x[0] == 0) continue;
          Real w[lanes_at_once];
          for (int k = 0; k < lanes_at_once; ++k) w[k] = weight_y * hat[point][k] * x[k];
          const auto from = a.entries + 4 * column;
          const auto to_line = line + 4 * s;
          const int first_k = a.from[point];
          for (int row = 0; row < 36; row += 12) {
            for (int m = 0; m < 4; ++m) {
              NUNATAK_LANES
              for (int k = 0; k < lanes_at_once; ++k)
                to_line[row + m][k] += w[k] * from[row + m][first_k + k];
            }
          }
        }
      }
      for (int sj = 0; sj < 3; ++sj) {
        for (int s = 0; s < 3; ++s) {
          const Real w = wy[oj + sj][s];
          if (w == 0) continue;
          for (int m = 0; m < 12; ++m) {
            NUNATAK_LANES
            for (int k = 0; k < lanes_at_once; ++k) sum[12 * s + m][k] += w * line[12 * sj + m][k];
          }
        }
      }
    }
    for (int m = 0; m < 36; ++m) {
      for (int k = 0; k < lanes_at_once; ++k) out[m * lanes + k] = sum[m][k];
    }
  }
};
template <class Real>
auto galerkin(const NinePoint<Real>& fine, const NinePoint<Real>& coarse, const HatAxis& ax,
              const HatAxis& ay) {
  const int last = fine.active.extent_int(0) * fine.stride() / lanes - 1;
  return Pass<Real, 36, CellValues<Real>, Galerkin<Real>>{
      coarse.A, {fine.A, last, fine.stride(), coarse.stride(), ax, ay}};
}

/// coarse.b = P^T fine.b. Needs ghosts of fine.b.
template <class Real> struct Restriction {
  const Real* b;
  std::ptrdiff_t plane;
  int stride, coarse_stride;
  HatAxis ax, ay;
  KOKKOS_INLINE_FUNCTION void operator()(const CellBlock& block, Real* out) const {
    const int J = block.row, I = block.first - J * coarse_stride;
    Real hat[3][lanes_at_once];
    find_hats(ax, I, hat);
    for (int n = 0; n < 2; ++n) {
      Real sum[lanes_at_once] = {};
      for (int o = -1; o <= 1; ++o) {
        const auto weight = static_cast<Real>(ay.value(J, o));
        if (weight == 0) continue; // the row need not exist; b is 0 where there is no unknown
        const Real* const row = b + n * plane + (ay.centre(J) + o) * stride + ax.centre(I);
        const auto add = [&](int k, const Real* at) {
          sum[k] += weight * hat[0][k] * at[-1];
          sum[k] += weight * hat[1][k] * at[0];
          sum[k] += weight * hat[2][k] * at[1];
        };
        if (ax.halved) {
          NUNATAK_LANES
          for (int k = 0; k < lanes_at_once; ++k) add(k, row + 2 * k);
        } else {
          NUNATAK_LANES
          for (int k = 0; k < lanes_at_once; ++k) add(k, row + k);
        }
      }
      for (int k = 0; k < lanes_at_once; ++k) out[n * lanes + k] = sum[k];
    }
  }
};
template <class Real>
auto restriction(const NinePoint<Real>& fine, const NinePoint<Real>& coarse, const HatAxis& ax,
                 const HatAxis& ay) {
  return Pass<Real, 2, Planes<Real, 2>, Restriction<Real>>{
      planes(coarse.b), {fine.b.first, fine.b.value, fine.stride(), coarse.stride(), ax, ay}};
}

/// fine.x = P coarse.x in rings 0 to `ring`. Needs one more ring of coarse.x.
template <class Real> struct Prolongation {
  const Real* coarse_x;
  std::ptrdiff_t coarse_plane;
  int stride, coarse_stride;
  HatAxis ax, ay;
  KOKKOS_INLINE_FUNCTION void operator()(const CellBlock& block, Real* out) const {
    const int j = block.row, i = block.first - j * stride;
    const auto up = static_cast<Real>(ay.right_weight(j));
    const int dj = up > 0 ? coarse_stride : 0;
    const auto mean = [&](const Real* at, int di, Real right) {
      const Real low = (1 - right) * at[0] + right * at[di];
      const Real high = (1 - right) * at[dj] + right * at[dj + di];
      return (1 - up) * low + up * high;
    };
    const bool pairs = loops_on_host && ax.halved && ax.coarse_M > 1;
    const bool odd = ax.right_weight(i + 1) > 0.0; // the second cell is between coarse points
    for (int n = 0; n < 2; ++n) {
      const Real* const row = coarse_x + n * coarse_plane + ay.parent(j) * coarse_stride;
      Real* const x = out + n * lanes;
      for (int k = 0; k < lanes_at_once && !pairs; ++k) {
        const auto right = static_cast<Real>(ax.right_weight(i + k));
        x[k] = mean(row + ax.parent(i + k), right > 0 ? 1 : 0, right);
      }
      const Real* const y = row + ax.parent(i + 1);
      for (int k = 0; k < lanes / 2 && pairs && odd; ++k) {
        x[2 * k] = mean(y + k, 0, 0);
        x[2 * k + 1] = mean(y + k, 1, Real(0.5));
      }
      for (int k = 0; k < lanes / 2 && pairs && !odd; ++k) {
        x[2 * k] = mean(y + k - 1, 1, Real(0.5));
        x[2 * k + 1] = mean(y + k, 0, 0);
      }
    }
  }
};
template <class Real>
auto prolongation(const NinePoint<Real>& fine, const NinePoint<Real>& coarse, const HatAxis& ax,
                  const HatAxis& ay) {
  return Pass<Real, 2, Planes<Real, 2>, Prolongation<Real>>{
      planes(fine.x), {coarse.x.first, coarse.x.value, fine.stride(), coarse.stride(), ax, ay}};
}

} // namespace nunatak
