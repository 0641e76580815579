// An example for harness.cpp: relaxation in each patch, ghosts from four neighbours, until no rank changes a cell.
#include "harness.hpp"

#include <algorithm>
#include <vector>

/// Sends rows and columns at the boundaries of the patch, which has a ring of ghosts, and receives those of the neighbours.
static void exchange(const Patch& p, std::vector<int>& v) {
  const int width = p.xm + 2;
  const auto swap = [&](bool exists, int other, int from, int to, int n, int stride) {
    if (!exists) return;
    std::vector<int> out(n), in(n);
    for (int k = 0; k < n; ++k) out[k] = v[from + k * stride];
    MPI_Sendrecv(out.data(), n, MPI_INT, other, 0, in.data(), n, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int k = 0; k < n; ++k) v[to + k * stride] = in[k];
  };
  const int rank = p.q * p.P + p.p, first = width + 1, last = p.ym * width + p.xm;
  for (int parity : {0, 1}) { // pairs of neighbours exchange together: first those at even boundaries
    swap(p.p % 2 == parity && p.p + 1 < p.P, rank + 1, first + p.xm - 1, first + p.xm, p.ym, width);
    swap(p.p % 2 != parity && p.p > 0, rank - 1, first, first - 1, p.ym, width);
    swap(p.q % 2 == parity && p.q + 1 < p.Q, rank + p.P, last - p.xm + 1, last - p.xm + 1 + width, p.xm, 1);
    swap(p.q % 2 != parity && p.q > 0, rank - p.P, first, first - width, p.xm, 1);
  }
}

void distance(int My, int Mx, const int* mask, int* d) {
  const Patch p = patch(My, Mx);
  const int width = p.xm + 2;
  std::vector<int> v((p.ym + 2) * width, -1); // ghosts at the edge of the grid stay outside
  for (int j = 0; j < p.ym; ++j)
    for (int i = 0; i < p.xm; ++i) v[(j + 1) * width + i + 1] = mask[(p.ys + j) * Mx + p.xs + i];
  const auto relax = [&](int n) {
    bool lower = false;
    for (const int other : {v[n - 1], v[n + 1], v[n - width], v[n + width]}) {
      if (v[n] < 0 || other <= 0 || (v[n] > 0 && v[n] <= other + 1)) continue;
      v[n] = other + 1;
      lower = true;
    }
    return lower;
  };
  for (int changed = 1; changed;) {
    changed = 0;
    if (p.p >= 0) exchange(p, v);
    for (bool again = p.p >= 0; again; changed |= again) {
      again = false;
      for (int k = 0, cells = p.xm * p.ym; k < 2 * cells; ++k) { // forth and back
        const int n = k < cells ? k : 2 * cells - 1 - k;
        again |= relax((n / p.xm + 1) * width + n % p.xm + 1);
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  for (int j = 0; j < p.ym; ++j)
    std::copy_n(&v[(j + 1) * width + 1], p.xm, d + (p.ys + j) * Mx + p.xs);
}
