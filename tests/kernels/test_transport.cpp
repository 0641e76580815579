// Mass transport: positivity, fixed front, sources, edges, test N, and a budget that closes, on virtual ranks.
#include "kernels/exact_sia.hpp"
#include "kernels/time_step.hpp"
#include "kernels/transport.hpp"
#include "kernels/virtual_ranks.hpp"

#include <catch2/catch_test_macros.hpp>

#include <functional>

using namespace nunatak;

namespace {

struct Local {
  Array2<double> b, H, H_new, h, u, v, none, q_x, q_y, f, M, m;
  Array2<int> mask;
};

/// What a cell holds, from its global indices.
struct Cell {
  double b = 1.0, H = 0.0, u = 0.0, v = 0.0, M = 0.0, m = 0.0;
};

/// Ice that only slides with a given velocity.
struct Slab {
  VirtualRanks ranks;
  double dx, dy;
  std::vector<Local> local;
  MassBudget budget;

  Slab(Decomposition d, double dx_, double dy_, const std::function<Cell(int, int)>& at) : ranks(std::move(d)), dx(dx_), dy(dy_) {
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      Local s;
      for (auto* a : {&s.b, &s.H, &s.H_new, &s.h, &s.u, &s.v, &s.none, &s.q_x, &s.q_y, &s.f, &s.M, &s.m})
        *a = make_array<double>("a", p);
      s.mask = make_array<int>("mask", p);
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) {
          const Cell c = at(p.global_j(j), p.global_i(i));
          s.b(j, i) = c.b, s.H(j, i) = c.H, s.u(j, i) = c.u, s.v(j, i) = c.v, s.M(j, i) = c.M, s.m(j, i) = c.m;
        }
      }
      local.push_back(s);
    }
  }

  MassBudget step(double dt) {
    std::vector<std::vector<Ghosted>> state, factor;
    for (Local& s : local) state.push_back({s.b, s.H, s.u, s.v}), factor.push_back({s.f});
    ranks.update_ghosts(state);
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Local& s = local[r];
      const Patch p = ranks.patch(r);
      update_geometry(p, s.b, s.H, s.h, s.mask);
      total_flux(p, s.h, s.H, s.mask, s.u, s.v, s.none, s.none, s.q_x, s.q_y);
      outflow_factor(p, dx, dy, dt, s.H, s.q_x, s.q_y, s.f);
    }
    ranks.update_ghosts(factor);
    std::vector<MassBudget> parts;
    for (int r = 0; r < ranks.local_size(); ++r) {
      Local& s = local[r];
      parts.push_back(update_thickness(ranks.patch(r), dx, dy, dt, s.H, s.mask, s.q_x, s.q_y, s.f, s.M, s.m, s.H_new));
      std::swap(s.H, s.H_new);
    }
    const MassBudget total = sum_over_ranks(ranks, parts);
    budget += total;
    return total;
  }

  double volume() {
    std::vector<FixedSum> parts;
    for (int r = 0; r < ranks.local_size(); ++r) parts.push_back(sum_thickness(ranks.patch(r), local[r].H));
    return sum_over_ranks(ranks, parts).value();
  }

  std::vector<double> thickness() const {
    const Decomposition& d = ranks.decomposition();
    std::vector<double> all(static_cast<std::size_t>(d.Mx) * d.My);
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) all[p.cell(j, i)] = local[r].H(j, i);
      }
    }
    return all;
  }
};

/// A row of cells, one rank.
Slab row(int M, const std::function<Cell(int)>& at) {
  return Slab(Decomposition::make(M, 1, 1, 1), 1.0, 1.0, [&](int, int i) { return at(i); });
}

const double sea = -1000.0; // a bed on which 100 m of ice float

} // namespace

TEST_CASE("upwind: ice moves by u dt/dx of the upwind cell") {
  Slab ice = row(4, [](int i) { return Cell{1.0, i == 1 ? 100.0 : 0.0, 0.25, 0.0, 0.0, 0.0}; });
  ice.step(1.0);
  CHECK(ice.thickness() == std::vector<double>{0.0, 75.0, 25.0, 0.0});
  ice.step(1.0); // the face between cells 2 and 3 has ice on its left only: its velocity is that of cell 2
  CHECK(ice.thickness() == std::vector<double>{0.0, 56.25, 37.5, 6.25});
}

