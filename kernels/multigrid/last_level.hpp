// The last level of a cycle of multigrid.hpp, on one rank: its inverse, in double precision,
// computed and applied by one team of threads (coarse_levels.hpp). At most 50 unknowns if a coarser
// grid exists.
#pragma once

#include "kernels/multigrid/nine_point.hpp"

#include <cstddef>

namespace nunatak {

/// The inverse of a small dense symmetric positive semidefinite matrix, by Gauss-Jordan elimination
/// in place: after step k the unknowns 0..k and their right-hand sides are exchanged. A pivot that
/// is 0 to rounding belongs to a linearly dependent unknown, which is set to 0; the others solve a
/// consistent system. Each entry is computed by one thread, its terms in the order of the pivots:
/// the bits do not depend on the number of threads.
class Inverse {
public:
  Inverse() = default;
  explicit Inverse(int n)
      : m_n(n),
        m_memory(Kokkos::view_alloc("inverse of the last level", Kokkos::WithoutInitializing),
                 2 * static_cast<std::size_t>(n) * static_cast<std::size_t>(n) +
                     static_cast<std::size_t>(n)) {}

  /// The matrix, row by row, to be written before find(): both triangles, with the same bits.
  KOKKOS_INLINE_FUNCTION double* matrix() const { return m_memory.data(); }
  KOKKOS_INLINE_FUNCTION int size() const { return m_n; }

  /// Computes the negative inverse. Called by all threads of the team after a barrier.
  template <class Team> KOKKOS_INLINE_FUNCTION void find(const Team& team) const {
    const int n = m_n;
    double *now = matrix(), *next = now + n * n, *diagonal = next + n * n;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, n),
                         [&](int i) { diagonal[i] = now[i * n + i]; });
    team.team_barrier();
    for (int k = 0; k < n; ++k) {
      const double pivot = now[k * n + k];
      const bool depends = !(pivot > rounding * diagonal[k]);
      const double q = depends ? 0.0 : 1.0 / pivot;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, n), [&](int i) {
        const double in_column = now[i * n + k];
        for (int j = 0; j < n; ++j) {
          const double in_row = now[k * n + j];
          next[i * n + j] = i == k   ? (j == k ? -q : in_row * q)
                            : j == k ? in_column * q
                                     : now[i * n + j] - in_column * in_row * q;
        }
      });
      team.team_barrier();
      double* const before = now;
      now = next;
      next = before;
    }
  }

  /// Row i of the inverse times b, b(j) for j = 0..n - 1.
  template <class F> KOKKOS_INLINE_FUNCTION double row_times(int i, const F& b) const {
    const double* row =
        matrix() + (m_n % 2 == 0 ? 0 : m_n * m_n) + i * m_n; // location after the last step
    double sum = 0.0;
    for (int j = 0; j < m_n; ++j) sum -= row[j] * b(j);
    return sum;
  }

private:
  static constexpr double rounding = 1e-10;
  int m_n = 0;
  Kokkos::View<double*, WorkMem> m_memory; ///< two matrices; initially also the diagonal
};

template <class Real> class LastLevel {
public:
  using Team = Kokkos::TeamPolicy<Exec>::member_type;

  LastLevel() = default;
  /// `part`: the level, a grid of the size of `d` on one rank.
  LastLevel(const NinePoint<Real>& part, const Decomposition& d)
      : m_A(part.A), m_b(part.b), m_x(part.x), m_cells(part.cells), m_unknowns(part.size()),
        m_stride(part.stride()), m_rows(d.My), m_columns(d.Mx), m_periodic_x(d.periodic_x),
        m_periodic_y(d.periodic_y), m_inverse(2 * part.size()) {}

  /// Computes the inverse of the current matrix. Called by all threads of a team, here and below.
  KOKKOS_INLINE_FUNCTION void find_inverse(const Team& team) const {
    double* M = m_inverse.matrix();
    const int size = m_inverse.size();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, size * size), [&](int k) { M[k] = 0.0; });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, m_unknowns), [&](int n) {
      const int c = m_cells(n);
      for (int slot = 0; slot < 9; ++slot) {
        const int j = wrap(c / m_stride + slot / 3 - 1, m_rows, m_periodic_y);
        const int i = wrap(c % m_stride + slot % 3 - 1, m_columns, m_periodic_x);
        int other = 0;
        while (other < n && m_cells(other) != j * m_stride + i) ++other;
        if (m_cells(other) != j * m_stride + i) continue; // no unknown, or one after n
        for (int m = 0; m < 4; ++m) {
          const int row = 2 * n + m / 2, column = 2 * other + m % 2;
          if (column > row) continue;
          M[row * size + column] += m_A(c, 4 * slot + m);
          M[column * size + row] = M[row * size + column];
        }
      }
    });
    team.team_barrier();
    m_inverse.find(team);
  }
  /// x = A^-1 b.
  KOKKOS_INLINE_FUNCTION void solve(const Team& team) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, 2 * m_unknowns), [&](int k) {
      const auto b = [&](int n) { return static_cast<double>(m_b(m_cells(n / 2), n % 2)); };
      m_x(m_cells(k / 2), k % 2) = static_cast<Real>(m_inverse.row_times(k, b));
    });
  }

private:
  /// View index of a neighbour across a periodic edge.
  KOKKOS_INLINE_FUNCTION static int wrap(int i, int m, bool periodic) {
    return periodic ? (i - 1 + m) % m + 1 : i;
  }

  CellValues<Real> m_A, m_b, m_x;
  Kokkos::View<int*, Mem> m_cells;
  int m_unknowns = 0, m_stride = 0, m_rows = 0, m_columns = 0;
  bool m_periodic_x = false, m_periodic_y = false;
  Inverse m_inverse;
};

} // namespace nunatak
