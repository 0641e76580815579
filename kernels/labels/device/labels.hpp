// Connected components of several masks (see labels/labels.hpp) on the execution space, for GPUs.
//
//   row j + 1   . [4 4 4|7]     1. A thread takes 64 cells of a row; the cells of a run have its
//   row j       [0 0] . [3]        first cell as parent.
//               ^ end of a      2. A run is joined to the run that continues it to its left and to
//                 thread           those below it, by atomic compare-and-swap on the larger of two
//                                  roots. A parent is never larger than its child: a root is the
//                                  smallest cell of its component, in any order of the threads.
//                               3. Roots are numbered in raster order (a scan).
//                               4. Cells find their root; areas and flags are added up, as
//                                  integers: the same in any order.
//                               5. The host gets the fragments of border cells; patches are joined
//                                  by labels/boundaries.hpp.
//
// A loop processes all masks of a batch. The result is that of labels/labels.hpp. The host reads
// border cells and components, not the arrays, and waits once for all masks and patches. Union-find
// with atomics: Jaiganesh & Burtscher (2018), HPDC '18, 92-104, section 3; on grids: Playne &
// Hawick (2018), IEEE Trans. Parallel Distrib. Syst. 29(6), 1217-1230.
#pragma once

#include "kernels/grid/border_exchange.hpp"
#include "kernels/grid/forest.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/labels/labels.hpp"

#include <algorithm>

namespace nunatak {

namespace device_labels {

constexpr int most_masks = 3; ///< per batch

/// One patch in blocks of rows, for one mask. Parents are positions j (xm + 2) + i, or -1.
struct PatchBlocks : Forest {
  Patch patch;
  const std::int64_t*
      /// flags by code, given to the component; -1 if the code is not in the mask
      table;
  Array2<Code> codes;
  Array2<int> component;
  Shared<Component*> fragments; ///< components of this patch; large enough for all
  int* count;                   ///< their number

  KOKKOS_INLINE_FUNCTION int blocks() const { return RowBlocks(patch).size(); }
  KOKKOS_INLINE_FUNCTION void find(int n, int& j, int& i0, int& i1) const {
    RowBlocks(patch).find(n, j, i0, i1);
  }
  KOKKOS_INLINE_FUNCTION int position(int j, int i) const { return j * (patch.xm + 2) + i; }
};

/// All masks of a batch: loops run over the blocks of the first mask, then those of the next.
struct PatchMasks {
  Kokkos::Array<PatchBlocks, most_masks> masks;
  int count = 0;

  int blocks() const { return count * masks[0].blocks(); }
  KOKKOS_INLINE_FUNCTION const PatchBlocks& of(int n) const { return masks[n / masks[0].blocks()]; }
};

/// f(const PatchBlocks&, j, i0, i1) for each block of each mask.
template <class F> struct BlockLoop {
  PatchMasks all;
  F f;
  KOKKOS_INLINE_FUNCTION void operator()(int n) const {
    const PatchBlocks& p = all.of(n);
    int j = 0, i0 = 0, i1 = 0;
    p.find(n % p.blocks(), j, i0, i1);
    f(p, j, i0, i1);
  }
};
template <class F> void for_each_block(const char* label, const PatchMasks& all, const F& f) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, all.blocks()), BlockLoop<F>{all, f});
}

inline void find_runs(const PatchMasks& all) {
  for_each_block(
      "labels: runs", all, KOKKOS_LAMBDA(const PatchBlocks& p, int j, int i0, int i1) {
        int run = -1;
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          run = p.table[p.codes(j, i)] < 0 ? -1 : run < 0 ? c : run;
          p.parent(c) = run;
        }
      });
}

inline void join_runs(const PatchMasks& all) {
  for_each_block(
      "labels: join", all, KOKKOS_LAMBDA(const PatchBlocks& p, int j, int i0, int i1) {
        const int row = p.patch.xm + 2;
        const auto inside = [&](int c) { return atomic_load(&p.parent(c)) >= 0; };
        bool left = i0 > 1 && inside(p.position(j, i0 - 1));
        bool left_below = i0 > 1 && j > 1 && inside(p.position(j - 1, i0 - 1));
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          const bool here = inside(c), below = j > 1 && inside(c - row);
          if (here && left && i == i0) p.join(c, c - 1);
          if (here && below && !(left && left_below))
            p.join(c, c - row); // otherwise its left neighbour has joined them
          left = here;
          left_below = below;
        }
      });
}

