// The discrete SSA on virtual ranks: load, residual and rows of the Jacobian have the same bits for
// every cut of the grid; the matrix is symmetric positive definite and the derivative of the
// residual; the drag at a grounding line. One element: test_ssa_q1.cpp.
#include "errors.hpp"
#include "kernels/ssa/assembly.hpp"
#include "multigrid_case.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

constexpr int Mx = 19, My = 14;
constexpr double dx = 8000.0, dy = 9000.0;
const GlenLaw glen{3.0, 1e-27};
const TillLaw till{0.25, 1e-19, 3e-6};

/// Grounded ice and shelves with a ragged margin, two fixed cells, two icebergs of which a third
/// one that is fixed is none, rock above the ice around it, and a velocity. Each value depends on
/// the cell alone.
struct Case {
  Grid<double> H{Mx, My}, h{Mx, My}, b{Mx, My}, tauc{Mx, My}, hardness{Mx, My}, u{Mx, My},
      v{Mx, My}, zero{Mx, My};
  Grid<int> mask{Mx, My}, fixed{Mx, My};

  Case() {
    const std::vector<std::string> ice = {
        "...................", ".11111111....11....", ".111111111...11....", "111111111111.......",
        "1111111111111..1...", "11111111111111.....", "1111111111111111...", "111111111111.1111..",
        "11111111111...111..", ".111111111.........", ".1111111........1..", "..11111....1.......",
        "....1..............", "..................."};
    std::mt19937 random(3);
    const auto number = [&random](double low, double high) {
      return low + (high - low) * static_cast<double>(random()) / 4294967296.0;
    };
    for (const auto& [j, i] : points_of(Mx, My)) {
      b(j, i) = 200.0 - 90.0 * i + number(-400.0, 400.0);
      H(j, i) = ice[j][i] == '1' ? number(300.0, 700.0) : 0.0;
      tauc(j, i) = number(0.0, 1.0) < 0.2 ? 0.0 : number(1e4, 1e5);
      hardness(j, i) = number(1e8, 3e8);
      u(j, i) = number(-1e-5, 1e-5), v(j, i) = number(-1e-5, 1e-5);
    }
    b(6, 3) = b(7, 3) = 1500.0, H(6, 3) = 20.0; // a wall
    for (const auto& [j, i] : points_of(Mx, My))
      h(j, i) = surface(b(j, i), H(j, i)), mask(j, i) = cell_type(b(j, i), H(j, i));
    fixed(5, 5) = fixed(8, 15) = 1;
  }
};

Decomposition cut(int px, int py, bool periodic) {
  Decomposition d = Decomposition::make(Mx, My, px, py);
  d.periodic_x = d.periodic_y = periodic;
  return d;
}

/// The case on virtual ranks.
struct Discrete {
  using Velocity = std::vector<Array2<double>>;

  Discrete(const Case& c, const Decomposition& d) : ranks(d), assembly(ranks, dx, dy, glen, till) {
    const auto H = field(c.H), h = field(c.h), b = field(c.b), tauc = field(c.tauc),
               B = field(c.hardness), zero = field(c.zero);
    const auto mask = field(c.mask), fixed = field(c.fixed);
    std::vector<SsaInput> inputs;
    for (std::size_t n = 0; n < H.size(); ++n)
      inputs.push_back({H[n], h[n], b[n], tauc[n], B[n], mask[n], fixed[n], zero[n], zero[n]});
    before = ranks.traffic();
    assembly.set_input(inputs);
    after = ranks.traffic();
    u = field(c.u), v = field(c.v);
    for (int n = 0; n < ranks.local_size(); ++n) ssa::impose(assembly.patch(n), u[at(n)], v[at(n)]);
  }
  static std::size_t at(int n) { return static_cast<std::size_t>(n); }

  template <class T> std::vector<Array2<T>> field(const Grid<T>& grid) {
    return scatter_with_ghosts(ranks, grid);
  }

