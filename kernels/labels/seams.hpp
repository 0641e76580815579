// From the fragments of patches to the components of the grid: what is sent, and what comes of it.
// For labels/labels.hpp and labels/device/labels.hpp, which find the fragments of a patch each in
// its own way.
//
//   .  .  .  . | .  .      The fragments of a patch that touch a seam (and its largest) are sent,
//   and are numbered: 0, 1. .  0  0  0 | 0  .      Border cells are exchanged with the neighbours
//   beyond the sides; then the patch in the east (north) .  .  .  . | .  .      knows which of its
//   fragments touch which of the one in the west (south). labels/merge.hpp does the 1  1  1  1 | 0
//   0      rest.
//
// On one rank nothing is sent. Communicates, for a batch of masks on more: one message to each
// neighbour beyond a side (4 bytes per mask and border cell), and one gather (two collectives).
#pragma once

#include "kernels/grid/border_exchange.hpp"
#include "kernels/labels/merge.hpp"

#include <map>

namespace nunatak {

/// The component with most cells, of several that of the smallest identity; as a result of a
/// reduction.
struct LargestComponent {
  Component found{};
  KOKKOS_INLINE_FUNCTION LargestComponent& operator+=(const LargestComponent& o) {
    const std::int64_t more = o.found.cells() - found.cells();
    if (more > 0 || (more == 0 && o.found.identity < found.identity)) found = o.found;
    return *this;
  }
};

/// What is known of the components of one mask.
struct Components {
  /// fragments[local][c]: of fragment c of a local rank: identity, area and flags of the whole
  /// component, on all ranks
  std::vector<LargeList<Component>> fragments;
  /// number[local][c]: the number of its component, 1, 2, ... in the order of identities (raster
  /// order of the first cell) among those that are numbered (LabelMask::numbered, or all of them if
  /// LabelMask::all); 0 if it is not numbered
  std::vector<LargeList<int>> number;
  int numbered = 0; ///< how many are numbered, on all ranks together
  /// whole components, in the order of identities: all of them if LabelMask::all, else those that
  /// touch a seam and the largest of each rank
  std::vector<Component> whole;

  /// cells = 0 if the mask is empty.
  Component largest() const {
    LargestComponent most;
    for (const Component& c : whole) most += LargestComponent{c};
    return most.found;
  }
};

class LabelSeams {
public:
  /// The decomposition must not be periodic. `ranks` must outlive this object, which keeps its work
  /// space between calls.
  explicit LabelSeams(Ranks& ranks)
      : m_ranks(ranks), m_border_numbers(static_cast<std::size_t>(ranks.local_size())) {
    if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
      throw std::invalid_argument(
          "labels: expected a grid that is not periodic, found a periodic one");
    }
  }

  /// Fill data(local)[n masks + m] with the fragment of border cell n in mask m (-1: none), then
  /// call join().
  BorderExchange<int>& border(std::size_t masks) {
    m_masks = masks;
    m_border = &m_borders.try_emplace(masks, m_ranks, static_cast<int>(masks)).first->second;
    return *m_border;
  }

  /// `components[m]`: fragments as the patches have found them, in raster order of the first cell;
  /// all else is an answer. `maxima[local]`: numbers that travel along; replaced by their maxima
  /// over all ranks (equal sizes on all ranks).
  void join(const std::vector<LabelMask>& masks, const std::vector<Components*>& components,
            std::vector<std::vector<std::int64_t>>& maxima) {
    const std::size_t locals = m_border_numbers.size();
    if (m_ranks.decomposition().size() == 1) {
      for (std::size_t m = 0; m < masks.size(); ++m) keep(masks[m], *components[m]);
      return;
    }
    m_place.resize(masks.size()), m_merge.resize(masks.size());
    for (std::size_t r = 0; r < locals; ++r) {
      const Patch p = patch(r);
      int* border = m_border->data(static_cast<int>(r));
      m_border_numbers[r].assign(
          border, border + static_cast<std::size_t>(BorderCells{p.xm, p.ym}.size()) * m_masks);
      for (std::size_t m = 0; m < masks.size(); ++m) {
        m_place[m].resize(locals);
        choose_fragments(r, m, masks[m], components[m]->fragments[r]);
      }
    }
    m_border->exchange();
    std::vector<std::vector<std::int64_t>> outgoing = maxima;
    for (std::size_t r = 0; r < locals; ++r) {
      for (std::size_t m = 0; m < masks.size(); ++m)
        contribute(r, m, masks[m], components[m]->fragments[r], outgoing[r]);
    }
    receive(m_ranks.gather_all(outgoing), masks, maxima);
    for (std::size_t m = 0; m < masks.size(); ++m) {
      m_merge[m].merge();
      components[m]->whole = m_merge[m].whole();
      components[m]->numbered = m_merge[m].numbered();
      components[m]->number.resize(locals);
      for (std::size_t r = 0; r < locals; ++r) {
        finish(r, m, components[m]->fragments[r], components[m]->number[r]);
        m_ranks.work(static_cast<int>(r),
                     m_merge[m].fragments() + m_merge[m].edges()); // every rank merges all of them
      }
    }
  }