struct MaskCounts {
  int of[most_masks] = {};
  KOKKOS_INLINE_FUNCTION MaskCounts& operator+=(const MaskCounts& o) {
    for (int m = 0; m < most_masks; ++m) of[m] += o.of[m];
    return *this;
  }
};

/// Numbers the roots, in `component`; stores number and identities of the patch's components.
inline void number_roots(const PatchMasks& all) {
  scan_range<MaskCounts>(
      "labels: number", 0, all.blocks(), KOKKOS_LAMBDA(int n, MaskCounts& numbers, bool last) {
        const PatchBlocks& p = all.of(n);
        int& number = numbers.of[n / p.blocks()];
        int j = 0, i0 = 0, i1 = 0;
        p.find(n % p.blocks(), j, i0, i1);
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          if (p.parent(c) != c) continue;
          if (last) {
            p.component(j, i) = number;
            p.fragments(number) = {p.patch.cell(j, i), 0};
          }
          number += 1;
        }
        if (last && n % p.blocks() == p.blocks() - 1) *p.count = number;
      });
}

/// Finds the component of each cell; accumulates areas and flags.
inline void collect(const PatchMasks& all) {
  for_each_block(
      "labels: collect", all, KOKKOS_LAMBDA(const PatchBlocks& p, int j, int i0, int i1) {
        int* const component = &p.component(0, 0);
        const bool edge_row = p.patch.global_j(j) == 0 || p.patch.global_j(j) == p.patch.My - 1;
        int number = -1;
        std::int64_t cells = 0, flags = 0;
        const auto add = [&] {
          if (number < 0) return;
          atomic_add(&p.fragments(number).word, cells << flag_bits);
          Kokkos::atomic_or(&p.fragments(number).word, flags);
        };
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          if (atomic_load(&p.parent(c)) < 0) { // other threads shorten its path to the root
            component[c] = -1;
            continue;
          }
          const int root = p.root(c);
          if (component[root] != number) {
            add();
            number = component[root];
            cells = flags = 0;
          }
          if (root != c) component[c] = number;
          const bool edge =
              edge_row || p.patch.global_i(i) == 0 || p.patch.global_i(i) == p.patch.Mx - 1;
          cells += 1;
          flags |= p.table[p.codes(j, i)] | (edge ? touches_edge : 0);
        }
        add();
      });
}

/// Local component numbers of the border cells (-1: not in the mask), with the masks interleaved.
inline void look_at_border(const PatchMasks& all, int* numbers) {
  const BorderCells border{all.masks[0].patch.xm, all.masks[0].patch.ym};
  Kokkos::parallel_for(
      "labels: border", Kokkos::RangePolicy<Exec>(0, all.count * border.size()),
      KOKKOS_LAMBDA(int n) {
        int cell = 0, ghost = 0;
        border.find(n / all.count, cell, ghost);
        numbers[n] = (&all.masks[n % all.count].component(0, 0))[cell];
      });
}

} // namespace device_labels

struct DeviceMaskLabels : Components {
  /// [local](j, i): local component number of owned cells, -1: not in the mask
  std::vector<Array2<int>> component;
};

/// The component of a cell, for loops: complete after join(), before it the part on this patch.
struct ComponentOfCell {
  Array2<int> component;
  Shared<const Component*> found;
  /// Zero cells and flags outside the mask.
  KOKKOS_INLINE_FUNCTION Component operator()(int j, int i) const {
    const int c = component(j, i);
    return c < 0 ? Component{-1, 0} : found(c);
  }
};

