// The nonlinear iteration for the SSA over the local ranks of a process, with linear.hpp and
// without PETSc, so that it runs on virtual ranks. The method is described in solver.hpp.
//
// Communication of a solve besides SsaAssembly::set_input and the linear systems: one ghost
// exchange and one reduction per step and per damping, and one of each before the first step. One
// reduction decides about a local solve, which has another, and two exchanges per local step (where
// it is undone, one more).
#pragma once

#include "kernels/ssa/linear.hpp"
#include "kernels/ssa/solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace nunatak {

class SsaNewton final : public SsaSolver {
public:
  /// `ranks` must outlive this object. dx, dy in m.
  SsaNewton(Ranks& ranks, double dx, double dy, const SsaOptions& options)
      : m_ranks(ranks), m_dx(dx), m_dy(dy), m_options(options),
        m_assembly(ranks, dx, dy, options.glen(), options.till(), options.till_subgrid) {}

  SsaReport solve(const std::vector<SsaInput>& inputs, const std::vector<Array2<double>>& u,
                  const std::vector<Array2<double>>& v) override {
    const StepShare share(m_ranks, "SSA: assembly");
    const Kokkos::Timer all;
    const std::int64_t collectives = m_ranks.traffic().collectives;
    m_report = {};
    m_u = u;
    m_v = v;
    m_assembly.set_input(inputs);
    for (const int local : m_ranks.locals()) {
      ssa::impose(patch(local), u[at(local)], v[at(local)]);
      m_ranks.work(local, visits_of_input * patch(local).unknowns());
    }
    m_report.unknown_cells = m_assembly.unknowns();
    m_report.excluded_cells = m_assembly.excluded();
    m_report.reason = "no unknowns";
    if (m_report.unknown_cells > 0) {
      if (m_linear == nullptr || m_assembly.unknowns_changed()) create();
      m_report.seconds_setup = all.seconds();
      iterate();
    }
    m_report.reductions = static_cast<int>(m_ranks.traffic().collectives - collectives);
    m_report.seconds_total = all.seconds();
    if (m_report.unknown_cells > 0 && m_report.reason.rfind("DIVERGED", 0) == 0) {
      throw SsaError(m_report, m_options.tolerance,
                     m_report.reason == linear_solve ? "; linear solver: DIVERGED_ITS" : "");
    }
    return m_report;
  }

  void residual(int local, const Array2<double>& r_x, const Array2<double>& r_y) const override {
    Kokkos::deep_copy(r_x, 0.0);
    Kokkos::deep_copy(r_y, 0.0);
    if (m_report.unknown_cells > 0)
      ssa::unpack(m_assembly.patch(local), m_lists[at(local)].f.data(), r_x, r_y);
  }

  std::string describe() const override;

private:
  using List = SsaLinearSolver::List;
  /// Pairs per owned unknown: velocity, m s-1; residuals (current, trial), N; step.
  struct Lists {
    List x, f, g, y;
  };
  // Work per unknown cell, in visits (Work::ssa; their proportions: perf/bench_ssa at 8 km).
  static constexpr std::int64_t visits_of_input = 60, visits_of_residual = 18;
  // A local solve: |residual|^2 of its cells relative to the mean; the largest fraction of cells;
  // its steps.
  static constexpr double large_residual = 0.3, broad = 0.1;
  static constexpr int local_steps = 3;
  static constexpr const char* linear_solve = "DIVERGED_LINEAR_SOLVE";

  static std::size_t at(int local) { return static_cast<std::size_t>(local); }
  const SsaPatch& patch(int local) const { return m_assembly.patch(local); }

  void create(); // in newton.cpp; once per set of unknowns

