// The coarse operators of kernels/multigrid/multigrid.hpp, and its V-cycle.
#pragma once

#include "kernels/multigrid/multigrid.hpp"

namespace nunatak {

/// The values of the unknowns of `part` (x or r) from those of the whole grid.
template <class Real> void take_back(const NinePoint<Real>& part, const Rows<Real>& x, const Rows<Real>& all) {
  const Patch p = part.patch;
  for_each_unknown(
      "multigrid: take back", part, KOKKOS_LAMBDA(int c) {
        const int j = c / (p.xm + 2), i = c % (p.xm + 2), gj = p.global_j(j) + 1, gi = p.global_i(i) + 1;
        x(j, i, 0) = all(gj, gi, 0);
        x(j, i, 1) = all(gj, gi, 1);
      });
}

template <class Real> template <class F> void Multigrid<Real>::update_ghosts(Level& level, const F& rows_of) {
  std::vector<std::vector<Ghosted>> arrays;
  for (const NinePoint<Real>& part : level.parts) arrays.push_back({rows_of(part)});
  level.ranks->update_ghosts(arrays);
}

// What is gathered is done by every rank.
template <class Real> void Multigrid<Real>::work(Level& level, int visits) {
  std::int64_t whole = 0;
  if (level.next == Next::gathered) {
    for (auto l = static_cast<std::size_t>(&level - m_levels.data()) + 1; l < m_levels.size(); ++l)
      whole += m_levels[l].unknown_cells;
  }
  for (std::size_t n = 0; n < level.parts.size(); ++n)
    level.ranks->work(static_cast<int>(n), visits * (level.next == Next::gathered ? whole : level.parts[n].size()));
}

// --- operators ------------------------------------------------------------------------------------------------------------

template <class Real> void Multigrid<Real>::set_operator() {
  for (std::size_t l = 0; l < m_levels.size(); ++l) {
    Level& level = m_levels[l];
    if (level.next == Next::gathered) {
      const std::vector<double> all = gather(level, 36, [](const NinePoint<Real>& part) { return part.A; });
      const auto A = Kokkos::create_mirror_view(m_levels[l + 1].parts[0].A);
      for (std::size_t n = 0; n < level.places.size(); ++n) {
        for (std::size_t e = 0; e < 36; ++e)
          A.data()[36 * static_cast<std::size_t>(level.places[n]) + e] = static_cast<Real>(all[36 * n + e]);
      }
      Kokkos::deep_copy(m_levels[l + 1].parts[0].A, A);
      work(level, visits_of_operator);
      continue;
    }
    for (const NinePoint<Real>& part : level.parts) invert_diagonal(part);
    if (level.next != Next::coarser) continue;
    update_ghosts(level, [](const NinePoint<Real>& part) { return part.A; });
    for (std::size_t n = 0; n < level.parts.size(); ++n)
      galerkin(level.parts[n], m_levels[l + 1].parts[n], level.x[n], level.y[n]);
    work(level, visits_of_operator);
  }
  factorise();
}

// The last level is whole on every process.
template <class Real> void Multigrid<Real>::factorise() {
  const NinePoint<Real>& part = m_levels.back().parts[0];
  const Patch& p = part.patch;
  const Decomposition& d = m_levels.back().ranks->decomposition();
  const auto A = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.A);
  const auto cells = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.cells);
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
  m_bottom = Cholesky(size, std::move(dense));
}

// --- the cycle ------------------------------------------------------------------------------------------------------------

