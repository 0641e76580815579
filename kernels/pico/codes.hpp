// What a cell is to PICO, as bits of one byte (segments.hpp cuts rows into segments of equal code), and the legends of the
// masks that PICO gives out. Neighbours: geometry.hpp sets the codes, fields.hpp holds the masks.
#pragma once

#include "kernels/ice/geometry.hpp"
#include "kernels/labels/segments.hpp"

namespace nunatak::pico {

enum CodeBit : Code {
  is_grounded = 1,   ///< grounded ice or bare land
  is_bare = 2,       ///< land without ice
  is_floating = 4,   ///< floating ice
  is_ocean = 8,      ///< ice-free ocean
  is_shallow = 16,   ///< bed above the depth of the continental shelf
  is_continent = 32, ///< grounded, part of a large component or no ice rises wanted
  is_open = 64,      ///< ice-free ocean, part of its largest component
  is_lake = 128,     ///< part of a component of floating ice and ocean that does not touch the edge of the grid
};

KOKKOS_INLINE_FUNCTION bool continent(Code c) { return (c & is_continent) != 0; }
KOKKOS_INLINE_FUNCTION bool ice_rise(Code c) { return (c & is_grounded) != 0 && !continent(c); }
KOKKOS_INLINE_FUNCTION bool hole(Code c) { return (c & is_ocean) != 0 && (c & is_open) == 0; }
KOKKOS_INLINE_FUNCTION bool lake_ice(Code c) { return (c & is_floating) != 0 && (c & is_lake) != 0; }
KOKKOS_INLINE_FUNCTION bool shelf_ice(Code c) { return (c & is_floating) != 0 && (c & is_lake) == 0; }
KOKKOS_INLINE_FUNCTION bool has_ice(Code c) { return (c & is_floating) != 0 || (c & (is_grounded | is_bare)) == is_grounded; }
/// The domain of the distances: floating ice, holes and ice rises.
KOKKOS_INLINE_FUNCTION bool in_shelf_domain(Code c) { return (c & is_floating) != 0 || hole(c) || ice_rise(c); }

/// The code of a cell of type `type` (geometry.hpp) before anything is labelled; without a type bit if there is no such type.
KOKKOS_INLINE_FUNCTION Code first_code(int type, bool shallow) {
  const int bits = (type == ice_free_land) * (is_grounded | is_bare) + (type == grounded_ice) * is_grounded +
                   (type == floating_ice) * is_floating + (type == ice_free_ocean) * is_ocean + shallow * is_shallow;
  return static_cast<Code>(bits);
}
constexpr Code type_bits = is_grounded | is_bare | is_floating | is_ocean;

/// All that the geometry reads of a cell as one number: shallow or not (a bit), type (3 bits; 7 if there is no such type), basin.
/// The sign of a difference says what is shallow, not a comparison: so the loops are vectorised.
KOKKOS_INLINE_FUNCTION int cell_input(int basin, int type, double bed, double depth) {
  const auto shallow = static_cast<int>(Kokkos::bit_cast<std::uint64_t>(depth - bed) >> 63);
  return static_cast<int>(static_cast<unsigned>(basin) << 4) | ((type & ~7) == 0 ? type : 7) << 1 | shallow;
}

struct FirstCodes {
  Code code[16]; ///< by shallow or not and type
};

/// What is read of the owned cells, and their first codes. Without ice rises every grounded cell is continental.
inline void set_first_codes(const Patch& p, const Array2<int>& basins, const Array2<int>& mask, const Array2<double>& b,
                            double depth, bool ice_rises, const Array2<int>& inputs, const Array2<Code>& codes) {
  FirstCodes first;
  for (int n = 0; n < 16; ++n) {
    const Code c = first_code(n >> 1, (n & 1) != 0);
    first.code[n] = static_cast<Code>(c | ((c & is_grounded) != 0 && !ice_rises ? is_continent : 0));
  }
  for_each_cell(
      "pico input", p, KOKKOS_LAMBDA(int j, int i) { inputs(j, i) = cell_input(basins(j, i), mask(j, i), b(j, i), depth); });
  for_each_cell(
      "pico codes", p, KOKKOS_LAMBDA(int j, int i) { codes(j, i) = first.code[inputs(j, i) & 15]; });
  Kokkos::fence("pico codes");
}

// pico_ice_rise_mask: 0 ocean, 1 ice_rise, 2 continental_ice_sheet, 3 floating_ice
KOKKOS_INLINE_FUNCTION int ice_rise_mask(Code c) { return continent(c) ? 2 : ice_rise(c) ? 1 : (c & is_floating) != 0 ? 3 : 0; }
// pico_ocean_mask: 0 not_ice_free_ocean, 1 hole, 2 open_ocean
KOKKOS_INLINE_FUNCTION int ocean_mask(Code c) { return (c & is_ocean) == 0 ? 0 : (c & is_open) != 0 ? 2 : 1; }
// pico_lake_mask: 0 not_a_lake, 1 lake (floating ice or ocean without a way to the edge of the grid)
KOKKOS_INLINE_FUNCTION int lake_mask(Code c) { return (c & is_lake) != 0 ? 1 : 0; }
// pico_contshelf_mask: 0 other, 1 shallow_ocean not connected to the continent, 2 continental_shelf
KOKKOS_INLINE_FUNCTION int contshelf_mask(Code c, bool attached) {
  return (c & (is_ocean | is_shallow)) != (is_ocean | is_shallow) ? 0 : attached ? 2 : 1;
}
// pico_shelf_mask: 0 not_a_shelf, 1..n number of the shelf
// pico_distance_gl, pico_distance_cf: -1 outside the shelf domain, 0 not reached, 1 seed, 2, 3, ... steps
// pico_box_mask: 0 no box, 1..n_max box, 1 at the grounding line

} // namespace nunatak::pico
