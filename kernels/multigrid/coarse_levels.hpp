// The last level of multigrid.hpp and, on a GPU, the levels before it that one rank has: a launch
// for their operators, and one for their part of a cycle, where each pass of each level would be a
// launch. A team of threads makes the passes (passes.hpp) one after another, with the same bits.
//
//   level 3   restrict                                          prolong, residual, steps, move
//   level 4             restrict            prolong, residual, ...
//   level 5                       inverse                       all threads wait after each pass
#pragma once

#include "kernels/multigrid/last_level.hpp"
#include "kernels/multigrid/smoother.hpp"
#include "kernels/multigrid/transfer.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace nunatak {

/// The passes between a level and the next coarser one, neither of which exchanges ghosts.
template <class Real> struct CoarseLevel {
  Visited here, next;
  Pass<Real, 4, CellValues<Real>, InverseOfDiagonal<Real>> inverse;
  Pass<Real, 36, CellValues<Real>, Galerkin<Real>> galerkin;
  Pass<Real, 2, Planes<Real, 2>, Restriction<Real>> restriction;
  Pass<Real, 2, Planes<Real, 2>, Prolongation<Real>> prolongation;
  Pass<Real, 4, Planes<Real, 4>, FirstStep<Real>> first_step;
  Pass<Real, 6, Planes<Real, 6>, NextStep<Real>> step[2]; ///< from d to e, and back
  Pass<Real, 2, Planes<Real, 2>, LastMove<Real>> last_move;
  Chebyshev polynomial;

  CoarseLevel(const NinePoint<Real>& fine, const NinePoint<Real>& coarse, const HatAxis& x,
              const HatAxis& y, const Chebyshev& polynomial_)
      : here(fine), next(coarse), inverse(inverse_of_diagonal(fine)),
        galerkin(nunatak::galerkin(fine, coarse, x, y)),
        restriction(nunatak::restriction(fine, coarse, x, y)),
        prolongation(nunatak::prolongation(fine, coarse, x, y)),
        first_step(nunatak::first_step(fine, polynomial_)),
        step{next_step(fine, ChebyshevSteps(polynomial_)),
             next_step(swapped(fine), ChebyshevSteps(polynomial_))},
        last_move(nunatak::last_move(polynomial_.degree % 2 == 0 ? swapped(fine) : fine)),
        polynomial(polynomial_) {}

private:
  static NinePoint<Real> swapped(NinePoint<Real> part) { // of the same arrays
    std::swap(part.d, part.e);
    return part;
  }
};

template <class Real> class CoarseLevels {
public:
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<512, 1>>;
  using Team = typename LastLevel<Real>::Team;
  /// The finest of them has 64 x 64 cells with ghosts: one multiprocessor reads the matrix of more
  /// for longer than launches on all of them take.
  static constexpr std::size_t most_cells = 5000;

  CoarseLevels() = default;
  /// `levels`: finest first; after them the last level.
  CoarseLevels(const std::vector<CoarseLevel<Real>>& levels, const LastLevel<Real>& last)
      : m_count(static_cast<int>(levels.size())),
        m_levels(Kokkos::view_alloc(shared_label("coarse levels"), Kokkos::WithoutInitializing),
                 levels.size()),
        m_last(last) {
    std::uninitialized_copy(levels.begin(), levels.end(), m_levels.data());
  }

  void set_operator() const {
    const CoarseLevels levels = *this;
    Kokkos::parallel_for(
        "multigrid: coarse operators", policy(),
        KOKKOS_LAMBDA(const Team& team) { levels.set_operator(team); });
  }
  void cycle() const {
    const CoarseLevels levels = *this;
    Kokkos::parallel_for(
        "multigrid: coarse levels", policy(),
        KOKKOS_LAMBDA(const Team& team) { levels.cycle(team); });
  }

  KOKKOS_INLINE_FUNCTION void set_operator(const Team& team) const {
    for (int l = 0; l < m_count; ++l) {
      const CoarseLevel<Real>& level = m_levels(l);
      each(team, level.here, level.inverse);
      each(team, level.next, level.galerkin);
    }
    m_last.find_inverse(team);
  }
  KOKKOS_INLINE_FUNCTION void cycle(const Team& team) const {
    for (int l = 0; l < m_count; ++l) each(team, m_levels(l).next, m_levels(l).restriction);
    m_last.solve(team);
    team.team_barrier();
    for (int l = m_count - 1; l >= 0; --l) {
      const CoarseLevel<Real>& level = m_levels(l);
      each(team, level.here, level.prolongation);
      each(team, level.here, level.first_step);
      ChebyshevSteps factors(level.polynomial);
      for (int k = 0; k + 1 < level.polynomial.degree; ++k) {
        factors.next();
        auto step = level.step[k % 2];
        step.compute.keep = static_cast<Real>(factors.keep);
        step.compute.push = static_cast<Real>(factors.push);
        each(team, level.here, step);
      }
      each(team, level.here, level.last_move);
    }
  }

private:
  /// All threads wait before the next pass.
  template <class P>
  KOKKOS_INLINE_FUNCTION static void each(const Team& team, const Visited& of, const P& pass) {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 0, of.cells),
                         [&](int c) { of.visit(c, 0, pass); });
    team.team_barrier();
  }
  static Policy policy() {
    return Policy(1, std::min(Exec().concurrency(), loops_on_host ? 4 : 512));
  }

  int m_count = 0;
  Kokkos::View<CoarseLevel<Real>*, SharedMem> m_levels;
  LastLevel<Real> m_last;
};

} // namespace nunatak
