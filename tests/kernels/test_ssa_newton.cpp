// The nonlinear solver of the SSA on virtual ranks: bits, residual, reductions, and what it says
// when it fails. Its velocities and PETSc's: tests/verification, tests/program/run/test_runs.py.
#include "errors.hpp"
#include "global_grid.hpp"
#include "kernels/cases/noise.hpp"
#include "kernels/ssa/newton.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;

namespace {

constexpr int Mx = 37, My = 29;
constexpr double dx = 10e3, dy = 10e3;

/// An ice sheet with shelves, a ragged margin, a fixed cell and an iceberg.
class Sheet {
public:
  explicit Sheet(const Decomposition& d) : ranks(d) {
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      SsaInput in = make_ssa_input(p);
      u.push_back(make_array<double>("u", p)), v.push_back(make_array<double>("v", p));
      for (const auto& [j, i] : cells_of(p)) set(in, j, i, p.global_j(j), p.global_i(i));
      inputs.push_back(in);
    }
    std::vector<std::vector<Ghosted>> all;
    for (const SsaInput& in : inputs)
      all.push_back(
          {in.H, in.h, in.b, in.tauc, in.hardness, in.mask, in.fixed, in.u_fixed, in.v_fixed});
    ranks.update_ghosts(all);
  }

  SsaReport solve(const SsaOptions& options) {
    return SsaNewton(ranks, dx, dy, options).solve(inputs, u, v);
  }

  /// The velocities of all ranks in raster order: u, then v.
  std::vector<double> velocity() const {
    std::vector<double> all = gather(ranks, u).values, of_v = gather(ranks, v).values;
    all.insert(all.end(), of_v.begin(), of_v.end());
    return all;
  }

  VirtualRanks ranks;
  std::vector<SsaInput> inputs;
  std::vector<Array2<double>> u, v;

private:
  static void set(const SsaInput& in, int j, int i, int gj, int gi) {
    const double x = (gi - 0.5 * Mx) * dx, y = (gj - 0.5 * My) * dy,
                 r2 = (x * x + y * y) / (140e3 * 140e3);
    const double shape = 1.0 - r2 + 0.3 * noise(2, x, y, 60e3);
    const bool iceberg = gj == 1 && gi == Mx - 2;
    in.b(j, i) = 300.0 - 1100.0 * r2 + 200.0 * rough_noise(1, x, y, 50e3);
    in.H(j, i) = iceberg ? 200.0 : shape > 0.0 ? 200.0 + 1200.0 * Kokkos::sqrt(shape) : 0.0;
    if (iceberg) in.b(j, i) = -3000.0;
    in.h(j, i) = surface(in.b(j, i), in.H(j, i));
    in.mask(j, i) = cell_type(in.b(j, i), in.H(j, i));
    in.tauc(j, i) = 4e4 * (1.0 + 0.8 * noise(3, x, y, 40e3));
    in.hardness(j, i) = 1.9e8 * (1.0 + 0.3 * noise(4, x, y, 80e3));
    if (gj == My / 2 && gi == Mx / 2) in.fixed(j, i) = 1, in.u_fixed(j, i) = 1e-6;
  }
};

Decomposition cut(int px, int py) { return Decomposition::make(Mx, My, px, py); }

/// |residual| / |load| of a velocity, computed anew.
double relative_residual(Sheet& sheet, const SsaOptions& options) {
  SsaOptions none = options;
  none.max_steps = 0, none.tolerance = 1e9;
  const SsaReport report = sheet.solve(none);
  return report.final_residual / report.load_norm;
}

} // namespace

TEST_CASE("A solve of the SSA has the same bits on every cut of the grid") {
  for (const bool single : {true, false}) {
    for (const int gather :
         {3000, 100}) { // one rank has all levels; the finest ones smoothed on their ranks
      SsaOptions options;
      options.single_precision = single;
      options.multigrid.gather = gather;
      Sheet one(cut(1, 1));
      const SsaReport report = one.solve(options);
      CHECK(report.unknown_cells > 300);
      CHECK(report.excluded_cells == 1);
      CHECK(report.reason == "CONVERGED_FNORM_ABS");
      CHECK(report.steps <= 15);
      CHECK(relative_residual(one, options) <= options.tolerance);
      for (const auto& [px, py] : {std::pair(2, 1), std::pair(3, 4), std::pair(12, 9)}) {
        Sheet many(cut(px, py));
        const SsaReport other = many.solve(options);
        INFO(px << " x " << py << " ranks, single " << single << ", gather below " << gather);
        CHECK(many.velocity() == one.velocity());
        CHECK(other.linear_iterations == report.linear_iterations);
        CHECK(other.final_residual == report.final_residual);
      }
    }
  }
}

