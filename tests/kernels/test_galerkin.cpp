// From a grid to the next coarser one: P^T A P, P^T r and P x against dense matrices, entry by
// entry and exactly, on several decompositions; the bound on the eigenvalues of D^-1 A.
#include "errors.hpp"
#include "multigrid_case.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace nunatak;

namespace {

/// f(passes) on the arrays of a part.
template <class F> void run_passes(NinePoint<double> part, const F& f) {
  Passes<double> passes(part);
  f(passes);
  passes.run();
}

/// A level on virtual ranks.
struct Level {
  VirtualRanks ranks;
  std::vector<NinePoint<double>> parts;

  Level(const Decomposition& d, const std::vector<Array2<int>>& active) : ranks(d) {
    for (int n = 0; n < ranks.local_size(); ++n) parts.emplace_back(ranks.patch(n), active[n]);
  }
  /// Updates the ghosts of rows of n values per cell.
  template <class F> void update_ghosts(int n, const F& rows_of) {
    std::vector<int> members(parts.size());
    std::iota(members.begin(), members.end(), 0);
    const auto values = [&](std::size_t r) -> CellValues<double> { return rows_of(parts[r]); };
    halo({ranks, ranks.decomposition(), members}, 1).move(n, values, values);
  }
  /// f(part, j, i, place of (cell, 0) in a global vector) of each owned unknown.
  template <class F> void for_each(const F& f) const {
    for (const auto& part : parts) {
      const int stride = part.stride();
      for (int n = 0; n < part.size(); ++n) {
        const int j = part.cells(n) / stride, i = part.cells(n) % stride;
        f(part, j, i, 2 * static_cast<std::size_t>(part.patch.cell(j, i)));
      }
    }
  }
  /// The matrix as a global one.
  Operator matrix() const {
    const Decomposition& d = ranks.decomposition();
    Operator A(Grid<int>(d.Mx, d.My), d.periodic_x, d.periodic_y);
    for_each([&](const NinePoint<double>& part, int j, int i, std::size_t n) {
      A.mask.values[n / 2] = 1;
      for (int m = 0; m < 36; ++m) A.rows[18 * n + static_cast<std::size_t>(m)] = part.A(j, i, m);
    });
    return A;
  }
};

/// A fine level with its operator, and the coarse level with P^T A P.
struct TwoLevels {
  Halving halving;
  std::vector<HatAxis> x, y;
  Level fine, coarse;

