// Second half of the labelling (labels.hpp): from the fragments of patches to the components of the
// grid. labels.hpp and device/labels.hpp find the fragments of a patch.
//
//   rank 0      | rank 1      Every rank numbers its fragments that touch a subdomain boundary (and
//   . 0 0 0 0   | 0 0 .       its largest). Neighbours exchange the numbers of their border cells:
//   . . . . 0   | . . .       here rank 1 finds two edges, from its fragment 0 to fragment 0 in the
//   1 1 1 1 1   | 1 1 1       west, and from 1 to 1. The rank in the east or the north sends the
//                             edge. All fragments and edges are gathered on every rank, in rank
//                             order, for the same union-find.
//
// Fragments are addressed by position, so the merge is linear in fragments and edges. Only the
// components are sorted, by identity.
//
// Consecutive numbers without a gather of all components: the number of a component is 1 plus the
// number of those that begin before it. Those that touch no boundary are counted per grid row:
//
//   row j   | rank 0: 2 begin here | rank 1: 1 | ...   begin before = all of rows 0..j-1
//   row j-1 |            0         |         4 |         + in this row, of the ranks in the west
//                                                        + in this row, of this rank before
//                                                        + joined components that begin before
//
// Communicates, for a batch of masks on several ranks: one message to each neighbour beyond a side
// (4 bytes per mask and border cell), and one gather (two collectives). Nothing on one rank.
#pragma once

#include "kernels/grid/border_exchange.hpp"
#include "kernels/labels/patch.hpp"

#include <map>
#include <numeric>
#include <utility>

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

/// The contribution of one rank to the gather for one mask, as 64-bit integers: fragments << 32 |
/// edges; of a numbered mask: rows; then each fragment (identity, cells << 16 | flags; of a
/// numbered mask: before), each edge, each row.
struct SentFragments {
  /// Fragments that touch a subdomain boundary, and the largest; by identity.
  std::vector<Component> fragments;
  /// Per fragment: numbered, unsent components of this patch that begin before it in its row.
  std::vector<int> before;
  std::vector<std::int64_t> edges; ///< see edge()
  /// Global row << 32 | number of numbered components, not sent, that begin in it, if any.
  std::vector<std::int64_t> rows;

  void clear() {
    fragments.clear();
    before.clear();
    edges.clear();
    rows.clear();
  }

  /// Local fragment `mine` touches fragment `other` of the neighbour in the south, or in the west.
  static std::int64_t edge(int mine, bool south, int other) {
    return static_cast<std::int64_t>(mine) << 33 | static_cast<std::int64_t>(south) << 32 | other;
  }

  void pack(bool numbered, std::vector<std::int64_t>& out) const {
    out.push_back(static_cast<std::int64_t>(fragments.size()) << 32 |
                  static_cast<std::int64_t>(edges.size()));
    if (numbered) out.push_back(static_cast<std::int64_t>(rows.size()));
    for (std::size_t n = 0; n < fragments.size(); ++n) {
      out.push_back(fragments[n].identity);
      out.push_back(fragments[n].word);
      if (numbered) out.push_back(before[n]);
    }
    out.insert(out.end(), edges.begin(), edges.end());
    if (numbered) out.insert(out.end(), rows.begin(), rows.end());
  }
};

/// The fragments of one mask sent by all ranks; after merge() the whole components.
class FragmentMerge {
public:
  void start(const Decomposition& d, const LabelMask& mask) {
    m_px = d.px;
    m_Mx = d.Mx;
    m_mask = mask;
    m_numbered = mask.numbers_any();
    m_fragments.clear();
    m_before.clear();
    m_sets.clear();
    m_first.assign(1, 0);
    m_edges = 0;
    m_row.assign(m_numbered ? static_cast<std::size_t>(d.My) : 0, 0);
  }