TEST_CASE("a step far too long empties a cell and no more") {
  Slab ice(Decomposition::make(5, 5, 1, 1), 1.0, 1.0,
           [](int j, int i) { return Cell{1.0, i == 2 && j == 2 ? 100.0 : 0.0, 3.0, 1.0, 0.0, 0.0}; });
  const MassBudget b = ice.step(1.0); // 300 m and 100 m ask to leave
  const std::vector<double> H = ice.thickness();
  CHECK(H[12] == 0.0);
  CHECK(H[13] == 75.0);
  CHECK(H[17] == 25.0);
  CHECK(b.clipped.value() == 0.0);
  CHECK(ice.volume() == 100.0);
}

TEST_CASE("the front is fixed: ice that slides into the ocean has calved") {
  Slab ice = row(4, [](int i) { return Cell{sea, i < 2 ? 100.0 : 0.0, i < 2 ? 0.25 : -7.0, 0.0, 0.5, 0.0}; });
  const MassBudget b = ice.step(1.0); // cell 0 also receives 25 m through the edge of the domain
  CHECK(ice.thickness() == std::vector<double>{100.5, 100.5, 0.0, 0.0});
  CHECK(b.calved.value() == 25.0);
  CHECK(b.edge.value() == 25.0);
  CHECK(b.surface.value() == 1.0); // snow on the ocean does not count
}

TEST_CASE("sources take what is there; the rest is counted") {
  Slab ice = row(4, [](int i) {
    return i == 0   ? Cell{1.0, 10.0, 0.0, 0.0, -12.0, 99.0} // grounded: no basal melt, 2 m more asked for than there is
           : i == 1 ? Cell{1.0, 0.0, 0.0, 0.0, -1.0, 0.0}    // bare land: nothing to melt
           : i == 2 ? Cell{sea, 100.0, 0.0, 0.0, 1.0, 3.0}   // shelf
                    : Cell{1.0, 0.0, 0.0, 0.0, 4.0, 0.0};    // snow on bare land
  });
  const MassBudget b = ice.step(1.0);
  CHECK(ice.thickness() == std::vector<double>{0.0, 0.0, 98.0, 4.0});
  CHECK(b.surface.value() == -12.0 + 1.0 + 4.0);
  CHECK(b.basal.value() == 3.0);
  CHECK(b.clipped.value() == 2.0);
}

TEST_CASE("no ice slides up a wall of rock or from a shelf onto land") {
  Slab wall = row(2, [](int i) { return i == 0 ? Cell{1.0, 50.0, 0.5, 0.0, 0.0, 0.0} : Cell{60.0, 0.0, 0.0, 0.0, 0.0, 0.0}; });
  wall.step(1.0);
  CHECK(wall.thickness()[1] == 0.0);
  Slab beach = row(2, [](int i) { return i == 0 ? Cell{sea, 500.0, 0.5, 0.0, 0.0, 0.0} : Cell{1.0, 0.0, 0.0, 0.0, 0.0, 0.0}; });
  beach.step(1.0);
  CHECK(beach.thickness()[1] == 0.0);
}

TEST_CASE("periodic: nothing crosses an edge on balance") {
  Decomposition d = Decomposition::make(8, 6, 2, 3);
  d.periodic_x = d.periodic_y = true;
  Slab ice(d, 1.0, 1.0, [](int j, int i) { return Cell{1.0, 100.0 + 10.0 * ((3 * i + 5 * j) % 7), 0.3, -0.2, 0.0, 0.0}; });
  const double before = ice.volume();
  for (int n = 0; n < 20; ++n) ice.step(1.0);
  CHECK(std::abs(ice.volume() / before - 1.0) <= 1e-13);
  CHECK(std::abs(ice.budget.edge.value()) <= 1e-9);
}

