// Second half of the labelling (labels.hpp): from the fragments of patches to the components of the
// grid. fragments.hpp finds the fragments of a patch.
//
//   rank 0      | rank 1      Every rank lists its fragments that touch a subdomain boundary or are
//   . 0 0 0 0   | 0 0 .       to be numbered, and its largest. Neighbours exchange the positions of
//   . . . . 0   | . . .       their border cells in these lists: here rank 1 finds two edges, from
//   1 1 1 1 1   | 1 1 1       its fragment 0 to fragment 0 in the west, and from 1 to 1. The rank
//                             in the east or the north sends the edge. All lists and edges are
//                             gathered on every rank, in rank order, for the same union-find.
//
// Fragments are addressed by position, so the merge is linear in fragments and edges. The whole
// components are then sorted by identity, which is raster order, and numbered.
//
// Communicates, for a batch of masks on several ranks: one message to each neighbour beyond a side
// (4 bytes per mask and border cell), and one gather (two collectives). Nothing on one rank.
#pragma once

#include "kernels/labels/border_exchange.hpp"
#include "kernels/labels/fragments.hpp"

#include <map>
#include <numeric>

namespace nunatak {

/// Union-find over small integers; the root of a set is its smallest member.
class DisjointSets {
public:
  void clear() { m_parent.clear(); }
  void add() { m_parent.push_back(static_cast<int>(m_parent.size())); }
  int size() const { return static_cast<int>(m_parent.size()); }
  int root(int n) {
    while (parent(n) != n) n = parent(n) = parent(parent(n));
    return n;
  }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    parent(std::max(a, b)) = std::min(a, b);
  }

private:
  int& parent(int n) { return m_parent[n]; }
  std::vector<int> m_parent;
};

/// The fragments of one mask sent by all ranks; after merge() the whole components.
///
/// A rank sends, as 64-bit integers: fragments << 32 | edges; each fragment in raster order
/// (identity, cells << 16 | flags); each edge.
class FragmentMerge {
public:
  /// Local fragment `mine` touches fragment `other` of the neighbour in the south, or in the west.
  static std::int64_t edge(int mine, bool south, int other) {
    return static_cast<std::int64_t>(mine) << 33 | static_cast<std::int64_t>(south) << 32 | other;
  }

  void start(const Decomposition& d, const LabelMask& mask) {
    m_px = d.px;
    m_mask = mask;
    m_fragments.clear();
    m_sets.clear();
    m_first.assign(1, 0);
    m_edges = 0;
  }

  /// Adds the integers of the next rank; returns their end.
  const std::int64_t* add(const std::int64_t* at) {
    const int rank = static_cast<int>(m_first.size()) - 1, first = m_first.back();
    const auto fragments = static_cast<int>(*at >> 32), edges = static_cast<int>(*at & low);
    ++at;
    for (int n = 0; n < fragments; ++n, at += 2) {
      m_fragments.push_back({at[0], at[1]});
      m_sets.add();
    }
    m_first.push_back(first + fragments);
    for (int n = 0; n < edges; ++n, ++at) {
      const int neighbour = rank - ((*at >> 32 & 1) != 0 ? m_px : 1);
      const auto mine = *at >> 33, other = *at & low;
      if (neighbour < 0 || mine >= fragments ||
          other >= m_first[neighbour + 1] - m_first[neighbour])
        throw std::logic_error("labels: an edge names a component that no rank has sent");
      m_sets.join(first + static_cast<int>(mine), m_first[neighbour] + static_cast<int>(other));
    }
    m_edges += edges;
    return at;
  }

  void merge() {
    m_position.resize(m_fragments.size());
    m_whole.clear();
    for (int n = 0; n < m_sets.size(); ++n) {
      const int root = m_sets.root(n);
      if (root == n) {
        m_position[n] = static_cast<int>(m_whole.size());
        m_whole.push_back(m_fragments[n]);
        continue;
      }
      m_position[n] = m_position[root]; // the root is smaller, hence done
      Component& whole = m_whole[m_position[n]];
      whole.identity = std::min(whole.identity, m_fragments[n].identity);
      whole.add(m_fragments[n].cells(), m_fragments[n].flags());
    }
    sort();
    m_numbers.assign(m_whole.size(), 0);
    m_numbered = 0;
    for (std::size_t n = 0; n < m_whole.size(); ++n) {
      if (m_mask.numbers(m_whole[n])) m_numbers[n] = ++m_numbered;
    }
  }

  /// Whole components by identity, and their numbers (0: not numbered).
  const std::vector<Component>& whole() const { return m_whole; }
  const std::vector<int>& numbers() const { return m_numbers; }
  int position(int rank, int fragment) const { return m_position[m_first[rank] + fragment]; }
  int numbered() const { return m_numbered; }
  std::int64_t size() const { return static_cast<std::int64_t>(m_fragments.size()) + m_edges; }

private:
  static constexpr std::int64_t low = 0xffffffff;

