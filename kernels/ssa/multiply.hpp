// The Jacobian of kernels/ssa/loops.hpp times a vector without a matrix, element by element:
// -ssa_operator elements. Nothing is communicated.
#pragma once

#include "kernels/ssa/loops.hpp"

namespace nunatak::ssa {

/// Keeps the elements of the last Jacobian for multiply(): a residual overwrites those that it was
/// formed with.
inline void keep_elements(SsaPatch& p) {
  if (p.kept.extent(0) != p.coefficients.extent(0))
    p.kept = decltype(p.kept)("ssa_kept", p.coefficients.extent(0));
  Kokkos::deep_copy(p.kept, p.coefficients);
}

/// y = the Jacobian of keep_elements() times x (j, i, 2), element by element. Needs ghosts of x,
/// which is 0 in cells that are no unknowns.
inline void multiply(const SsaPatch& p, const Rows<double>& x, double* y) {
  const auto element_at = p.element_at;
  const auto elements = p.elements;
  const auto kept = p.kept;
  const auto drag = p.drag;
  const auto q1 = p.q1;
  for_each_unknown(
      "ssa: Jacobian times vector", p, KOKKOS_LAMBDA(int n, int j, int i) {
        const double U = x(j, i, 0), V = x(j, i, 1);
        double sum[2] = {drag(n, 0) * U + drag(n, 1) * V, drag(n, 1) * U + drag(n, 2) * V};
        for (int c = 3; c >= 0; --c) {
          const int cj = j - (c >> 1), ci = i - (c & 1), k = element_at(cj, ci);
          const SsaElement& e = kept(k);
          const auto& K = q1().K[elements(k).ice];
          double w[8], pw = 0.0;
          for (int b = 0; b < 8; ++b) {
            w[b] = x(cj + (b >> 2), ci + (b >> 1 & 1), b & 1);
            pw += e.p[b] * w[b];
          }
          for (int m = 0; m < 2; ++m) {
            double Kw = 0.0;
            for (int b = 0; b < 8; ++b) Kw += K[2 * c + m][b] * w[b];
            sum[m] += e.nuH2 * Kw + e.slope * e.p[2 * c + m] * pw;
          }
        }
        y[2 * n] = sum[0];
        y[2 * n + 1] = sum[1];
      });
}

} // namespace nunatak::ssa
