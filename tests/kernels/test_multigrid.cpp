// The multigrid's cycle as a linear map: a contraction, the same bits on every decomposition, and a
// good preconditioner for the linear SSA, whatever size, margin, viscosity and cells.
#include "errors.hpp"
#include "multigrid_case.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

using namespace nunatak;

namespace {

/// Unknowns that are held a little: nothing is singular.
Operator held(const Grid<int>& mask, bool px, bool py, unsigned seed) {
  Operator A = random_operator(mask, px, py, seed);
  for (int cell = 0; cell < static_cast<int>(A.cells()); ++cell) {
    if (A.mask.values[cell] != 0) A.add_drag(cell, 0.125);
  }
  return A;
}

/// Two islands, one held by a tongue of one cell to a third, and cells on their own.
Grid<int> islands() {
  return draw({"111..1......1", //
               "1111........1", //
               "1111..11111..", //
               ".11...1...1..", //
               "......1.1.1..", //
               "1.1...1...1..", //
               "......11111..", //
               "..........1..", //
               "1111111...111", //
               "......1....11", //
               "......11111.."});
}

struct Domain {
  std::string name;
  Grid<int> mask;
};
std::vector<Domain> domains() {
  std::vector<Domain> all;
  for (const auto& [name, mask] : test_masks()) {
    if (mask.Mx <= 33) all.push_back({name, mask});
  }
  all.push_back({"serpentine", serpentine(17, 14)});
  all.push_back({"islands", islands()});
  all.push_back({"ragged", random_mask(20, 23, 0.6, 3)});
  return all;
}

struct Solution {
  int iterations = 0;
  Vector x;
};

/// Flexible conjugate gradients, as in linear.hpp, from 0 until the residual is 1e-8 of b.
template <class Preconditioner>
Solution solve(const Operator& A, const Vector& b, Preconditioner& M, int most = 200) {
  Solution s{0, Vector(b.size(), 0.0)};
  Vector r = b, p = s.x, Ap = s.x;
  const double goal = 1e-8 * std::sqrt(dot(b, b));
  for (double pAp = 1.0; !(std::sqrt(dot(r, r)) <= goal) && s.iterations < most; ++s.iterations) {
    const Vector z = M(r);
    const double beta = -dot(z, Ap) / pAp;
    for (std::size_t n = 0; n < b.size(); ++n) p[n] = z[n] + beta * p[n];
    Ap = A * p, pAp = dot(p, Ap);
    const double alpha = dot(r, p) / pAp;
    for (std::size_t n = 0; n < b.size(); ++n) s.x[n] += alpha * p[n], r[n] -= alpha * Ap[n];
  }
  return s;
}

template <class Real>
int iterations(const Operator& A, double dx = 1.0, double dy = 1.0,
               const MultigridOptions& options = {}) {
  Cycle<Real> M(A, A.decomposition(1, 1), options, dx, dy);
  return solve(A, A.random_vector(3), M).iterations;
}

/// A continent with a ragged margin and holes.
Grid<int> continent(int n) {
  Grid<int> mask = random_mask(n, n, 0.95, 8);
  for (const auto& [j, i] : points_of(n, n)) {
    const double x = 2.0 * i / (n - 1) - 1.0, y = 2.0 * j / (n - 1) - 1.0;
    if (x * x + y * y > 0.9 + 0.1 * std::sin(20.0 * std::atan2(y, x))) mask(j, i) = 0;
  }
  return mask;
}
using Field = std::function<double(int, int)>;

Operator ice(const Grid<int>& mask, bool periodic_y, double dx, double dy, const Field& strength) {
  return ssa_operator(mask, false, periodic_y, dx, dy, strength,
                      [&](int, int i) { return i < mask.Mx / 2 ? 0.01 / (dx * dy) : 0.0; });
}
double uniform(int, int) { return 1.0; }

} // namespace