  /// Sorts the whole components by identity.
  void sort() {
    std::vector<int> order(m_whole.size()), place(m_whole.size());
    std::iota(order.begin(), order.end(), 0);
    const auto earlier = [this](int a, int b) { return m_whole[a].identity < m_whole[b].identity; };
    if (std::is_sorted(order.begin(), order.end(), earlier)) return;
    std::sort(order.begin(), order.end(), earlier);
    std::vector<Component> whole;
    for (std::size_t n = 0; n < order.size(); ++n) {
      place[order[n]] = static_cast<int>(n);
      whole.push_back(m_whole[order[n]]);
    }
    for (int& position : m_position) position = place[position];
    m_whole.swap(whole);
  }

  int m_px = 1;
  LabelMask m_mask;
  std::vector<Component> m_fragments, m_whole;
  std::vector<int> m_first;    // first fragment of each rank
  std::vector<int> m_position; // per fragment: position in m_whole
  std::vector<int> m_numbers;  // per whole component
  std::int64_t m_edges = 0;
  int m_numbered = 0;
  DisjointSets m_sets;
};

struct Components {
  /// fragments[local][c]: identity, area and flags of the whole component of fragment c
  std::vector<LargeList<Component>> fragments;
  /// number[local][c]: the number of the component, 1, 2, ... in raster order of the first cell,
  /// among the numbered ones (LabelMask::numbers); 0 if not numbered
  std::vector<LargeList<int>> number;
  int numbered = 0; ///< numbered components on all ranks
  /// whole components by identity: all if LabelMask::all, else at least the largest one
  std::vector<Component> whole;

  /// The component with most cells, the first among equals; cells = 0 if the mask is empty.
  Component largest() const {
    Component most{};
    for (const Component& c : whole) {
      if (c.cells() > most.cells()) most = c;
    }
    return most;
  }
};

class BoundaryLabels {
public:
  /// The decomposition must not be periodic. `ranks` must outlive this object.
  explicit BoundaryLabels(Ranks& ranks)
      : m_ranks(ranks), m_border_numbers(static_cast<std::size_t>(ranks.local_size())) {
    if (ranks.decomposition().periodic_x || ranks.decomposition().periodic_y) {
      throw std::invalid_argument(
          "labels: expected a grid that is not periodic, found a periodic one");
    }
  }

  /// Fill data(local)[n masks + m] with the fragment of border cell n in mask m or -1, then join().
  BorderExchange& border(std::size_t masks) {
    m_masks = masks;
    m_border = &m_borders.try_emplace(masks, m_ranks, static_cast<int>(masks)).first->second;
    return *m_border;
  }

  /// `components[m]`: fragments found in the patches, in raster order of the first cell; the rest
  /// is output. `maxima[local]` (equal sizes) is replaced by maxima over all ranks.
  void join(const std::vector<LabelMask>& masks, const std::vector<Components*>& components,
            std::vector<std::vector<std::int64_t>>& maxima) {
    const std::size_t locals = m_border_numbers.size();
    if (m_ranks.decomposition().size() == 1) {
      const Turn turn(m_ranks, m_ranks.first());
      for (std::size_t m = 0; m < masks.size(); ++m) keep(masks[m], *components[m]);
      return;
    }
    m_place.resize(masks.size());
    m_merge.resize(masks.size());
    for (const int r : m_ranks.locals()) {
      m_border_numbers[r] = m_border->data(r);
      for (std::size_t m = 0; m < masks.size(); ++m) {
        m_place[m].resize(locals);
        choose_fragments(r, m, masks[m], components[m]->fragments[r]);
      }
    }
    m_border->exchange();
    std::vector<std::vector<std::int64_t>> outgoing = maxima;
    for (const int r : m_ranks.locals()) {
      for (std::size_t m = 0; m < masks.size(); ++m)
        contribute(r, m, components[m]->fragments[r], outgoing[r]);
    }
    const std::vector<std::int64_t> incoming = m_ranks.gather_all(outgoing);
    {
      const Turn turn(m_ranks); // every rank does the same
      receive(incoming, masks, maxima);
      for (std::size_t m = 0; m < masks.size(); ++m) {
        m_merge[m].merge();
        components[m]->whole = m_merge[m].whole();
        components[m]->numbered = m_merge[m].numbered();
      }
    }
    for (std::size_t m = 0; m < masks.size(); ++m) {
      components[m]->number.resize(locals);
      for (const int r : m_ranks.locals()) {
        finish(r, m, components[m]->fragments[r], components[m]->number[r]);
        m_ranks.work(r, m_merge[m].size(), Work::labels);
      }
    }
  }

private:
  /// On one rank fragments are whole components.
  static void keep(const LabelMask& mask, Components& found) {
    const LargeList<Component>& fragments = found.fragments[0];
    found.number.resize(1);
    found.number[0].assign(fragments.size(), 0);
    found.numbered = 0;
    std::size_t largest = 0;
    for (std::size_t c = 0; c < fragments.size(); ++c) {
      if (fragments[c].cells() > fragments[largest].cells()) largest = c;
      if (mask.numbers(fragments[c])) found.number[0][c] = ++found.numbered;
    }
    found.whole.clear();
    for (std::size_t c = 0; c < fragments.size(); ++c) {
      if (mask.all || c == largest) found.whole.push_back(fragments[c]);
    }
  }