  void iterate() {
    for (const int local : m_ranks.locals())
      ssa::pack(patch(local), m_u[at(local)], m_v[at(local)], m_lists[at(local)].x.data());
    update_ghosts();
    compute_residuals();
    auto [residual2, speed2, load2] = sums([](const Lists& l, const List& load) {
      const double *g = l.g.data(), *x = l.x.data(), *b = load.data();
      return DotProducts<double, 3>{{{g, g}, {x, x}, {b, b}}};
    });
    m_report.initial_residual = m_report.final_residual = std::sqrt(residual2);
    // if driven by fixed values alone, compare with the first residual
    m_report.load_norm = load2 > 0.0 ? std::sqrt(load2) : m_report.initial_residual;
    auto how = speed2 == 0.0 ? ssa::Linearisation::at_rest : ssa::Linearisation::newton;
    swap_residuals();
    for (;; how = ssa::Linearisation::weighted) {
      m_report.final_residual = std::sqrt(residual2);
      if (!std::isfinite(residual2)) return stop("DIVERGED_FNORM_NAN");
      if (residual2 <= converged2()) return stop("CONVERGED_FNORM_ABS");
      if (m_report.steps == m_options.max_steps) return stop("DIVERGED_MAX_IT");
      if (!solve_linearised(how)) return stop(linear_solve);
      residual2 = search();
      m_report.steps += 1;
      if (residual2 > converged2() && !is_linear()) residual2 = solve_locally(residual2);
    }
  }

  void stop(const char* reason) { m_report.reason = reason; }
  double converged2() const {
    const double residual = m_options.tolerance * m_report.load_norm;
    return residual * residual;
  }
  // All steps have the same matrix.
  bool is_linear() const { return m_options.glen_n == 1.0 && m_options.till_q == 1.0; }

  // Computes the step y. Returns false if the linear system was not solved.
  bool solve_linearised(ssa::Linearisation how) {
    const bool linear = is_linear();
    const Kokkos::Timer matrix;
    if (!linear || m_report.steps == 0) m_linear->set_matrix(m_u, m_v, how);
    m_report.seconds_jacobian += matrix.seconds();
    const Kokkos::Timer system;
    std::vector<List> f, y;
    for (const Lists& l : m_lists) {
      f.push_back(l.f);
      y.push_back(l.y);
    }
    constexpr int most = 1000;
    // a residual that converges need not become smaller
    const double enough = std::min(0.9, std::sqrt(converged2()) / m_report.final_residual);
    const double tolerance = linear ? 1e-4 : std::max(m_options.linear_tolerance, enough);
    const StepShare share(m_ranks, "SSA: fine grid");
    const int iterations = m_linear->solve(f, y, tolerance, most);
    m_report.linear_iterations += iterations < 0 ? most : iterations;
    m_report.seconds_linear += system.seconds();
    return iterations >= 0;
  }

  // Takes the step with the length found by SlopeSearch. Returns |f|^2 after it.
  double search() {
    std::unique_ptr<SlopeSearch> slope;
    for (double t = 1.0;; t = slope->t()) {
      move_to(t);
      compute_residuals();
      const auto [gg, gy, fy] = sums([](const Lists& l, const List&) {
        const double *g = l.g.data(), *y = l.y.data(), *f = l.f.data();
        return DotProducts<double, 3>{{{g, g}, {g, y}, {f, y}}};
      });
      if (!slope) slope = std::make_unique<SlopeSearch>(-fy);
      if (!slope->accept(-gy)) continue;
      if (t < 1.0) m_report.damped_steps += 1;
      for (const int local : m_ranks.locals()) take(local, t);
      swap_residuals();
      return gg;
    }
  }

  // Mostly, a step leaves its residual in few cells: margins, grounding lines, ice that hardly
  // strains. A few steps in these cells alone, each with its own matrix, cost little then. They are
  // kept if they make the residual smaller. Returns |f|^2 after them.
  double solve_locally(double residual2) {
    const Kokkos::Timer system;
    const double limit = large_residual * residual2 / static_cast<double>(m_report.unknown_cells);
    std::vector<List> f, y;
    std::vector<std::vector<std::int64_t>> counts;
    for (const int local : m_ranks.locals()) {
      f.push_back(m_lists[at(local)].f);
      y.push_back(m_lists[at(local)].y);
      ssa::choose(patch(local), f.back().data(), limit);
    }
    Kokkos::fence("ssa: number of chosen cells");
    for (const int local : m_ranks.locals()) {
      ssa::Chosen& chosen = m_assembly.patch(local).chosen;
      chosen.lengths = chosen.found();
      counts.push_back({chosen.lengths.unknowns});
    }
    m_ranks.sum(counts);
    if (static_cast<double>(counts[0][0]) > broad * static_cast<double>(m_report.unknown_cells)) {
      m_report.seconds_linear += system.seconds();
      return residual2;
    }
    m_report.local_cells += counts[0][0];
    visit_chosen(true);
    for (int k = 0; k < local_steps; ++k) {
      m_linear->smooth_chosen(m_u, m_v, f, y, k == 0);
      move_to(1.0);
      for (const int local : m_ranks.locals())
        ssa::residual(patch(local), m_u[at(local)], m_v[at(local)], f[at(local)].data());
    }
    m_report.seconds_linear += system.seconds();
    m_report.local_solves += 1;
    visit_chosen(false);
    compute_residuals();
    const double after2 = sums([](const Lists& l, const List&) {
      const double* g = l.g.data();
      return DotProducts<double, 3>{{{g, g}, {g, g}, {g, g}}};
    })[0];
    const bool smaller = after2 < residual2;
    visit_chosen(true);
    if (smaller) {
      for (const int local : m_ranks.locals()) take(local, 1.0);
    } else {
      move_to(0.0);
    }
    visit_chosen(false);
    if (!smaller) compute_residuals(); // as before the local solve
    swap_residuals();
    return smaller ? after2 : residual2;
  }
  void visit_chosen(bool alone) {
    for (const int local : m_ranks.locals()) m_assembly.patch(local).chosen.alone = alone;
  }

