// The inverse of a small dense symmetric positive semidefinite matrix, in double: found and applied
// by one team of threads, so that the host has no part in it.
//
// Gauss-Jordan elimination in place, pivot after pivot: after step k the unknowns 0..k and their
// right-hand sides have changed places. A pivot that is 0 to rounding belongs to an unknown that
// depends on those before it; that unknown is set to 0, and if the system has a solution the others
// solve it. Each entry is computed by one thread, its terms in the order of the pivots: the bits do
// not depend on the number of threads. n^3 steps of work; the last level has at most 50 unknowns.
#pragma once

#include "kernels/grid/array.hpp"

#include <cstddef>

namespace nunatak {

class Inverse {
public:
  Inverse() = default;
  explicit Inverse(int n)
      : m_n(n),
        m_memory(Kokkos::view_alloc("inverse of the last level", Kokkos::WithoutInitializing),
                 2 * static_cast<std::size_t>(n) * static_cast<std::size_t>(n) +
                     static_cast<std::size_t>(n)) {}

  /// The matrix, row by row, to be written before find(): both triangles, the same bits.
  KOKKOS_INLINE_FUNCTION double* matrix() const { return m_memory.data(); }
  KOKKOS_INLINE_FUNCTION int size() const { return m_n; }

  /// Its negative inverse, in place of it or behind it. All threads of the team call it, and have
  /// passed a barrier.
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
      now = next, next = before;
    }
  }

  /// Row i of the inverse times b, b(j) for j = 0..n - 1.
  template <class F> KOKKOS_INLINE_FUNCTION double row_times(int i, const F& b) const {
    const double* row =
        matrix() + (m_n % 2 == 0 ? 0 : m_n * m_n) + i * m_n; // where the last step has left it
    double sum = 0.0;
    for (int j = 0; j < m_n; ++j) sum -= row[j] * b(j);
    return sum;
  }

private:
  static constexpr double rounding = 1e-10;
  int m_n = 0;
  Kokkos::View<double*, WorkMem> m_memory; ///< two matrices, and the diagonal at first
};

} // namespace nunatak