  const SeamMerge& merge(std::size_t m) const { return m_merge.at(m); }

private:
  enum Unsent { not_counted = -2, counted = -1 }; // fragments that are not sent, in m_place

  Patch patch(std::size_t local) const { return m_ranks.patch(static_cast<int>(local)); }

  /// One rank: its fragments are whole components.
  static void keep(const LabelMask& mask, Components& found) {
    const LargeList<Component>& fragments = found.fragments[0];
    found.number.resize(1);
    found.number[0].resize(fragments.size());
    found.numbered = 0;
    std::size_t largest = 0;
    for (std::size_t c = 0; c < fragments.size(); ++c) {
      if (fragments[c].cells() > fragments[largest].cells()) largest = c;
      const bool counts = mask.numbers(fragments[c]);
      found.numbered += counts;
      found.number[0][c] = counts ? found.numbered : 0;
    }
    found.whole.assign(fragments.begin() + static_cast<std::ptrdiff_t>(mask.all ? 0 : largest),
                       mask.all ? fragments.end()
                                : fragments.begin() + static_cast<std::ptrdiff_t>(
                                                          std::min(largest + 1, fragments.size())));
  }

  /// The fragments (in raster order) that begin in the rows before view row j.
  static int begin_before(const Patch& p, int j, const LargeList<Component>& fragments) {
    const auto earlier = [](const Component& c, std::int64_t identity) {
      return c.identity < identity;
    };
    return static_cast<int>(
        std::lower_bound(fragments.begin(), fragments.end(), p.cell(j, 1), earlier) -
        fragments.begin());
  }

  /// f(place in the border, side) for all border cells of mask m with a neighbour beyond them.
  template <class F> void for_each_seam_cell(std::size_t r, std::size_t m, const F& f) const {
    for (const auto& side : m_border->sides(static_cast<int>(r))) {
      std::size_t at = static_cast<std::size_t>(side.first) * m_masks + m;
      for (int n = 0; n < side.cells; ++n, at += m_masks) f(at, side);
    }
  }

  /// m_place[m][r][c]: place of fragment c among those that rank r sends, or Unsent. The border
  /// gets places, plus one.
  void choose_fragments(std::size_t r, std::size_t m, const LabelMask& mask,
                        const LargeList<Component>& fragments) {
    const std::vector<int>& numbers = m_border_numbers[r];
    std::vector<int>& place = m_place[m][r];
    place.assign(fragments.size(), mask.all ? 0 : not_counted);
    for_each_seam_cell(r, m, [&](std::size_t at, const auto&) {
      if (numbers[at] >= 0) place[numbers[at]] = 0;
    });
    std::size_t largest = 0; // the first of several
    for (std::size_t c = 0; c < fragments.size(); ++c) {
      if (fragments[c].cells() > fragments[largest].cells()) largest = c;
      if (place[c] < 0 && mask.numbers(fragments[c])) place[c] = counted;
    }
    if (!fragments.empty()) place[largest] = 0;
    int chosen = 0;
    for (int& of_fragment : place) {
      if (of_fragment >= 0) of_fragment = chosen++;
    }
    int* border = m_border->data(static_cast<int>(r));
    for_each_seam_cell(r, m, [&](std::size_t at, const auto&) {
      border[at] = numbers[at] < 0 ? 0 : place[numbers[at]] + 1;
    });
  }

