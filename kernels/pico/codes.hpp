// The code of a cell in PICO, the bits of one byte (set in geometry.hpp; segments.hpp cuts rows
// into segments of equal code), and the legends of the output masks.
#pragma once

#include "kernels/ice/geometry.hpp"
#include "kernels/labels/segments.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nunatak::pico {

enum CodeBit : Code {
  is_grounded = 1,   ///< grounded ice or ice-free land
  is_bare = 2,       ///< ice-free land
  is_floating = 4,   ///< floating ice
  is_ocean = 8,      ///< ice-free ocean
  is_shallow = 16,   ///< bed above the depth of the continental shelf
  is_continent = 32, ///< grounded, in a large component (or any, without ice rises)
  is_open = 64,      ///< ice-free ocean, in its largest component
  /// In a component of floating ice and ocean that does not touch the edge of the grid.
  is_lake = 128,
};

KOKKOS_INLINE_FUNCTION bool continent(Code c) { return (c & is_continent) != 0; }
KOKKOS_INLINE_FUNCTION bool ice_rise(Code c) { return (c & is_grounded) != 0 && !continent(c); }
KOKKOS_INLINE_FUNCTION bool hole(Code c) { return (c & is_ocean) != 0 && (c & is_open) == 0; }
KOKKOS_INLINE_FUNCTION bool lake_ice(Code c) {
  return (c & is_floating) != 0 && (c & is_lake) != 0;
}
KOKKOS_INLINE_FUNCTION bool shelf_ice(Code c) {
  return (c & is_floating) != 0 && (c & is_lake) == 0;
}
KOKKOS_INLINE_FUNCTION bool has_ice(Code c) {
  return (c & is_floating) != 0 || (c & (is_grounded | is_bare)) == is_grounded;
}
/// The domain of the distances: floating ice, holes and ice rises.
KOKKOS_INLINE_FUNCTION bool in_shelf_domain(Code c) {
  return (c & is_floating) != 0 || hole(c) || ice_rise(c);
}

/// The union of the bits of the 4 neighbours of a cell; `up`: offset to the next row.
KOKKOS_INLINE_FUNCTION int around(const Code* c, int up) { return c[-1] | c[1] | c[-up] | c[up]; }
/// Seeds: a continental cell among 8 neighbours; open ocean among 4. Front: any ocean among 4.
KOKKOS_INLINE_FUNCTION bool starts_at_continent(const Code* c, int up) {
  const int corners = c[-up - 1] | c[-up + 1] | c[up - 1] | c[up + 1];
  return ((around(c, up) | corners) & is_continent) != 0;
}
KOKKOS_INLINE_FUNCTION bool starts_at_front(const Code* c, int up) {
  return (around(c, up) & is_open) != 0;
}
KOKKOS_INLINE_FUNCTION bool is_front(const Code* c, int up) {
  return (around(c, up) & is_ocean) != 0;
}

constexpr Code type_bits = is_grounded | is_bare | is_floating | is_ocean;

// pico_ice_rise_mask: 0 ocean, 1 ice_rise, 2 continental_ice_sheet, 3 floating_ice
KOKKOS_INLINE_FUNCTION int ice_rise_mask(Code c) {
  return continent(c) ? 2 : ice_rise(c) ? 1 : (c & is_floating) != 0 ? 3 : 0;
}
// pico_ocean_mask: 0 not_ice_free_ocean, 1 hole, 2 open_ocean
KOKKOS_INLINE_FUNCTION int ocean_mask(Code c) {
  return (c & is_ocean) == 0 ? 0 : (c & is_open) != 0 ? 2 : 1;
}
// pico_lake_mask: 0 not_a_lake, 1 lake (floating ice or ocean not connected to the grid edge)
KOKKOS_INLINE_FUNCTION int lake_mask(Code c) { return (c & is_lake) != 0 ? 1 : 0; }
// pico_contshelf_mask: 0 other, 1 shallow_ocean not connected to the continent, 2 continental_shelf
KOKKOS_INLINE_FUNCTION int contshelf_mask(Code c, bool attached) {
  return (c & (is_ocean | is_shallow)) != (is_ocean | is_shallow) ? 0 : attached ? 2 : 1;
}
/// All four masks in one byte; the first one in the lowest two bits.
KOKKOS_INLINE_FUNCTION std::uint8_t packed_masks(Code c, int contshelf) {
  return static_cast<std::uint8_t>(ice_rise_mask(c) | ocean_mask(c) << 2 | lake_mask(c) << 4 |
                                   contshelf << 5);
}
// pico_shelf_mask: 0 not_a_shelf, 1..n number of the shelf
// pico_distance_gl, pico_distance_cf: -1 outside the shelf domain, 0 not reached, 1 seed, 2, 3, ...
// pico_box_mask: 0 no box, 1..n_max box, 1 at the grounding line

// --- adjacency of basins: two adjacent ocean cells, one of which is next to ice
//
//   i i i i        i: ice, 1 and 2: ice-free ocean of these basins
//   1 1 2 2        adjacent because of this row
//   1 1 2 2        not because of this one

/// The ocean cells from..to of one row. Sets adjacent[a (basins + 1) + b] and its transpose to 1.
/// Codes and basins need valid ghosts.
inline void find_adjacent_basins(const Code* code, int up, int from, int to, const int* basin,
                                 int basins, std::int64_t* adjacent) {
  const auto check = [&](int at) {
    if ((around(code + at, up) & (is_floating | is_grounded)) == 0) return;
    const int neighbours[] = {at - 1, at + 1, at - up, at + up}, a = basin[at];
    if (std::none_of(neighbours, neighbours + 4, [&](int n) { return has_ice(code[n]); })) return;
    for (const int n : neighbours) {
      const int b = basin[n];
      if ((code[n] & is_ocean) != 0 && b != a)
        adjacent[a * (basins + 1) + b] = adjacent[b * (basins + 1) + a] = 1;
    }
  };
  constexpr std::uint64_t all_ocean = 0x0101010101010101ULL * is_ocean;
  for (int c = from; c < to;) {
    if (c > from && c + 8 < to) { // eight cells surrounded by ocean are not next to ice
      std::uint64_t above, below;
      std::memcpy(&above, code + c + up, 8);
      std::memcpy(&below, code + c - up, 8);
      if ((above & below & all_ocean) == all_ocean) {
        c += 8;
        continue;
      }
    }
    check(c++);
  }
}

} // namespace nunatak::pico
