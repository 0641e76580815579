// The smoother of multigrid.hpp: Chebyshev's polynomial in (S D)^-1 A; D: 2 x 2 diagonal blocks.
//
// It needs a bound on the largest eigenvalue of (S D)^-1 A, for which any matrix norm serves. S is
// the larger of the sums of |entries| of the cell's two rows of D^-1 A, so that the rows of (S
// D)^-1 A have sums of at most 1, which bounds all eigenvalues. S is about 2.9 in uniform ice, and
// larger only where necessary. (A uniform bound is 4: A is a sum over elements of semidefinite
// matrices, each coupling at most 4 cells.) S needs no reduction and no row of a neighbour, and the
// arithmetic in a cell is the same for every decomposition.
//
// The polynomial of degree k damps the eigenvalues from 0.2/k (tuned for Antarctica) to 1:
//
//   theta = (high + low)/2,   delta = (high - low)/2,   rho_0 = delta/theta
//   d_0 = (S D)^-1 r/theta,   rho_k = 1/(2 theta/delta - rho_{k-1})
//   d_k = rho_k rho_{k-1} d_{k-1} + 2 rho_k/delta (S D)^-1 r,   x += d_k
//
// Smoothing has the arithmetic of one unknown; the functions after it are passes (passes.hpp) over
// the unknowns in rings 0 (owned) to `ring`. They need their input in one ring more.
#pragma once

#include "kernels/multigrid/passes.hpp"

#include <utility>

namespace nunatak {

/// The polynomial (Saad 2003, algorithm 12.1): degree, centre and half length of the interval.
struct Chebyshev {
  int degree = 2;

