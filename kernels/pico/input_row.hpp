// What the geometry of PICO reads of a cell, as one number, and the code that follows from it
// before anything is labelled. Many cells at once, without a branch; on a CPU compiled by itself
// (input_row.cpp), for AVX2, too, and the processor chooses. On a GPU a thread has one cell.
// Neighbours: last_input.hpp has the loops, codes.hpp the bits.
#pragma once

#include "kernels/grid/widths.hpp"
#include "kernels/pico/codes.hpp"

#include <cstddef>
#include <cstdint>

namespace nunatak::pico {

/// Shallow or not (a bit), type (3 bits; 7 if there is no such type), basin: numbers to
/// `largest_basin` fit.
using CellInput = std::uint16_t;
constexpr int largest_basin = 1000;

/// Cells of a row, from the first on.
struct InputRow {
  const int *basin, *type;
  const double* bed;
  double depth;   ///< of the continental shelf
  bool ice_rises; ///< if not, every grounded cell is continental
};

/// The largest basin and the smallest, and 0.
struct SeenBasins {
  int largest = 0, smallest = 0;
  KOKKOS_INLINE_FUNCTION SeenBasins& operator+=(const SeenBasins& o) {
    largest = o.largest > largest ? o.largest : largest;
    smallest = o.smallest < smallest ? o.smallest : smallest;
    return *this;
  }
};

namespace detail {
/// The sign of a difference says what is shallow, not a comparison: so the loops are vectorised.
KOKKOS_FORCEINLINE_FUNCTION int cell_input(const InputRow& row, int n) {
  const auto shallow =
      static_cast<int>(Kokkos::bit_cast<std::uint64_t>(row.depth - row.bed[n]) >> 63);
  const int type = row.type[n], known = (type & ~7) == 0 ? type : 7;
  return static_cast<int>(static_cast<unsigned>(row.basin[n]) << 4) | known << 1 | shallow;
}
/// Without a type bit if there is no such type.
KOKKOS_FORCEINLINE_FUNCTION int first_code(int input, bool ice_rises) {
  const int type = input >> 1 & 7, land = -static_cast<int>(type == ice_free_land),
            ice = -static_cast<int>(type == grounded_ice);
  return (land & (is_grounded | is_bare)) | (ice & is_grounded) |
         ((land | ice) & (ice_rises ? 0 : is_continent)) |
         (-static_cast<int>(type == floating_ice) & is_floating) |
         (-static_cast<int>(type == ice_free_ocean) & is_ocean) | (input & 1) * is_shallow;
}
KOKKOS_FORCEINLINE_FUNCTION void read_inputs(const InputRow& of, int cells, CellInput* inputs,
                                             Code* codes, SeenBasins& seen) {
  const InputRow row = of;
  SeenBasins all = seen;
  NUNATAK_INDEPENDENT
  for (int n = 0; n < cells; ++n) {
    const int basin = row.basin[n], input = cell_input(row, n);
    all.largest = basin > all.largest ? basin : all.largest;
    all.smallest = basin < all.smallest ? basin : all.smallest;
    inputs[n] = static_cast<CellInput>(input);
    codes[n] = static_cast<Code>(first_code(input, row.ice_rises));
  }
  seen = all;
}
KOKKOS_FORCEINLINE_FUNCTION int changed_inputs(const InputRow& of, int cells,
                                               const CellInput* inputs) {
  const InputRow row = of;
  int changed = 0; // a basin that does not fit is a change, too
  for (int n = 0; n < cells; ++n) changed |= cell_input(row, n) ^ inputs[n];
  return changed;
}
} // namespace detail

/// The inputs of cells and their first codes; `seen` gets their basins, too.
/// And: not 0 if any of the cells has another input.
NUNATAK_WIDE(void, read_inputs,
             (const InputRow& row, int cells, CellInput* inputs, Code* codes, SeenBasins& seen),
             (row, cells, inputs, codes, seen))
NUNATAK_WIDE(int, changed_inputs, (const InputRow& row, int cells, const CellInput* inputs),
             (row, cells, inputs))

} // namespace nunatak::pico