  /// What one rank sends of one mask.
  void contribute(std::size_t r, std::size_t m, const LabelMask& mask,
                  const LargeList<Component>& fragments, std::vector<std::int64_t>& out) {
    const Patch p = patch(r);
    const std::vector<int>&numbers = m_border_numbers[r], &place = m_place[m][r];
    const int* beyond = m_border->data(static_cast<int>(r));
    m_sent.clear();
    for_each_seam_cell(r, m, [&](std::size_t at, const auto& side) {
      if (side.dx + side.dy > 0 || numbers[at] < 0 || beyond[at] == 0) return;
      const std::int64_t edge =
          SeamFragments::edge(place[numbers[at]], side.dy < 0, beyond[at] - 1);
      if (m_sent.edges.empty() || m_sent.edges.back() != edge)
        m_sent.edges.push_back(edge); // one per run, not per cell
    });
    std::sort(m_sent.edges.begin(), m_sent.edges.end());
    m_sent.edges.erase(std::unique(m_sent.edges.begin(), m_sent.edges.end()), m_sent.edges.end());
    int c = 0;
    for (int j = 1; j <= p.ym; ++j) {
      int in_row = 0;
      for (const int end = begin_before(p, j + 1, fragments); c < end; ++c) {
        in_row += place[c] == counted;
        if (place[c] >= 0)
          m_sent.fragments.push_back(fragments[c]), m_sent.before.push_back(in_row);
      }
      if (in_row > 0)
        m_sent.rows.push_back(static_cast<std::int64_t>(p.global_j(j)) << 32 | in_row);
    }
    m_sent.pack(mask.numbers_any(), out);
  }

  void receive(const std::vector<std::int64_t>& in, const std::vector<LabelMask>& masks,
               std::vector<std::vector<std::int64_t>>& maxima) {
    const Decomposition& d = m_ranks.decomposition();
    for (std::size_t m = 0; m < masks.size(); ++m) m_merge[m].start(d, masks[m]);
    std::vector<std::int64_t> maximum = maxima[0];
    m_west.resize(masks.size(), std::vector<std::vector<int>>(maxima.size()));
    const std::int64_t* at = in.data();
    for (int rank = 0; rank < d.size(); ++rank) {
      for (std::int64_t& value : maximum) value = std::max(value, *at++);
      const auto local = static_cast<std::size_t>(rank - m_ranks.first());
      for (std::size_t m = 0; m < masks.size(); ++m)
        at = m_merge[m].add(at, d.patch(rank), local < maxima.size() ? &m_west[m][local] : nullptr);
    }
    for (auto& values : maxima) values = maximum;
  }

  /// The fragments of a patch become whole components, and get their numbers.
  void finish(std::size_t r, std::size_t m, LargeList<Component>& fragments,
              LargeList<int>& number) {
    const Patch p = patch(r);
    const SeamMerge& merge = m_merge[m];
    const std::vector<Component>& whole = merge.whole();
    const std::vector<int>& place = m_place[m][r];
    number.assign(fragments.size(), 0);
    const auto first_whole = [&](std::int64_t identity) {
      const auto earlier = [](const Component& a, std::int64_t id) { return a.identity < id; };
      return static_cast<int>(std::lower_bound(whole.begin(), whole.end(), identity, earlier) -
                              whole.begin());
    };
    std::vector<int> begin(static_cast<std::size_t>(p.ym) + 2); // before any of them is replaced
    for (int j = 1; j <= p.ym + 1; ++j) begin[j] = begin_before(p, j, fragments);
    for (int j = 1; j <= p.ym; ++j) {
      if (begin[j] == begin[j + 1]) continue;
      int before =
          merge.counted_before(p.global_j(j), m_west[m][r], j); // others that begin before this one
      int next = first_whole(fragments[begin[j]].identity); // the next whole component of this row
      const int last = first_whole(p.cell(j + 1, 1));
      for (int c = begin[j]; c < begin[j + 1]; ++c) {
        if (place[c] == counted) {
          while (next < last && whole[next].identity < fragments[c].identity) ++next;
          number[c] = ++before + merge.numbered_before(next);
        } else if (place[c] >= 0) {
          const int position = merge.position(m_ranks.first() + static_cast<int>(r), place[c]);
          fragments[c] = whole[position];
          number[c] = merge.numbers()[position];
        }
      }
    }
  }

  Ranks& m_ranks;
  std::size_t m_masks = 0;
  std::map<std::size_t, BorderExchange<int>> m_borders; // by the number of masks
  BorderExchange<int>* m_border = nullptr;              // of this batch
  std::vector<std::vector<int>> m_border_numbers;       // [local]: what the caller has filled in
  std::vector<std::vector<std::vector<int>>> m_place;   // [mask][local][component]
  std::vector<std::vector<std::vector<int>>>
      m_west; // [mask][local][row]: numbered others that begin in this row in the west
  std::vector<SeamMerge> m_merge;
  SeamFragments m_sent;
};

} // namespace nunatak