TEST_CASE("Every preconditioner gives the solution, with the same bits on every cut") {
  int of_multigrid = 0;
  for (const auto& row : preconditioners<float>()) {
    for (const bool single : {true, false}) {
      SsaOptions options;
      options.preconditioner = row.name;
      options.single_precision = single;
      INFO(row.name << ", single " << single);
      Sheet one(cut(1, 1)), many(cut(3, 4));
      const SsaReport report = one.solve(options), other = many.solve(options);
      CHECK(relative_residual(one, options) <= options.tolerance);
      CHECK(many.velocity() == one.velocity());
      CHECK(other.linear_iterations == report.linear_iterations);
      if (row.name == "multigrid") of_multigrid = report.linear_iterations;
      if (row.name == "chebyshev") CHECK(report.linear_iterations > of_multigrid);
    }
  }
  SsaOptions options;
  options.preconditioner = "magic";
  Sheet sheet(cut(1, 1));
  CHECK_THROWS_WITH(sheet.solve(options),
                    Catch::Matchers::ContainsSubstring("expected one of multigrid, chebyshev"));
}

TEST_CASE("Single and double precision give the same velocity within the tolerance") {
  SsaOptions options;
  options.tolerance = 1e-9;
  Sheet one(cut(1, 1)), two(cut(1, 1));
  one.solve(options);
  options.single_precision = false;
  two.solve(options);
  const auto a = one.velocity(), b = two.velocity();
  double most = 0.0, differs = 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    most = larger_error(most, a[n]);
    differs = larger_error(differs, a[n] - b[n]);
  }
  CHECK(most * seconds_per_year > 50.0);
  CHECK(differs <= 1e-6 * most);
}

TEST_CASE("Collectives: one per linear iteration, two per step and one more where cells are few") {
  for (const auto& [px, py] : {std::pair(2, 2), std::pair(12, 9)}) {
    for (const int gather : {3000, 100, 0}) {
      SsaOptions options;
      options.multigrid.gather = gather;
      Sheet sheet(cut(px, py));
      sheet.solve(options);
      sheet.u[px == 2 ? 3 : 54](2, 2) += 1e-6; // near the centre: a residual in few cells
      const SsaReport report = sheet.solve(options);
      const SsaReport again = sheet.solve(options); // from the solution: nothing but the setting up
      REQUIRE(report.damped_steps == 0);
      CHECK(again.steps == 0);
      CHECK(report.local_solves > 0);
      const int least = report.linear_iterations + 2 * report.steps + report.local_solves - 1;
      const int found = report.reductions - again.reductions; // no choice after convergence
      CHECK((found == least || found == least + 1));
    }
  }
}

TEST_CASE("A direction that ascends gets its full step") { CHECK(SlopeSearch(1.0).accept(2.0)); }

TEST_CASE("The search along a direction ends where the slope is half or less") {
  SlopeSearch search(-1.0);
  const auto slope = [](double t) { return 20.0 * t * t * t - 1.0; };
  int calls = 0;
  while (!search.accept(slope(search.t()))) REQUIRE(++calls < 12);
  CHECK(calls > 0);
  CHECK(std::fabs(slope(search.t())) <= 0.5);
}

TEST_CASE("A linear law needs its matrix once") {
  SsaOptions options;
  options.glen_n = 1.0, options.till_q = 1.0;
  Sheet sheet(cut(2, 2));
  for (const SsaInput& in : sheet.inputs) {
    for (const auto& [j, i] : points_of(static_cast<int>(in.hardness.extent(1)),
                                        static_cast<int>(in.hardness.extent(0))))
      in.hardness(j, i) *= 3e5; // Pa s
  }
  const SsaReport report = sheet.solve(options);
  CHECK(report.steps <= 3);
  CHECK(relative_residual(sheet, options) <= options.tolerance);
}

TEST_CASE("A solve that fails says where it stopped and keeps its last state") {
  using Catch::Matchers::ContainsSubstring;
  SsaOptions options;
  options.max_steps = 2;
  Sheet sheet(cut(3, 2));
  SsaNewton solver(sheet.ranks, dx, dy, options);
  CHECK_THROWS_WITH(solver.solve(sheet.inputs, sheet.u, sheet.v),
                    ContainsSubstring("DIVERGED_MAX_IT after 2 steps") &&
                        ContainsSubstring("expected |residual| <= 1e-06 |load|"));
  double most = 0.0;
  for (const double x : sheet.velocity()) most = std::fmax(most, std::fabs(x));
  CHECK(most > 0.0);
  const Patch p = sheet.ranks.patch(1); // near the centre, on one rank alone
  sheet.inputs[1].hardness(p.ym, 2) = std::nan("");
  CHECK_THROWS_WITH(solver.solve(sheet.inputs, sheet.u, sheet.v),
                    ContainsSubstring("DIVERGED_FNORM_NAN"));
}

TEST_CASE("Without ice there is nothing to solve") {
  Sheet sheet(cut(2, 2));
  for (const SsaInput& in : sheet.inputs)
    Kokkos::deep_copy(in.mask, static_cast<int>(ice_free_ocean));
  for (const auto* of_all : {&sheet.u, &sheet.v}) {
    for (const auto& w : *of_all) Kokkos::deep_copy(w, 1e-6);
  }
  const SsaReport report = sheet.solve({});
  CHECK(report.unknown_cells == 0);
  CHECK(report.steps == 0);
  for (const double x : sheet.velocity()) CHECK(x == 0.0);
}
