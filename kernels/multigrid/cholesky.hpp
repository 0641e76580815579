// Cholesky's factors of a small dense symmetric positive semidefinite matrix, in double: found by the host, applied by one loop
// of one team of threads, so that a cycle of the multigrid brings nothing to the host.
//
// A pivot that is 0 to rounding belongs to an unknown that depends on those before it; that unknown is set to 0, and if the
// system has a solution the others solve it.
#pragma once

#include "kernels/grid/array.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace nunatak {

class Cholesky {
public:
  /// `matrix`: n x n, row by row; the lower triangle is read. Host code: no loop may be using the factors of before.
  void factorise(std::size_t n, std::vector<double> matrix) {
    const auto at = [&](std::size_t i, std::size_t j) -> double& { return matrix[i * n + j]; };
    constexpr double rounding = 1e-10;
    for (std::size_t j = 0; j < n; ++j) {
      const double diagonal = at(j, j);
      double pivot = diagonal;
      for (std::size_t k = 0; k < j; ++k) pivot -= at(j, k) * at(j, k);
      const bool depends = !(pivot > rounding * diagonal);
      at(j, j) = depends ? 0.0 : std::sqrt(pivot);
      for (std::size_t i = j + 1; i < n; ++i) {
        double sum = at(i, j);
        for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
        at(i, j) = depends ? 0.0 : sum / at(j, j);
      }
    }
    if (m_L.extent(0) != n) {
      m_L = decltype(m_L)(Kokkos::view_alloc(shared_label("Cholesky's factors"), Kokkos::WithoutInitializing), n, n);
      m_work = decltype(m_work)(Kokkos::view_alloc("Cholesky's right-hand sides", Kokkos::WithoutInitializing), 2, n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) m_L(i, j) = m_L(j, i) = at(i, j);
    }
  }

  /// Solves for b(k), k = 0..n - 1, and calls x(k, value) for each. One launch, which does not return when it is done. The order
  /// of additions to an unknown does not depend on the threads: those before it ascending, then those after it descending.
  template <class Get, class Put> void solve(const char* label, const Get& b, const Put& x) const {
    using Policy = Kokkos::TeamPolicy<Exec>;
    using Team = typename Policy::member_type;
    const int n = static_cast<int>(m_L.extent(0)), threads = loops_on_host ? 1 : 128;
    const auto L = m_L;
    double *first = m_work.data(), *second = first + n;
    Kokkos::parallel_for(
        label, Policy(1, threads), KOKKOS_LAMBDA(const Team& team) {
          // The values that are still changing are at `y`; all threads find the next one that is done.
          const auto next = [&](const double* y, int k) { return L(k, k) > 0.0 ? y[k] / L(k, k) : 0.0; };
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, n), [&](int i) { first[i] = b(i); });
          team.team_barrier();
          for (int k = 0; k < n; ++k) {
            const double* row = &L(k, 0);
            const double done = next(first, k);
            if (team.team_rank() == 0) second[k] = done;
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, k + 1, n), [&](int i) { first[i] -= row[i] * done; });
            team.team_barrier();
          }
          for (int k = n - 1; k >= 0; --k) {
            const double* row = &L(k, 0);
            const double done = next(second, k);
            if (team.team_rank() == 0) x(k, done);
            Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, k), [&](int i) { second[i] -= row[i] * done; });
            team.team_barrier();
          }
        });
  }

private:
  Shared<double**> m_L;                                        // below the diagonal, and mirrored: rows and columns lie together
  Kokkos::View<double**, Kokkos::LayoutRight, WorkMem> m_work; // of a solve
};

} // namespace nunatak