  /// f(position in the border, side) for all border cells of mask m with a neighbour beyond them.
  template <class F> void for_each_boundary_cell(std::size_t r, std::size_t m, const F& f) const {
    for (const auto& side : m_border->sides(r)) {
      std::size_t at = static_cast<std::size_t>(side.first) * m_masks + m;
      for (int n = 0; n < side.cells; ++n, at += m_masks) f(at, side);
    }
  }

  /// m_place[m][r][c]: position of fragment c among those sent, or -1. Border: the same + 1.
  void choose_fragments(std::size_t r, std::size_t m, const LabelMask& mask,
                        const LargeList<Component>& fragments) {
    const std::vector<int>& numbers = m_border_numbers[r];
    std::vector<int>& place = m_place[m][r];
    place.assign(fragments.size(), -1);
    for_each_boundary_cell(r, m, [&](std::size_t at, const auto&) {
      if (numbers[at] >= 0) place[numbers[at]] = 0;
    });
    std::size_t largest = 0; // the first among equals
    for (std::size_t c = 0; c < fragments.size(); ++c) {
      if (fragments[c].cells() > fragments[largest].cells()) largest = c;
      if (mask.numbers(fragments[c])) place[c] = 0;
    }
    if (!fragments.empty()) place[largest] = 0;
    int chosen = 0;
    for (int& of_fragment : place) {
      if (of_fragment >= 0) of_fragment = chosen++;
    }
    std::vector<int>& border = m_border->data(r);
    for_each_boundary_cell(r, m, [&](std::size_t at, const auto&) {
      border[at] = numbers[at] < 0 ? 0 : place[numbers[at]] + 1;
    });
  }

  /// Appends the contribution of one rank to the gather for one mask.
  void contribute(std::size_t r, std::size_t m, const LargeList<Component>& fragments,
                  std::vector<std::int64_t>& out) {
    const std::vector<int>&numbers = m_border_numbers[r], &place = m_place[m][r];
    const std::vector<int>& beyond = m_border->data(r);
    std::vector<std::int64_t> edges;
    for_each_boundary_cell(r, m, [&](std::size_t at, const auto& side) {
      if (side.dx + side.dy > 0 || numbers[at] < 0 || beyond[at] == 0) return;
      const std::int64_t edge =
          FragmentMerge::edge(place[numbers[at]], side.dy < 0, beyond[at] - 1);
      if (edges.empty() || edges.back() != edge) edges.push_back(edge);
    });
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const std::size_t head = out.size();
    out.push_back(static_cast<std::int64_t>(edges.size()));
    for (std::size_t c = 0; c < fragments.size(); ++c) {
      if (place[c] < 0) continue;
      out.insert(out.end(), {fragments[c].identity, fragments[c].word});
      out[head] += std::int64_t{1} << 32;
    }
    out.insert(out.end(), edges.begin(), edges.end());
  }

  void receive(const std::vector<std::int64_t>& in, const std::vector<LabelMask>& masks,
               std::vector<std::vector<std::int64_t>>& maxima) {
    const Decomposition& d = m_ranks.decomposition();
    for (std::size_t m = 0; m < masks.size(); ++m) m_merge[m].start(d, masks[m]);
    std::vector<std::int64_t> maximum = maxima[0];
    const std::int64_t* at = in.data();
    for (int rank = 0; rank < d.size(); ++rank) {
      for (std::int64_t& value : maximum) value = std::max(value, *at++);
      for (std::size_t m = 0; m < masks.size(); ++m) at = m_merge[m].add(at);
    }
    for (auto& values : maxima) values = maximum;
  }

  /// Replaces the fragments of a patch by whole components, with their numbers.
  void finish(std::size_t r, std::size_t m, LargeList<Component>& fragments,
              LargeList<int>& number) const {
    const FragmentMerge& merge = m_merge[m];
    const std::vector<int>& place = m_place[m][r];
    number.assign(fragments.size(), 0);
    for (std::size_t c = 0; c < fragments.size(); ++c) {
      if (place[c] < 0) continue;
      const int position = merge.position(m_ranks.first() + static_cast<int>(r), place[c]);
      fragments[c] = merge.whole()[position];
      number[c] = merge.numbers()[position];
    }
  }

  Ranks& m_ranks;
  std::size_t m_masks = 0;
  std::map<std::size_t, BorderExchange> m_borders;    // by the number of masks
  BorderExchange* m_border = nullptr;                 // of this batch
  std::vector<std::vector<int>> m_border_numbers;     // [local]: as filled by the caller
  std::vector<std::vector<std::vector<int>>> m_place; // [mask][local][component]
  std::vector<FragmentMerge> m_merge;
};

} // namespace nunatak