  TwoLevels(const Operator& A, const Decomposition& d, Halving h)
      : TwoLevels(A, d, h, VirtualRanks(d)) {}

private:
  TwoLevels(const Operator& A, const Decomposition& d, Halving h, VirtualRanks ranks)
      : halving(h), fine(d, active_cells(ranks, A.mask)), coarse(coarser(d, h), coarse_mask()) {
    for (const auto& part : fine.parts) A.fill(part);
    fine.update_ghosts(36, [](const auto& part) { return part.A; });
    for (std::size_t n = 0; n < fine.parts.size(); ++n)
      run_passes(fine.parts[n], [&](auto& p) {
        p.add_coarse("P^T A P", coarse.parts[n], galerkin(p.part(), coarse.parts[n], x[n], y[n]));
      });
  }
  std::vector<Array2<int>> coarse_mask() {
    const Decomposition &d = fine.ranks.decomposition(), c = coarser(d, halving);
    VirtualRanks ranks(c);
    std::vector<Array2<int>> cells;
    std::vector<std::vector<Ghosted>> ghosted;
    for (int n = 0; n < ranks.local_size(); ++n) {
      const NinePoint<double>& part = fine.parts[n];
      x.push_back(x_axis(d, part.patch, ranks.patch(n), halving));
      y.push_back(y_axis(d, part.patch, ranks.patch(n), halving));
      cells.push_back(
          coarse_cells(ranks.patch(n), ranks.patch(n), part.active, x.back(), y.back()));
      ghosted.push_back({cells.back()});
    }
    ranks.update_ghosts(ghosted);
    for (int n = 0; n < ranks.local_size(); ++n) clear_beyond_edges(c, ranks.patch(n), cells[n]);
    return cells;
  }
};

/// P by definition: products of hats on every second point, rows of cells that are no unknowns 0.
Dense prolongation(const Operator& A, Halving halving) {
  const auto weight = [](bool halved, bool periodic, int g, int C, int coarse) {
    if (!halved || g % 2 == 0) return (halved ? g / 2 : g) == C ? 1.0 : 0.0;
    const int left = g / 2, right = periodic || coarse == 1 ? (left + 1) % coarse : left + 1;
    return (C == left ? 0.5 : 0.0) + (C == right ? 0.5 : 0.0);
  };
  const Decomposition d = A.decomposition(1, 1), c = coarser(d, halving);
  Dense P(2 * A.cells(), 2 * static_cast<std::size_t>(c.Mx) * static_cast<std::size_t>(c.My));
  for (std::size_t row = 0; row < P.rows; ++row) {
    for (std::size_t column = row % 2; column < P.columns; column += 2) {
      const int j = static_cast<int>(row / 2) / d.Mx, i = static_cast<int>(row / 2) % d.Mx,
                J = static_cast<int>(column / 2) / c.Mx, I = static_cast<int>(column / 2) % c.Mx;
      if (A.mask(j, i) == 0) continue;
      P(row, column) =
          weight(halving.y, d.periodic_y, j, J, c.My) * weight(halving.x, d.periodic_x, i, I, c.Mx);
    }
  }
  return P;
}

struct Case {
  Operator A;
  Halving halving;
};

/// Odd, even and short axes, periodic or not, one or both halved.
std::vector<Case> cases() {
  std::vector<Case> all;
  unsigned seed = 100;
  for (const auto& [Mx, My] : {std::pair{9, 8}, {6, 7}, {5, 6}, {3, 9}, {8, 1}, {4, 2}}) {
    for (const int kind : {0, 1, 2, 3}) {
      const bool px = (kind & 1) != 0, py = (kind & 2) != 0, x = Mx > 1, y = My > 1;
      for (const double fraction : {0.4, 1.0}) {
        const Operator A = random_operator(random_mask(Mx, My, fraction, seed), px, py, seed);
        seed += 1;
        all.push_back({A, {x, y}});
        if (x && y) all.push_back({A, {true, false}}), all.push_back({A, {false, true}});
      }
    }
  }
  return all;
}

/// f(two levels) on every decomposition that leaves a coarse point to each rank.
template <class F> void for_each_decomposition(const Case& c, const F& f) {
  for (const auto& [px, py] : decompositions(c.A.mask.Mx, c.A.mask.My)) {
    const Decomposition d = c.A.decomposition(px, py);
    if (patches_have(coarser(d, c.halving), 1)) f(TwoLevels(c.A, d, c.halving));
  }
}

/// The largest eigenvalue of (S D)^-1 A, from below.
double largest_eigenvalue(const Level& level) {
  const Operator A = level.matrix();
  for (const auto& part : level.parts) run_passes(part, [](auto& p) { invert_diagonal(p, 0); });
  Vector x = A.random_vector(7);
  double ratio = 0.0;
  for (int n = 0; n < 200; ++n) {
    const Vector Ax = A * x;
    Vector y(x.size(), 0.0);
    level.for_each([&](const NinePoint<double>& part, int j, int i, std::size_t c) {
      for (std::size_t m = 0; m < 2; ++m) {
        for (std::size_t k = 0; k < 2; ++k) y[c + m] += part.inverse(j, i, 2 * m + k) * Ax[c + k];
      }
    });
    double largest = 0.0;
    for (const double v : y) largest = larger_error(largest, v);
    if (largest == 0.0) return 0.0;
    const Vector Ay = A * y;
    const double yAy = dot(y, Ay); // Rayleigh quotient of D^-1 A in the product of A
    ratio = larger_error(ratio, yAy / dot(y, Ax));
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = y[k] / largest;
  }
  return ratio;
}

} // namespace

TEST_CASE("the coarse operator is P^T A P, exactly, on every decomposition") {
  for (const Case& c : cases()) {
    const Dense P = prolongation(c.A, c.halving), expected = P.transposed() * (c.A.dense() * P);
    std::vector<int> exists(P.columns / 2, 0);
    for (std::size_t n = 0; n < P.values.size(); ++n) {
      if (P.values[n] > 0.0) exists[n % P.columns / 2] = 1;
    }
    for_each_decomposition(c, [&](const TwoLevels& levels) {
      const Operator coarse = levels.coarse.matrix();
      CHECK(coarse.dense().values == expected.values);
      CHECK(coarse.mask.values == exists); // where a hat reaches an unknown
      int outside = 0;                     // blocks of neighbours that are no unknowns
      for (const auto& [j, i] : points_of(coarse.mask.Mx, coarse.mask.My)) {
        for (int slot = 0; slot < 9; ++slot) {
          const double* block = coarse.block(j * coarse.mask.Mx + i, slot);
          const bool zero = block[0] == 0 && block[1] == 0 && block[2] == 0 && block[3] == 0;
          outside += coarse.unknown(j + slot / 3 - 1, i + slot % 3 - 1) < 0 && !zero;
        }
      }
      CHECK(outside == 0);
    });
  }
}