  static constexpr double high() { return 1.0; }
  constexpr double low() const { return high() * (degree > 1 ? 0.2 / degree : 0.3); }
  constexpr double theta() const { return 0.5 * (high() + low()); }
  constexpr double delta() const { return 0.5 * (high() - low()); }
};

/// keep and push of the next step, beginning with the second one.
struct ChebyshevSteps {
  double theta, delta, rho = delta / theta, keep = 0.0, push = 0.0;
  KOKKOS_INLINE_FUNCTION explicit ChebyshevSteps(const Chebyshev& p)
      : theta(p.theta()), delta(p.delta()) {}
  KOKKOS_INLINE_FUNCTION void next() {
    const double next = 1.0 / (2.0 * theta / delta - rho);
    keep = next * rho;
    push = 2.0 * next / delta;
    rho = next;
  }
};

/// The arithmetic of the unknown at position c of a part of a level.
template <class Real> struct Smoothing {
  const Real *A, *inverse, *b;
  Real *x, *r, *d, *e;
  int stride;

  explicit Smoothing(const NinePoint<Real>& p)
      : A(p.A.data()), inverse(p.inverse.data()), b(p.b.data()), x(p.x.data()), r(p.r.data()),
        d(p.d.data()), e(p.e.data()), stride(p.patch.xm + 2) {}

  /// x = 0, r = b, d = (S D)^-1 r/theta.
  KOKKOS_INLINE_FUNCTION void start_from_zero(int c, Real scale) const {
    const auto at = 2 * static_cast<std::ptrdiff_t>(c);
    const Real *f = b + at, *q = inverse + 2 * at;
    Real *px = x + at, *pr = r + at, *pd = d + at;
    px[0] = px[1] = 0;
    pr[0] = f[0];
    pr[1] = f[1];
    pd[0] = scale * (q[0] * f[0] + q[1] * f[1]);
    pd[1] = scale * (q[2] * f[0] + q[3] * f[1]);
  }
  /// r = b - A x, d = (S D)^-1 r/theta.
  KOKKOS_INLINE_FUNCTION void start(int c, Real scale) const {
    const auto at = 2 * static_cast<std::ptrdiff_t>(c);
    Real u = 0, v = 0;
    row_product(A + 18 * at, x + at, stride, u, v);
    const Real *f = b + at, *q = inverse + 2 * at;
    Real *pr = r + at, *pd = d + at;
    pr[0] = f[0] - u;
    pr[1] = f[1] - v;
    pd[0] = scale * (q[0] * pr[0] + q[1] * pr[1]);
    pd[1] = scale * (q[2] * pr[0] + q[3] * pr[1]);
  }
  /// x += d, r -= A d, and the next step e = keep d + push (S D)^-1 r.
  KOKKOS_INLINE_FUNCTION void step(int c, Real keep, Real push) const {
    const auto at = 2 * static_cast<std::ptrdiff_t>(c);
    Real u = 0, v = 0;
    row_product(A + 18 * at, d + at, stride, u, v);
    const Real *pd = d + at, *q = inverse + 2 * at;
    Real *px = x + at, *pr = r + at, *pe = e + at;
    px[0] += pd[0];
    px[1] += pd[1];
    pr[0] -= u;
    pr[1] -= v;
    // lab 7 begin: the next step | stub: throw "lab 7: not written yet";
    pe[0] = keep * pd[0] + push * (q[0] * pr[0] + q[1] * pr[1]);
    pe[1] = keep * pd[1] + push * (q[2] * pr[0] + q[3] * pr[1]);
    // lab 7 end
  }
  /// x += d, and r -= A d with_residual.
  KOKKOS_INLINE_FUNCTION void finish(int c, bool with_residual) const {
    const auto at = 2 * static_cast<std::ptrdiff_t>(c);
    const Real* pd = d + at;
    Real *px = x + at, *pr = r + at;
    px[0] += pd[0];
    px[1] += pd[1];
    if (!with_residual) return;
    Real u = 0, v = 0;
    row_product(A + 18 * at, pd, stride, u, v);
    pr[0] -= u;
    pr[1] -= v;
  }
};

/// (S D)^-1. A block D that is singular to rounding is replaced by its trace times the identity,
/// which is not smaller.
template <class Real> void invert_diagonal(Passes<Real>& passes, int ring) {
  const auto A = passes.part().A, inverse = passes.part().inverse;
  passes.add(
      "multigrid: inverses", 0, ring, KOKKOS_LAMBDA(int c) {
        const Real *row = A.data() + 36 * static_cast<std::ptrdiff_t>(c), *a = row + 16;
        Real* q = inverse.data() + 4 * static_cast<std::ptrdiff_t>(c);
        const double uu = a[0], uv = a[1], vv = a[3], trace = uu + vv, det = uu * vv - uv * uv;
        const bool regular = det > 1e-6 * trace * trace;
        const double other = trace > 0.0 ? 1.0 / trace : 0.0;
        const auto q0 = static_cast<Real>(regular ? vv / det : other);
        const auto q1 = static_cast<Real>(regular ? -uv / det : 0.0);
        const auto q3 = static_cast<Real>(regular ? uu / det : other);
        Four<Real> sum{};
        for (int slot = 0; slot < 9; ++slot, row += 4) {
          Four<Real> product =
              Four<Real>{q0, q0, q1, q1} * Four<Real>{row[0], row[1], row[0], row[1]};
          product += Four<Real>{q1, q1, q3, q3} * Four<Real>{row[2], row[3], row[2], row[3]};
          sum += Four<Real>{Kokkos::abs(product[0]), Kokkos::abs(product[1]),
                            Kokkos::abs(product[2]), Kokkos::abs(product[3])};
        }
        const Real S = sum[0] + sum[1] > sum[2] + sum[3] ? sum[0] + sum[1] : sum[2] + sum[3];
        const Real scale = S > 0 ? 1 / S : 0;
        q[0] = scale * q0;
        q[1] = q[2] = scale * q1;
        q[3] = scale * q3;
      });
}

/// Needs b in rings 0 to `ring`.
template <class Real>
void start_from_zero(Passes<Real>& passes, const Chebyshev& polynomial, int ring) {
  const Smoothing<Real> s(passes.part());
  const auto scale = static_cast<Real>(1.0 / polynomial.theta());
  passes.add(
      "multigrid: start", 0, ring, KOKKOS_LAMBDA(int c) { s.start_from_zero(c, scale); });
}

/// x += d in the ghosts of rings `first` to `last`, as their owners do in the next pass, to save an
/// exchange of x.
template <class Real> void step_ghosts(Passes<Real>& passes, int first, int last) {
  const Smoothing<Real> s(passes.part());
  passes.add(
      "multigrid: step of ghosts", first, last, KOKKOS_LAMBDA(int c) { s.finish(c, false); });
}

/// Needs x.
template <class Real> void start(Passes<Real>& passes, const Chebyshev& polynomial, int ring) {
  const Smoothing<Real> s(passes.part());
  const auto scale = static_cast<Real>(1.0 / polynomial.theta());
  passes.add(
      "multigrid: residual", 0, ring, KOKKOS_LAMBDA(int c) { s.start(c, scale); });
}

/// Swaps d and e for later passes. Needs d.
template <class Real> void step(Passes<Real>& passes, const ChebyshevSteps& factors, int ring) {
  const Smoothing<Real> s(passes.part());
  const auto keep = static_cast<Real>(factors.keep), push = static_cast<Real>(factors.push);
  passes.add(
      "multigrid: step", 0, ring, KOKKOS_LAMBDA(int c) { s.step(c, keep, push); });
  std::swap(passes.part().d, passes.part().e);
}

/// Needs d, for the residual.
template <class Real> void finish(Passes<Real>& passes, bool with_residual, int ring) {
  const Smoothing<Real> s(passes.part());
  passes.add(
      "multigrid: finish", 0, ring, KOKKOS_LAMBDA(int c) { s.finish(c, with_residual); });
}

} // namespace nunatak
