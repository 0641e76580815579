// The SSA against exact solutions (kernels/exact_ssa.hpp): maximum errors on a sequence of grids, each with its bound, the error
// of the peer's finite elements.
#include "kernels/exact_ssa.hpp"
#include "kernels/geometry.hpp"
#include "miniapp/ssa.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

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
  PetscPrintf(MPI_COMM_WORLD, "%s %d: error %.4f m/a (bound %.4f); %d steps, %d linear, residual %.1e -> %.1e of load, %.3f s\n",
              test, M, error, bound, r.steps, r.linear_iterations, r.initial_residual / r.load_norm,
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

// A steady shelf that calves: the front lies on cell faces, with the last column free of ice. Errors as in the peer's table: the
// maximum and the mean over the shelf.
void test_van_der_veen(int Mx, double bound_max, double bound_mean) {
  using exact::VanDerVeen;
  Problem p(Mx, 4, 500e3 / (Mx - 1), 500e3 / (Mx - 1), false, true);
  p.fill([&](int j, int i, int, int gi) {
    const double x = gi * p.dx;
    p.in.b(j, i) = -2000.0;
    p.in.hardness(j, i) = VanDerVeen::B;
    p.in.H(j, i) = gi == Mx - 1 ? 0.0 : VanDerVeen::H(x);
    p.in.h(j, i) = surface(p.in.b(j, i), p.in.H(j, i));
    p.in.mask(j, i) = cell_type(p.in.b(j, i), p.in.H(j, i));
    if (gi == 0) p.fix(j, i, VanDerVeen::u0, 0.0);
  });
  const SsaReport r = p.solve({});
  double sum = 0.0;
  const auto error = [&](int j, int i, int gi) { return gi == Mx - 1 ? 0.0 : std::abs(p.u(j, i) - VanDerVeen::u(gi * p.dx)); };
  p.fill([&](int j, int i, int, int gi) { sum += error(j, i, gi); });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double mean = year * sum / (4.0 * (Mx - 1)),
               max = year * p.maximum([&](int j, int i, int, int gi) { return error(j, i, gi); });
  note("van der Veen", Mx, max, bound_max, r);
  CHECK(max <= bound_max);
  CHECK(mean <= bound_mean);
  CHECK(p.maximum([&](int j, int i, int, int) { return p.v(j, i); }) * year < 1e-4);
}

void test_plug(int My, double bound) {
  using exact::PlugFlow;
  const int Mx = 5;
  Problem p(Mx, My, 2.0 * PlugFlow::L / (My - 1), 2.0 * PlugFlow::L / (My - 1), false, false);
  p.fill([&](int j, int i, int gj, int gi) {
    const double y = -PlugFlow::L + gj * p.dy;
    p.in.H(j, i) = PlugFlow::h0;
    p.in.b(j, i) = 1000.0 - PlugFlow::slope * gi * p.dx;
    p.in.h(j, i) = p.in.b(j, i) + PlugFlow::h0;
    p.in.hardness(j, i) = PlugFlow::B;
    if (gi == 0 || gi == Mx - 1 || gj == 0 || gj == My - 1) p.fix(j, i, PlugFlow::u(y), 0.0);
  });
  const SsaReport r = p.solve({});
  const double error =
      year * p.maximum([&](int j, int i, int gj, int) { return p.u(j, i) - PlugFlow::u(-PlugFlow::L + gj * p.dy); });
  note("plug", My, error, bound, r);
  CHECK(error <= bound);
}

void test_linear_drag(int Mx, double bound) {
  using exact::LinearDrag;
  Problem p(Mx, 4, 100e3 / (Mx - 1), 100e3 / (Mx - 1), false, true);
  p.fill([&](int j, int i, int, int gi) {
    p.in.H(j, i) = LinearDrag::H0;
    p.in.b(j, i) = 0.0;
    p.in.h(j, i) = LinearDrag::H0;
    p.in.tauc(j, i) = LinearDrag::tauc;
    p.in.hardness(j, i) = 2.0 * LinearDrag::nu0;
    if (gi == 0 || gi == Mx - 1) p.fix(j, i, LinearDrag::u(gi * p.dx), 0.0);
  });
  SsaOptions options;
  options.glen_n = 1.0, options.till_q = 1.0, options.till_u_threshold = LinearDrag::u_threshold;
  const SsaReport r = p.solve(options);
  const double error = year * p.maximum([&](int j, int i, int, int gi) { return p.u(j, i) - LinearDrag::u(gi * p.dx); });
  note("linear drag", Mx, error, bound, r);
  CHECK(error <= bound);
}

/// A small marine ice sheet with a shelf, an ice rise, an iceberg, bare rock and a one-cell-wide tongue. `flip`: bit 0 mirrors x,
/// bit 1 mirrors y, bit 2 exchanges x and y.
Problem little_antarctica(int flip, double tolerance) {
  const int M = 24;
  Problem p(M, M, 20e3, 20e3, false, false);
  p.fill([&](int j, int i, int gj, int gi) {
    int a = (flip & 1) != 0 ? M - 1 - gi : gi, c = (flip & 2) != 0 ? M - 1 - gj : gj;
    if ((flip & 4) != 0) std::swap(a, c);
    const double x = a - 10.0, y = c - 11.3, r = std::sqrt(x * x + 1.2 * y * y);
    double b = 300.0 - 90.0 * r + 40.0 * std::sin(0.9 * a), H = r < 9.0 ? 1800.0 - 150.0 * r : 0.0;
    if (a == 14 && c == 14) b = -60.0;                        // an ice rise
    if (a == 9 && c == 12) b = 2900.0, H = 0.0;               // a nunatak
    if (c == 11 && a >= 19 && a <= 21) H = 250.0, b = -900.0; // a tongue
    if ((a == 1 || a == 2) && c == 22) H = 200.0, b = -900.0; // an iceberg
    p.in.b(j, i) = b, p.in.H(j, i) = H;
    p.in.h(j, i) = surface(b, H);
    p.in.mask(j, i) = cell_type(b, H);
    p.in.tauc(j, i) = 0.3 * rho_ice * gravity * H * 0.15;
    p.in.hardness(j, i) = 2.0e8;
  });
  SsaOptions options;
  options.tolerance = tolerance;
  p.solve(options);
  return p;
}

/// The whole field on every rank, in raster order.
std::vector<double> gather(Problem& p, const Array2<double>& f) {
  std::vector<double> all(static_cast<std::size_t>(p.patch.Mx) * static_cast<std::size_t>(p.patch.My), 0.0);
  p.fill([&](int j, int i, int, int) { all[static_cast<std::size_t>(p.patch.cell(j, i))] = f(j, i); });
  MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
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

TEST_CASE("van der Veen's shelf: a calving front") {
  test_van_der_veen(201, 0.205, 0.200); // second order: the front adds no error of first order
  test_van_der_veen(401, 0.0525, 0.0515);
  test_van_der_veen(801, 0.0137, 0.0135);
}

TEST_CASE("plug flow between walls") {
  test_plug(61, 0.051);
  test_plug(121, 0.0127);
  test_plug(241, 0.0031);
}

TEST_CASE("linear drag") {
  test_linear_drag(61, 0.421);
  test_linear_drag(121, 0.105);
  test_linear_drag(241, 0.0263);
}

TEST_CASE("mirrored and transposed ice sheets have mirrored and transposed velocities") {
  Problem p = little_antarctica(0, 1e-10);
  CHECK(p.report.excluded_cells == 2);
  CHECK(p.report.final_residual <= 1e-10 * p.report.load_norm);
  const std::vector<double> u0 = gather(p, p.u), v0 = gather(p, p.v);
  const double speed = year * *std::max_element(u0.begin(), u0.end());
  CHECK(speed > 20.0);
  for (int flip = 1; flip < 8; ++flip) {
    Problem q = little_antarctica(flip, 1e-10);
    const int M = q.patch.Mx;
    const double difference = year * q.maximum([&](int j, int i, int gj, int gi) {
      int a = (flip & 1) != 0 ? M - 1 - gi : gi, c = (flip & 2) != 0 ? M - 1 - gj : gj;
      double u = (flip & 1) != 0 ? -q.u(j, i) : q.u(j, i), v = (flip & 2) != 0 ? -q.v(j, i) : q.v(j, i);
      if ((flip & 4) != 0) std::swap(a, c), std::swap(u, v);
      const auto n = static_cast<std::size_t>(c * M + a);
      return std::max(std::abs(u - u0[n]), std::abs(v - v0[n]));
    });
    CHECK(difference < 1e-6 * speed);
  }
}

TEST_CASE("the velocity does not depend on the number of ranks") {
  Problem p = little_antarctica(0, 1e-10);
  const std::vector<double> u = gather(p, p.u), v = gather(p, p.v);
  double sum = 0.0, sum2 = 0.0;
  for (std::size_t n = 0; n < u.size(); ++n) sum += year * (u[n] - 0.5 * v[n]), sum2 += year * year * (u[n] * u[n] + v[n] * v[n]);
  CHECK(std::abs(sum - 98.0754236775) < 1e-5); // recorded on one rank
  CHECK(std::abs(sum2 - 6195.27448727) < 1e-3);
}

TEST_CASE("ice of constant thickness on a flat bed does not move") {
  Problem p(8, 8, 1e4, 1e4, true, true);
  p.fill([&](int j, int i, int, int) {
    p.in.H(j, i) = 1000.0, p.in.h(j, i) = 1100.0, p.in.b(j, i) = 100.0, p.in.tauc(j, i) = 1e4, p.in.hardness(j, i) = 2e8;
  });
  p.solve({});
  CHECK(p.maximum([&](int j, int i, int, int) { return std::abs(p.u(j, i)) + std::abs(p.v(j, i)); }) == 0.0);
}

TEST_CASE("no ice, no unknowns") {
  Problem p(8, 8, 1e4, 1e4, false, false);
  Kokkos::deep_copy(p.in.mask, static_cast<int>(ice_free_ocean));
  CHECK(p.solve({}).unknown_cells == 0);
}

TEST_CASE("a solve that does not converge says where it stopped") {
  Problem p(61, 4, 1e4, 1e4, false, true);
  p.fill([&](int j, int i, int, int gi) {
    p.in.H(j, i) = 2000.0 - 10.0 * gi, p.in.h(j, i) = p.in.H(j, i), p.in.tauc(j, i) = 5e4, p.in.hardness(j, i) = 2e8;
  });
  SsaOptions options;
  options.max_steps = 3;
  options.tolerance = 1e-12;
  CHECK_THROWS_WITH(p.solve(options), Catch::Matchers::ContainsSubstring("DIVERGED_MAX_IT after 3 steps"));
}
