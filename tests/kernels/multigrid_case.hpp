// Operators for the tests of the multigrid: sums of element matrices on the cells of a mask, held
// as one global matrix, and their way into and out of the patches of virtual ranks. Used by
// test_hats.cpp, test_galerkin.cpp and test_multigrid.cpp.
//
// A global vector has 2 values per cell, unknown or not, in raster order.
#pragma once

#include "global_grid.hpp"

#include "kernels/multigrid/multigrid.hpp"
#include "kernels/ssa/element.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace nunatak {

using Vector = std::vector<double>;

inline double dot(const Vector& a, const Vector& b) {
  double sum = 0.0;
  for (std::size_t n = 0; n < a.size(); ++n) sum += a[n] * b[n];
  return sum;
}

/// A dense matrix.
struct Dense {
  std::size_t rows = 0, columns = 0;
  Vector values;

  Dense(std::size_t rows_, std::size_t columns_)
      : rows(rows_), columns(columns_), values(rows_ * columns_, 0.0) {}
  double& operator()(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  double operator()(std::size_t r, std::size_t c) const { return values[r * columns + c]; }

  Vector operator*(const Vector& x) const {
    Vector y(rows, 0.0);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) y[r] += (*this)(r, c) * x[c];
    }
    return y;
  }
  Dense operator*(const Dense& b) const {
    Dense product(rows, b.columns);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t k = 0; k < columns; ++k) {
        if ((*this)(r, k) == 0.0) continue;
        for (std::size_t c = 0; c < b.columns; ++c) product(r, c) += (*this)(r, k) * b(k, c);
      }
    }
    return product;
  }
  Dense transposed() const {
    Dense t(columns, rows);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) t(c, r) = (*this)(r, c);
    }
    return t;
  }
};

using ElementMatrix =
    double[8][8]; // unknown 2 c + m: component m at corner c; bit 0 of c: +x, bit 1: +y

/// The global matrix, row by row as in kernels/multigrid/nine_point.hpp.
struct Operator {
  Grid<int> mask;
  bool periodic_x = false, periodic_y = false;
  Vector rows;

  Operator(Grid<int> mask_, bool px, bool py)
      : mask(std::move(mask_)), periodic_x(px), periodic_y(py), rows(36 * mask.values.size(), 0.0) {
  }

  std::size_t cells() const { return mask.values.size(); }

  /// Number of the cell, -1 where there is no unknown.
  int unknown(int j, int i) const {
    if (periodic_x) i = (i + mask.Mx) % mask.Mx;
    if (periodic_y) j = (j + mask.My) % mask.My;
    return mask.inside(j, i) && mask(j, i) != 0 ? j * mask.Mx + i : -1;
  }

  /// f(ice, corners, add) of each element with unknowns; add(matrix) adds what belongs to them.
  template <class F> void for_each_element(const F& f) {
    for (int j = periodic_y ? 0 : -1; j < mask.My; ++j) {
      for (int i = periodic_x ? 0 : -1; i < mask.Mx; ++i) {
        int corner[4], ice = 0;
        for (int c = 0; c < 4; ++c) {
          corner[c] = unknown(j + (c >> 1), i + (c & 1));
          if (corner[c] >= 0) ice |= 1 << c;
        }
        if (ice == 0) continue;
        f(ice, j, i, [&](const ElementMatrix& K) {
          for (int c = 0; c < 4; ++c) {
            for (int d = 0; d < 4; ++d) {
              if (corner[c] < 0 || corner[d] < 0) continue;
              const int slot = ((d >> 1) - (c >> 1) + 1) * 3 + (d & 1) - (c & 1) + 1;
              for (int m = 0; m < 4; ++m)
                block(corner[c], slot)[m] += K[2 * c + (m >> 1)][2 * d + (m & 1)];
            }
          }
        });
      }
    }
  }
  double* block(int cell, int slot) {
    return &rows[36 * static_cast<std::size_t>(cell) + 4 * static_cast<std::size_t>(slot)];
  }
  const double* block(int cell, int slot) const {
    return &rows[36 * static_cast<std::size_t>(cell) + 4 * static_cast<std::size_t>(slot)];
  }
  void add_drag(int cell, double beta) { block(cell, 4)[0] += beta, block(cell, 4)[3] += beta; }

  /// f(row, column, value) of each entry between unknowns.
  template <class F> void for_each_entry(const F& f) const {
    for (const auto& [j, i] : points_of(mask.Mx, mask.My)) {
      const int cell = unknown(j, i);
      for (int slot = 0; slot < 9 && cell >= 0; ++slot) {
        const int other = unknown(j + slot / 3 - 1, i + slot % 3 - 1);
        for (int m = 0; m < 4 && other >= 0; ++m)
          f(static_cast<std::size_t>(2 * cell + m / 2), static_cast<std::size_t>(2 * other + m % 2),
            block(cell, slot)[m]);
      }
    }
  }
  Vector operator*(const Vector& x) const {
    Vector y(x.size(), 0.0);
    for_each_entry([&](std::size_t r, std::size_t c, double value) { y[r] += value * x[c]; });
    return y;
  }
  Dense dense() const {
    Dense A(2 * cells(), 2 * cells());
    for_each_entry([&](std::size_t r, std::size_t c, double value) { A(r, c) += value; });
    return A;
  }
  /// Numbers between -1 and 1 in the unknowns, 0 elsewhere.
  Vector random_vector(unsigned seed) const {
    std::mt19937 random(seed);
    Vector x(2 * cells(), 0.0);
    for (std::size_t n = 0; n < x.size(); ++n)
      x[n] = mask.values[n / 2] * (static_cast<double>(random()) / 2147483648.0 - 1.0);
    return x;
  }

