// Levels of multigrid.hpp, their operators, and the cycle, instantiated once.
#include "kernels/multigrid/multigrid.hpp"

#include <algorithm>
#include <numeric>

namespace nunatak {

namespace {

/// The axes to halve next: both, unless one is much coarser than the other or has one point.
Halving next_halving(const Decomposition& d, double dx, double dy) {
  Halving h{d.Mx > 1, d.My > 1};
  if (h.x && h.y) h = {dx <= 1.5 * dy, dy <= 1.5 * dx};
  return h;
}

/// True if the grid is too large for this many ranks, even with few unknowns.
bool is_large(const Decomposition& d, int ranks = 1) {
  return std::int64_t{d.Mx} * d.My > std::int64_t{50000} * ranks;
}

} // namespace

// --- levels: existing hats, ownership, merging of patches

template <class Real>
Multigrid<Real>::Multigrid(Ranks& ranks, double dx, double dy,
                           const std::vector<Array2<int>>& active, const MultigridOptions& options)
    : m_options(options), m_all(ranks) {
  std::vector<int> members(
      static_cast<std::size_t>(ranks.decomposition().size())); // the ranks of its patches
  std::iota(members.begin(), members.end(), 0);
  add_finest({m_all, ranks.decomposition(), std::move(members)}, active);
  std::vector<std::vector<std::int64_t>> count;
  for (const NinePoint<Real>& part : m_levels[0].parts) count.push_back({part.size()});
  ranks.sum(count);
  // A lower bound of the unknown cells of the current level: halving an axis leaves at least half.
  std::int64_t least = count[0][0];
  while (!m_levels.back().parts.empty()) {
    const Decomposition& d = m_levels.back().holders.decomposition();
    const Halving halving = next_halving(d, dx, dy);
    const int side = side_of_blocks(least, halving);
    if (side > 1) {
      add_merged(side);
      continue;
    }
    if (d.size() == 1) least = m_levels.back().parts[0].size();
    if ((least <= options.bottom && !is_large(d)) || (!halving.x && !halving.y)) break;
    add_coarser(halving);
    if (halving.x) {
      least = (least + 1) / 2;
      dx *= 2.0;
    }
    if (halving.y) {
      least = (least + 1) / 2;
      dy *= 2.0;
    }
  }
  count_unknowns(ranks);
  put_coarse_levels_together();
}

// The last level and, on a GPU, those before it that one rank has: below the finest grid, and with
// no ghosts to exchange.
template <class Real> void Multigrid<Real>::put_coarse_levels_together() {
  const Level& last = m_levels.back();
  m_first_coarse = m_levels.size();
  if (last.parts.empty()) return;
  m_first_coarse -= 1;
  std::vector<CoarseLevel<Real>> levels;
  const auto is_finer = [](const Level& level) { return level.next == Next::coarser; };
  for (std::size_t l = m_first_coarse; !loops_on_host && l-- > 1;) {
    const Level& level = m_levels[l];
    const Decomposition& d = level.holders.decomposition();
    if (!is_finer(level) || d.size() > 1 || d.periodic_x || d.periodic_y ||
        level.parts[0].active.size() > CoarseLevels<Real>::most_cells ||
        std::none_of(m_levels.begin(), m_levels.begin() + static_cast<std::ptrdiff_t>(l), is_finer))
      break;
    levels.emplace(levels.begin(), level.parts[0], m_levels[l + 1].parts[0], level.x[0], level.y[0],
                   level.polynomial);
    m_first_coarse = l;
  }
  m_coarse =
      CoarseLevels<Real>(levels, LastLevel<Real>(last.parts[0], last.holders.decomposition()));
}

// One rank has the last level and levels of few unknowns, but never a large merged patch.
template <class Real>
int Multigrid<Real>::side_of_blocks(std::int64_t least, Halving halving) const {
  const Decomposition& d = m_levels.back().holders.decomposition();
  if (d.size() == 1) return 1;
  const int least_cells = d.periodic_x || d.periodic_y ? 1 : rings_wanted(false);
  const auto can_go_on = [&](int side) {
    const Decomposition m = merged(d, side);
    const bool enough =
        least >= std::int64_t{m_options.share} * m.size() || is_large(d, std::max(1, m.size() / 4));
    return (halving.x || halving.y) && enough && patches_have(coarser(m, halving), least_cells);
  };
  const int side = can_go_on(1) ? 1 : can_go_on(2) ? 2 : 4;
  if (is_large(d)) return side;
  return least <= std::max(m_options.gather, m_options.bottom) ? 4 : side;
}

template <class Real> int Multigrid<Real>::rings_of(const Decomposition& d, bool finest) const {
  const int rings = rings_wanted(finest);
  return d.size() == 1 || d.periodic_x || d.periodic_y || !patches_have(d, rings) ? 1 : rings;
}

template <class Real>
void Multigrid<Real>::add_finest(const Holders& holders, const std::vector<Array2<int>>& active) {
  const int rings = rings_of(holders.decomposition(), true);
  std::vector<Array2<int>> cells;
  for (const int n : holders.locals()) {
    const Patch p = holders.patch(n);
    cells.push_back(with_lanes(p, active[n], grown(p, rings - 1)));
  }
  add_level(holders, true, rings, cells);
}

template <class Real>
void Multigrid<Real>::add_level(const Holders& holders, bool finest, int rings,
                                const std::vector<Array2<int>>& cells) {
  Level level{
      holders, Chebyshev{degree(finest)}, rings, halo(holders, rings), {}, {}, Next::none, {}, {},
      {}};
  const auto data = [&](std::size_t n) { return values_of(cells[n]); };
  if (!cells.empty() && (rings > 1 || !m_levels.empty()))
    level.halo.move(1, data, data); // the finest grid may have its ghosts
  level.halo.keep(cells, cells);
  for (const int n : holders.locals()) level.parts.emplace_back(holders.patch(n), cells[n], rings);
  for (NinePoint<Real>& part : level.parts) level.passes.emplace_back(part);
  m_levels.push_back(std::move(level));
}

template <class Real> void Multigrid<Real>::add_coarser(Halving halving) {
  Level& fine = m_levels.back();
  const Decomposition& d = fine.holders.decomposition();
  const Holders holders(m_all, coarser(d, halving), fine.holders.members());
  const int rings = rings_of(holders.decomposition(), false);
  std::vector<Array2<int>> cells;
  for (const int n : holders.locals()) {
    const NinePoint<Real>& part = fine.parts[n];
    const Patch p = holders.patch(n), array = grown(p, rings - 1);
    fine.x.push_back(x_axis(d, part.patch, array, halving));
    fine.y.push_back(y_axis(d, part.patch, array, halving));
    cells.push_back(with_lanes(
        array, coarse_cells(array, p, part.active, fine.x.back(), fine.y.back()), array));
  }
  fine.next = Next::coarser;
  add_level(holders, false, rings, cells);
}

// The same grid on the first ranks of blocks of side x side patches.
template <class Real> void Multigrid<Real>::add_merged(int side) {
  Level& fine = m_levels.back();
  const Decomposition &d = fine.holders.decomposition(), m = merged(d, side);
  std::vector<int> firsts;
  for (int n = 0; n < m.size(); ++n)
    firsts.push_back(fine.holders.member(n / m.px * side * d.px + n % m.px * side));
  const Holders holders(m_all, m, std::move(firsts));
  const bool finest = std::all_of(m_levels.begin(), m_levels.end(),
                                  [](const Level& l) { return l.next != Next::coarser; });
  const int rings = rings_of(m, finest);
  fine.next = Next::merged;
  fine.merge = Merge(fine.holders, fine.rings, holders, rings, side);
  std::vector<Array2<int>> from, cells;
  for (const NinePoint<Real>& part : fine.parts) from.push_back(part.active);
  for (const int n : holders.locals())
    cells.push_back(make_marks(grown(holders.patch(n), rings - 1)));
  fine.merge.gather(
      1, [&](std::size_t n) { return values_of(from[n]); },
      [&](std::size_t n) { return values_of(cells[n]); });
  add_level(holders, finest, rings, cells);
  m_levels[m_levels.size() - 2].merge.keep(from, cells);
}

// One sum over all ranks for all grids.
template <class Real> void Multigrid<Real>::count_unknowns(Ranks& ranks) {
  std::vector<std::vector<std::int64_t>> counts(
      static_cast<std::size_t>(ranks.local_size()),
      std::vector<std::int64_t>(m_unknown_cells.size(), 0));
  std::size_t grid = 0;
  for (const Level& level : m_levels) {
    if (level.next == Next::merged) continue; // the next level has the same grid
    for (const NinePoint<Real>& part : level.parts) counts[0][grid] += part.size();
    grid += 1;
  }
  ranks.sum(counts);
  std::copy(counts[0].begin(), counts[0].end(), m_unknown_cells.begin());
}

template <class Real> std::string Multigrid<Real>::describe() const {
  return "multigrid: Chebyshev smoothing of degree " + std::to_string(m_options.smoothing) +
         ", on coarse grids one more; levels (unknown cells): " + levels();
}

template <class Real> std::string Multigrid<Real>::levels() const {
  std::string text;
  std::size_t grid = 0;
  int ranks = 1;
  for (const Level& level : m_levels) {
    if (level.next == Next::merged) continue;
    const Decomposition& d = level.holders.decomposition();
    text += (text.empty() ? "" : ", ") + std::to_string(d.Mx) + " x " + std::to_string(d.My) +
            " (" + std::to_string(m_unknown_cells[grid++]) + ")";
    if (d.size() != ranks)
      text += " on " + std::to_string(d.size()) + (d.size() == 1 ? " rank" : " ranks");
    ranks = d.size();
  }
  return text;
}

// --- ghosts and work

template <class Real>
void Multigrid<Real>::update_ghosts(Level& level, int width, Rows<Real> NinePoint<Real>::*rows) {
  if (level.parts.empty() || level.halo.empty()) return;
  for (const int n : level.holders.locals()) level.passes[n].run();
  // on coarse grids messages are part of their share
  const StepShare share(m_all, &level == &m_levels[0] ? "SSA: ghosts" : nullptr);
  level.halo.move(width, data(level, rows), data(level, rows));
}

// After a merge, x is returned with its ghosts.
template <class Real> void Multigrid<Real>::update_solution(Level& level) {
  if (level.next != Next::merged) update_ghosts(level, 2, &NinePoint<Real>::x);
}

template <class Real> void Multigrid<Real>::work(Level& level, int visits, int first, int last) {
  const Holders& holders = level.holders;
  for (int n = 0; n < holders.local_size(); ++n) {
    const NinePoint<Real>& part = level.parts[n];
    const int cells = part.within_ring(last) - (first > 0 ? part.within_ring(first - 1) : 0);
    if (cells > 0) holders.all().work(holders.place(n), std::int64_t{visits} * cells);
  }
}

// --- operators

template <class Real> void Multigrid<Real>::set_operator() {
  for (std::size_t l = 0; l < m_levels.size(); ++l) {
    Level& level = m_levels[l];
    if (l >= m_first_coarse || level.next == Next::none) { // below, or without a part here
      work(level, visits_of_operator);
      continue;
    }
    if (level.next == Next::merged) {
      level.merge.gather(36, data(level, &NinePoint<Real>::A),
                         data(m_levels[l + 1], &NinePoint<Real>::A));
      continue;
    }
    update_ghosts(level, 36, &NinePoint<Real>::A);
    for (const int n : level.holders.locals()) {
      invert_diagonal(level.passes[n], level.rings);
      const NinePoint<Real>& coarse = m_levels[l + 1].parts[n];
      level.passes[n].add_coarse("multigrid: Galerkin", coarse,
                                 galerkin(level.parts[n], coarse, level.x[n], level.y[n]));
      level.passes[n].run();
    }
    work(level, visits_of_operator);
  }
  if (m_levels.back().parts.empty()) return;
  const Level& last = m_levels.back(); // on one rank
  const Turn turn(m_all, last.holders.member(0));
  m_coarse.set_operator();
  const std::int64_t cells = last.parts[0].size();
  last.holders.all().work(last.holders.place(0),
                          visits_of_inverse * cells * cells * cells); // 53 us for 25 cells
}

// --- the cycle

template <class Real> void Multigrid<Real>::cycle(std::size_t l, bool with_residual) {
  Level& level = m_levels[l];
  if (level.parts.empty()) return; // computed by other ranks
  if (l == m_first_coarse) {
    {
      const Turn turn(m_all, level.holders.member(0));
      m_coarse.cycle();
    }
    for (; l + 1 < m_levels.size(); ++l)
      work(m_levels[l], visits_of_smoothing(m_levels[l].polynomial));
    work(m_levels[l], visits_of_bottom);
    if (with_residual) { // it is the only level
      update_solution(level);
      start(level.passes[0], level.polynomial, 0);
      level.passes[0].run();
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
  update_ghosts(level, 2, &NinePoint<Real>::b);
  for (const int n : level.holders.locals()) {
    level.passes[n].add_coarse("multigrid: restrict", next.parts[n],
                               restriction(level.parts[n], next.parts[n], level.x[n], level.y[n]));
    level.passes[n].run();
  }
  {
    const StepShare share(m_all, l == 0 ? "SSA: coarse grids" : nullptr);
    cycle(l + 1, false);
    update_solution(next);
  }
  // every step is valid in one ring less
  const int ring = level.rings == 1 ? 1 : level.polynomial.degree + (with_residual ? 1 : 0);
  for (const int n : level.holders.locals())
    level.passes[n].add("multigrid: prolong", ring,
                        prolongation(level.parts[n], next.parts[n], level.x[n], level.y[n]));
  const Decomposition& d = level.holders.decomposition();
  if (d.periodic_x || d.periodic_y) update_ghosts(level, 2, &NinePoint<Real>::x);
  for (const int n : level.holders.locals()) start(level.passes[n], level.polynomial, ring - 1);
  work(level, visits_of_product, 1, ring - 1);
  relax(level, ring - 1, with_residual);
  for (const int n : level.holders.locals()) level.passes[n].run();
  work(level, visits_of_smoothing(level.polynomial));
}

template <class Real> void Multigrid<Real>::relax(Level& level, int ring, bool with_residual) {
  ChebyshevSteps factors(level.polynomial);
  const auto update_steps = [&] {
    if (ring > 0) return;
    update_ghosts(level, 2, &NinePoint<Real>::d);
    ring = 1;
  };
  for (int k = 1; k < level.polynomial.degree; ++k) {
    factors.next();
    update_steps();
    ring -= 1;
    for (const int n : level.holders.locals()) step(level.passes[n], factors, ring);
    work(level, visits_of_product, 1, ring);
  }
  if (with_residual) update_steps();
  for (const int n : level.holders.locals())
    with_residual ? finish(level.passes[n]) : move(level.passes[n]);
}

template <class Real>
void Multigrid<Real>::smooth(const std::vector<Kokkos::View<int*, Mem>>& chosen,
                             const std::vector<int>& counts) {
  Level& level = m_levels[0];
  smooth_chosen(level.holders, level.halo, level.parts, chosen, counts);
}

template class Multigrid<float>;
template class Multigrid<double>;

} // namespace nunatak