TEST_CASE("one cycle makes the energy of every error smaller, on domains of every shape") {
  unsigned seed = 0;
  for (const Domain& domain : domains()) {
    for (const int kind : {0, 1, 2, 3}) {
      seed += 1;
      const Operator A = held(domain.mask, (kind & 1) != 0, (kind & 2) != 0, seed);
      for (const int smoothing : {1, 2, 4}) {
        Cycle<double> M(A, A.decomposition(1, 1), {smoothing, 3000, 10});
        INFO(domain.name << kind << ", degree " << smoothing << ": " << M.multigrid.levels());
        Vector error = A.random_vector(1);
        for (int n = 0; n < 10; ++n) { // ever nearer to the error that is damped least
          const Vector r = A * error, step = M(r);
          const double before = dot(error, r);
          for (std::size_t k = 0; k < error.size(); ++k) error[k] -= step[k];
          const double energy = dot(error, A * error);
          if (!(energy < 0.9 * before || before < 1e-20))
            FAIL("energy: expected below 0.9 of " << before << ", found " << energy);
        }
      }
    }
  }
}

TEST_CASE("the last level alone solves exactly") {
  const Operator A = held(islands(), false, true, 4);
  const Vector x = A.random_vector(1);
  Cycle<double> M(A, A.decomposition(2, 3), {2, 3000, 1000000});
  const Vector y = M(A * x);
  double error = 0.0;
  for (std::size_t n = 0; n < x.size(); ++n) error = larger_error(error, x[n] - y[n]);
  CHECK(error < 1e-10);
}

TEST_CASE("one cycle gives the same bits on every decomposition, however ranks are merged",
          "[many]") {
  const auto check = [](const Operator& A, const Decomposition& d, const auto& expected,
                        auto real) {
    constexpr int all = 1000000000;
    for (const auto& [gather, share] :
         {std::pair{0, 0}, {0, 7}, {40, 0}, {40, 7}, {0, all}, {all, 0}}) {
      Cycle<decltype(real)> M(A, d, {2, gather, 10, share});
      INFO(d.px << " x " << d.py << ", gather " << gather << ", share " << share << ": "
                << M.multigrid.levels());
      CHECK(M(A.random_vector(1)) == expected);
    }
  };
  unsigned seed = 0;
  for (const Domain& domain : {Domain{"islands", islands()},
                               {"serpentine", serpentine(13, 12)},
                               {"one patch", Grid<int>(6, 5, 1)}}) {
    for (const int kind : {0, 1, 2, 3}) {
      seed += 1;
      const Operator A = held(domain.mask, (kind & 1) != 0, (kind & 2) != 0, seed);
      const Vector in_double =
                       Cycle<double>(A, A.decomposition(1, 1), {2, 3000, 10})(A.random_vector(1)),
                   in_single =
                       Cycle<float>(A, A.decomposition(1, 1), {2, 3000, 10})(A.random_vector(1));
      for (int px = 1; px <= 6; ++px) {
        for (int py = 1; py <= 5; ++py) {
          check(A, A.decomposition(px, py), in_double, 0.0);
          if (px + py >= 9 || px * py == 4) check(A, A.decomposition(px, py), in_single, 0.0f);
        }
      }
      Decomposition uneven = A.decomposition(4, 3); // one cell wide here, all the rest there
      uneven.x = {0, 1, 2, 5, A.mask.Mx}, uneven.y = {0, 3, 4, A.mask.My};
      check(A, uneven, in_double, 0.0);
      check(A, uneven, in_single, 0.0f);
    }
  }
}