  /// A global vector (multigrid_case.hpp) from what `fill` writes into the list of each rank's
  /// unknowns.
  template <class F> Vector global(const F& fill) {
    Vector all(2 * at(Mx * My), 0.0);
    for (int r = 0; r < ranks.local_size(); ++r) {
      const SsaPatch& p = assembly.patch(r);
      const Kokkos::View<double*, Mem> values("values", 2 * at(p.unknowns()));
      fill(r, p, values.data());
      Kokkos::fence();
      for (int n = 0; n < p.unknowns(); ++n) {
        const auto cell = static_cast<std::size_t>(p.patch.cell(p.cell(n).j, p.cell(n).i));
        all[2 * cell] = values(2 * n), all[2 * cell + 1] = values(2 * n + 1);
      }
    }
    return all;
  }
  Vector load() {
    return global([](int, const SsaPatch& p, double* x) {
      std::copy(p.load.data(), p.load.data() + 2 * p.unknowns(), x);
    });
  }
  Vector residual() {
    return global(
        [&](int r, const SsaPatch& p, double* x) { ssa::residual(p, u[at(r)], v[at(r)], x); });
  }
  Vector residual(const Vector& w) { // of the velocity w
    Grid<double> U{Mx, My}, V{Mx, My};
    for (std::size_t n = 0; n < U.values.size(); ++n)
      U.values[n] = w[2 * n], V.values[n] = w[2 * n + 1];
    const auto u_w = field(U), v_w = field(V);
    for (int r = 0; r < ranks.local_size(); ++r)
      ssa::impose(assembly.patch(r), u_w[at(r)], v_w[at(r)]);
    return global(
        [&](int r, const SsaPatch& p, double* x) { ssa::residual(p, u_w[at(r)], v_w[at(r)], x); });
  }
  Vector velocity() {
    return global(
        [&](int r, const SsaPatch& p, double* x) { ssa::pack(p, u[at(r)], v[at(r)], x); });
  }

  Operator jacobian(ssa::Linearisation how) {
    Operator A(Grid<int>(Mx, My), ranks.decomposition().periodic_x,
               ranks.decomposition().periodic_y);
    for (int r = 0; r < ranks.local_size(); ++r) {
      SsaPatch& p = assembly.patch(r);
      const Rows<double> rows("rows", p.patch, 36);
      ssa::jacobian(p, u[at(r)], v[at(r)], how, rows);
      for (int n = 0; n < p.unknowns(); ++n) {
        const int j = p.cell(n).j, i = p.cell(n).i, cell = static_cast<int>(p.patch.cell(j, i));
        A.mask.values[at(cell)] = 1;
        for (int m = 0; m < 36; ++m) A.block(cell, 0)[m] = rows(j, i, m);
      }
    }
    return A;
  }
  VirtualRanks ranks;
  SsaAssembly assembly;
  Velocity u, v;
  Traffic before, after;
};

double largest(const Vector& x) {
  double most = 0.0;
  for (const double value : x) most = larger_error(most, value);
  return most;
}
Vector difference(Vector a, const Vector& b) {
  for (std::size_t n = 0; n < a.size(); ++n) a[n] -= b[n];
  return a;
}

/// Are all pivots of the elimination positive? Rows and columns of zeros belong to no unknowns.
bool positive_definite(Dense A) {
  for (std::size_t k = 0; k < A.rows; ++k) {
    if (!(A(k, k) >= 0.0)) return false; // nor NaN
    bool empty = A(k, k) == 0.0;
    for (std::size_t c = 0; c < A.columns && A(k, k) == 0.0; ++c) empty = empty && A(k, c) == 0.0;
    if (A(k, k) == 0.0 && !empty) return false;
    for (std::size_t r = k + 1; r < A.rows && !empty; ++r) {
      const double factor = A(r, k) / A(k, k);
      for (std::size_t c = k; c < A.columns && factor != 0.0; ++c) A(r, c) -= factor * A(k, c);
    }
  }
  return true;
}

constexpr ssa::Linearisation all_linearisations[] = {
    ssa::Linearisation::at_rest, ssa::Linearisation::picard, ssa::Linearisation::weighted};

} // namespace

TEST_CASE("load, residual and Jacobian are the same bits on every decomposition") {
  const Case c;
  for (const bool periodic : {false, true}) {
    Discrete one(c, cut(1, 1, periodic));
    REQUIRE(one.assembly.unknowns() > 90);
    CHECK(one.assembly.excluded() > 0);
    std::vector<Decomposition> cuts = {cut(2, 2, periodic), cut(4, 1, periodic),
                                       cut(3, 2, periodic), cut(1, 6, periodic),
                                       cut(Mx, My, periodic)};
    cuts.push_back(cut(4, 3, periodic)); // one cell wide here, all the rest there
    cuts.back().x = {0, 1, 2, 5, Mx}, cuts.back().y = {0, 3, 4, My};
    for (const Decomposition& d : cuts) {
      INFO(d.px << " x " << d.py << (periodic ? ", periodic" : ""));
      Discrete alone(c, cut(1, 1, periodic)), many(c, d);
      CHECK(many.assembly.unknowns() == alone.assembly.unknowns());
      CHECK(many.assembly.excluded() == alone.assembly.excluded());
      CHECK(many.load() == alone.load());
      CHECK(many.residual() == alone.residual());
      for (const ssa::Linearisation how : all_linearisations) {
        const Operator A = alone.jacobian(how), B = many.jacobian(how);
        CHECK(B.mask == A.mask);
        CHECK(B.rows == A.rows);
        const auto move = [](Discrete& p) { // the next one is weighted by the change
          for (auto& w : p.u) Kokkos::deep_copy(w, 0.0);
        };
        move(alone), move(many);
      }
    }
  }
}

