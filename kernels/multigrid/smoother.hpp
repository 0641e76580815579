// The smoother of multigrid.hpp: Chebyshev's polynomial in (S D)^-1 A; D: 2 x 2 diagonal blocks.
//
// It needs a bound on the largest eigenvalue of (S D)^-1 A, for which any matrix norm serves. S is
// the larger of the sums of |entries| of the cell's two rows of D^-1 A, so that the rows of (S
// D)^-1 A have sums of at most 1, which bounds all eigenvalues. S is about 2.9 in uniform ice, and
// larger only where necessary. (A uniform bound is 4: A is a sum over elements of semidefinite
// matrices, each coupling at most 4 cells.) S needs no reduction and no row of a neighbour, and the
// arithmetic in a cell is the same for every decomposition.
//
// The polynomial of degree k damps the eigenvalues from 0.4/k (tuned for Antarctica) to 1:
//
//   theta = (high + low)/2,   delta = (high - low)/2,   rho_0 = delta/theta
//   d_0 = (S D)^-1 r/theta,   rho_k = 1/(2 theta/delta - rho_{k-1})
//   d_k = rho_k rho_{k-1} d_{k-1} + 2 rho_k/delta (S D)^-1 r,   x += d_k
//
// Smoothing has the arithmetic of one unknown cell; the functions after it are passes (passes.hpp)
// over the unknowns in rings 0 (owned) to `ring`. They need their input in one ring more.
#pragma once

#include "kernels/multigrid/passes.hpp"

#include <utility>
#include <vector>

namespace nunatak {

/// The polynomial (Saad 2003, algorithm 12.1): degree, centre and half length of the interval.
struct Chebyshev {
  int degree = 2;

