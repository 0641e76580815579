// The levels of kernels/multigrid/multigrid.hpp: which hats exist, which rank owns them, and where few unknowns are gathered.
#pragma once

#include "kernels/multigrid/multigrid.hpp"

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

/// A grid too large to be held whole by every process, however few its unknowns.
inline bool is_large(const Decomposition& d) { return static_cast<std::int64_t>(d.Mx) * d.My > 50000; }

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
    : m_options(options), m_polynomial{options.smoothing} {
  m_levels.push_back(make_level(ranks, nullptr, active));
  while (m_levels.back().unknown_cells > options.bottom || is_large(m_levels.back().ranks->decomposition())) {
    Level& fine = m_levels.back();
    const Decomposition& d = fine.ranks->decomposition();
    const Halving halving = next_halving(d, dx, dy);
    if (!halving.x && !halving.y) break;
    const Decomposition next = coarser(d, halving);
    const bool few = fine.unknown_cells <= options.gather_below && !is_large(d);
    if (d.size() > 1 && (few || !all_ranks_have_points(next))) {
      m_levels.push_back(gathered(fine));
      continue;
    }
    auto own = fine.ranks->over(next);
    for (int n = 0; n < own->local_size(); ++n) {
      fine.x.push_back(x_axis(d, fine.parts[static_cast<std::size_t>(n)].patch, own->patch(n), halving));
      fine.y.push_back(y_axis(d, fine.parts[static_cast<std::size_t>(n)].patch, own->patch(n), halving));
    }
    fine.next = Next::coarser;
    std::vector<Array2<int>> cells;
    std::vector<std::vector<Ghosted>> ghosted;
    for (std::size_t n = 0; n < fine.parts.size(); ++n) {
      cells.push_back(coarse_cells(own->patch(static_cast<int>(n)), fine.parts[n].active, fine.x[n], fine.y[n]));
      ghosted.push_back({cells.back()});
    }
    own->update_ghosts(ghosted);
    for (std::size_t n = 0; n < cells.size(); ++n) clear_beyond_edges(next, own->patch(static_cast<int>(n)), cells[n]);
    Ranks& coarse_ranks = *own;
    m_levels.push_back(make_level(coarse_ranks, std::move(own), cells));
    dx *= halving.x ? 2.0 : 1.0;
    dy *= halving.y ? 2.0 : 1.0;
  }
  if (m_levels.back().ranks->decomposition().size() > 1) m_levels.push_back(gathered(m_levels.back()));
}

template <class Real>
typename Multigrid<Real>::Level Multigrid<Real>::make_level(Ranks& ranks, std::unique_ptr<Ranks> own,
                                                            const std::vector<Array2<int>>& active) {
  Level level;
  level.ranks = &ranks;
  level.own = std::move(own);
  std::vector<std::vector<std::int64_t>> count;
  for (int n = 0; n < ranks.local_size(); ++n) {
    level.parts.emplace_back(ranks.patch(n), active[static_cast<std::size_t>(n)]);
    count.push_back({level.parts.back().size()});
  }
  ranks.sum(count);
  level.unknown_cells = count[0][0];
  return level;
}

// The same grid on one rank: every process holds all of it.
template <class Real> typename Multigrid<Real>::Level Multigrid<Real>::gathered(Level& fine) {
  const Decomposition& d = fine.ranks->decomposition();
  std::vector<std::vector<std::int64_t>> mine;
  for (const NinePoint<Real>& part : fine.parts) {
    mine.emplace_back();
    const auto cells = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), part.cells);
    const int stride = part.patch.xm + 2;
    for (int n = 0; n < part.size(); ++n) mine.back().push_back(part.patch.cell(cells(n) / stride, cells(n) % stride));
  }
  std::vector<std::vector<std::int64_t>> counts;
  for (const auto& list : mine) counts.push_back({static_cast<std::int64_t>(list.size())});
  for (const std::int64_t count : fine.ranks->gather_all(counts)) fine.lengths.push_back(static_cast<int>(count));
  for (const std::int64_t cell : fine.ranks->gather_all(mine, fine.lengths))
    fine.places.push_back(static_cast<int>((cell / d.Mx + 1) * (d.Mx + 2) + cell % d.Mx + 1));
  fine.next = Next::gathered;

  Decomposition whole = Decomposition::make(d.Mx, d.My, 1, 1);
  whole.periodic_x = d.periodic_x, whole.periodic_y = d.periodic_y;
  auto own = std::make_unique<VirtualRanks>(whole);
  const auto active = make_array<int>("active", own->patch(0));
  const auto host = Kokkos::create_mirror_view(active);
  for (const int place : fine.places) host.data()[place] = 1;
  Kokkos::deep_copy(active, host);
  Ranks& ranks = *own;
  own->update_ghosts({{active}});
  const Patch p = own->patch(0);
  clear_beyond_edges(whole, p, active);
  return make_level(ranks, std::move(own), {active});
}

template <class Real> Traffic Multigrid<Real>::traffic() const {
  Traffic sum;
  for (std::size_t l = 1; l < m_levels.size(); ++l) {
    if (m_levels[l].ranks->decomposition().size() == 1) continue;
    const Traffic& t = m_levels[l].ranks->traffic();
    sum.exchanges += t.exchanges, sum.messages += t.messages, sum.bytes += t.bytes, sum.collectives += t.collectives;
  }
  return sum;
}

template <class Real> std::string Multigrid<Real>::describe() const {
  std::string text;
  for (const Level& level : m_levels) {
    const Decomposition& d = level.ranks->decomposition();
    text += (text.empty() ? "" : ", ") + std::to_string(d.Mx) + " x " + std::to_string(d.My) + " (" +
            std::to_string(level.unknown_cells) + ")" + (level.next == Next::gathered ? " gathered" : "");
  }
  return text;
}

} // namespace nunatak