  /// Adds the integers of the next rank; returns their end. `west` gets the counts of ranks in the
  /// west.
  const std::int64_t* add(const std::int64_t* at, const Patch& patch, std::vector<int>* west) {
    const int rank = static_cast<int>(m_first.size()) - 1, first = m_first.back();
    const auto fragments = static_cast<int>(*at >> 32), edges = static_cast<int>(*at & low);
    ++at;
    const auto rows = m_numbered ? *at++ : 0;
    for (int n = 0; n < fragments; ++n, at += 2) {
      m_fragments.push_back({at[0], at[1]});
      m_sets.add();
      if (!m_numbered) continue;
      m_before.push_back(m_row[row_of(at[0])] + at[2]);
      ++at;
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
    if (west && m_numbered) west->assign(&m_row[patch.ys], &m_row[patch.ys] + patch.ym);
    for (int n = 0; n < rows; ++n, ++at) m_row[*at >> 32] += static_cast<int>(*at & low);
    return at;
  }

  void merge() {
    m_position.resize(m_fragments.size());
    m_whole.clear();
    m_lead.clear();
    for (int n = 0; n < m_sets.size(); ++n) {
      const int root = m_sets.root(n);
      if (root == n) {
        m_position[n] = static_cast<int>(m_whole.size());
        m_whole.push_back(m_fragments[n]);
        m_lead.push_back(n);
        continue;
      }
      m_position[n] = m_position[root]; // the root is smaller, hence done
      Component& whole = m_whole[m_position[n]];
      if (m_fragments[n].identity < whole.identity) {
        m_lead[m_position[n]] = n;
        whole.identity = m_fragments[n].identity;
      }
      whole.add(m_fragments[n].cells(), m_fragments[n].flags());
    }
    sort();
    number();
  }

  /// Whole components by identity, and their numbers (0: not numbered).
  const std::vector<Component>& whole() const { return m_whole; }
  const std::vector<int>& numbers() const { return m_numbers; }
  int position(int rank, int fragment) const { return m_position[m_first[rank] + fragment]; }
  /// The number of numbered components among the first whole ones.
  int numbered_before(int position) const { return m_wholes_before[position]; }
  /// Numbered, unsent components that begin before row j of a patch (global row `row`).
  int counted_before(int row, const std::vector<int>& west, int j) const {
    return m_numbered ? m_row[row] + west[j - 1] : 0;
  }
  int numbered() const { return m_count; }

  std::int64_t fragments() const { return static_cast<std::int64_t>(m_fragments.size()); }
  std::int64_t edges() const { return m_edges; }

private:
  static constexpr std::int64_t low = 0xffffffff;

  int row_of(std::int64_t identity) const { return static_cast<int>(identity / m_Mx); }

  void sort() {
    const auto earlier = [](const Component& a, const Component& b) {
      return a.identity < b.identity;
    };
    if (std::is_sorted(m_whole.begin(), m_whole.end(), earlier)) return;
    std::vector<int> order(m_whole.size()), place(m_whole.size()), lead(m_whole.size());
    std::vector<Component> whole(m_whole.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return earlier(m_whole[a], m_whole[b]); });
    for (std::size_t n = 0; n < order.size(); ++n) {
      place[order[n]] = static_cast<int>(n);
      whole[n] = m_whole[order[n]];
      lead[n] = m_lead[order[n]];
    }
    for (int& position : m_position) position = place[position];
    m_whole.swap(whole);
    m_lead.swap(lead);
  }

  void number() {
    std::int64_t before = 0; // from now on m_row[j]: sum over the rows before j
    for (int& count : m_row) count = static_cast<int>(std::exchange(before, before + count));
    if (before + static_cast<std::int64_t>(m_whole.size()) > std::numeric_limits<int>::max())
      throw std::overflow_error("labels: expected fewer than 2^31 numbered components, found " +
                                std::to_string(before));
    m_numbers.assign(m_whole.size(), 0);
    m_wholes_before.assign(m_whole.size() + 1, 0);
    m_count = static_cast<int>(before);
    if (!m_numbered) return;
    int wholes = 0;
    for (std::size_t n = 0; n < m_whole.size(); ++n) {
      m_wholes_before[n] = wholes;
      if (!m_mask.numbers(m_whole[n])) continue;
      m_numbers[n] = m_row[row_of(m_whole[n].identity)] + m_before[m_lead[n]] + ++wholes;
    }
    m_wholes_before.back() = wholes;
    m_count += wholes;
  }

