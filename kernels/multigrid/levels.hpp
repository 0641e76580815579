// The levels of kernels/multigrid/multigrid.hpp: which hats exist, which rank owns them, and where ranks are merged.
#pragma once

#include "kernels/multigrid/multigrid.hpp"

#include <algorithm>
#include <numeric>

namespace nunatak {

/// 0 in the ghosts of `a` that lie beyond the edges of a domain that is not periodic.
inline void clear_beyond_edges(const Decomposition& d, const Patch& p, const Array2<int>& a) {
  const bool open_x = !d.periodic_x, open_y = !d.periodic_y;
  for_each_cell_and_ghost(
      "no cells beyond the edges", p, KOKKOS_LAMBDA(int j, int i) {
        const int gi = p.global_i(i), gj = p.global_j(j);
        if ((open_x && (gi < 0 || gi >= p.Mx)) || (open_y && (gj < 0 || gj >= p.My))) a(j, i) = 0;
      });
}

/// Which axes of a grid are halved next: both, unless one is already much coarser than the other or has one point.
inline Halving next_halving(const Decomposition& d, double dx, double dy) {
  Halving h{d.Mx > 1, d.My > 1};
  if (h.x && h.y) h = {dx <= 1.5 * dy, dy <= 1.5 * dx};
  return h;
}

/// A grid too large to be held by so many ranks, however few its unknowns.
inline bool is_large(const Decomposition& d, int ranks = 1) { return std::int64_t{d.Mx} * d.My > std::int64_t{50000} * ranks; }

/// Does every patch of the coarser grid have at least one point?
inline bool all_ranks_have_points(const Decomposition& d) {
  const auto grows = [](const std::vector<int>& starts) {
    for (std::size_t r = 1; r < starts.size(); ++r) {
      if (starts[r] <= starts[r - 1]) return false;
    }
    return true;
  };
  return grows(d.x) && grows(d.y);
}

template <class Real>
Multigrid<Real>::Multigrid(Ranks& ranks, double dx, double dy, const std::vector<Array2<int>>& active,
                           const MultigridOptions& options)
    : m_options(options), m_polynomial{options.smoothing}, m_all(ranks.over(ranks.decomposition())) {
  add_level(ranks, nullptr, active);
  std::vector<std::vector<std::int64_t>> count;
  for (const NinePoint<Real>& part : m_levels[0].parts) count.push_back({part.size()});
  ranks.sum(count);
  // The present level has at least so many unknown cells: halving an axis leaves half of them or more. A rank that has them all
  // knows how many there are.
  std::int64_t least = count[0][0];
  std::vector<int> members(static_cast<std::size_t>(ranks.decomposition().size())); // the ranks of its patches
  std::iota(members.begin(), members.end(), 0);
  while (!m_levels.back().parts.empty()) {
    const Decomposition& d = m_levels.back().ranks->decomposition();
    const Halving halving = next_halving(d, dx, dy);
    const int side = side_of_blocks(least, halving);
    if (side > 1) {
      add_merged(side, members);
      continue;
    }
    if (d.size() == 1) least = m_levels.back().parts[0].size();
    if ((least <= options.bottom && !is_large(d)) || (!halving.x && !halving.y)) break;
    add_coarser(halving);
    if (halving.x) least = (least + 1) / 2, dx *= 2.0;
    if (halving.y) least = (least + 1) / 2, dy *= 2.0;
  }
  count_unknowns(ranks);
}

// One rank has the last level, and levels of few unknowns; no rank gets a large patch by merging because of few unknowns.
template <class Real> int Multigrid<Real>::side_of_blocks(std::int64_t least, Halving halving) const {
  const Decomposition& d = m_levels.back().ranks->decomposition();
  if (d.size() == 1) return 1;
  const bool few = least <= std::max(m_options.gather, m_options.bottom) && !is_large(d);
  for (const int side : {1, 2}) {
    const Decomposition m = merged(d, side);
    const bool enough = least >= m_options.share * m.size() || is_large(d, std::max(1, m.size() / 4));
    if (!few && (halving.x || halving.y) && enough && all_ranks_have_points(coarser(m, halving))) return side;
  }
  return 4;
}

template <class Real>
void Multigrid<Real>::add_level(Ranks& ranks, std::unique_ptr<Ranks> own, const std::vector<Array2<int>>& active) {
  Level level;
  level.ranks = &ranks;
  level.own = std::move(own);
  for (int n = 0; n < ranks.local_size(); ++n) level.parts.emplace_back(ranks.patch(n), active[static_cast<std::size_t>(n)]);
  m_levels.push_back(std::move(level));
}

// Ghosts of `cells`, and the level that has them.
template <class Real> void Multigrid<Real>::add_level(std::unique_ptr<Ranks> own, const std::vector<Array2<int>>& cells) {
  Ranks& ranks = *own;
  launch_ghosts(ranks, [&](std::size_t n) -> std::vector<Ghosted> { return {cells[n]}; });
  for (std::size_t n = 0; n < cells.size(); ++n)
    clear_beyond_edges(ranks.decomposition(), ranks.patch(static_cast<int>(n)), cells[n]);
  add_level(ranks, std::move(own), cells);
}

template <class Real> void Multigrid<Real>::add_coarser(Halving halving) {
  Level& fine = m_levels.back();
  const Decomposition& d = fine.ranks->decomposition();
  auto own = fine.ranks->over(coarser(d, halving));
  std::vector<Array2<int>> cells;
  for (std::size_t n = 0; n < fine.parts.size(); ++n) {
    const Patch &p = fine.parts[n].patch, coarse = own->patch(static_cast<int>(n));
    fine.x.push_back(x_axis(d, p, coarse, halving));
    fine.y.push_back(y_axis(d, p, coarse, halving));
    cells.push_back(coarse_cells(coarse, fine.parts[n].active, fine.x[n], fine.y[n]));
  }
  fine.next = Next::coarser;
  add_level(std::move(own), cells);
}

// The same grid on the first ranks of blocks of side x side patches.
template <class Real> void Multigrid<Real>::add_merged(int side, std::vector<int>& members) {
  Level& fine = m_levels.back();
  const Decomposition &d = fine.ranks->decomposition(), m = merged(d, side);
  std::vector<int> firsts;
  for (int n = 0; n < m.size(); ++n)
    firsts.push_back(members[static_cast<std::size_t>(n / m.px * side * d.px + n % m.px * side)]);
  auto own = std::make_unique<MergedRanks>(*m_all, m, firsts);
  fine.next = Next::merged;
  fine.merge = Merge(*m_all, *fine.ranks, members, *own, side);
  members = std::move(firsts);
  std::vector<Array2<int>> from, cells;
  for (const NinePoint<Real>& part : fine.parts) from.push_back(part.active);
  for (int n = 0; n < own->local_size(); ++n) cells.push_back(make_array<int>("active", own->patch(n)));
  fine.merge.gather(
      1, [&](std::size_t n) { return from[n].data(); }, [&](std::size_t n) { return cells[n].data(); });
  add_level(std::move(own), cells);
  m_levels[m_levels.size() - 2].merge.keep(from, cells);
}

// One sum over all ranks, for all grids.
template <class Real> void Multigrid<Real>::count_unknowns(Ranks& ranks) {
  std::vector<std::vector<std::int64_t>> counts(static_cast<std::size_t>(ranks.local_size()),
                                                std::vector<std::int64_t>(m_unknown_cells.size(), 0));
  std::size_t grid = 0;
  for (const Level& level : m_levels) {
    if (level.next == Next::merged) continue; // the next level is of the same grid
    for (const NinePoint<Real>& part : level.parts) counts[0][grid] += part.size();
    grid += 1;
  }
  ranks.sum(counts);
  std::copy(counts[0].begin(), counts[0].end(), m_unknown_cells.begin());
}

template <class Real> Traffic Multigrid<Real>::traffic() const {
  Traffic sum = m_all->traffic();
  for (std::size_t l = 1; l < m_levels.size(); ++l) {
    if (m_levels[l].ranks->decomposition().size() == 1) continue;
    const Traffic& t = m_levels[l].ranks->traffic();
    sum.exchanges += t.exchanges, sum.messages += t.messages, sum.bytes += t.bytes, sum.collectives += t.collectives;
  }
  return sum;
}

template <class Real> std::string Multigrid<Real>::describe() const {
  std::string text;
  std::size_t grid = 0;
  int ranks = 1;
  for (const Level& level : m_levels) {
    if (level.next == Next::merged) continue;
    const Decomposition& d = level.ranks->decomposition();
    text += (text.empty() ? "" : ", ") + std::to_string(d.Mx) + " x " + std::to_string(d.My) + " (" +
            std::to_string(m_unknown_cells[grid++]) + ")";
    if (d.size() != ranks) text += " on " + std::to_string(d.size()) + (d.size() == 1 ? " rank" : " ranks");
    ranks = d.size();
  }
  return text;
}

} // namespace nunatak