TEST_CASE("a wavefront over rows gives the bits of one loop after another") {
  // Rings of ghosts around patches of 2 x 2 up to degree 4, one ring around those of 9 x 7.
  unsigned seed = 0;
  for (const Domain& domain : {Domain{"islands", islands()},
                               {"ragged", random_mask(20, 23, 0.6, 3)},
                               {"full", Grid<int>(18, 17, 1)}}) {
    for (const int kind : {0, 1, 2, 3}) {
      const Operator A = held(domain.mask, (kind & 1) != 0, (kind & 2) != 0, ++seed);
      for (const int smoothing : {1, 2, 3, 4}) {
        for (const auto& [px, py] : {std::pair{1, 1}, {2, 1}, {2, 2}, {9, 7}}) {
          Cycle<float> M(A, A.decomposition(px, py), {smoothing, 0, 10});
          const auto results = [&] {
            Vector all = M(A.random_vector(1));
            M.multigrid.apply(true);
            for (int rank = 0; rank < px * py; ++rank) {
              const NinePoint<float>& part = M.multigrid.finest(rank);
              for (int n = 0; n < 2 * part.size(); ++n) {
                all.push_back(part.x(part.cells(n / 2), n % 2));
                all.push_back(part.r(part.cells(n / 2), n % 2));
              }
            }
            return all;
          };
          const Vector by_rows = results();
          for (int rank = 0; rank < px * py; ++rank) M.multigrid.finest(rank).loop_by_loop();
          INFO(domain.name << " " << kind << ", degree " << smoothing << ", " << px << " x " << py);
          CHECK(results() == by_rows);
        }
      }
    }
  }
}

TEST_CASE("no unknowns, one unknown, a cell that nothing holds") {
  for (const int gather : {0, 3000}) {
    const Operator nothing(Grid<int>(9, 7), false, true);
    Cycle<float> none(nothing, nothing.decomposition(3, 2), {2, gather, 10});
    CHECK(none(Vector(126, 0.0)) == Vector(126, 0.0));

    Operator one(Grid<int>(9, 7), true, false);
    one.mask(3, 8) = 1;
    const double block[4] = {2, 1, 1, 1};
    std::copy(block, block + 4, one.block(3 * 9 + 8, 4));
    Vector b(126, 0.0), x(126, 0.0);
    b[70] = 5, b[71] = 3, x[70] = 2, x[71] = 1;
    Cycle<double> M(one, one.decomposition(3, 2), {2, gather, 0});
    const Vector y = solve(one, b, M, 20).x;
    CHECK(std::abs(y[70] - 2.0) + std::abs(y[71] - 1.0) < 1e-7);

    std::fill(one.rows.begin(), one.rows.end(), 0.0);
    Cycle<float> alone(one, one.decomposition(3, 2), {2, gather, 0});
    CHECK(alone(Vector(126, 0.0)) == Vector(126, 0.0));
  }
}

TEST_CASE("scaling by powers of 2 scales the result, in single precision, too") {
  const Operator A = held(islands(), false, false, 7);
  Operator large = A;
  for (double& a : large.rows) a = std::ldexp(a, 64); // up to 1e21 and more
  const Vector b = A.random_vector(1);
  Vector load = b, x = Cycle<float>(A, A.decomposition(1, 1), {2, 3000, 10})(b);
  for (double& v : load) v = std::ldexp(v, 54); // 1e16
  for (double& v : x) v = std::ldexp(v, -10);
  CHECK(*std::max_element(large.rows.begin(), large.rows.end()) > 1e21);
  CHECK(Cycle<float>(large, A.decomposition(2, 2), {2, 0, 10})(load) == x);
}

TEST_CASE("conjugate gradients need no more iterations on a finer grid") {
  const Grid<int> hard = random_mask(130, 130, 0.5, 9);
  int first_smooth = 0, first_noise = 0;
  for (const int n : {33, 65, 129, 257}) {
    INFO(n);
    const Operator smooth =
        ice(continent(n), false, 1.0, 1.0, [n](int j, int i) { // from 0.01 to 100
          return std::pow(10.0,
                          2.0 * std::sin(21.0 * i / n) * std::sin(14.0 * j / n + 7.0 * i / n));
        });
    const int found = iterations<float>(smooth);
    if (n == 33) first_smooth = found;
    CHECK(found <= 45);
    CHECK(found < 1.5 * first_smooth);
    if (n == 257) continue;
    const Operator noise = ice(continent(n), false, 1.0, 1.0,
                               [&](int j, int i) { return hard(j + 1, i + 1) != 0 ? 10.0 : 1.0; });
    const int in_double = iterations<double>(noise);
    if (n == 33) first_noise = in_double;
    CHECK(in_double <= 30);
    CHECK(in_double < 1.5 * first_noise);
    CHECK(std::abs(iterations<float>(noise) - in_double) <= 2);
  }
}

