// The coarse operators of kernels/multigrid/multigrid.hpp, and its V-cycle.
#pragma once

#include "kernels/multigrid/multigrid.hpp"

namespace nunatak {

template <class Real>
void Multigrid<Real>::update_ghosts(Level& level, int width, Rows<Real> NinePoint<Real>::*rows) {
  if (!level.parts.empty()) level.halo.move(width, data(level, rows), data(level, rows));
}

// Where patches have been merged, x has come back with its ghosts.
template <class Real> void Multigrid<Real>::update_solution(Level& level) {
  if (level.next != Next::merged) update_ghosts(level, 2, &NinePoint<Real>::x);
}

template <class Real> void Multigrid<Real>::work(Level& level, int visits, int first, int last) {
  const Holders& holders = level.holders;
  for (int n = 0; n < holders.local_size(); ++n) {
    const NinePoint<Real>& part = level.parts[static_cast<std::size_t>(n)];
    const int cells = part.within_ring(last) - (first > 0 ? part.within_ring(first - 1) : 0);
    if (cells > 0) holders.all().work(holders.place(n), std::int64_t{visits} * cells);
  }
}

// --- operators
// ------------------------------------------------------------------------------------------------------------

template <class Real> void Multigrid<Real>::set_operator() {
  for (std::size_t l = 0; l < m_levels.size(); ++l) {
    Level& level = m_levels[l];
    if (level.next == Next::merged) {
      level.merge.gather(36, data(level, &NinePoint<Real>::A),
                         data(m_levels[l + 1], &NinePoint<Real>::A));
      continue;
    }
    if (level.next == Next::coarser) update_ghosts(level, 36, &NinePoint<Real>::A);
    for (const NinePoint<Real>& part : level.parts)
      invert_diagonal(part, level.next == Next::coarser ? level.rings : 0);
    work(level, visits_of_operator);
    if (level.next != Next::coarser) continue;
    for (std::size_t n = 0; n < level.parts.size(); ++n)
      galerkin(level.parts[n], m_levels[l + 1].parts[n], level.x[n], level.y[n]);
  }
  if (m_levels.back().parts.empty()) return;
  m_last.find_inverse();
  const Level& last = m_levels.back(); // on one rank
  const std::int64_t cells = last.parts[0].size();
  last.holders.all().work(last.holders.place(0),
                          visits_of_inverse * cells * cells * cells); // 53 us for 25 cells
}

// --- the cycle
// ------------------------------------------------------------------------------------------------------------

template <class Real> void Multigrid<Real>::cycle(std::size_t l, bool with_residual) {
  Level& level = m_levels[l];
  if (level.parts.empty()) return; // other ranks do it
  if (l == m_first_of_last) {
    m_last.cycle(with_residual);
    for (Level* other = &level; other != &m_levels.back(); ++other)
      work(*other, 2 * visits_of_smoothing(*other));
    work(m_levels.back(), visits_of_bottom);
    if (with_residual && level.next == Next::none) {
      update_solution(level);
      start(level.parts[0], level.polynomial, 0);
    }
    return;
  }
  Level& next = m_levels[l + 1];
  if (level.next == Next::merged) {
    level.merge.gather(2, data(level, &NinePoint<Real>::b), data(next, &NinePoint<Real>::b));
    cycle(l + 1, with_residual);
    if (!with_residual) {
      update_solution(next);
      level.merge.give_back(2, data(next, &NinePoint<Real>::x), data(level, &NinePoint<Real>::x));
      return;
    }
    using Member = Rows<Real> NinePoint<Real>::*;
    for (const Member rows :
         {&NinePoint<Real>::x, &NinePoint<Real>::r}) // no finer grid needs ghosts
      level.merge.give_back_owned(2, data(next, rows), data(level, rows));
    return;
  }
  const bool one_ring = level.rings == 1;
  update_ghosts(level, 2, &NinePoint<Real>::b);
  for (const NinePoint<Real>& part : level.parts)
    start_from_zero(part, level.polynomial, level.rings);
  relax(level, level.rings, one_ring ? 0 : 1);
  work(level, visits_of_smoothing(level));
  if (one_ring) update_ghosts(level, 2, &NinePoint<Real>::r);
  for (std::size_t n = 0; n < level.parts.size(); ++n)
    restrict_residual(level.parts[n], next.parts[n], level.x[n], level.y[n]);
  cycle(l + 1, false);
  update_solution(next);
  const int ring = one_ring
                       ? 1
                       : level.polynomial.degree +
                             (with_residual ? 1 : 0); // then every step is right in one ring less
  for (std::size_t n = 0; n < level.parts.size(); ++n)
    prolong(level.parts[n], next.parts[n], level.x[n], level.y[n], ring);
  const Decomposition& d = level.holders.decomposition();
  if (d.periodic_x || d.periodic_y) update_ghosts(level, 2, &NinePoint<Real>::x);
  for (const NinePoint<Real>& part : level.parts) start(part, level.polynomial, ring - 1);
  work(level, visits_of_product, 1, ring - 1);
  relax(level, ring - 1, with_residual ? 0 : -1);
  work(level, visits_of_smoothing(level));
}

template <class Real> void Multigrid<Real>::relax(Level& level, int ring, int residual) {
  ChebyshevSteps factors(level.polynomial);
  for (int k = 1; k < level.polynomial.degree; ++k) {
    factors.next();
    if (ring == 0) update_ghosts(level, 2, &NinePoint<Real>::d), ring = 1;
    ring -= 1;
    for (NinePoint<Real>& part : level.parts)
      step_ghosts(part, ring + 1, ring + 1), step(part, factors, ring);
    work(level, visits_of_product, 1, ring);
  }
  if (residual < 0) {
    for (const NinePoint<Real>& part : level.parts) finish(part, false, ring);
    return;
  }
  if (ring == 0) update_ghosts(level, 2, &NinePoint<Real>::d), ring = 1;
  for (const NinePoint<Real>& part : level.parts)
    step_ghosts(part, residual + 1, ring), finish(part, true, residual);
  work(level, visits_of_product, 1, residual);
}

} // namespace nunatak
