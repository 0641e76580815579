// The loops of the labelling on the execution space (labels/device/labels.hpp): the masks of a
// batch on one patch, by a union-find with atomics.
#pragma once

#include "kernels/grid/border_exchange.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/labels/device/forest.hpp"
#include "kernels/labels/patch.hpp"

namespace nunatak {

namespace device_labels {

constexpr int most_masks = 3; ///< of a batch

/// One patch cut into blocks of rows, for one mask. Positions are j (xm + 2) + i; owned cells that
/// are not in the mask have parent -1.
struct PatchBlocks : Forest {
  Patch patch;
  const std::int64_t*
      table; ///< of a code: the flags it gives to its component; -1 if it is not part of the mask
  Array2<Code> codes;
  Array2<int> component;
  Shared<Component*> fragments; ///< the components of this patch; there is room for all
  int* count;                   ///< how many they are

  KOKKOS_INLINE_FUNCTION int blocks() const { return RowBlocks(patch).size(); }
  KOKKOS_INLINE_FUNCTION void find(int n, int& j, int& i0, int& i1) const {
    RowBlocks(patch).find(n, j, i0, i1);
  }
  KOKKOS_INLINE_FUNCTION int position(int j, int i) const { return j * (patch.xm + 2) + i; }
};

/// The same for all masks of a batch: loops go over the blocks of the first mask, then over those
/// of the next.
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
        bool left = i0 > 1 && inside(p.position(j, i0 - 1)),
             left_below = i0 > 1 && j > 1 && inside(p.position(j - 1, i0 - 1));
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          const bool here = inside(c), below = j > 1 && inside(c - row);
          if (here && left && i == i0) p.join(c, c - 1);
          if (here && below && !(left && left_below))
            p.join(c, c - row); // else its left neighbour has joined them
          left = here, left_below = below;
        }
      });
}

/// A number per mask.
struct MaskCounts {
  int of[most_masks] = {};
  KOKKOS_INLINE_FUNCTION MaskCounts& operator+=(const MaskCounts& o) {
    for (int m = 0; m < most_masks; ++m) of[m] += o.of[m];
    return *this;
  }
};

/// Numbers of the roots, in `component`; identities of the components of this patch, without cells;
/// how many there are.
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
          if (last) p.component(j, i) = number, p.fragments(number) = {p.patch.cell(j, i), 0};
          number += 1;
        }
        if (last && n % p.blocks() == p.blocks() - 1) *p.count = number;
      });
}

/// The component of each cell; areas and flags of the components of this patch.
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
          if (atomic_load(&p.parent(c)) < 0) { // others shorten its way to the root
            component[c] = -1;
            continue;
          }
          const int root = p.root(c);
          if (component[root] != number) {
            add();
            number = component[root], cells = flags = 0;
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

/// Local numbers of the components of border cells (-1: not in the mask), those of all masks side
/// by side.
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

} // namespace nunatak