class DeviceLabels {
public:
  /// At most 3 masks. The decomposition must not be periodic. `ranks` must outlive this object.
  DeviceLabels(Ranks& ranks, const std::vector<LabelMask>& masks)
      : m_ranks(ranks), m_masks(masks), m_boundaries(ranks), m_labels(masks.size()),
        m_found(masks.size()) {
    if (masks.size() > device_labels::most_masks)
      throw std::invalid_argument("labels: expected at most 3 masks, found " +
                                  std::to_string(masks.size()));
    const auto locals = static_cast<std::size_t>(ranks.local_size());
    std::int64_t cells = 0; // of the largest patch, with ghosts
    for (std::size_t r = 0; r < locals; ++r)
      cells = std::max(cells, static_cast<std::int64_t>(m_ranks.patch(r).ym + 2) *
                                  (m_ranks.patch(r).xm + 2));
    for (std::size_t m = 0; m < masks.size(); ++m) {
      m_tables.emplace_back();
      for (int c = 0; c < 256; ++c) m_tables[m].push_back(flags_of(masks[m], c));
      m_parents.emplace_back(Kokkos::view_alloc("labels: parents", Kokkos::WithoutInitializing),
                             cells);
      m_counts.push_back(make_shared<int*>("labels: how many", locals));
      m_labels[m].fragments.resize(locals);
      for (std::size_t r = 0; r < locals; ++r) {
        m_labels[m].component.push_back(make_array<int>("component", m_ranks.patch(r)));
        m_found[m].emplace_back(
            Kokkos::view_alloc(shared_label("labels: components"), Kokkos::WithoutInitializing),
            m_ranks.patch(r).cells() / 2 + 1); // the maximum, of a chequerboard
      }
    }
  }

  /// Labels the masks over the codes of owned cells in two halves: find() launches loops; join(),
  /// on the host, needs them done. Result, `maxima`, messages: labels/labels.hpp.
  void find(const std::vector<Array2<Code>>& codes) {
    const BorderExchange& border = m_boundaries.border(m_masks.size());
    for (std::size_t r = 0; r < codes.size(); ++r) {
      device_labels::PatchMasks all;
      for (std::size_t m = 0; m < m_masks.size(); ++m) {
        all.masks[m] = {{m_parents[m]},           m_ranks.patch(r), m_tables[m].data(), codes[r],
                        m_labels[m].component[r], m_found[m][r],    &m_counts[m](r)};
      }
      all.count = static_cast<int>(m_masks.size());
      device_labels::find_runs(all);
      device_labels::join_runs(all);
      device_labels::number_roots(all);
      device_labels::collect(all);
      if (m_ranks.decomposition().size() > 1) device_labels::look_at_border(all, border.data(r));
    }
  }
  const std::vector<DeviceMaskLabels>& join(std::vector<std::vector<std::int64_t>>& maxima) {
    std::vector<Components*> components;
    for (std::size_t m = 0; m < m_masks.size(); ++m) {
      for (std::size_t r = 0; r < m_found[m].size(); ++r)
        m_labels[m].fragments[r].assign(m_found[m][r].data(),
                                        m_found[m][r].data() + m_counts[m](r));
      components.push_back(&m_labels[m]);
    }
    m_boundaries.join(m_masks, components, maxima);
    for (std::size_t m = 0; m < m_masks.size() && m_ranks.decomposition().size() > 1; ++m) {
      for (std::size_t r = 0; r < m_found[m].size(); ++r)
        std::copy(m_labels[m].fragments[r].begin(), m_labels[m].fragments[r].end(),
                  m_found[m][r].data());
    }
    return m_labels;
  }

  ComponentOfCell of_cell(int mask, std::size_t local) const {
    const auto m = static_cast<std::size_t>(mask);
    return {m_labels[m].component[local], m_found[m][local]};
  }

private:
  Ranks& m_ranks;
  std::vector<LabelMask> m_masks;
  BoundaryLabels m_boundaries;
  std::vector<DeviceMaskLabels> m_labels;   // [mask]
  std::vector<List<std::int64_t>> m_tables; // [mask]: per code
  std::vector<Shared<int*>> m_counts;       // [mask](local): number of components of the patch
  std::vector<std::vector<Shared<Component*>>> m_found; // [mask][local]: components of the patch
  // [mask]: shared by all patches, since loops run one after another
  std::vector<Kokkos::View<int*, WorkMem>> m_parents;
};

} // namespace nunatak
