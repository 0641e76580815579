// First half of the labelling (labels/labels.hpp): the fragments of one mask within one patch.
//
//   row j + 1    . [  2  ] . [3] . .      Runs are numbered in raster order, and a set of runs is known by its smallest: run 2
//   row j        [0] . [  1  ] . . .      touches 0 and 1 and joins them. The first cell met of a fragment is then the one
//                                         with the smallest index, and fragments come out in raster order.
//
// Method: run-based two-pass labelling, He, Chao & Suzuki (2008), IEEE Trans. Image Process. 17(5). On rough masks the time goes
// to branches that nobody can predict; the loops over runs have none but those of the walk along two rows.
// Neighbours: segments.hpp (input), labels/merge.hpp (second half).
#pragma once

#include "kernels/labels/segments.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>

namespace nunatak {

/// A component, or the fragment of one inside a patch.
struct Component {
  std::int64_t identity = 0; ///< smallest global index of its cells
  std::int64_t cells = 0;    ///< area in cells
  std::int64_t flags = 0;    ///< union of the flags of its cells (LabelMask)
};

/// Flag of components that have a cell on the edge of the grid; the other 15 bits belong to the masks.
constexpr std::int64_t touches_edge = 1;
constexpr int flag_bits = 16;

struct LabelMask {
  bool (*contains)(Code code);                                        ///< is a cell of this code part of the mask?
  std::int64_t (*flags)(Code) = [](Code) { return std::int64_t{0}; }; ///< flags that a cell of this code gives to its component
  bool all = false; ///< gather all components on all ranks: `whole` is then complete, and all are numbered
  bool (*numbered)(const Component&) = nullptr; ///< which components get consecutive numbers; sends counts, not components
};

/// The flags that a cell of this code gives to its component, -1 if the code is not part of the mask.
/// invalid_argument if a flag does not fit.
inline std::int64_t flags_of(const LabelMask& mask, int code) {
  const auto c = static_cast<Code>(code);
  const std::int64_t flags = mask.contains(c) ? mask.flags(c) : -1;
  if (flags >= 1 << flag_bits) throw std::invalid_argument("labels: expected flags of 16 bits, found " + std::to_string(flags));
  return flags;
}

/// Labels patches one after another; keeps its work space between calls.
class PatchLabels {
public:
  /// component[n]: fragment of segment n, or -1. fragments[c]: in raster order of the first cell.
  /// Host memory; nothing is communicated.
  void update(const Patch& p, const Segments& s, const LabelMask& mask, std::vector<int>& component,
              std::vector<Component>& fragments) {
    bool inside[256];
    std::int64_t flags[256];
    for (int c = 0; c < 256; ++c) {
      flags[c] = flags_of(mask, c);
      inside[c] = flags[c] >= 0;
    }
    component.resize(s.list.size());
    find_runs(p, s, inside, component.data());
    const auto sets = static_cast<std::size_t>(number_sets());
    fragments.resize(sets + 1); // room for one that is never met
    int met = 0;                // components so far
    for (int j = 1; j <= p.ym; ++j) {
      const std::int64_t cell = p.cell(j, 0);
      const std::int64_t edge = p.global_j(j) == 0 || p.global_j(j) == p.My - 1 ? touches_edge : 0;
      for (int n = s.row[j]; n < s.row[j + 1]; ++n) {
        if (component[n] < 0) continue;
        const Segment here = s.list[n];
        fragments[met] = {cell + here.i0, 0, 0}; // stays if this cell begins a component
        const int c = component[n] = m_number[component[n]];
        met += c == met;
        Component& fragment = fragments[c];
        fragment.cells += here.i1 - here.i0;
        fragment.flags |= flags[here.code] | edge;
      }
      for (const bool east : {false, true}) {
        const int c = component[east ? s.row[j + 1] - 1 : s.row[j]];
        if (c >= 0 && (east ? p.xs + p.xm == p.Mx : p.xs == 0)) fragments[c].flags |= touches_edge;
      }
    }
    fragments.resize(sets);
  }

private:
  struct Run {
    int i0, i1; // half-open range of view indices
  };

  /// Cut rows into runs of the mask, run[n] of segment n (or -1), and join those that touch: m_set.
  void find_runs(const Patch& p, const Segments& s, const bool* inside, int* run) {
    m_set.clear();
    m_here.resize(static_cast<std::size_t>(p.xm) + 1);
    m_below.resize(static_cast<std::size_t>(p.xm) + 1);
    int first_below = 0, first = 0; // runs
    for (int j = 1; j <= p.ym; ++j) {
      Run* here = m_here.data();
      int runs = 0, end = 0; // of this row; where the last run ends
      for (int n = s.row[j]; n < s.row[j + 1]; ++n) {
        const Segment segment = s.list[n];
        if (!inside[segment.code]) {
          run[n] = -1;
          continue;
        }
        if (segment.i0 != end) here[runs++].i0 = segment.i0;
        here[runs - 1].i1 = end = segment.i1;
        run[n] = first + runs - 1;
      }
      here[runs] = {std::numeric_limits<int>::max(), std::numeric_limits<int>::max()}; // touches nothing
      m_set.resize(static_cast<std::size_t>(first + runs));
      if (first > first_below)
        join_rows(runs, first, first_below);
      else
        for (int a = first; a < first + runs; ++a) m_set[a] = a;
      first_below = first;
      first += runs;
      std::swap(m_here, m_below);
    }
  }

  /// m_set[a] of each run of a row: the smallest run known to be in its set.
  void join_rows(int runs, int first, int first_below) {
    // lab 3 begin: union-find over two rows of runs | stub: throw "lab 3: not written yet";
    const Run *here = m_here.data(), *below = m_below.data();
    int* set = m_set.data();
    for (int a = 0, b = 0; a < runs; ++a) {
      int root = first + a;
      set[root] = root;
      while (below[b].i1 <= here[a].i0) ++b;
      for (; below[b].i0 < here[a].i1; ++b) {
        int other = set[first_below + b];
        while (set[other] != other) other = set[other] = set[set[other]];
        // the larger root points to the smaller, without a branch
        const int difference = other - root, negative = difference >> 31;
        const int smaller = root + (difference & negative), larger = root + (difference & ~negative);
        set[larger] = smaller;
        root = smaller;
      }
      set[first + a] = root;
      b -= b > 0; // the last one below may go on under the next run
    }
    // lab 3 end
  }

  /// m_number[a]: of the set of run a, 0, 1, ... in the order of their smallest members. Returns how many sets there are.
  int number_sets() {
    int sets = 0;
    m_number.resize(m_set.size());
    int* number = m_number.data();
    for (std::size_t a = 0; a < m_set.size(); ++a) {
      const auto up = static_cast<std::size_t>(m_set[a]); // at most a: its number is known, or just written
      number[a] = sets;
      number[a] = number[up];
      sets += up == a;
    }
    return sets;
  }

  std::vector<int> m_set, m_number;
  std::vector<Run> m_here, m_below;
};

} // namespace nunatak
