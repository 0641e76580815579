// First half of the labelling (labels.hpp): the fragments of one mask within one patch.
//
//   row j + 1    . [  0  ] . [2] . .      A run that touches none below gets a new label; a set of
//   row j        [0] . [  1  ] . . .      labels is known by its smallest: the long run joins 0 and
//                                         1. The first cell of a fragment in raster order thus has
//                                         its smallest index, and fragments come out in raster
//                                         order.
//
// Method: run-based two-pass labelling, He, Chao & Suzuki (2008), IEEE Trans. Image Process. 17(5).
// Loops over runs are branch-free except for the walk along two rows, since mispredicted branches
// dominate on rough masks. Input: segments.hpp; second half: boundaries.hpp.
#pragma once

#include "kernels/labels/segments.hpp"

#include <cstddef>
#include <limits>
#include <stdexcept>

namespace nunatak {

constexpr int flag_bits = 16;

/// A component, or its fragment inside a patch.
struct Component {
  std::int64_t identity; ///< smallest global index of its cells
  std::int64_t word;     ///< cells << flag_bits | flags

  constexpr std::int64_t cells() const { return word >> flag_bits; } ///< area in cells
  /// The union of the flags of its cells (LabelMask).
  constexpr std::int64_t flags() const { return word & ((1 << flag_bits) - 1); }
  bool operator==(const Component& other) const {
    return identity == other.identity && word == other.word;
  }
  void add(std::int64_t more_cells, std::int64_t more_flags) {
    word = (word + (more_cells << flag_bits)) | more_flags;
  }
};

/// Flag of components with a cell on the edge of the grid; the other 15 bits belong to the masks.
constexpr std::int64_t touches_edge = 1;

struct LabelMask {
  bool (*contains)(Code code); ///< true if cells of this code are in the mask
  /// Flags that cells of this code give to their component.
  std::int64_t (*flags)(Code) = [](Code) { return std::int64_t{0}; };
  /// All components, or those with one of these flags, get consecutive numbers; they are gathered
  /// on all ranks.
  bool all = false;
  std::int64_t numbered = 0;

  bool numbers(const Component& c) const { return all || (c.word & numbered) != 0; }
};

/// Flags that cells of this code give to their component; -1: not in the mask. Throws
/// invalid_argument.
inline std::int64_t flags_of(const LabelMask& mask, int code) {
  const auto c = static_cast<Code>(code);
  const std::int64_t flags = mask.contains(c) ? mask.flags(c) : -1;
  if (flags >= 1 << flag_bits)
    throw std::invalid_argument("labels: expected flags of 16 bits, found " +
                                std::to_string(flags));
  return flags;
}

/// Labels one patch after another; keeps work space between calls.
class PatchLabels {
public:
  /// component[n]: fragment of segment n, or -1. fragments[c]: in raster order of the first cell.
  void update(const Patch& p, const Segments& s, const LabelMask& mask, LargeList<int>& component,
              LargeList<Component>& fragments) {
    int flags[256];
    for (int c = 0; c < 256; ++c) flags[c] = static_cast<int>(flags_of(mask, c));
    component.resize(s.list.size());
    fragments.resize(s.list.size() + 1);
    m_set.resize(s.list.size() + 2);
    const int labels = find_runs(p, s, flags, component.data(), fragments.data());
    const int sets = number_sets(labels, fragments.data());
    const int* number = m_set.data() + 1;
    for (std::size_t n = 0; sets < labels && n < component.size(); ++n)
      component[n] = number[component[n]];
    fragments.resize(static_cast<std::size_t>(sets));
  }

private:
  struct Run {
    int i0, i1, label; // half-open range of view indices
  };

  /// Labels the runs of all rows: component[n] of segment n (or -1). Returns the number of labels.
  int find_runs(const Patch& p, const Segments& s, const int* flags, int* component,
                Component* fragments) {
    const auto most_runs = static_cast<std::size_t>(p.xm) / 2 + 2; // of a row, with the sentinel
    m_here.resize(most_runs);
    m_below.resize(most_runs);
    constexpr int most = std::numeric_limits<int>::max();
    const Run last{most, most, 0}; // sentinel: touches nothing
    m_below[0] = last;
    // runs that begin or end here are at the edge of the grid
    const int west = p.xs == 0 ? 1 : 0, east = p.xs + p.xm == p.Mx ? p.xm + 1 : 0;
    int labels = 0;
    for (int j = 1; j <= p.ym; ++j) {
      const std::int64_t cell = p.cell(j, 0);
      const int edge = p.global_j(j) == 0 || p.global_j(j) == p.My - 1 ? touches_edge : 0;
      Run* here = m_here.data();
      m_at = m_below.data();
      for (int n = s.row[j], end = s.row[j + 1], i0 = 1, i1; n < end; i0 = i1) {
        int of_run = flags[s.list[n].code()];
        i1 = s.end(n);
        const int first = n++;
        if (of_run < 0) {
          component[first] = -1;
          continue;
        }
        for (; n < end && flags[s.list[n].code()] >= 0; ++n) {
          of_run |= flags[s.list[n].code()];
          i1 = s.end(n);
        }
        const int label = join_run(i0, i1, labels);
        fragments[labels] = {cell + i0, 0}; // kept if this run begins a fragment
        fragments[label].add(i1 - i0, of_run | edge | static_cast<int>(i0 == west) |
                                          static_cast<int>(i1 == east));
        labels += label == labels;
        *here++ = {i0, i1, label};
        for (int k = first; k < n; ++k) component[k] = label;
      }
      *here = last;
      std::swap(m_here, m_below);
    }
    return labels;
  }

  /// The smallest label of the runs below that a run touches, which are joined, or `new_label`.
  int join_run(int i0, int i1, int new_label) {
    // lab 3 begin: union-find over a run and those below | stub: throw "lab 3: not written yet";
    int *set = m_set.data() + 1, root = new_label;
    set[root] = root;
    while (m_at->i1 <= i0) ++m_at;
    for (; m_at->i0 < i1; ++m_at) {
      int other = m_at->label;
      while (set[other] != other) other = set[other] = set[set[other]];
      // branch-free: the larger root points to the smaller
      const int difference = other - root, negative = difference >> 31;
      const int smaller = root + (difference & negative), larger = root + (difference & ~negative);
      set[larger] = smaller;
      root = smaller;
    }
    m_at -= m_at > m_below.data(); // the last one below may go on under the next run
    return root;
    // lab 3 end
  }

  /// Numbers sets by their smallest labels, merges their fragments. Returns the number of sets.
  int number_sets(int labels, Component* fragments) {
    int *set = m_set.data() + 1, joined = 0, sets = 0;
    set[-1] = -1;
    for (int a = 0; a < labels; ++a) joined |= set[a] ^ a;
    if (joined == 0) return labels;
    for (int a = 0; a < labels; ++a) {
      const Component of_label = fragments[a];
      const int up = set[a]; // at most a: its number is known
      set[a] = sets;
      const int number = set[a] = set[up];
      fragments[sets] = {of_label.identity, 0}; // kept if this label begins a set
      fragments[number].add(of_label.cells(), of_label.flags());
      sets += up == a;
    }
    return sets;
  }

  // per label: a smaller one of its set, or itself; then its number. The entry before: no label
  LargeList<int> m_set;
  std::vector<Run> m_here, m_below;
  const Run* m_at = nullptr; // in m_below
};

} // namespace nunatak
