// The loops of the labelling on the execution space (labels/device/labels.hpp): one mask on one patch, by a union-find with
// atomics.
#pragma once

#include "kernels/grid/border_exchange.hpp"
#include "kernels/labels/device/forest.hpp"
#include "kernels/labels/patch.hpp"

namespace nunatak {

namespace device_labels {

/// One patch cut into blocks of rows, for one mask. Positions are j (xm + 2) + i; owned cells that are not in the mask have
/// parent -1.
struct PatchBlocks : Forest {
  Patch patch;
  const std::int64_t* table; ///< of a code: the flags it gives to its component; -1 if it is not part of the mask
  Array2<Code> codes;
  Array2<int> component;
  Shared<Component*> fragments; ///< the components of this patch, as far as there is room
  int* count;                   ///< how many they are

  KOKKOS_INLINE_FUNCTION int blocks() const { return RowBlocks(patch).size(); }
  KOKKOS_INLINE_FUNCTION void find(int n, int& j, int& i0, int& i1) const { RowBlocks(patch).find(n, j, i0, i1); }
  KOKKOS_INLINE_FUNCTION int position(int j, int i) const { return j * (patch.xm + 2) + i; }
};

inline void find_runs(const PatchBlocks& p) {
  Kokkos::parallel_for(
      "labels: runs", Kokkos::RangePolicy<Exec>(0, p.blocks()), KOKKOS_LAMBDA(int n) {
        int j = 0, i0 = 0, i1 = 0;
        p.find(n, j, i0, i1);
        int run = -1;
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          run = p.table[p.codes(j, i)] < 0 ? -1 : run < 0 ? c : run;
          p.parent(c) = run;
        }
      });
}

inline void join_runs(const PatchBlocks& p) {
  const int row = p.patch.xm + 2;
  Kokkos::parallel_for(
      "labels: join", Kokkos::RangePolicy<Exec>(0, p.blocks()), KOKKOS_LAMBDA(int n) {
        int j = 0, i0 = 0, i1 = 0;
        p.find(n, j, i0, i1);
        const auto inside = [&](int c) { return Kokkos::atomic_load(&p.parent(c)) >= 0; };
        bool left = i0 > 1 && inside(p.position(j, i0 - 1)), left_below = i0 > 1 && j > 1 && inside(p.position(j - 1, i0 - 1));
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          const bool here = inside(c), below = j > 1 && inside(c - row);
          if (here && left && i == i0) p.join(c, c - 1);
          if (here && below && !(left && left_below)) p.join(c, c - row); // else its left neighbour has joined them
          left = here, left_below = below;
        }
      });
}

/// Numbers of the roots, in `component`; identities of the components of this patch, without cells; how many there are.
inline void number_roots(const PatchBlocks& p) {
  Kokkos::parallel_scan(
      "labels: number", Kokkos::RangePolicy<Exec>(0, p.blocks()), KOKKOS_LAMBDA(int n, int& number, bool last) {
        int j = 0, i0 = 0, i1 = 0;
        p.find(n, j, i0, i1);
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          if (p.parent(c) != c) continue;
          if (last) p.component(j, i) = number;
          if (last && number < p.fragments.extent_int(0)) p.fragments(number) = {p.patch.cell(j, i), 0};
          number += 1;
        }
        if (last && n == p.blocks() - 1) *p.count = number;
      });
}

/// The component of each cell; areas and flags of the components of this patch.
inline void collect(const PatchBlocks& p) {
  Kokkos::parallel_for(
      "labels: collect", Kokkos::RangePolicy<Exec>(0, p.blocks()), KOKKOS_LAMBDA(int n) {
        int j = 0, i0 = 0, i1 = 0;
        p.find(n, j, i0, i1);
        int* const component = &p.component(0, 0);
        const bool edge_row = p.patch.global_j(j) == 0 || p.patch.global_j(j) == p.patch.My - 1;
        int number = -1;
        std::int64_t cells = 0, flags = 0;
        const auto add = [&] {
          if (number < 0 || number >= p.fragments.extent_int(0)) return;
          Kokkos::atomic_add(&p.fragments(number).word, cells << flag_bits);
          Kokkos::atomic_or(&p.fragments(number).word, flags);
        };
        for (int i = i0; i < i1; ++i) {
          const int c = p.position(j, i);
          if (Kokkos::atomic_load(&p.parent(c)) < 0) { // others shorten its way to the root
            component[c] = -1;
            continue;
          }
          const int root = p.root(c);
          if (component[root] != number) {
            add();
            number = component[root], cells = flags = 0;
          }
          if (root != c) component[c] = number;
          const bool edge = edge_row || p.patch.global_i(i) == 0 || p.patch.global_i(i) == p.patch.Mx - 1;
          cells += 1;
          flags |= p.table[p.codes(j, i)] | (edge ? touches_edge : 0);
        }
        add();
      });
}

/// Local numbers of the components of border cells (-1: not in the mask), `stride` apart.
inline void look_at_border(const PatchBlocks& p, int stride, int* numbers) {
  const BorderCells border{p.patch.xm, p.patch.ym};
  Kokkos::parallel_for(
      "labels: border", Kokkos::RangePolicy<Exec>(0, border.size()), KOKKOS_LAMBDA(int n) {
        int cell = 0, ghost = 0;
        border.find(n, cell, ghost);
        numbers[n * stride] = (&p.component(0, 0))[cell];
      });
}

} // namespace device_labels

} // namespace nunatak
