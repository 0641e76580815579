// The linear systems of the SSA: flexible conjugate gradients (Notay 2000, SIAM J. Sci. Comput. 22,
// 1444) with a preconditioner M of kernels/multigrid/, which need not be symmetric (a cycle of the
// multigrid is not). Each direction p is A-orthogonal to the one before. One reduction per
// iteration, as in Chronopoulos and Gear (1989, J. Comput. Appl. Math. 25, 153):
//
//   r = b                               one iteration:  u = M r, w = A u
//                                       reduction:      r.u, w.u, u.s, r.w, r.s, w.w, w.s
//   beta  = -u.s / (p.s)_before         p = u + beta p,  s = w + beta s  (= A p)
//   p.s   = w.u + beta u.s
//   alpha = r.u / p.s                   y += alpha p,    r -= alpha s
//
// A u costs nothing extra: M ends with the residual r - A u. The matrix is therefore stored once,
// in the precision of M. |r| after the step is known before M is applied again, from the sums of
// the reduction:
//   r.r <- r.r - 2 alpha (r.w + beta r.s) + alpha^2 s.s,     s.s <- w.w + 2 beta w.s + beta^2 s.s
// Sums are reproducible (kernels/grid/reproducible_sum.hpp), and everything else is cell by cell:
// the solution has the same bits on every decomposition.
#pragma once

#include "kernels/grid/reproducible_sum.hpp"
#include "kernels/ssa/assembly.hpp"
#include "kernels/ssa/preconditioners.hpp"
#include "kernels/ssa/solver.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace nunatak {

/// Solves A x = b with the matrix of ssa::jacobian; per local rank lists of pairs per unknown.
class SsaLinearSolver {
public:
  using List = Kokkos::View<double*, Mem>;
  virtual ~SsaLinearSolver() = default;

  /// The matrix of a step from (u, v), with ghosts, after the residual there. Collective.
  virtual void set_matrix(const std::vector<Array2<double>>& u,
                          const std::vector<Array2<double>>& v, ssa::Linearisation how) = 0;
  /// Computes y with |b - A y| <= tolerance |b|. Returns the iterations, or -1 after `most` or if
  /// the matrix is not positive. Collective: one reduction and one M per iteration.
  virtual int solve(const std::vector<List>& b, const std::vector<List>& y, double tolerance,
                    int most) = 0;
  /// Adds to y (`first`: sets it to) a step for the residual b in the chosen cells alone, by
  /// smoothing with their matrix at (u, v), after the residual there. The next solve needs
  /// set_matrix(). Collective: one exchange.
  virtual void smooth_chosen(const std::vector<Array2<double>>& u,
                             const std::vector<Array2<double>>& v, const std::vector<List>& b,
                             const std::vector<List>& y, bool first) = 0;
  virtual std::string describe() const = 0; ///< its preconditioner and precision
};

