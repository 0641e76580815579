// Test N with the full stress balance: a marine ice sheet on a flat bed that slides over linear
// drag and calves at both ends, with the thickness, velocity and balance of TestN (exact_sia.hpp);
// and the same sheet with a shelf in place of its front. First its velocity on the exact geometry,
// then its thickness, which the transport of the hybrid model must keep: carried for 1000 years by
// that velocity, and for 100 years with the stress balance solved in every step. No shearing: q_SIA
// = 0. Bueler (2014), J. Glaciol. 60(223), 1117-1125, sections 2 to 4; Bodvardsson (1955); van der
// Veen (1983) for the shelf. Neighbours: test_ssa_shelf.cpp, tests/kernels/test_transport.cpp.
//
//              ______-------______               x = 0: the divide, u = 0
//          ---      H(x), u(x)     ---           x = +-x_c: the front of MarineSheet, just afloat
//   ~~~____                           ____~~~ 0  b = -rho/rho_w H(x_c)
//      ----|                         |----
//   _______|_________________________|_______ b  beyond x_c: the shelf of MarineSheetAndShelf
//
// Drag balances the whole driving stress, beta u = -rho g H h_x with beta = k rho g H. So the
// membrane stress T = 2 B H |u_x|^(1/n) is uniform, equal to that of a shelf of thickness H(x_c),
// and so is u_x: this gives the hardness B(x).
#include "kernels/cases/exact_sia.hpp"
#include "kernels/ice/time_step.hpp"
#include "kernels/step/mass_transport.hpp"
#include "ssa_problem.hpp"
#include "table.hpp"

#include <catch2/catch_test_macros.hpp>

namespace nunatak::exact {

struct MarineSheet : TestN {
  double b() const { return -rho_ice / rho_water * H(front()); }
  double stretching() const { return 2.0 * H0 / (k() * L0 * L0); }
  /// Vertically integrated membrane stress, N m-1: rho g (1 - rho/rho_w) H^2/2 at the front.
  double T() const {
    return 0.5 * rho_ice * gravity * (1.0 - rho_ice / rho_water) * H(front()) * H(front());
  }
  /// B, Pa s^(1/3).
  double hardness(double x) const { return T() / (2.0 * H(x) * std::cbrt(stretching())); }
  /// The yield stress (Pa) whose linear drag is beta(x) u, for this arbitrary threshold speed.
  static constexpr double u_threshold = 100.0 / seconds_per_year;
  double tauc(double x) const { return u_threshold * drag(x); }
};

/// The sheet, and a shelf from its grounding line x_g = x_c on: u H and B are constant, H^-4 grows
/// linearly. H, u, u_x and T are continuous; drag, balance and the slope of H jump. x may be
/// negative.
struct MarineSheetAndShelf {
  MarineSheet sheet;

  double grounding_line() const { return sheet.front(); }
  bool floats(double x) const { return std::abs(x) > grounding_line(); }
  double H(double x) const {
    if (!floats(x)) return sheet.H(x);
    const double H_g = sheet.H(grounding_line());
    const double C = sheet.stretching() / (H_g * H_g * H_g);
    const double Q = sheet.u(grounding_line()) * H_g;
    return std::pow(4.0 * C * (std::abs(x) - grounding_line()) / Q + std::pow(H_g, -4.0), -0.25);
  }
  double u(double x) const {
    if (!floats(x)) return sheet.u(x);
    return std::copysign(sheet.u(grounding_line()) * sheet.H(grounding_line()) / H(x), x);
  }
  double hardness(double x) const { return sheet.hardness(floats(x) ? grounding_line() : x); }
  double tauc(double x) const { return floats(x) ? 0.0 : sheet.tauc(x); }
};

} // namespace nunatak::exact

using namespace nunatak;