  Decomposition decomposition(int px, int py) const {
    Decomposition d = Decomposition::make(mask.Mx, mask.My, px, py);
    d.periodic_x = periodic_x, d.periodic_y = periodic_y;
    return d;
  }
  template <class Real> void fill(const NinePoint<Real>& part) const {
    for (int n = 0; n < part.size(); ++n) {
      const int stride = part.stride(), j = part.cells(n) / stride, i = part.cells(n) % stride;
      for (int m = 0; m < 36; ++m)
        part.A(j, i, m) =
            static_cast<Real>(rows[36 * static_cast<std::size_t>(part.patch.cell(j, i)) +
                                   static_cast<std::size_t>(m)]);
    }
  }
};

/// Sums of squares of small integers times powers of 2: exact in double, also on coarser grids.
inline Operator random_operator(const Grid<int>& mask, bool px, bool py, unsigned seed,
                                int squares = 5) {
  std::mt19937 random(seed);
  Operator A(mask, px, py);
  A.for_each_element([&](int, int, int, const auto& add) {
    ElementMatrix K = {};
    const double scale = std::ldexp(1.0, static_cast<int>(random() % 13) - 6);
    for (int n = 0; n < squares; ++n) {
      double v[8];
      for (double& entry : v) entry = static_cast<double>(random() % 7) - 3.0;
      for (int a = 0; a < 8; ++a) {
        for (int b = 0; b < 8; ++b) K[a][b] += scale * v[a] * v[b];
      }
    }
    add(K);
  });
  return A;
}

/// The linear SSA: 2 nu H = strength(j, i) of element (j, i), drag beta(j, i) times dx dy.
inline Operator ssa_operator(const Grid<int>& mask, bool px, bool py, double dx, double dy,
                             const std::function<double(int, int)>& strength,
                             const std::function<double(int, int)>& beta) {
  Operator A(mask, px, py);
  const Q1Element q1(dx, dy);
  A.for_each_element([&](int ice, int j, int i, const auto& add) {
    const double s = strength(j, i), w[8] = {}, BH[4] = {s, s, s, s};
    const SsaElement e(q1, GlenLaw{1.0, 0.0}, ice, w, BH);
    ElementMatrix K;
    for (int a = 0; a < 8; ++a) {
      for (int b = 0; b < 8; ++b) K[a][b] = e.jacobian(q1, ice, a, b);
    }
    add(K);
  });
  for (const auto& [j, i] : points_of(mask.Mx, mask.My)) {
    if (mask(j, i) != 0) A.add_drag(j * mask.Mx + i, dx * dy * beta(j, i));
  }
  return A;
}

/// 0 in the ghosts of `a` that lie beyond the edges of a domain that is not periodic.
inline void clear_beyond_edges(const Decomposition& d, const Patch& p, const Array2<int>& a) {
  const bool open_x = !d.periodic_x, open_y = !d.periodic_y;
  for_each_cell_and_ghost(
      "no cells beyond the edges", p, KOKKOS_LAMBDA(int j, int i) {
        const int gi = p.global_i(i), gj = p.global_j(j);
        if ((open_x && (gi < 0 || gi >= p.Mx)) || (open_y && (gj < 0 || gj >= p.My))) a(j, i) = 0;
      });
}

/// The mask on each rank, with ghosts, 0 beyond the edges of the domain.
inline std::vector<Array2<int>> active_cells(Ranks& ranks, const Grid<int>& mask) {
  const std::vector<Array2<int>> active = scatter_with_ghosts(ranks, mask);
  for (int n = 0; n < ranks.local_size(); ++n)
    clear_beyond_edges(ranks.decomposition(), ranks.patch(n), active[n]);
  return active;
}

/// A multigrid with its operator on virtual ranks, as a linear map of global vectors.
template <class Real> class Cycle {
public:
  Cycle(const Operator& A, const Decomposition& d, const MultigridOptions& options, double dx = 1.0,
        double dy = 1.0)
      : ranks(d), multigrid(ranks, dx, dy, active_cells(ranks, A.mask), options) {
    for (int n = 0; n < ranks.local_size(); ++n) A.fill(multigrid.finest(n));
    multigrid.set_operator();
  }
  Vector operator()(const Vector& b) {
    Vector x(b.size(), 0.0);
    for_each_value([&](const NinePoint<Real>& part, int j, int i, int m, std::size_t n) {
      part.b(j, i, m) = static_cast<Real>(b[n]);
    });
    multigrid.apply(false);
    for_each_value([&](const NinePoint<Real>& part, int j, int i, int m, std::size_t n) {
      x[n] = part.x(j, i, m);
    });
    return x;
  }

  VirtualRanks ranks;
  Multigrid<Real> multigrid;

private:
  template <class F> void for_each_value(const F& f) {
    for (int r = 0; r < ranks.local_size(); ++r) {
      const NinePoint<Real>& part = multigrid.finest(r);
      const int stride = part.stride();
      for (int n = 0; n < part.size(); ++n) {
        const int j = part.cells(n) / stride, i = part.cells(n) % stride;
        for (int m = 0; m < 2; ++m)
          f(part, j, i, m,
            2 * static_cast<std::size_t>(part.patch.cell(j, i)) + static_cast<std::size_t>(m));
      }
    }
  }
};

} // namespace nunatak