TEST_CASE("where rock walls off a corner cell the slope on that side is that of the own row") {
  Case c;
  for (const auto& [j, i] : points_of(Mx, My)) c.b(j, i) = 0.0, c.H(j, i) = 100.0 + i + 3.0 * j;
  c.H(5, 9) = 600.0, c.b(6, 9) = 500.0; // (6, 9) is a wall for (5, 8), not for (5, 9)
  for (const auto& [j, i] : points_of(Mx, My))
    c.h(j, i) = surface(c.b(j, i), c.H(j, i)), c.mask(j, i) = cell_type(c.b(j, i), c.H(j, i));
  const auto rise = [&](int j, int i) { return c.h(j, i) - c.h(j, 8); };
  const double east = 0.875 * rise(5, 9) + 0.125 * rise(4, 9);
  const double west = 0.75 * rise(5, 7) + 0.125 * (rise(4, 7) + rise(6, 7));
  const double expected = -0.5 * rho_ice * gravity * c.H(5, 8) * dy * (east - west);
  CHECK(std::abs(Discrete(c, cut(1, 1, false)).load()[2 * (5 * Mx + 8)] / expected - 1) < 1e-12);
}

TEST_CASE("every Jacobian is symmetric and positive definite") {
  const Case c;
  for (const bool periodic : {false, true}) {
    Discrete p(c, cut(3, 2, periodic));
    for (const ssa::Linearisation how : all_linearisations) {
      const Operator A = p.jacobian(how);
      const Dense dense = A.dense(), transposed = dense.transposed();
      CHECK(largest(difference(dense.values, transposed.values)) <= 1e-14 * largest(dense.values));
      CHECK(positive_definite(dense));
      for (auto& w : p.u) Kokkos::deep_copy(w, 1e-6);
    }
  }
}

TEST_CASE("where nothing changes any more the Jacobian is the derivative of the residual") {
  const Case c;
  Discrete p(c, cut(2, 2, false));
  p.jacobian(ssa::Linearisation::picard);
  const Operator A = p.jacobian(ssa::Linearisation::weighted);
  const Vector x = A.random_vector(9), w = p.velocity(), slope = A * x;
  const auto along = [&](double step) {
    Vector moved = w;
    for (std::size_t n = 0; n < w.size(); ++n) moved[n] += step * x[n];
    return p.residual(moved);
  };
  const double step = 1e-11; // velocities are around 1e-5
  Vector quotient = difference(along(step), along(-step));
  for (double& value : quotient) value /= 2.0 * step;
  CHECK(largest(difference(quotient, slope)) <= 1e-5 * largest(slope));
  CHECK(p.residual(w) == p.residual());
}

