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

/// f(j, i, w) for each fine point (view indices) where hat (J, I) has a value w > 0.
template <class F>
KOKKOS_INLINE_FUNCTION void for_each_point(const HatAxis& ax, const HatAxis& ay, int J, int I,
                                           const F& f) {
  for (int dj = -1; dj <= 1; ++dj) {
    for (int di = -1; di <= 1; ++di) {
      const double w = ay.value(J, dj) * ax.value(I, di);
      if (w > 0.0) f(ay.centre(J) + dj, ax.centre(I) + di, w);
    }
  }
}

/// An array over `patch` and its ghosts: 1 for each coarse point of its part `owned` whose hat is
/// nonzero on an unknown, 0 elsewhere. Needs a ring of ghosts of `active`.
inline Array2<int> coarse_cells(const Patch& patch, const Patch& owned, const Array2<int>& active,
                                const HatAxis& ax, const HatAxis& ay) {
  const auto coarse = make_array<int>("active", patch);
  const int j0 = owned.ys - patch.ys + 1, i0 = owned.xs - patch.xs + 1;
  for_each_of(
      "multigrid: coarse cells", Cells{j0, j0 + owned.ym, i0, i0 + owned.xm},
      KOKKOS_LAMBDA(int J, int I) {
        for_each_point(ax, ay, J, I, [&](int j, int i, double) {
          if (active(j, i) != 0) coarse(J, I) = 1;
        });
      });
  return coarse;
}

/// coarse.A = P^T fine.A P, hat by hat, first along x, then along y. Needs ghosts of fine.A.
template <class Real>
void galerkin(Passes<Real>& fine, const NinePoint<Real>& coarse, const HatAxis& ax,
              const HatAxis& ay) {
  const auto A = fine.part().A, B = coarse.A;
  const auto active = fine.part().active;
  const int stride = coarse.patch.xm + 2;
  fine.add_coarse(
      "multigrid: Galerkin", coarse, ay, KOKKOS_LAMBDA(int c) {
        const int J = c / stride, I = c % stride;
        Real wx[5][3], wy[5][3]; // hats I - 1, I, I + 1 at the points centre - 2 .. centre + 2
        for (int o = 0; o < 5; ++o) {
          for (int s = 0; s < 3; ++s) {
            wx[o][s] = static_cast<Real>(ax.neighbour_value(I, o - 2, s - 1));
            wy[o][s] = static_cast<Real>(ay.neighbour_value(J, o - 2, s - 1));
          }
        }
        Real sum[36] = {};
        for (int oj = 0; oj < 3; ++oj) {
          const auto weight_y = static_cast<Real>(ay.value(J, oj - 1));
          if (weight_y == 0) continue;
          Real line[36] = {}; // slots: rows of the fine grid, hats along x
          for (int oi = 0; oi < 3; ++oi) {
            const auto weight = weight_y * static_cast<Real>(ax.value(I, oi - 1));
            const int j = ay.centre(J) + oj - 1, i = ax.centre(I) + oi - 1;
            if (weight == 0 || active(j, i) == 0) continue;
            const Real* a = &A(j, i, 0);
            for (int sj = 0; sj < 3; ++sj) {
              for (int si = 0; si < 3; ++si, a += 4) {
                for (int s = 0; s < 3; ++s) {
                  const Real w = weight * wx[oi + si][s];
                  for (int m = 0; m < 4; ++m) line[12 * sj + 4 * s + m] += w * a[m];
                }
              }
            }
          }
          for (int sj = 0; sj < 3; ++sj) {
            for (int s = 0; s < 3; ++s) {
              const Real w = wy[oj + sj][s];
              for (int m = 0; m < 12; ++m) sum[12 * s + m] += w * line[12 * sj + m];
            }
          }
        }
        Real* row = B.data() + 36 * static_cast<std::ptrdiff_t>(c);
        for (int m = 0; m < 36; ++m) row[m] = sum[m];
      });
}

/// coarse.b = P^T fine.r. Needs ghosts of fine.r.
template <class Real>
void restrict_residual(Passes<Real>& fine, const NinePoint<Real>& coarse, const HatAxis& ax,
                       const HatAxis& ay) {
  const int* active = fine.part().active.data();
  const Real* r = fine.part().r.data();
  Real* b = coarse.b.data();
  const int stride = fine.part().patch.xm + 2, coarse_stride = coarse.patch.xm + 2;
  fine.add_coarse(
      "multigrid: restrict", coarse, ay, KOKKOS_LAMBDA(int c) {
        Real u = 0, v = 0;
        const auto add = [&](int j, int i, double weight) {
          const int at = j * stride + i;
          if (active[at] == 0) return;
          const auto w = static_cast<Real>(weight);
          u += w * r[2 * static_cast<std::ptrdiff_t>(at)];
          v += w * r[2 * static_cast<std::ptrdiff_t>(at) + 1];
        };
        for_each_point(ax, ay, c / coarse_stride, c % coarse_stride, add);
        b[2 * static_cast<std::ptrdiff_t>(c)] = u;
        b[2 * static_cast<std::ptrdiff_t>(c) + 1] = v;
      });
}

/// fine.x += P coarse.x in rings 0 to `ring`. Needs one more ring of coarse.x.
template <class Real>
void prolong(Passes<Real>& fine, const NinePoint<Real>& coarse, const HatAxis& ax,
             const HatAxis& ay, int ring) {
  Real* x = fine.part().x.data();
  const Real* coarse_x = coarse.x.data();
  const int stride = fine.part().patch.xm + 2, coarse_stride = coarse.patch.xm + 2;
  fine.add(
      "multigrid: prolong", 0, ring, KOKKOS_LAMBDA(int c) {
        const int j = c / stride, i = c % stride;
        const auto right = static_cast<Real>(ax.right_weight(i));
        const auto up = static_cast<Real>(ay.right_weight(j));
        const Real* y = coarse_x + 2 * (static_cast<std::ptrdiff_t>(ay.parent(j)) * coarse_stride +
                                        ax.parent(i));
        const int di = right > 0 ? 2 : 0, dj = up > 0 ? 2 * coarse_stride : 0;
        for (int m = 0; m < 2; ++m, ++y) {
          const Real low = (1 - right) * y[0] + right * y[di];
          const Real high = (1 - right) * y[dj] + right * y[dj + di];
          x[2 * static_cast<std::ptrdiff_t>(c) + m] += (1 - up) * low + up * high;
        }
      });
}

} // namespace nunatak