  int m_px = 1, m_Mx = 1;
  LabelMask m_mask;
  bool m_numbered = false;
  std::vector<Component> m_fragments, m_whole;
  std::vector<int> m_before;   // per fragment: as sent, plus those of preceding ranks in its row
  std::vector<int> m_first;    // first fragment of each rank
  std::vector<int> m_row;      // per row of the grid: numbered components that were not sent
  std::vector<int> m_position; // per fragment: position in m_whole
  std::vector<int> m_lead;     // per whole component: its part of smallest identity
  std::vector<int> m_numbers, m_wholes_before;
  std::int64_t m_edges = 0;
  int m_count = 0;
  DisjointSets m_sets;
};

/// The component with most cells, among equals that of the smallest identity; a reduction result.
struct LargestComponent {
  Component found{};
  KOKKOS_INLINE_FUNCTION LargestComponent& operator+=(const LargestComponent& o) {
    const std::int64_t more = o.found.cells() - found.cells();
    if (more > 0 || (more == 0 && o.found.identity < found.identity)) found = o.found;
    return *this;
  }
};

struct Components {
  /// fragments[local][c]: identity, area and flags of the whole component of fragment c
  std::vector<LargeList<Component>> fragments;
  /// number[local][c]: the number of the component, 1, 2, ... in raster order of the first cell,
  /// among the numbered ones (LabelMask::numbered, or all if LabelMask::all); 0 if not numbered
  std::vector<LargeList<int>> number;
  int numbered = 0; ///< numbered components on all ranks
  /// whole components by identity: all if LabelMask::all, else boundary ones and the largest ones
  std::vector<Component> whole;

  /// The largest component; cells = 0 if the mask is empty.
  Component largest() const {
    LargestComponent most;
    for (const Component& c : whole) most += LargestComponent{c};
    return most.found;
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
  BorderExchange<int>& border(std::size_t masks) {
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
      for (std::size_t m = 0; m < masks.size(); ++m) keep(masks[m], *components[m]);
      return;
    }
    m_place.resize(masks.size());
    m_merge.resize(masks.size());
    for (std::size_t r = 0; r < locals; ++r) {
      const Patch p = m_ranks.patch(r);
      int* border = m_border->data(r);
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
        m_ranks.work(r, m_merge[m].fragments() + m_merge[m].edges());
      }
    }
  }