template <class Real> void Multigrid<Real>::cycle(std::size_t l, bool with_residual) {
  Level& level = m_levels[l];
  if (level.next == Next::none) {
    solve_bottom(level.parts[0]);
    if (with_residual) {
      update_ghosts(level, [](const NinePoint<Real>& part) { return part.x; });
      start(level.parts[0], m_polynomial);
    }
    return;
  }
  Level& next = m_levels[l + 1];
  if (level.next == Next::gathered) {
    const NinePoint<Real>& whole = next.parts[0];
    scatter(whole.b, level.places, gather(level, 2, [](const NinePoint<Real>& part) { return part.b; }));
    cycle(l + 1, with_residual);
    for (const NinePoint<Real>& part : level.parts) {
      take_back(part, part.x, whole.x);
      if (with_residual) take_back(part, part.r, whole.r);
    }
    work(level, visits_of_cycle);
    return;
  }
  for (const NinePoint<Real>& part : level.parts) start_from_zero(part, m_polynomial), clear_ghosts(part);
  relax(level, true);
  work(level, visits_of_cycle / 2);
  update_ghosts(level, [](const NinePoint<Real>& part) { return part.r; });
  for (std::size_t n = 0; n < level.parts.size(); ++n) restrict_residual(level.parts[n], next.parts[n], level.x[n], level.y[n]);
  cycle(l + 1, false);
  update_ghosts(next, [](const NinePoint<Real>& part) { return part.x; });
  for (std::size_t n = 0; n < level.parts.size(); ++n) prolong(level.parts[n], next.parts[n], level.x[n], level.y[n]);
  const Decomposition& d = level.ranks->decomposition();
  if (d.periodic_x || d.periodic_y) update_ghosts(level, [](const NinePoint<Real>& part) { return part.x; });
  for (const NinePoint<Real>& part : level.parts) start(part, m_polynomial);
  relax(level, with_residual);
  work(level, visits_of_cycle / 2);
}

template <class Real> void Multigrid<Real>::relax(Level& level, bool with_residual) {
  const auto steps = [](const NinePoint<Real>& part) { return part.d; };
  const double theta = m_polynomial.theta(), delta = m_polynomial.delta();
  double rho = delta / theta;
  for (int k = 1; k < m_polynomial.degree; ++k) {
    const double next = 1.0 / (2.0 * theta / delta - rho);
    update_ghosts(level, steps);
    for (NinePoint<Real>& part : level.parts) step_ghosts(part), step(part, next * rho, 2.0 * next / delta);
    rho = next;
  }
  if (with_residual) update_ghosts(level, steps);
  for (const NinePoint<Real>& part : level.parts) {
    if (with_residual) step_ghosts(part);
    finish(part, with_residual);
  }
}

template <class Real> void Multigrid<Real>::solve_bottom(const NinePoint<Real>& part) const {
  const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.b);
  const auto x = Kokkos::create_mirror_view(part.x);
  const auto cells = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.cells);
  std::vector<double> f(m_bottom.size());
  for (std::size_t k = 0; k < f.size(); ++k) f[k] = b.data()[2 * cells(static_cast<int>(k / 2)) + static_cast<int>(k % 2)];
  m_bottom.solve(f);
  for (std::size_t k = 0; k < f.size(); ++k)
    x.data()[2 * cells(static_cast<int>(k / 2)) + static_cast<int>(k % 2)] = static_cast<Real>(f[k]);
  Kokkos::deep_copy(part.x, x);
}

// --- few unknowns on every process ----------------------------------------------------------------------------------------

// Numbers travel as the bits of doubles: floats are doubles, too.
template <class Real> template <class F> std::vector<double> Multigrid<Real>::gather(Level& level, int width, const F& rows_of) {
  std::vector<std::vector<std::int64_t>> mine;
  for (const NinePoint<Real>& part : level.parts) {
    const auto rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rows_of(part));
    const auto cells = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.cells);
    mine.emplace_back();
    for (int n = 0; n < part.size(); ++n) {
      for (int m = 0; m < width; ++m) {
        const double value = rows.data()[width * static_cast<std::ptrdiff_t>(cells(n)) + m];
        std::int64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        mine.back().push_back(bits);
      }
    }
  }
  std::vector<int> lengths = level.lengths;
  for (int& length : lengths) length *= width;
  const std::vector<std::int64_t> all = level.ranks->gather_all(mine, lengths);
  std::vector<double> values(all.size());
  if (!all.empty()) std::memcpy(values.data(), all.data(), all.size() * sizeof(double));
  return values;
}

template <class Real>
void Multigrid<Real>::scatter(const Rows<Real>& b, const std::vector<int>& places, const std::vector<double>& values) const {
  const auto host = Kokkos::create_mirror_view(b);
  for (std::size_t k = 0; k < values.size(); ++k)
    host.data()[2 * static_cast<std::size_t>(places[k / 2]) + k % 2] = static_cast<Real>(values[k]);
  Kokkos::deep_copy(b, host);
}

} // namespace nunatak
