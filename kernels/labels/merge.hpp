// Second half of the labelling (labels/labels.hpp): fragments, which patches have found each for
// itself, are joined across the seams, from what labels/seams.hpp has sent.
//
//   rank 0      | rank 1        Every rank numbers its fragments that touch a seam, and the
//   neighbours get these numbers in their . 0 0 0 0   | 0 0 .         ghosts. Rank 1 sees that its
//   fragment 0 touches fragment 0 of the west, and that its fragment 1 . . . . 0   | . . . touches
//   fragment 1: two edges. An edge is sent once, by the rank in the east or the north. All 1 1 1 1
//   1   | 1 1 1         fragments and edges go to every rank, in the order of ranks, and every rank
//   does the same
//                               union-find on them.
//
// Since fragments have places in what was gathered, nothing is searched: the merge is linear in
// fragments and edges. Only the components are sorted, by identity.
//
// Consecutive numbers without gathering every component: the number of a component is one more than
// the count of those that begin before it, and a component that touches no seam is merely counted,
// per row of the grid:
//
//   row j   | rank 0: 2 begin here | rank 1: 1 | ...   begin before = all of rows 0..j-1 + in this
//   row, of the ranks in the row j-1 |            0         |         4 |       west + in this row,
//   of this rank before + components that were
//                                                        joined and begin before.
#pragma once

#include "kernels/labels/patch.hpp"

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
    a = root(a), b = root(b);
    parent(std::max(a, b)) = std::min(a, b);
  }

private:
  int& parent(int n) { return m_parent[static_cast<std::size_t>(n)]; }
  std::vector<int> m_parent;
};

/// What one rank sends of one mask to all others, as 64-bit words:
///   fragments << 32 | edges; of a numbered mask: rows; then each fragment (identity, cells << 16 |
///   flags; of a numbered mask: before), each edge, each row.
struct SeamFragments {
  std::vector<Component>
      fragments; ///< components that touch a seam, and the largest; in the order of identities
  std::vector<int> before; ///< of each: numbered components of this patch that are not sent and
                           ///< begin in its row before it
  std::vector<std::int64_t> edges; ///< edge()
  std::vector<std::int64_t>
      rows; ///< global row << 32 | numbered components that begin there and are not sent, if any

  void clear() { fragments.clear(), before.clear(), edges.clear(), rows.clear(); }

  /// My fragment `mine` touches fragment `other` of the neighbour in the south, or in the west.
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

/// The fragments that all ranks have sent of one mask; then the whole components.
class SeamMerge {
public:
  void start(const Decomposition& d, const LabelMask& mask) {
    m_px = d.px, m_Mx = d.Mx, m_mask = mask, m_numbered = mask.numbers_any();
    m_fragments.clear(), m_before.clear(), m_sets.clear();
    m_first.assign(1, 0);
    m_edges = 0;
    m_row.assign(m_numbered ? static_cast<std::size_t>(d.My) : 0, 0);
  }

  /// The words of the next rank; returns the end of them. `west`, if not null, gets for each row of
  /// `patch` the count of the ranks in the west.
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
        throw std::logic_error("labels: a seam edge names a component that no rank has sent");
      m_sets.join(first + static_cast<int>(mine), m_first[neighbour] + static_cast<int>(other));
    }
    m_edges += edges;
    if (west && m_numbered) west->assign(&m_row[patch.ys], &m_row[patch.ys] + patch.ym);
    for (int n = 0; n < rows; ++n, ++at) m_row[*at >> 32] += static_cast<int>(*at & low);
    return at;
  }

  /// After the last rank.
  void merge() {
    m_position.resize(m_fragments.size());
    m_whole.clear(), m_lead.clear();
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
      if (m_fragments[n].identity < whole.identity)
        m_lead[m_position[n]] = n, whole.identity = m_fragments[n].identity;
      whole.add(m_fragments[n].cells(), m_fragments[n].flags());
    }
    sort();
    number();
  }

  /// Whole components, in the order of their identities, and their numbers (0: not numbered).
  const std::vector<Component>& whole() const { return m_whole; }
  const std::vector<int>& numbers() const { return m_numbers; }
  /// Position in whole() of the component that a fragment belongs to.
  int position(int rank, int fragment) const { return m_position[m_first[rank] + fragment]; }
  /// Of the first whole components, how many are numbered.
  int numbered_before(int position) const { return m_wholes_before[position]; }
  /// Numbered components that were not sent and begin before row j of a patch (view index), whose
  /// global row is `row`.
  int counted_before(int row, const std::vector<int>& west, int j) const {
    return m_numbered ? m_row[row] + west[static_cast<std::size_t>(j - 1)] : 0;
  }
  /// Of all components: how many are numbered.
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
      whole[n] = m_whole[order[n]], lead[n] = m_lead[order[n]];
    }
    for (int& position : m_position) position = place[position];
    m_whole.swap(whole), m_lead.swap(lead);
  }

  void number() {
    std::int64_t before = 0; // from now on m_row[j]: in the rows before j
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
  std::vector<int>
      m_before; // of each fragment: numbered components in its row and before it that were not sent
  std::vector<int> m_first;    // of each rank: its first fragment
  std::vector<int> m_row;      // of each row of the grid: numbered components that were not sent
  std::vector<int> m_position; // of each fragment: in m_whole
  std::vector<int> m_lead;     // of each whole component: its part of smallest identity
  std::vector<int> m_numbers, m_wholes_before;
  std::int64_t m_edges = 0;
  int m_count = 0;
  DisjointSets m_sets;
};

} // namespace nunatak