TEST_CASE("which ice is held is what a flood fill finds, in ghosts, too, on every decomposition") {
  std::mt19937 random(11);
  for (const unsigned percent : {30, 45, 60, 80}) {
    Case c;
    Grid<int> expected(Mx, My);
    std::vector<ssa::Cell> front;
    for (const auto& [j, i] : points_of(Mx, My)) {
      c.mask(j, i) = random() % 100 >= percent ? ice_free_ocean
                     : random() % 20 == 0      ? grounded_ice
                                               : floating_ice;
      if (!icy(c.mask(j, i)) ||
          !(c.fixed(j, i) != 0 || (c.mask(j, i) == grounded_ice && c.tauc(j, i) > 0.0)))
        continue;
      expected(j, i) = 1, front.push_back({j, i});
    }
    while (!front.empty()) {
      const ssa::Cell at = front.back();
      front.pop_back();
      for (int n = 0; n < 9; ++n) {
        const int j = at.j + n / 3 - 1, i = at.i + n % 3 - 1;
        if (!expected.inside(j, i) || !icy(c.mask(j, i)) || expected(j, i) != 0) continue;
        expected(j, i) = 1, front.push_back({j, i});
      }
    }
    for (const Decomposition& d :
         {cut(1, 1, false), cut(4, 3, false), cut(1, 6, false), cut(Mx, My, false)}) {
      const Discrete p(c, d);
      std::int64_t wrong = 0;
      for (int r = 0; r < p.ranks.local_size(); ++r) {
        const SsaPatch& patch = p.assembly.patch(r);
        for (const auto& [j, i] : cells_and_ghosts_of(patch.patch)) {
          const int gj = patch.patch.global_j(j), gi = patch.patch.global_i(i);
          wrong +=
              (patch.ice(j, i) != 0) != (expected.inside(gj, gi) && expected(gj, gi) != 0) ? 1 : 0;
        }
      }
      INFO(percent << " %, " << d.px << " x " << d.py);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("icebergs are excluded, unless something holds them; changes are seen; traffic") {
  Case c;
  Discrete p(c, cut(3, 2, false));
  CHECK(p.assembly.unknowns_changed());
  const std::int64_t rounds = p.after.collectives - p.before.collectives - 1;
  CHECK(rounds >= 2);
  CHECK(p.after.exchanges - p.before.exchanges == rounds + 1);
  // (1..2, 13..14), (4, 15), (10, 16) and (11, 11) touch no other ice
  const std::int64_t bergs = p.assembly.excluded();
  CHECK(bergs == 7);
  c.fixed(1, 13) = 1;
  const Discrete held(c, cut(3, 2, false));
  CHECK(held.assembly.excluded() == bergs - 4);
  CHECK(held.assembly.unknowns() == p.assembly.unknowns() + 3);

  std::vector<SsaInput> inputs;
  for (int n = 0; n < 6; ++n) inputs.push_back(p.assembly.patch(n).input);
  p.assembly.set_input(inputs);
  CHECK_FALSE(p.assembly.unknowns_changed());
  inputs.pop_back();
  CHECK_THROWS_AS(p.assembly.set_input(inputs), std::invalid_argument);
}

// --- the drag at a grounding line: tau_c times the grounded area, or times the whole cell by the
// mask; exact areas of a height above flotation that is linear in x

namespace {

/// Drag of each cell of a row, relative to tau_c times its area, for heights above flotation `F`
/// (m) of its cells.
std::vector<double> drag(const std::vector<double>& F, bool till_subgrid) {
  constexpr double spacing = 1000.0, H = 500.0, tauc = 1e5, u0 = 1e-6;
  const int M = static_cast<int>(F.size());
  Decomposition d = Decomposition::make(M, 4, 1);
  d.periodic_y = true;
  VirtualRanks ranks(d);
  const Patch p = ranks.patch(0);
  const auto array = [&p](const char* name) { return make_array<double>(name, p); };
  SsaInput in;
  in.H = array("thk"), in.h = array("usurf"), in.b = array("topg"), in.tauc = array("tauc"),
  in.hardness = array("hardav");
  in.mask = make_array<int>("mask", p);
  Kokkos::deep_copy(in.H, H);
  Kokkos::deep_copy(in.tauc, tauc);
  for (const auto& [j, i] : cells_of(p)) in.b(j, i) = F[p.global_i(i)] - rho_ice / rho_water * H;
  ranks.update_ghosts({{in.b}});
  update_geometry(p, in.b, in.H, in.h, in.mask);

  SsaAssembly assembly(ranks, spacing, spacing, GlenLaw{3.0, 1e-24}, TillLaw{0.0, 0.0, 1.0},
                       till_subgrid); // plastic: the drag is tau_c
  assembly.set_input({in});
  const SsaPatch& patch = assembly.patch(0);
  const auto u = array("u"), v = array("v");
  Kokkos::deep_copy(u, u0);
  const Kokkos::View<double*, Mem> force("force", 2 * static_cast<std::size_t>(patch.unknowns()));
  ssa::residual(patch, u, v, force.data());
  Kokkos::fence();
  std::vector<double> result;
  for (int n = 0; n < M; ++n)
    result.push_back((force(2 * n) + patch.load(2 * n)) / (tauc * spacing * spacing));
  return result;
}

void check(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t n = 0; n < found.size(); ++n) {
    INFO("cell " << n << ": expected " << expected[n] << ", found " << found[n]);
    CHECK(std::abs(found[n] - expected[n]) < 1e-12);
  }
}

} // namespace

TEST_CASE("drag acts on the grounded part of a cell") {
  check(drag({60.0, 30.0, -10.0, -50.0}, true),
        {1.0, 1.0, 0.25, 0.0}); // grounded up to 3/4 of the way from cell 1 to cell 2
  check(drag({60.0, 10.0, -30.0, -50.0}, true), {1.0, 0.75, 0.0, 0.0});
}

TEST_CASE("without a subgrid grounding line it acts on whole cells of the mask") {
  check(drag({60.0, 30.0, -10.0, -50.0}, false), {1.0, 1.0, 0.0, 0.0});
  check(drag({60.0, 10.0, -30.0, -50.0}, false), {1.0, 1.0, 0.0, 0.0});
}