namespace {

const exact::MarineSheet N;

/// The sheet in M cells from front to front, and a cell of ocean at either end; 4 across, periodic.
struct Sheet {
  explicit Sheet(int M)
      : dx(2.0 * N.front() / M),
        p(M + 2, 4, dx, dx, false, true), states{State(p.patch)}, forcings{Forcing(p.patch)},
        transport(p.ranks, dx, dx), flows{Flow(p.patch, 2)}, melt(p.array("melt")) {
    State& state = states[0];
    p.fill([&](int j, int i, int, int gi) {
      p.set(j, i, N.b(), ocean(gi) ? 0.0 : N.H(x(gi)));
      if (ocean(gi)) return;
      p.in.tauc(j, i) = N.tauc(x(gi));
      p.in.hardness(j, i) = N.hardness(x(gi));
      forcings[0].climatic_mass_balance(j, i) = rho_ice * N.M(x(gi));
    });
    p.ranks.update_ghosts({p.in.H, p.in.b, p.in.h, p.in.mask});
    state.thk = p.in.H, state.topg = p.in.b, state.usurf = p.in.h, state.mask = p.in.mask;
    update_edges(p.patch, state.usurf, state.mask, state.edges);
    state.u_ssa = p.u, state.v_ssa = p.v;
  }
  bool ocean(int gi) const { return gi == 0 || gi == p.patch.Mx - 1; }
  double x(int gi) const { return (gi - 0.5 * (p.patch.Mx - 1)) * dx; }

  void solve(double tolerance) {
    SsaOptions options;
    options.till_q = 1.0, options.till_u_threshold = N.u_threshold;
    options.tolerance = tolerance;
    p.in.H = states[0].thk; // the step exchanges arrays
    p.solve(options);
  }
  /// `years` of transport in steps of at most dt_max years; if `coupled` each with a new velocity.
  void run(double years, double dt_max, bool coupled) {
    double t = 0.0;
    while (t < years * year) {
      if (coupled) solve(1e-6);
      std::vector<std::vector<double>> rate{
          {advection_rate(p.patch, dx, dx, states[0].mask, p.u, p.v, p.u, p.v)}};
      max_over_ranks(p.ranks, rate);
      const double dt =
          std::min(time_step(dx, dx, 0.0, rate[0][0], dt_max * year).dt, years * year - t);
      transport.step(states, flows, forcings, {melt}, dt);
      t += dt;
    }
  }
  double speed_error(int j, int i, int gi) const {
    return ocean(gi) ? 0.0 : p.u(j, i) - N.u(x(gi));
  }
  double thickness_error(int j, int i, int gi) const {
    return ocean(gi) ? 0.0 : states[0].thk(j, i) - N.H(x(gi));
  }
  double mean_thickness_error() const {
    return p.sum([&](int j, int i, int, int gi) { return thickness_error(j, i, gi); }) /
           (4.0 * (p.patch.Mx - 2));
  }

  double dx;
  SsaProblem p;
  std::vector<State> states;
  std::vector<Forcing> forcings;
  MassTransport transport;
  std::vector<Flow> flows;
  Array2<double> melt;
};

} // namespace

TEST_CASE("test N: the velocity of a marine ice sheet") {
  Table table("SSA, test N (Bueler 2014): a marine ice sheet on the exact geometry, n = 3",
              "max error of u, m/a");
  for (const auto& [M, bound] : grids<Row>({{61, 7.5}, {121, 2.4}, {241, 0.67}, {481, 0.18}})) {
    Sheet sheet(M);
    sheet.solve(1e-8);
    const double error =
        sheet.p.maximum([&](int j, int i, int, int gi) { return sheet.speed_error(j, i, gi); });
    table.add(M, sheet.dx / 1e3, year * error, bound);
    CHECK(year * sheet.p.maximum([&](int j, int i, int, int) { return sheet.p.v(j, i); }) < 1e-6);
  }
  table.check(mpi_rank(), 1.65);
}