TEST_CASE("a disorderly coast: the budget closes and the bits do not depend on the decomposition") {
  const auto at = [](int j, int i) {
    const unsigned n = (static_cast<unsigned>(j) * 7919u + static_cast<unsigned>(i) * 104729u) * 2654435761u;
    const auto random = [&](int k) { return static_cast<double>((n >> (4 * k)) % 1000u) / 1000.0; };
    const double speed = j == 0 || i == 0 || j == 18 || i == 22 ? 4e-5 : 4e-4; // m s-1; inside, cells empty in one step
    return Cell{-900.0 + 1000.0 * random(0), random(1) < 0.3 ? 0.0 : 1000.0 * random(2),
                speed * (random(3) - 0.5),   speed * (random(4) - 0.5),
                1e-6 * (random(5) - 0.6),    2e-6 * random(2)};
  };
  const auto run = [&](int px, int py) {
    Slab ice(Decomposition::make(23, 19, px, py), 500.0, 400.0, at);
    const double before = ice.volume();
    for (int n = 0; n < 30; ++n) ice.step(2e6);
    std::vector<double> result = ice.thickness();
    for (double H : result) REQUIRE(H >= 0.0);
    CHECK(std::abs(ice.volume() - before - ice.budget.change()) <= 1e-13 * before);
    for (const FixedSum& term : {ice.budget.surface, ice.budget.basal, ice.budget.calved, ice.budget.edge, ice.budget.clipped}) {
      CHECK(term.value() != 0.0);
      result.push_back(term.value());
    }
    return result;
  };
  const std::vector<double> one = run(1, 1);
  CHECK(one == run(2, 1));
  CHECK(one == run(3, 2));
  CHECK(one == run(4, 4));
  CHECK(one == run(23, 19));
}

TEST_CASE("test N: sliding and balance keep a marine flowline, to first order") {
  const exact::TestN N;
  double last = 1e9;
  for (const auto& [M, bound] : {std::pair{45, 34.93}, std::pair{90, 17.68}}) {
    // cell centres from the divide (the left edge, where u = 0) to beyond the front
    const double dx = N.front() / M;
    Slab ice(Decomposition::make(M + 2, 1, 3, 1), dx, dx, [&](int, int i) {
      const double x = (i + 0.5) * dx;
      return x < N.front() ? Cell{-1.0, N.H(x), N.u(x), 0.0, N.M(x), 0.0} : Cell{-4000.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    });
    const double before = ice.volume(), dt = seconds_per_year;
    for (int n = 0; n < 500; ++n) ice.step(dt);
    const std::vector<double> H = ice.thickness();
    double error = 0.0;
    for (int i = 0; i < M; ++i) error += std::abs(H[static_cast<std::size_t>(i)] - N.H((i + 0.5) * dx)) / M;
    CAPTURE(M, error);
    CHECK(error <= bound);
    CHECK(error < 0.6 * last);
    last = error;
    CHECK(std::abs(ice.volume() - before - ice.budget.change()) <= 1e-13 * before);
    CHECK(ice.budget.calved.value() > 0.0);
  }
}

TEST_CASE("time step: the tightest limit, named") {
  CHECK(time_step(1e3, 1e3, 0.0, 0.0, 7.0).dt == 7.0);
  CHECK(time_step(1e3, 1e3, 0.0, 0.0, 7.0).limit == StepLimit::dt_max);
  CHECK(time_step(1e3, 2e3, 10.0, 0.0, 1e9).dt == 0.24 / (10.0 * (1e-6 + 0.25e-6)));
  CHECK(time_step(1e3, 2e3, 10.0, 0.0, 1e9).limit == StepLimit::diffusion);
  CHECK(time_step(1e3, 1e3, 1e-3, 0.5, 1e9).dt == 2.0);
  CHECK(time_step(1e3, 1e3, 1e-3, 0.5, 1e9).limit == StepLimit::advection);
  VirtualRanks ranks(Decomposition::make(4, 4, 2, 2));
  std::vector<std::vector<double>> values{{0.0, 1.5}, {-0.0, 1.25}, {3e-300, 0.0}, {0.0, 1.0}};
  max_over_ranks(ranks, values);
  CHECK(values[1] == std::vector<double>{3e-300, 1.5});
}
