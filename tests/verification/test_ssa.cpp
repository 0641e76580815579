// The SSA against exact solutions (kernels/exact_ssa.hpp): maximum errors on a sequence of grids, each with its bound, the error
// of the peer's finite elements.
#include "kernels/exact_ssa.hpp"
#include "kernels/geometry.hpp"
#include "miniapp/ssa.hpp"

#include <catch2/catch_test_macros.hpp>

#include <petscsys.h>

#include <algorithm>
#include <cmath>

using namespace nunatak;

namespace {

constexpr double year = seconds_per_year;

/// One SSA problem on an Mx x My grid, filled by functions of the cell centre.
struct Problem {
  Problem(int Mx, int My, double spacing_x, double spacing_y, bool periodic_x, bool periodic_y)
      : dx(spacing_x), dy(spacing_y), ranks(MPI_COMM_WORLD, decomposition(Mx, My, periodic_x, periodic_y)), patch(ranks.patch()) {
    in = {array("thk"),
          array("usurf"),
          array("topg"),
          array("tauc"),
          array("hardav"),
          make_array<int>("mask", patch),
          make_array<int>("fixed", patch),
          array("u_fixed"),
          array("v_fixed")};
    u = array("u"), v = array("v");
    Kokkos::deep_copy(in.mask, static_cast<int>(grounded_ice));
  }

  static Decomposition decomposition(int Mx, int My, bool periodic_x, bool periodic_y) {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Decomposition d = Decomposition::make(Mx, My, size);
    d.periodic_x = periodic_x, d.periodic_y = periodic_y;
    return d;
  }
  Array2<double> array(const char* name) const { return make_array<double>(name, patch); }

  /// f(j, i, gj, gi): view and global indices of each owned cell.
  template <class F> void fill(const F& f) {
    for (int j = 1; j <= patch.ym; ++j) {
      for (int i = 1; i <= patch.xm; ++i) f(j, i, patch.global_j(j), patch.global_i(i));
    }
  }
  void fix(int j, int i, double u_exact, double v_exact) {
    in.fixed(j, i) = 1, in.u_fixed(j, i) = u_exact, in.v_fixed(j, i) = v_exact;
  }
  SsaReport solve(const SsaOptions& options) {
    ranks.update_ghosts({in.H, in.h, in.b, in.tauc, in.hardness, in.mask, in.fixed, in.u_fixed, in.v_fixed});
    Ssa ssa(ranks, dx, dy, options);
    report = ssa.solve(in, u, v);
    return report;
  }
  /// Maximum of |f(j, i, gj, gi)| over all cells.
  template <class F> double maximum(const F& f) {
    double m = 0.0;
    fill([&](int j, int i, int gj, int gi) { m = std::max(m, std::abs(f(j, i, gj, gi))); });
    MPI_Allreduce(MPI_IN_PLACE, &m, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return m;
  }

  double dx, dy;
  MpiRanks ranks;
  Patch patch;
  SsaInput in;
  Array2<double> u, v;
  SsaReport report;
};

void note(const char* test, int M, double error, double bound, const SsaReport& r) {
  PetscPrintf(MPI_COMM_WORLD,
              "%s %d: error %.4f m/a (bound %.4f); %d Picard, %d Newton, %d linear, residual %.1e -> %.1e of load, %.3f s\n",
              test, M, error, bound, r.picard_steps, r.newton_steps, r.linear_iterations, r.initial_residual / r.load_norm,
              r.final_residual / r.load_norm, r.seconds_total);
}

void test_I(int My, double bound) {
  using exact::TestI;
  const double Lx = 60e3, Ly = 120e3;
  const int Mx = 5;
  Problem p(Mx, My, 2.0 * Lx / (Mx - 1), 2.0 * Ly / (My - 1), false, false);
  p.fill([&](int j, int i, int gj, int gi) {
    const double x = -Lx + gi * p.dx, y = -Ly + gj * p.dy;
    p.in.H(j, i) = TestI::h0;
    p.in.b(j, i) = 1000.0 - TestI::slope * x;
    p.in.h(j, i) = p.in.b(j, i) + TestI::h0;
    p.in.tauc(j, i) = TestI::tauc(y);
    p.in.hardness(j, i) = TestI::B;
    if (gi == 0 || gi == Mx - 1 || gj == 0 || gj == My - 1) p.fix(j, i, TestI::u(y), 0.0);
  });
  SsaOptions options;
  options.till_q = 0.0;
  const SsaReport r = p.solve(options);
  const double error = year * p.maximum([&](int j, int i, int gj, int) { return p.u(j, i) - TestI::u(-Ly + gj * p.dy); });
  note("I", My, error, bound, r);
  CHECK(error <= bound);
}

void test_J(int M, double bound) {
  using exact::TestJ;
  Problem p(M, M, 2.0 * TestJ::L / M, 2.0 * TestJ::L / M, true, true);
  Kokkos::deep_copy(p.in.mask, static_cast<int>(floating_ice));
  const auto coordinate = [&](int g) { return -TestJ::L + g * p.dx; };
  p.fill([&](int j, int i, int gj, int gi) {
    p.in.H(j, i) = TestJ::H(coordinate(gi), coordinate(gj));
    p.in.h(j, i) = floating_surface(p.in.H(j, i));
    p.in.b(j, i) = -2000.0;
    p.in.hardness(j, i) = 2.0 * TestJ::nu0 * TestJ::H0 / p.in.H(j, i);
    if (gi == 0 && gj == 0) {
      double u = 0.0, v = 0.0;
      TestJ::velocity(coordinate(gi), coordinate(gj), u, v);
      p.fix(j, i, u, v);
    }
  });
  SsaOptions options;
  options.glen_n = 1.0;
  const SsaReport r = p.solve(options);
  const double error = year * p.maximum([&](int j, int i, int gj, int gi) {
    double u = 0.0, v = 0.0;
    TestJ::velocity(coordinate(gi), coordinate(gj), u, v);
    return std::max(std::abs(p.u(j, i) - u), std::abs(p.v(j, i) - v));
  });
  note("J", M, error, bound, r);
  CHECK(error <= bound);
}

} // namespace

TEST_CASE("test I: an ice stream over till that strengthens to both sides") {
  test_I(61, 5.2);
  test_I(121, 1.49);
  test_I(241, 0.36);
}

TEST_CASE("test J: a periodic shelf") {
  test_J(61, 0.1608);
  test_J(121, 0.0409);
}