TEST_CASE("test N: its thickness after 1000 years") {
  // Upwind fluxes add the diffusion |u| dx/2. With u = s x and H_x = -2 H0 x/L0^2 the error of H is
  // e = x f(t),
  //   f' + 2 s f = -2 s dx H0/L0^2,  so that  |e| = dx H0/L0^2 (1 - exp(-2 s t)) |x| + higher
  //   orders: its mean is the bound.
  Table table("Transport, test N: 1000 years with the velocity of the first solve",
              "mean error of H, m");
  for (const int M : grids<int>({61, 121, 241, 481})) {
    Sheet sheet(M);
    sheet.solve(1e-8);
    sheet.run(1000.0, 1e9, false);
    const double predicted = sheet.dx * N.H0 / (N.L0 * N.L0) *
                             (1.0 - std::exp(-2.0 * N.u(1.0) * 1000.0 * year)) * N.front() / 2.0;
    const double error = sheet.mean_thickness_error();
    table.add(M, sheet.dx / 1e3, error, predicted);
    CHECK(error > 0.95 * predicted);
  }
  table.check(mpi_rank(), 0.9);
}

TEST_CASE("test N: thickness and velocity together") {
  struct Bounds {
    int M;
    double thickness, speed;
  };
  Table thickness("Hybrid step, test N: 100 years, the stress balance solved in every step",
                  "mean error of H, m"),
      speed("Hybrid step, test N: 100 years, the stress balance solved in every step",
            "max error of u, m/a");
  for (const auto& [M, bound_H, bound_u] :
       grids<Bounds>({{31, 9.5, 28.5}, {61, 5.5, 15.8}, {121, 3.0, 8.6}})) {
    Sheet sheet(M);
    sheet.run(100.0, 0.5, true);
    thickness.add(M, sheet.dx / 1e3, sheet.mean_thickness_error(), bound_H);
    const double error =
        sheet.p.maximum([&](int j, int i, int, int gi) { return sheet.speed_error(j, i, gi); });
    speed.add(M, sheet.dx / 1e3, year * error, bound_u);
  }
  thickness.check(mpi_rank(), 0.8);
  speed.check(mpi_rank(), 0.75);
}

TEST_CASE("a marine ice sheet with a shelf: the velocity across a grounding line") {
  // The grounding line is where it falls between the points. There drag and driving stress, which
  // balance each other, jump from 5.5e4 Pa to 0 and to 7e2 Pa: both must end at one place.
  const exact::MarineSheetAndShelf exact;
  const double front = exact.grounding_line() + 100e3;
  Table table("SSA, marine ice sheet with a shelf (Bueler 2014), n = 3", "max error of u, m/a"),
      mean("SSA, marine ice sheet with a shelf (Bueler 2014), n = 3", "mean error of u, m/a");
  for (const auto& [points, bound] :
       grids<Row>({{61, 13.5}, {121, 5.1}, {241, 1.55}, {481, 0.42}})) {
    const int M = points; // lambdas of C++17 hold no name of a structured binding
    const double dx = 2.0 * front / M;
    SsaProblem p(M + 2, 4, dx, dx, false, true);
    const auto x = [&](int gi) { return (gi - 0.5 * (M + 1)) * dx; };
    const auto ocean = [&](int gi) { return gi == 0 || gi == M + 1; };
    p.fill([&](int j, int i, int, int gi) {
      p.set(j, i, exact.sheet.b(), ocean(gi) ? 0.0 : exact.H(x(gi)));
      p.in.tauc(j, i) = exact.sheet.tauc(std::min(std::abs(x(gi)), exact.grounding_line()));
      p.in.hardness(j, i) = exact.hardness(x(gi));
    });
    SsaOptions options;
    options.till_q = 1.0, options.till_u_threshold = exact.sheet.u_threshold;
    options.tolerance = 1e-8;
    p.solve(options);
    const auto error = [&](int j, int i, int, int gi) {
      return ocean(gi) ? 0.0 : p.u(j, i) - exact.u(x(gi));
    };
    table.add(M, dx / 1e3, year * p.maximum(error), bound);
    mean.add(M, dx / 1e3, year * p.sum(error) / (4.0 * M), 0.25 * bound);
  }
  table.check(mpi_rank(), 1.4);
  mean.check(mpi_rank(), 1.4);
}