  static constexpr double high() { return 1.0; }
  constexpr double low() const { return high() * (degree > 1 ? 0.4 / degree : 0.3); }
  constexpr double theta() const { return 0.5 * (high() + low()); }
  constexpr double delta() const { return 0.5 * (high() - low()); }
};

/// Work per unknown cell, in visits (Work::ssa): of a product with A, of smoothing.
constexpr int visits_of_product = 8;
constexpr int visits_of_smoothing(const Chebyshev& p) { return 4 + visits_of_product * p.degree; }

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

/// The values of a cell.
template <class Real> struct Pair { Real u, v; };

/// The arithmetic of an unknown cell of a part of a level.
template <class Real> struct Smoothing {
  const Real *A, *inverse, *b, *x, *r, *d; ///< of vectors the plane of u
  std::ptrdiff_t plane, stride;

  explicit Smoothing(const NinePoint<Real>& p)
      : A(p.A.first), inverse(p.inverse.first), b(p.b.first), x(p.x.first), r(p.r.first),
        d(p.d.first), plane(p.x.value), stride(p.stride()) {}

  KOKKOS_FORCEINLINE_FUNCTION Pair<Real> of(const Real* y, const Lane& p) const {
    return {y[p.position()], y[p.position() + plane]};
  }
  KOKKOS_FORCEINLINE_FUNCTION static void put(const Pair<Real>& value, Real* out) {
    out[0] = value.u;
    out[lanes] = value.v;
  }
  /// The block (S D)^-1, row by row: q[0], q[lanes], q[2 lanes], q[3 lanes].
  KOKKOS_FORCEINLINE_FUNCTION const Real* inverse_of(const Lane& p) const {
    return inverse + 4 * static_cast<std::ptrdiff_t>(p.first) + p.lane;
  }
  /// (S D)^-1 r/theta, scale = 1/theta.
  KOKKOS_FORCEINLINE_FUNCTION Pair<Real> first_step(const Lane& p, const Pair<Real>& residual,
                                                    Real scale) const {
    const Real* q = inverse_of(p);
    return {scale * (q[0] * residual.u + q[lanes] * residual.v),
            scale * (q[2 * lanes] * residual.u + q[3 * lanes] * residual.v)};
  }
  /// y + z.
  KOKKOS_FORCEINLINE_FUNCTION Pair<Real> sum(const Real* y, const Real* z, const Lane& p) const {
    const Pair<Real> a = of(y, p), b_ = of(z, p);
    return {a.u + b_.u, a.v + b_.v};
  }
  /// y - A z.
  KOKKOS_FORCEINLINE_FUNCTION Pair<Real> residual(const Real* y, const Real* z,
                                                  const Lane& p) const {
    const Real *a = A + 36 * static_cast<std::ptrdiff_t>(p.first) + p.lane, *u = z + p.position(),
               *v = u + plane;
    Real uu = 0, uv = 0, vu = 0, vv = 0;
    const auto add = [&](std::ptrdiff_t at) {
      uu += a[0] * u[at];
      uv += a[lanes] * v[at];
      vu += a[2 * lanes] * u[at];
      vv += a[3 * lanes] * v[at];
      a += 4 * lanes;
    };
    const auto add_three = [&](std::ptrdiff_t at) {
      add(at - 1);
      add(at);
      add(at + 1);
    };
    add_three(-stride);
    add_three(0);
    add_three(stride);
    const Pair<Real> before = of(y, p);
    return {before.u - (uu + uv), before.v - (vu + vv)};
  }
};

/// (S D)^-1. A block D that is singular to rounding is replaced by its trace times the identity,
/// which is not smaller.
template <class Real> struct InverseOfDiagonal {
  const Real* A;
  KOKKOS_INLINE_FUNCTION void operator()(const Lane& p, Real* out) const {
    const Real* row = A + 36 * static_cast<std::ptrdiff_t>(p.first) + p.lane;
    const double uu = row[16 * lanes], uv = row[17 * lanes], vv = row[19 * lanes];
    const double trace = uu + vv, det = uu * vv - uv * uv;
    const bool regular = det > 1e-6 * trace * trace;
    // divisions without a condition, so that the loop over lanes is vectorised
    const double of_trace = 1.0 / trace, other = trace > 0.0 ? of_trace : 0.0;
    const double vv_of_det = vv / det, uv_of_det = -uv / det, uu_of_det = uu / det;
    const auto q0 = static_cast<Real>(regular ? vv_of_det : other);
    const auto q1 = static_cast<Real>(regular ? uv_of_det : 0.0);
    const auto q3 = static_cast<Real>(regular ? uu_of_det : other);
    Real sum[4] = {};
    const auto add_three = [&] {
      for (int n = 0; n < 3; ++n, row += 4 * lanes) {
        sum[0] += Kokkos::abs(q0 * row[0] + q1 * row[2 * lanes]);
        sum[1] += Kokkos::abs(q0 * row[lanes] + q1 * row[3 * lanes]);
        sum[2] += Kokkos::abs(q1 * row[0] + q3 * row[2 * lanes]);
        sum[3] += Kokkos::abs(q1 * row[lanes] + q3 * row[3 * lanes]);
      }
    };
    add_three();
    add_three();
    add_three();
    const Real u = sum[0] + sum[1], v = sum[2] + sum[3], S = u > v ? u : v;
    const Real of_S = 1 / S, scale = S > 0 ? of_S : 0;
    out[0] = scale * q0;
    out[lanes] = out[2 * lanes] = scale * q1;
    out[3 * lanes] = scale * q3;
  }
};
template <class Real> auto inverse_of_diagonal(const NinePoint<Real>& part) {
  return Pass<Real, 4, CellValues<Real>, InverseOfDiagonal<Real>>{part.inverse, {part.A.first}};
}
template <class Real> void invert_diagonal(Passes<Real>& passes, int ring) {
  passes.add("multigrid: inverses", ring, inverse_of_diagonal(passes.part()));
}

/// x = 0, r = b and d, in the owned unknowns.
template <class Real> struct StartFromZero {
  Smoothing<Real> s;
  Real scale;
  KOKKOS_INLINE_FUNCTION void operator()(const Lane& p, Real* out) const {
    const Pair<Real> r = s.of(s.b, p);
    s.put({0, 0}, out);
    s.put(r, out + 2 * lanes);
    s.put(s.first_step(p, r, scale), out + 4 * lanes);
  }
};
template <class Real> void start_from_zero(Passes<Real>& passes, const Chebyshev& polynomial) {
  const NinePoint<Real>& part = passes.part();
  passes.add("multigrid: start", 0,
             Pass<Real, 6, Planes<Real, 6>, StartFromZero<Real>>{
                 planes(part.x, part.r, part.d),
                 {Smoothing<Real>(part), static_cast<Real>(1.0 / polynomial.theta())}});
}

/// r = b - A x, and d. Needs x.
template <class Real> struct FirstStep {
  Smoothing<Real> s;
  Real scale;
  KOKKOS_INLINE_FUNCTION void operator()(const Lane& p, Real* out) const {
    const Pair<Real> r = s.residual(s.b, s.x, p);
    s.put(r, out);
    s.put(s.first_step(p, r, scale), out + 2 * lanes);
  }
};
template <class Real> auto first_step(const NinePoint<Real>& part, const Chebyshev& polynomial) {
  return Pass<Real, 4, Planes<Real, 4>, FirstStep<Real>>{
      planes(part.r, part.d), {Smoothing<Real>(part), static_cast<Real>(1.0 / polynomial.theta())}};
}
template <class Real> void start(Passes<Real>& passes, const Chebyshev& polynomial, int ring) {
  passes.add("multigrid: residual", ring, first_step(passes.part(), polynomial));
}

/// x += d in the owned unknowns.
template <class Real> struct LastMove {
  Smoothing<Real> s;
  KOKKOS_INLINE_FUNCTION void operator()(const Lane& p, Real* out) const {
    s.put(s.sum(s.x, s.d, p), out);
  }
};
template <class Real> auto last_move(const NinePoint<Real>& part) {
  return Pass<Real, 2, Planes<Real, 2>, LastMove<Real>>{planes(part.x), {Smoothing<Real>(part)}};
}
template <class Real> void move(Passes<Real>& passes) {
  passes.add("multigrid: move", 0, last_move(passes.part()));
}

/// x += d, r -= A d, and the next step e = keep d + push (S D)^-1 r. Needs d.
template <class Real> struct NextStep {
  Smoothing<Real> s;
  Real keep, push;
  KOKKOS_INLINE_FUNCTION void operator()(const Lane& p, Real* out) const {
    const Pair<Real> d = s.of(s.d, p), r = s.residual(s.r, s.d, p);
    const Real* q = s.inverse_of(p);
    Pair<Real> e;
    // lab 7 begin: the next step | stub: throw "lab 7: not written yet";
    e.u = keep * d.u + push * (q[0] * r.u + q[lanes] * r.v);
    e.v = keep * d.v + push * (q[2 * lanes] * r.u + q[3 * lanes] * r.v);
    // lab 7 end
    s.put(s.sum(s.x, s.d, p), out);
    s.put(r, out + 2 * lanes);
    s.put(e, out + 4 * lanes);
  }
};
template <class Real> auto next_step(const NinePoint<Real>& part, const ChebyshevSteps& factors) {
  return Pass<Real, 6, Planes<Real, 6>, NextStep<Real>>{
      planes(part.x, part.r, part.e),
      {Smoothing<Real>(part), static_cast<Real>(factors.keep), static_cast<Real>(factors.push)}};
}
/// Swaps d and e for later passes.
template <class Real> void step(Passes<Real>& passes, const ChebyshevSteps& factors, int ring) {
  passes.add("multigrid: step", ring, next_step(passes.part(), factors));
  std::swap(passes.part().d, passes.part().e);
}

/// x += d, r -= A d, in the owned unknowns. Needs d.
template <class Real> struct LastStep {
  Smoothing<Real> s;
  KOKKOS_INLINE_FUNCTION void operator()(const Lane& p, Real* out) const {
    s.put(s.sum(s.x, s.d, p), out);
    s.put(s.residual(s.r, s.d, p), out + 2 * lanes);
  }
};
template <class Real> void finish(Passes<Real>& passes) {
  const NinePoint<Real>& part = passes.part();
  passes.add("multigrid: finish", 0,
             Pass<Real, 4, Planes<Real, 4>, LastStep<Real>>{planes(part.x, part.r),
                                                            {Smoothing<Real>(part)}});
}

/// x = p(A) b by the polynomial and, if wanted, r = b - A x, in the owned unknowns of `grid`; no
/// pass is left to run. `exchange` runs the passes and moves the ghosts of d.
template <class Real, class F>
void smooth_from_zero(const Holders& grid, std::vector<Passes<Real>>& passes,
                      const Chebyshev& polynomial, bool with_residual, const F& exchange) {
  ChebyshevSteps factors(polynomial);
  for (const int n : grid.locals()) start_from_zero(passes[n], polynomial);
  for (int k = 1; k < polynomial.degree; ++k) {
    factors.next();
    exchange();
    for (const int n : grid.locals()) step(passes[n], factors, 0);
  }
  if (with_residual) exchange();
  for (const int n : grid.locals()) {
    with_residual ? finish(passes[n]) : move(passes[n]);
    passes[n].run();
  }
}

/// Preconditioner::smooth() for parts of one grid with their `route` of ghosts.
template <class Real>
void smooth_chosen(const Holders& grid, Route& route, std::vector<NinePoint<Real>> parts,
                   const std::vector<Kokkos::View<int*, Mem>>& chosen,
                   const std::vector<int>& counts) {
  constexpr int degree = 2;
  std::vector<Passes<Real>> passes(parts.begin(), parts.end()); // of the same arrays
  for (const int n : grid.locals()) {
    parts[n].choose(chosen[n], counts[n]);
    Kokkos::deep_copy(Exec(), parts[n].d.memory, Real(0)); // given a space it does not wait
    Kokkos::deep_copy(Exec(), parts[n].e.memory, Real(0));
    invert_diagonal(passes[n], 0);
  }
  const auto steps = [&parts](std::size_t n) -> CellValues<Real> { return parts[n].d; };
  smooth_from_zero(grid, passes, Chebyshev{degree}, false, [&] {
    for (const int n : grid.locals()) passes[n].run();
    route.move(2, steps, steps);
  });
}

} // namespace nunatak
