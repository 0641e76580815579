// The coarse operators of kernels/multigrid/multigrid.hpp, and its V-cycle.
#pragma once

#include "kernels/multigrid/multigrid.hpp"

namespace nunatak {

template <class Real> void Multigrid<Real>::update_ghosts(Level& level, int width, Rows<Real> NinePoint<Real>::*rows) {
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

// --- operators ------------------------------------------------------------------------------------------------------------

template <class Real> void Multigrid<Real>::set_operator() {
  for (std::size_t l = 0; l < m_levels.size(); ++l) {
    Level& level = m_levels[l];
    if (level.next == Next::merged) {
      level.merge.gather(36, data(level, &NinePoint<Real>::A), data(m_levels[l + 1], &NinePoint<Real>::A));
      continue;
    }
    if (level.next == Next::coarser) update_ghosts(level, 36, &NinePoint<Real>::A);
    for (const NinePoint<Real>& part : level.parts) invert_diagonal(part, level.next == Next::coarser ? level.rings : 0);
    work(level, visits_of_operator);
    if (level.next != Next::coarser) continue;
    for (std::size_t n = 0; n < level.parts.size(); ++n)
      galerkin(level.parts[n], m_levels[l + 1].parts[n], level.x[n], level.y[n]);
  }
  if (!m_levels.back().parts.empty()) factorise();
}

// One rank has the last level.
template <class Real> void Multigrid<Real>::factorise() {
  const NinePoint<Real>& part = m_levels.back().parts[0];
  const Patch& p = part.patch;
  const Decomposition& d = m_levels.back().holders.decomposition();
  Kokkos::fence("multigrid: the matrix of the last level");
  const auto A = on_host(part.A);
  const auto cells = part.cells;
  const int stride = p.xm + 2;
  std::vector<int> number(static_cast<std::size_t>(stride * (p.ym + 2)), -1); // of the unknown at a place
  for (int n = 0; n < part.size(); ++n) number[static_cast<std::size_t>(cells(n))] = n;
  const std::size_t size = 2 * static_cast<std::size_t>(part.size());
  std::vector<double> dense(size * size, 0.0);
  const auto wrap = [](int i, int m, bool periodic) { return periodic ? (i - 1 + m) % m + 1 : i; };
  for (int n = 0; n < part.size(); ++n) {
    for (int slot = 0; slot < 9; ++slot) {
      const int j = wrap(cells(n) / stride + slot / 3 - 1, p.ym, d.periodic_y),
                i = wrap(cells(n) % stride + slot % 3 - 1, p.xm, d.periodic_x);
      const int other = number[static_cast<std::size_t>(j * stride + i)];
      if (other < 0) continue;
      for (int m = 0; m < 4; ++m) {
        const auto row = static_cast<std::size_t>(2 * n + m / 2), column = static_cast<std::size_t>(2 * other + m % 2);
        dense[row * size + column] += A.data()[36 * static_cast<std::ptrdiff_t>(cells(n)) + 4 * slot + m];
      }
    }
  }
  m_bottom.factorise(size, std::move(dense));
  const Holders& one = m_levels.back().holders;
  one.all().work(one.place(0), std::int64_t{part.size()} * part.size() * part.size() / 9); // 76 us for 60 cells
}

// --- the cycle ------------------------------------------------------------------------------------------------------------

// x on the last level, in one launch.
template <class Real> void solve_exactly(const Cholesky& factors, const NinePoint<Real>& part) {
  const auto b = part.b, x = part.x;
  const auto cells = part.cells;
  factors.solve(
      "multigrid: last level", KOKKOS_LAMBDA(int k) { return static_cast<double>(b.data()[2 * cells(k / 2) + k % 2]); },
      KOKKOS_LAMBDA(int k, double value) { x.data()[2 * cells(k / 2) + k % 2] = static_cast<Real>(value); });
}

template <class Real> void Multigrid<Real>::cycle(std::size_t l, bool with_residual) {
  Level& level = m_levels[l];
  if (level.parts.empty()) return; // other ranks do it
  if (level.next == Next::none) {
    solve_exactly(m_bottom, level.parts[0]);
    work(level, visits_of_bottom);
    if (with_residual) {
      update_solution(level);
      start(level.parts[0], level.polynomial, 0);
    }
    return;
  }
  Level& next = m_levels[l + 1];
  if (level.next == Next::merged) {
    level.merge.gather(2, data(level, &NinePoint<Real>::b), data(next, &NinePoint<Real>::b));
    cycle(l + 1, with_residual);
    update_solution(next);
    level.merge.give_back(2, data(next, &NinePoint<Real>::x), data(level, &NinePoint<Real>::x));
    if (with_residual) level.merge.give_back_owned(2, data(next, &NinePoint<Real>::r), data(level, &NinePoint<Real>::r));
    return;
  }
  const bool one_ring = level.rings == 1;
  update_ghosts(level, 2, &NinePoint<Real>::b);
  for (const NinePoint<Real>& part : level.parts) start_from_zero(part, level.polynomial, level.rings);
  relax(level, level.rings, one_ring ? 0 : 1);
  work(level, visits_of_smoothing(level));
  if (one_ring) update_ghosts(level, 2, &NinePoint<Real>::r);
  for (std::size_t n = 0; n < level.parts.size(); ++n) restrict_residual(level.parts[n], next.parts[n], level.x[n], level.y[n]);
  cycle(l + 1, false);
  update_solution(next);
  const int ring = one_ring ? 1 : level.polynomial.degree + (with_residual ? 1 : 0); // then every step is right in one ring less
  for (std::size_t n = 0; n < level.parts.size(); ++n) prolong(level.parts[n], next.parts[n], level.x[n], level.y[n], ring);
  const Decomposition& d = level.holders.decomposition();
  if (d.periodic_x || d.periodic_y) update_ghosts(level, 2, &NinePoint<Real>::x);
  for (const NinePoint<Real>& part : level.parts) start(part, level.polynomial, ring - 1);
  work(level, visits_of_product, 1, ring - 1);
  relax(level, ring - 1, with_residual ? 0 : -1);
  work(level, visits_of_smoothing(level));
}

template <class Real> void Multigrid<Real>::relax(Level& level, int ring, int residual) {
  const double theta = level.polynomial.theta(), delta = level.polynomial.delta();
  double rho = delta / theta;
  for (int k = 1; k < level.polynomial.degree; ++k) {
    const double next = 1.0 / (2.0 * theta / delta - rho);
    if (ring == 0) update_ghosts(level, 2, &NinePoint<Real>::d), ring = 1;
    ring -= 1;
    for (NinePoint<Real>& part : level.parts)
      step_ghosts(part, ring + 1, ring + 1), step(part, next * rho, 2.0 * next / delta, ring);
    work(level, visits_of_product, 1, ring);
    rho = next;
  }
  if (residual < 0) {
    for (const NinePoint<Real>& part : level.parts) finish(part, false, ring);
    return;
  }
  if (ring == 0) update_ghosts(level, 2, &NinePoint<Real>::d), ring = 1;
  for (const NinePoint<Real>& part : level.parts) step_ghosts(part, residual + 1, ring), finish(part, true, residual);
  work(level, visits_of_product, 1, residual);
}

} // namespace nunatak