/// Real: type of the matrix, the preconditioner and the vectors of the iteration.
template <class Real> class SsaConjugateGradients final : public SsaLinearSolver {
public:
  /// For the current unknowns of `assembly`. Collective.
  SsaConjugateGradients(Ranks& ranks, SsaAssembly& assembly, double dx, double dy,
                        const SsaOptions& options)
      : m_ranks(ranks), m_assembly(assembly),
        m_M(row_of(preconditioners<Real>(), options.preconditioner, "preconditioner")
                .make(ranks, dx, dy, unknown_cells(assembly, ranks.local_size()),
                      options.multigrid)) {
    for (const int local : ranks.locals()) {
      const auto n = 2 * static_cast<std::size_t>(assembly.patch(local).unknowns());
      m_vectors.push_back(
          {Vector("r", n), Vector("u", n), Vector("w", n), Vector("p", n), Vector("s", n)});
    }
  }

  void set_matrix(const std::vector<Array2<double>>& u, const std::vector<Array2<double>>& v,
                  ssa::Linearisation how) override {
    for (const int local : m_ranks.locals()) {
      const auto n = static_cast<std::size_t>(local);
      ssa::jacobian(m_assembly.patch(local), u[n], v[n], how, m_M->finest(local).rows_of_owned(),
                    true);
      m_ranks.work(local, visits_of_matrix * m_assembly.patch(local).unknowns());
    }
    m_M->set_operator();
  }

  int solve(const std::vector<List>& b, const std::vector<List>& y, double tolerance,
            int most) override {
    for (const int local : m_ranks.locals()) start(local, b, y);
    double rr = 0.0, rr_first = 0.0, ss = 0.0, ps = 1.0;
    for (int n = 0; n < most; ++n) {
      m_M->apply(true);
      const auto [ru, wu, us, rw, rs, ww, ws, rr_now] = dot_products();
      rr = rr_now;
      if (n == 0) rr_first = rr;
      if (rr == 0.0) return n;
      const double beta = -us / ps; // s = 0 at first
      ps = wu + beta * us;
      const double alpha = ru / ps;
      if (!(ru > 0.0) || !(alpha > 0.0) || !std::isfinite(alpha))
        return n == 0 ? -1 : n; // converged to the attainable precision
      ss = ww + 2.0 * beta * ws + beta * beta * ss;
      for (const int local : m_ranks.locals()) {
        step(local, y, alpha, beta);
        m_ranks.work(local, visits_of_iteration * m_assembly.patch(local).unknowns());
      }
      rr += alpha * (alpha * ss - 2.0 * (rw + beta * rs));
      if (!(rr > tolerance * tolerance * rr_first)) return n + 1;
    }
    return -1;
  }

  void smooth_chosen(const std::vector<Array2<double>>& u, const std::vector<Array2<double>>& v,
                     const std::vector<List>& b, const std::vector<List>& y, bool first) override {
    std::vector<Kokkos::View<int*, Mem>> chosen;
    std::vector<int> counts;
    for (const int local : m_ranks.locals()) {
      const auto n = static_cast<std::size_t>(local);
      const SsaPatch& p = m_assembly.patch(local);
      ssa::jacobian(p, u[n], v[n], ssa::Linearisation::weighted, m_M->finest(local).rows_of_owned(),
                    true);
      take_residual(local, b[n]);
      chosen.push_back(p.chosen.unknowns);
      counts.push_back(p.chosen.lengths.unknowns);
      m_ranks.work(local, visits_of_chosen * counts[n]);
    }
    m_M->smooth(chosen, counts);
    for (const int local : m_ranks.locals())
      give_step(local, y[static_cast<std::size_t>(local)], first);
  }

  std::string describe() const override {
    return m_M->describe() + "; " + (sizeof(Real) == sizeof(float) ? "single" : "double") +
           " precision";
  }

private:
  // Work per unknown cell, in visits (Work::ssa; their proportions: perf/bench_ssa at 8 km).
  static constexpr std::int64_t visits_of_matrix = 33, visits_of_iteration = 8,
                                visits_of_chosen = 70;

  using Vector = Kokkos::View<Real*, Mem>;
  struct Vectors {
    Vector r, u, w, p, s;
  };

public: // nvcc requires it for functions with loops
  /// r = b, y = p = s = 0.
  void start(int local, const std::vector<List>& b, const std::vector<List>& y) {
    const auto l = static_cast<std::size_t>(local);
    const Vectors& v = m_vectors[l];
    const auto from = b[l], to = y[l];
    const auto r = v.r, p = v.p, s = v.s;
    const CellValues<Real> finest = m_M->finest(local).b;
    const auto places = m_M->finest(local).cells;
    Kokkos::parallel_for(
        "ssa: start", Kokkos::RangePolicy<Exec>(0, m_assembly.patch(local).unknowns()),
        KOKKOS_LAMBDA(int n) {
          for (int m = 2 * n; m < 2 * n + 2; ++m) {
            r(m) = static_cast<Real>(from(m));
            finest.in_plane(places(n), m - 2 * n) = r(m);
            to(m) = p(m) = s(m) = 0;
          }
        });
  }

  /// The right-hand side of the finest level; its solution added to y, or put there.
  void take_residual(int local, const List& r) {
    const CellValues<Real> finest = m_M->finest(local).b;
    const auto places = m_M->finest(local).cells;
    ssa::for_each_unknown(
        "ssa: chosen residuals", m_assembly.patch(local), KOKKOS_LAMBDA(int n, int, int) {
          for (int m = 0; m < 2; ++m)
            finest.in_plane(places(n), m) = static_cast<Real>(r(2 * n + m));
        });
  }
  void give_step(int local, const List& y, bool first) {
    const CellValues<Real> finest = m_M->finest(local).x;
    const auto places = m_M->finest(local).cells;
    ssa::for_each_unknown(
        "ssa: chosen steps", m_assembly.patch(local), KOKKOS_LAMBDA(int n, int, int) {
          for (int m = 0; m < 2; ++m)
            y(2 * n + m) = finest.in_plane(places(n), m) + (first ? 0.0 : y(2 * n + m));
        });
  }

  /// r.u, w.u, u.s, r.w, r.s, w.w, w.s, r.r
  std::array<double, 8> dot_products() {
    std::vector<std::vector<ReproducibleSum>> sums;
    for (const int local : m_ranks.locals()) sums.push_back(dot_products_of(local));
    const StepShare share(m_ranks, "SSA: reductions");
    m_ranks.sum(sums);
    std::array<double, 8> values{};
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = sums[0][k].value();
    return values;
  }

  std::vector<ReproducibleSum> dot_products_of(int local) {
    const Vectors& v = m_vectors[local];
    const auto r = v.r, u = v.u, w = v.w;
    const CellValues<Real> x = m_M->finest(local).x, residual = m_M->finest(local).r;
    const auto places = m_M->finest(local).cells;
    const auto take = KOKKOS_LAMBDA(std::int64_t n) {
      for (int m = 0; m < 2; ++m) {
        u(2 * n + m) = x.in_plane(places(n), m);
        w(2 * n + m) = r(2 * n + m) - residual.in_plane(places(n), m);
      }
    };
    const std::int64_t count = m_assembly.patch(local).unknowns();
    if (!loops_on_host)
      Kokkos::parallel_for("ssa: u and A u", Kokkos::RangePolicy<Exec>(0, count), take);
    const Real *pr = r.data(), *pu = u.data(), *pw = w.data(), *ps = v.s.data();
    const DotProducts<Real, 8> products{
        {{pr, pu}, {pw, pu}, {pu, ps}, {pr, pw}, {pr, ps}, {pw, pw}, {pw, ps}, {pr, pr}}};
    const auto sums = sums_reproducibly<8>("ssa: dot products", count, products, take);
    return {sums.of, sums.of + 8};
  }

  /// p, s, y and r of one iteration.
  void step(int local, const std::vector<List>& solution, double alpha_, double beta_) {
    const Vectors& v = m_vectors[local];
    const auto r = v.r, u = v.u, w = v.w, p = v.p, s = v.s;
    const auto y = solution[local];
    const CellValues<Real> finest = m_M->finest(local).b;
    const auto places = m_M->finest(local).cells;
    const Real alpha = static_cast<Real>(alpha_), beta = static_cast<Real>(beta_);
    Kokkos::parallel_for(
        "ssa: conjugate gradients",
        Kokkos::RangePolicy<Exec>(0, m_assembly.patch(local).unknowns()), KOKKOS_LAMBDA(int n) {
          for (int m = 2 * n; m < 2 * n + 2; ++m) {
            p(m) = u(m) + beta * p(m);
            s(m) = w(m) + beta * s(m);
            y(m) += alpha * p(m);
            r(m) -= alpha * s(m);
            finest.in_plane(places(n), m - 2 * n) = r(m);
          }
        });
  }

private:
  static std::vector<Array2<int>> unknown_cells(const SsaAssembly& assembly, int locals) {
    std::vector<Array2<int>> cells;
    for (int local = 0; local < locals; ++local) cells.push_back(assembly.patch(local).unknown);
    return cells;
  }

  Ranks& m_ranks;
  SsaAssembly& m_assembly;
  std::unique_ptr<Preconditioner<Real>> m_M;
  std::vector<Vectors> m_vectors;
};

} // namespace nunatak