TEST_CASE("prolongation and restriction are P and its transpose, exactly, on every decomposition") {
  for (const Case& c : cases()) {
    const Dense P = prolongation(c.A, c.halving);
    std::mt19937 random(5);
    Vector b(P.rows), X(P.columns);
    for (double& v : b) v = static_cast<double>(random() % 1001);
    for (double& v : X) v = static_cast<double>(random() % 1001);
    const Vector expected_b = P.transposed() * b, PX = P * X;
    for_each_decomposition(c, [&](TwoLevels levels) {
      levels.fine.for_each([&](const NinePoint<double>& part, int j, int i, std::size_t n) {
        part.b(j, i, 0) = b[n], part.b(j, i, 1) = b[n + 1];
      });
      levels.coarse.for_each([&](const NinePoint<double>& part, int j, int i, std::size_t n) {
        part.x(j, i, 0) = X[n], part.x(j, i, 1) = X[n + 1];
      });
      levels.fine.update_ghosts(2, [](const auto& part) { return part.b; });
      levels.coarse.update_ghosts(2, [](const auto& part) { return part.x; });
      for (std::size_t n = 0; n < levels.fine.parts.size(); ++n) {
        run_passes(levels.fine.parts[n], [&](auto& p) {
          const auto& part = levels.coarse.parts[n];
          p.add_coarse("P^T b", part, restriction(p.part(), part, levels.x[n], levels.y[n]));
          p.add("P x", 1, prolongation(p.part(), part, levels.x[n], levels.y[n]));
        });
      }
      int wrong = 0;
      levels.coarse.for_each([&](const NinePoint<double>& part, int j, int i, std::size_t n) {
        wrong += part.b(j, i, 0) != expected_b[n] || part.b(j, i, 1) != expected_b[n + 1];
      });
      levels.fine.for_each([&](const NinePoint<double>& part, int j, int i, std::size_t n) {
        wrong += part.x(j, i, 0) != PX[n] || part.x(j, i, 1) != PX[n + 1];
      });
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE("no eigenvalue of (S D)^-1 A is above 1, on fine and coarse levels") {
  double highest = 0.0;
  unsigned seed = 0;
  for (const int kind : {0, 1, 2, 3}) {
    for (const int squares : {1, 2, 5}) {
      for (const double fraction : {0.5, 0.8, 1.0}) {
        const Operator A = random_operator(random_mask(11, 8, fraction, seed), (kind & 1) != 0,
                                           (kind & 2) != 0, seed, squares);
        seed += 1;
        const TwoLevels levels(A, A.decomposition(1, 1), {true, kind != 3});
        for (const Level* level : {&levels.fine, &levels.coarse}) {
          const double value = largest_eigenvalue(*level);
          CHECK(value <= 1.0 + 1e-9);
          highest = std::max(highest, value);
        }
      }
    }
  }
  CHECK(highest > 0.9);

  // the bound is sharp: each element resists to the checkerboard alone
  Operator A(Grid<int>(6, 4, 1), true, true);
  A.for_each_element([](int, int, int, const auto& add) {
    ElementMatrix K = {};
    const double sign[4] = {1.0, -1.0, -1.0, 1.0};
    for (int c = 0; c < 4; ++c) {
      for (int d = 0; d < 4; ++d) K[2 * c][2 * d] = K[2 * c + 1][2 * d + 1] = sign[c] * sign[d];
    }
    add(K);
  });
  CHECK(std::abs(largest_eigenvalue(TwoLevels(A, A.decomposition(1, 1), {true, false}).fine) -
                 1.0) < 1e-9);
}

TEST_CASE("inverses of diagonal blocks: regular, singular, nothing") {
  Operator A(Grid<int>(3, 1, 1), false, false);
  const double blocks[3][4] = {{4, 2, 2, 2}, {1, 2, 2, 4}, {0, 0, 0, 0}};
  for (int cell = 0; cell < 3; ++cell) {
    for (int m = 0; m < 4; ++m) A.block(cell, 4)[m] = blocks[cell][m];
  }
  const TwoLevels levels(A, A.decomposition(1, 1), {true, false});
  const NinePoint<double>& part = levels.fine.parts[0];
  run_passes(part, [](auto& p) { invert_diagonal(p, 0); });
  const double expected[3][4] = {
      {0.5, -0.5, -0.5, 1.0}, {1.0 / 6, 0, 0, 1.0 / 6}, {0, 0, 0, 0}}; // 1/trace is 1/5, S 6/5
  for (int cell = 0; cell < 3; ++cell) {
    for (int m = 0; m < 4; ++m)
      CHECK(std::abs(part.inverse(1, cell + 1, m) - expected[cell][m]) <= 1e-15);
  }
}