TEST_CASE("long cells: the axis with the wider spacing waits") {
  for (const double aspect : {10.0, 0.1, 1.0 / 60.0}) {
    INFO("dx/dy = " << aspect);
    const Operator square = ice(Grid<int>(65, 65, 1), false, aspect, 1.0, uniform);
    const int found = iterations<double>(square, aspect, 1.0);
    const Vector b = square.random_vector(3);
    const Vector x = Cycle<float>(square, square.decomposition(1, 1), {}, aspect, 1.0)(b);
    for (const auto& [px, py] : {std::pair{2, 2}, {3, 2}, {1, 3}}) {
      Cycle<float> cycle(square, square.decomposition(px, py), {}, aspect, 1.0);
      if (cycle(b) != x)
        FAIL(px << " x " << py << " patches: expected the same bits, found others");
    }
    if (found > 35) FAIL("iterations: expected 35 at most, found " << found);
  }
}

TEST_CASE("strips: a short axis is halved down to one point") {
  for (const int width : {2, 3, 4, 5, 7}) {
    for (const double aspect : {1.0, 60.0}) {
      for (const bool periodic : {false, true}) {
        const int most = periodic ? 15 : 32;
        for (const int n : {65, 257}) {
          const int found = iterations<double>(
              ice(Grid<int>(n, width, 1), periodic, aspect, 1.0, uniform), aspect, 1.0);
          if (found > most)
            FAIL(n << " x " << width << " points, dx/dy = " << aspect
                   << (periodic ? ", periodic" : "") << ", iterations: expected " << most
                   << " at most, found " << found);
        }
      }
    }
  }
}

TEST_CASE("an iceberg that nothing holds: a load in balance is met in both precisions") {
  Grid<int> bergs = continent(33);
  for (int j = 0; j < 33; ++j) bergs(j, 15) = bergs(j, 16) = 0;
  const Operator A =
      ssa_operator(bergs, false, false, 1.0, 1.0, uniform, [](int, int) { return 0.0; });
  const Vector b = A * A.random_vector(5);
  Cycle<double> in_double(A, A.decomposition(3, 2), {});
  Cycle<float> in_single(A, A.decomposition(3, 2), {});
  CHECK(solve(A, b, in_double).iterations <= 30);
  CHECK(solve(A, b, in_single).iterations <= 30);
}

namespace {

/// Cells that neighbours compute once more in a cycle without the residual at its end, times visits
/// of a product: of all patches, of the one that has most.
std::pair<std::int64_t, std::int64_t> redundant(const Decomposition& d, int degree) {
  std::pair<std::int64_t, std::int64_t> visits{0, 0};
  for (int n = 0; n < d.size(); ++n) {
    std::int64_t cells = 0;
    for (int k = 0; k < degree; ++k) cells += grown(d.patch(n), k).cells() - d.patch(n).cells();
    visits = {visits.first + 8 * cells, std::max(visits.second, 8 * cells)};
  }
  return visits;
}

/// A multigrid on virtual ranks, and what it sends.
struct Counted {
  using Sent = std::vector<std::int64_t>; // exchanges, messages, collectives, work
  VirtualRanks ranks;
  Multigrid<double> multigrid;
  Traffic before;

  Counted(const Operator& A, int px, int py, const MultigridOptions& options)
      : ranks(A.decomposition(px, py), LogGP{}),
        multigrid(ranks, 1.0, 1.0, active_cells(ranks, A.mask), options) {}
  void set_operator(const Operator& A) {
    for (int n = 0; n < ranks.local_size(); ++n) A.fill(multigrid.finest(n));
    multigrid.set_operator();
  }
  Sent sent() {
    const Traffic& now = ranks.traffic();
    const Sent difference{now.exchanges - before.exchanges, now.messages - before.messages,
                          now.collectives - before.collectives, now.work - before.work};
    before = now;
    return difference;
  }
};

} // namespace

