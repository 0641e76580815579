// The last levels of a cycle of kernels/multigrid/multigrid.hpp, which one rank has, in one loop of
// one team of threads: a level of few unknowns keeps a GPU busy for less time than a launch takes.
// The same functions of single unknowns as in the loops of smoother.hpp and transfer.hpp, in the
// same order, with a barrier after each: the same bits. At least the last level itself is done so,
// by its inverse.
#pragma once

#include "kernels/multigrid/inverse.hpp"
#include "kernels/multigrid/smoother.hpp"
#include "kernels/multigrid/transfer.hpp"

#include <algorithm>
#include <utility>

namespace nunatak {

/// A level as the team sees it.
template <class Real> struct TeamLevel {
  Smoothing<Real> smoothing;
  Chebyshev polynomial;
  Transfer<Real> transfer; ///< to the next one, if there is one
  const int* cells;
  int unknowns;
};

template <class Real> class LastLevels {
public:
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<256, 1>>;
  using Team = typename Policy::member_type;

  LastLevels() = default;
  explicit LastLevels(int count)
      : m_count(count), m_table(shared_label("multigrid: table"), static_cast<std::size_t>(count)),
        m_levels("multigrid: last levels", static_cast<std::size_t>(count)) {}

  /// Level n, but for its transfer, and the transfer between it and the next one. Host code.
  void set(int n, const NinePoint<Real>& part, const Chebyshev& polynomial) {
    m_table(n) = {Smoothing<Real>(part), polynomial, {}, part.cells.data(), part.size()};
  }
  void set_transfer(int n, const Transfer<Real>& transfer) { m_table(n).transfer = transfer; }
  /// After the last set(); `d`: of that level.
  void set_last(const Decomposition& d) {
    Kokkos::deep_copy(m_levels, m_table);
    m_inverse = Inverse(2 * m_table(m_count - 1).unknowns);
    m_rows = d.My, m_columns = d.Mx, m_periodic_x = d.periodic_x, m_periodic_y = d.periodic_y;
  }

  /// The inverse of the matrix of the last level. One launch, as cycle().
  void find_inverse() const {
    const LastLevels all = *this;
    Kokkos::parallel_for(
        "multigrid: inverse of the last level", policy(),
        KOKKOS_LAMBDA(const Team& team) { all.find_inverse(team); });
  }
  /// From b to x on the first of these levels, and the residual there if wanted and there are two
  /// or more.
  void cycle(bool with_residual) const {
    const LastLevels all = *this;
    Kokkos::parallel_for(
        "multigrid: last levels", policy(),
        KOKKOS_LAMBDA(const Team& team) { all.cycle(team, with_residual); });
  }

  // What a team does.
  KOKKOS_INLINE_FUNCTION void find_inverse(const Team& team) const {
    const TeamLevel<Real>& last = m_levels(m_count - 1);
    double* M = m_inverse.matrix();
    const int size = m_inverse.size(), stride = last.smoothing.stride;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, size * size), [&](int k) { M[k] = 0.0; });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, last.unknowns), [&](int n) {
      const int c = last.cells[n];
      for (int slot = 0; slot < 9; ++slot) {
        const int j = wrap(c / stride + slot / 3 - 1, m_rows, m_periodic_y),
                  i = wrap(c % stride + slot % 3 - 1, m_columns, m_periodic_x);
        int other = 0;
        while (other < n && last.cells[other] != j * stride + i) ++other;
        if (last.cells[other] != j * stride + i) continue; // no unknown, or behind n
        for (int m = 0; m < 4; ++m) {
          const int row = 2 * n + m / 2, column = 2 * other + m % 2;
          if (column > row) continue;
          M[row * size + column] +=
              last.smoothing.A[36 * static_cast<std::ptrdiff_t>(c) + 4 * slot + m];
          M[column * size + row] = M[row * size + column];
        }
      }
    });
    team.team_barrier();
    m_inverse.find(team);
  }

  KOKKOS_INLINE_FUNCTION void cycle(const Team& team, bool with_residual) const {
    const int last = m_count - 1;
    for (int l = 0; l < last; ++l) {
      const TeamLevel<Real>& level = m_levels(l);
      const auto scale = static_cast<Real>(1.0 / level.polynomial.theta());
      for_each(team, level, [&](int c) { level.smoothing.start_from_zero(c, scale); });
      relax(team, level, true);
      for_each(team, m_levels(l + 1), [&](int c) { level.transfer.restrict_to(c); });
    }
    const TeamLevel<Real>& bottom = m_levels(last);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, 2 * bottom.unknowns), [&](int k) {
      const auto at = [&](int n) {
        return 2 * static_cast<std::ptrdiff_t>(bottom.cells[n / 2]) + n % 2;
      };
      const double value = m_inverse.row_times(
          k, [&](int n) { return static_cast<double>(bottom.smoothing.b[at(n)]); });
      bottom.smoothing.x[at(k)] = static_cast<Real>(value);
    });
    team.team_barrier();
    for (int l = last - 1; l >= 0; --l) {
      const TeamLevel<Real>& level = m_levels(l);
      const auto scale = static_cast<Real>(1.0 / level.polynomial.theta());
      for_each(team, level, [&](int c) { level.transfer.prolong_to(c); });
      for_each(team, level, [&](int c) { level.smoothing.start(c, scale); });
      relax(team, level, with_residual && l == 0);
    }
  }

private:
  static Policy policy() {
    return Policy(1, loops_on_host ? std::min(Exec().concurrency(), 4) : 256);
  }
  /// View index of a neighbour across a periodic edge.
  KOKKOS_INLINE_FUNCTION static int wrap(int i, int m, bool periodic) {
    return periodic ? (i - 1 + m) % m + 1 : i;
  }

  template <class F>
  KOKKOS_INLINE_FUNCTION static void for_each(const Team& team, const TeamLevel<Real>& level,
                                              const F& f) {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, level.unknowns),
                         [&](int n) { f(level.cells[n]); });
    team.team_barrier();
  }
  KOKKOS_INLINE_FUNCTION static void relax(const Team& team, const TeamLevel<Real>& level,
                                           bool with_residual) {
    Smoothing<Real> s = level.smoothing;
    ChebyshevSteps factors(level.polynomial);
    for (int k = 1; k < level.polynomial.degree; ++k) {
      factors.next();
      const auto keep = static_cast<Real>(factors.keep), push = static_cast<Real>(factors.push);
      for_each(team, level, [&](int c) { s.step(c, keep, push); });
      Real* const d = s.d;
      s.d = s.e, s.e = d;
    }
    for_each(team, level, [&](int c) { s.finish(c, with_residual); });
  }

  int m_count = 0;
  Kokkos::View<TeamLevel<Real>*, PinnedMem> m_table; ///< of the host
  Kokkos::View<TeamLevel<Real>*, WorkMem> m_levels;
  Inverse m_inverse;
  int m_rows = 0, m_columns = 0;
  bool m_periodic_x = false, m_periodic_y = false;
};

} // namespace nunatak
