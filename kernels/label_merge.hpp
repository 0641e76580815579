// Second half of the labelling (labels.hpp): components that patches have found each for itself are joined across the seams.
//
//   rank 0     | rank 1        Rank 1 has seen that its component 12 touches component 3 across the seam: an edge (12, 3).
//    . 3 3 3 3 | 12 12 .       All edges, once each, and the components they join go to every rank, and every rank does the
//    . . . . 3 | 12 .  .       same union-find on them: component 3 has 8 cells everywhere.
//
// A component is known by its identity: the smallest global index of its cells, 64 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace nunatak {

struct Component {
  std::int64_t identity = 0; ///< smallest global index of its cells
  std::int64_t cells = 0;    ///< area in cells
  std::int64_t flags = 0;    ///< union of the flags of its cells (labels.hpp)
};

struct SeamEdge {
  std::int64_t a, b; ///< identities
  bool operator<(const SeamEdge& o) const { return a != o.a ? a < o.a : b < o.b; }
  bool operator==(const SeamEdge& o) const { return a == o.a && b == o.b; }
};

/// Union-find over small integers; the root of a set is its smallest member.
class DisjointSets {
public:
  void reset(int n) {
    m_parent.resize(static_cast<std::size_t>(n));
    std::iota(m_parent.begin(), m_parent.end(), 0);
  }
  int add() {
    m_parent.push_back(static_cast<int>(m_parent.size()));
    return m_parent.back();
  }
  int size() const { return static_cast<int>(m_parent.size()); }
  int root(int n) {
    while (parent(n) != n) {
      parent(n) = parent(parent(n));
      n = parent(n);
    }
    return n;
  }
  void join(int a, int b) {
    a = root(a), b = root(b);
    if (a < b)
      parent(b) = a;
    else
      parent(a) = b;
  }

private:
  int& parent(int n) { return m_parent[static_cast<std::size_t>(n)]; }
  std::vector<int> m_parent;
};

/// Parts of components and the edges between them, from all ranks; then the whole components.
class SeamMerge {
public:
  void clear() { m_parts.clear(), m_edges.clear(), m_whole.clear(), m_root.clear(); }
  void add(const Component& part) { m_parts.push_back(part); }
  void add(const SeamEdge& edge) { m_edges.push_back(edge); }

  /// Join the parts. Each identity was added once; an edge names identities that were added.
  void merge() {
    std::sort(m_parts.begin(), m_parts.end(), [](const Component& a, const Component& b) { return a.identity < b.identity; });
    DisjointSets sets;
    sets.reset(static_cast<int>(m_parts.size()));
    for (const SeamEdge& e : m_edges) {
      const int a = find(e.a), b = find(e.b);
      if (a < 0 || b < 0) throw std::logic_error("labels: a seam edge names a component that no rank has sent");
      sets.join(a, b);
    }
    m_root.resize(m_parts.size());
    for (std::size_t n = 0; n < m_parts.size(); ++n) {
      const std::size_t root = static_cast<std::size_t>(sets.root(static_cast<int>(n)));
      if (root == n) {
        m_root[n] = static_cast<int>(m_whole.size());
        m_whole.push_back(m_parts[n]);
      } else {
        m_root[n] = m_root[root]; // the root is smaller, hence done
        Component& whole = m_whole[static_cast<std::size_t>(m_root[n])];
        whole.cells += m_parts[n].cells;
        whole.flags |= m_parts[n].flags;
      }
    }
  }

  /// The whole components in the order of their identities.
  const std::vector<Component>& whole() const { return m_whole; }

  /// Position in whole() of the component that the part `identity` belongs to; -1 if that part was not added.
  int position(std::int64_t identity) const {
    const int n = find(identity);
    return n < 0 ? -1 : m_root[static_cast<std::size_t>(n)];
  }

private:
  int find(std::int64_t identity) const {
    const auto at = std::lower_bound(m_parts.begin(), m_parts.end(), identity,
                                     [](const Component& c, std::int64_t id) { return c.identity < id; });
    return at != m_parts.end() && at->identity == identity ? static_cast<int>(at - m_parts.begin()) : -1;
  }

  std::vector<Component> m_parts, m_whole;
  std::vector<SeamEdge> m_edges;
  std::vector<int> m_root;
};

} // namespace nunatak