TEST_CASE("communication is what the header says") {
  // Ghosts: 84 messages between 4 x 4 patches, 12 between 2 x 2. Merges: 12 to 4 ranks, 3 to one.
  using Sent = Counted::Sent;
  for (const int smoothing : {1, 4}) { // of the finest grid; of the others one more
    const Operator A = held(Grid<int>(65, 50, 1), false, false, 1);
    Counted c(A, 4, 4, {smoothing, 60, 60, 51});
    const bool wide = smoothing == 4; // five rings do not fit into patches of the third grid, which
    const int more = wide ? 0 : 1;    // one ring does: exchanges of ghosts there
    CHECK(c.multigrid.levels() == (wide ? "65 x 50 (3250) on 16 ranks, 33 x 26 (858) on 4 ranks, "
                                          "17 x 14 (238) on 1 rank, 9 x 8 (72), 5 x 5 (25)"
                                        : "65 x 50 (3250) on 16 ranks, 33 x 26 (858) on 4 ranks, "
                                          "17 x 14 (238), 9 x 8 (72) on 1 rank, 5 x 5 (25)"));
    // the first: ghosts of the mask as the caller has them, then as the finest level has them
    CHECK(c.sent() == Sent{7 + more, 3 * 84 + (3 + more) * 12 + 3, 2, 0});
    c.set_operator(A);
    const std::int64_t operators = 50 * (3250 + 858 + 238 + 72 + 25) + 25 * 25 * 25;
    CHECK(c.sent() == Sent{4 + more, 84 + (2 + more) * 12 + 3, 0, operators});
    c.ranks.restart_clock();
    c.multigrid.apply(false);
    const int degree = smoothing + 1; // of coarse grids
    const Decomposition finest = A.decomposition(4, 4),
                        second = merged(coarser(finest, {true, true}), 2);
    auto [all, most] = redundant(finest, smoothing);
    for (const Decomposition& d : {second, coarser(second, {true, true})}) {
      if (wide && d.Mx == 17) continue;
      const auto [of_level, of_patch] = redundant(d, degree);
      all += of_level, most += of_patch;
    }
    const int of_finest = 4 + 8 * smoothing, of_others = 4 + 8 * degree; // visits per unknown cell
    const std::int64_t cycle = of_finest * 3250 + of_others * (858 + 238 + 72) + 17 * 25 + all;
    CHECK(c.sent() == Sent{7 + 2 * more, 84 + (4 + 2 * more) * 12 + 2 * 3, 0, cycle});
    // ranks work on their levels only: the critical path has the largest patch of each
    const VirtualClock& clock = *c.ranks.clock();
    const int third = wide ? 17 * 14 : 10 * 8;
    CHECK(clock.critical().work <=
          static_cast<double>(of_finest * 17 * 13 + of_others * (18 * 14 + third + 72) + 17 * 25 +
                              most) *
              clock.machine().visit[0] * 1.0001);
    CHECK(clock.critical().work >= (of_others * 72 + 17 * 25) * clock.machine().visit[0]);
    c.multigrid.apply(true);
    CHECK(c.sent()[0] == 7 + 2 * more);
  }
  for (const int smoothing : {1, 2, 3}) { // one ring: b, x (a periodic axis), all steps but one
    const Operator A = held(Grid<int>(33, 20, 1), true, false, 1);
    Counted c(A, 2, 2, {smoothing, 400, 60});
    c.set_operator(A);
    c.sent();
    c.multigrid.apply(false);
    CHECK(c.sent()[0] == smoothing + 1 + 2);
    c.multigrid.apply(true);
    CHECK(c.sent()[0] == smoothing + 2 + 2);
  }
}

TEST_CASE("few unknowns on a large grid: no process holds it whole") {
  Grid<int> mask(400, 400);
  mask(0, 0) = 1;
  VirtualRanks ranks(Decomposition::make(400, 400, 2, 2));
  const Multigrid<float> multigrid(ranks, 1.0, 1.0, active_cells(ranks, mask), {2, 1500});
  CHECK(multigrid.levels() == "400 x 400 (1) on 4 ranks, 201 x 201 (1) on 1 rank");
}