private:
  enum Unsent { not_counted = -2, counted = -1 }; // fragments that are not sent, in m_place

  /// On one rank fragments are whole components.
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

  /// The number of fragments (in raster order) that begin before view row j.
  static int begin_before(const Patch& p, int j, const LargeList<Component>& fragments) {
    const auto earlier = [](const Component& c, std::int64_t identity) {
      return c.identity < identity;
    };
    return static_cast<int>(
        std::lower_bound(fragments.begin(), fragments.end(), p.cell(j, 1), earlier) -
        fragments.begin());
  }

  /// f(position in the border, side) for all border cells of mask m with a neighbour beyond them.
  template <class F> void for_each_boundary_cell(std::size_t r, std::size_t m, const F& f) const {
    for (const auto& side : m_border->sides(r)) {
      std::size_t at = static_cast<std::size_t>(side.first) * m_masks + m;
      for (int n = 0; n < side.cells; ++n, at += m_masks) f(at, side);
    }
  }

  /// m_place[m][r][c]: position of fragment c among those sent, or Unsent. Border: the same + 1.
  void choose_fragments(std::size_t r, std::size_t m, const LabelMask& mask,
                        const LargeList<Component>& fragments) {
    const std::vector<int>& numbers = m_border_numbers[r];
    std::vector<int>& place = m_place[m][r];
    place.assign(fragments.size(), mask.all ? 0 : not_counted);
    for_each_boundary_cell(r, m, [&](std::size_t at, const auto&) {
      if (numbers[at] >= 0) place[numbers[at]] = 0;
    });
    std::size_t largest = 0; // the first among equals
    for (std::size_t c = 0; c < fragments.size(); ++c) {
      if (fragments[c].cells() > fragments[largest].cells()) largest = c;
      if (place[c] < 0 && mask.numbers(fragments[c])) place[c] = counted;
    }
    if (!fragments.empty()) place[largest] = 0;
    int chosen = 0;
    for (int& of_fragment : place) {
      if (of_fragment >= 0) of_fragment = chosen++;
    }
    int* border = m_border->data(r);
    for_each_boundary_cell(r, m, [&](std::size_t at, const auto&) {
      border[at] = numbers[at] < 0 ? 0 : place[numbers[at]] + 1;
    });
  }

  /// The contribution of one rank to the gather for one mask.
  void contribute(std::size_t r, std::size_t m, const LabelMask& mask,
                  const LargeList<Component>& fragments, std::vector<std::int64_t>& out) {
    const Patch p = m_ranks.patch(r);
    const std::vector<int>&numbers = m_border_numbers[r], &place = m_place[m][r];
    const int* beyond = m_border->data(r);
    m_sent.clear();
    for_each_boundary_cell(r, m, [&](std::size_t at, const auto& side) {
      if (side.dx + side.dy > 0 || numbers[at] < 0 || beyond[at] == 0) return;
      const std::int64_t edge =
          SentFragments::edge(place[numbers[at]], side.dy < 0, beyond[at] - 1);
      if (m_sent.edges.empty() || m_sent.edges.back() != edge) m_sent.edges.push_back(edge);
    });
    std::sort(m_sent.edges.begin(), m_sent.edges.end());
    m_sent.edges.erase(std::unique(m_sent.edges.begin(), m_sent.edges.end()), m_sent.edges.end());
    int c = 0;
    for (int j = 1; j <= p.ym; ++j) {
      int in_row = 0;
      for (const int end = begin_before(p, j + 1, fragments); c < end; ++c) {
        in_row += place[c] == counted;
        if (place[c] < 0) continue;
        m_sent.fragments.push_back(fragments[c]);
        m_sent.before.push_back(in_row);
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

  /// Replaces the fragments of a patch by whole components, with their numbers.
  void finish(std::size_t r, std::size_t m, LargeList<Component>& fragments,
              LargeList<int>& number) {
    const Patch p = m_ranks.patch(r);
    const FragmentMerge& merge = m_merge[m];
    const std::vector<Component>& whole = merge.whole();
    const std::vector<int>& place = m_place[m][r];
    number.assign(fragments.size(), 0);
    const auto first_whole = [&](std::int64_t identity) {
      const auto earlier = [](const Component& a, std::int64_t id) { return a.identity < id; };
      return static_cast<int>(std::lower_bound(whole.begin(), whole.end(), identity, earlier) -
                              whole.begin());
    };
    // computed before any of them is replaced
    std::vector<int> begin(static_cast<std::size_t>(p.ym) + 2);
    for (int j = 1; j <= p.ym + 1; ++j) begin[j] = begin_before(p, j, fragments);
    for (int j = 1; j <= p.ym; ++j) {
      if (begin[j] == begin[j + 1]) continue;
      int before = merge.counted_before(p.global_j(j), m_west[m][r], j);
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
  std::vector<std::vector<int>> m_border_numbers;       // [local]: as filled by the caller
  std::vector<std::vector<std::vector<int>>> m_place;   // [mask][local][component]
  std::vector<std::vector<std::vector<int>>> m_west;    // [mask][local][row]: as counted_before()
  std::vector<FragmentMerge> m_merge;
  SentFragments m_sent;
};

} // namespace nunatak