  // (u, v) = x - t y, with ghosts.
  void move_to(double t) {
    for (const int local : m_ranks.locals()) go(local, t);
    update_ghosts();
  }
  void update_ghosts() {
    const StepShare share(m_ranks, "SSA: ghosts");
    launch_ghosts(m_ranks, [this](std::size_t n) -> std::vector<Ghosted> {
      const SsaPatch& p = patch(static_cast<int>(n));
      if (!p.chosen.alone) return {m_u[n], m_v[n]};
      return {m_u[n], m_v[n], p.u_before, p.v_before};
    });
  }

  // At (u, v), whose ghosts are valid.
  void compute_residuals() {
    m_timer.reset();
    for (const int local : m_ranks.locals()) {
      ssa::residual(patch(local), m_u[at(local)], m_v[at(local)], m_lists[at(local)].g.data());
      m_ranks.work(local, visits_of_residual * patch(local).unknowns());
    }
  }

  void swap_residuals() {
    for (Lists& l : m_lists) std::swap(l.f, l.g);
  }

  // Three dot products in one reduction; pairs_of(lists, load) returns {{a, b}, ...}.
  template <class F> std::array<double, 3> sums(const F& pairs_of) {
    std::vector<std::vector<ReproducibleSum>> all;
    for (const int local : m_ranks.locals()) {
      const DotProducts<double, 3> products = pairs_of(m_lists[at(local)], patch(local).load);
      const auto three = sums_reproducibly<3>("ssa: sums", patch(local).unknowns(), products);
      all.emplace_back(three.of, three.of + 3);
    }
    {
      const StepShare share(m_ranks, "SSA: reductions");
      m_ranks.sum(all);
    }
    m_report.seconds_residual += m_timer.seconds();
    return {all[0][0].value(), all[0][1].value(), all[0][2].value()};
  }

public: // nvcc requires it for functions with loops
  /// (u, v) = x - t y in the owned unknowns.
  void go(int local, double t) {
    const auto u = m_u[at(local)], v = m_v[at(local)];
    const auto x = m_lists[at(local)].x, y = m_lists[at(local)].y;
    ssa::for_each_unknown(
        "ssa: trial", patch(local), KOKKOS_LAMBDA(int n, int j, int i) {
          u(j, i) = x(2 * n) - t * y(2 * n);
          v(j, i) = x(2 * n + 1) - t * y(2 * n + 1);
        });
  }
  /// x -= t y.
  void take(int local, double t) {
    const auto x = m_lists[at(local)].x, y = m_lists[at(local)].y;
    ssa::for_each_unknown(
        "ssa: step", patch(local), KOKKOS_LAMBDA(int n, int, int) {
          x(2 * n) -= t * y(2 * n);
          x(2 * n + 1) -= t * y(2 * n + 1);
        });
  }

private:
  Ranks& m_ranks;
  double m_dx, m_dy;
  SsaOptions m_options;
  SsaAssembly m_assembly;
  std::unique_ptr<SsaLinearSolver> m_linear;
  std::vector<Array2<double>> m_u, m_v;
  std::vector<Lists> m_lists;
  SsaReport m_report;
  Kokkos::Timer m_timer; // of a residual and its sums
};

} // namespace nunatak
