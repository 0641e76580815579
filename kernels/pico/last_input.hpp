// The input of the last geometry of PICO, to detect changes: cell types, cells with a bed above the
// depth of the continental shelf, and basins; the geometry depends on nothing else. No
// communication.
// One number per cell is kept: basin, cell type and the bit of the bed; the codes are made from it.
// Rows are read by functions that are compiled for several widths (last_input.cpp).
#pragma once

#include "kernels/grid/widths.hpp"
#include "kernels/pico/codes.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/options.hpp"

#include <cstdint>

namespace nunatak::pico {

/// Packed input: shallow or not (1 bit), type (3 bits; 7 if invalid), basin up to `largest_basin`.
using CellInput = std::uint16_t;
constexpr int largest_basin = 1000;

struct InputRow {
  const int *basin, *type;
  const double* bed;
  double depth;   ///< of the continental shelf
  bool ice_rises; ///< false: every grounded cell is continental
};

/// The largest and the smallest basin, and 0.
struct SeenBasins {
  int largest = 0, smallest = 0;
  KOKKOS_INLINE_FUNCTION SeenBasins& operator+=(const SeenBasins& o) {
    largest = o.largest > largest ? o.largest : largest;
    smallest = o.smallest < smallest ? o.smallest : smallest;
    return *this;
  }
};

namespace detail {
/// Shallow cells are found by the sign of a difference, so that loops vectorise.
KOKKOS_FORCEINLINE_FUNCTION int cell_input(const InputRow& row, int n) {
  const auto shallow =
      static_cast<int>(Kokkos::bit_cast<std::uint64_t>(row.depth - row.bed[n]) >> 63);
  const int type = row.type[n], known = (type & ~7) == 0 ? type : 7;
  return static_cast<int>(static_cast<unsigned>(row.basin[n]) << 4) | known << 1 | shallow;
}
/// Has no type bit if the type is invalid.
KOKKOS_FORCEINLINE_FUNCTION int first_code(int input, bool ice_rises) {
  const int type = input >> 1 & 7;
  const int land = -static_cast<int>(type == ice_free_land);
  const int ice = -static_cast<int>(type == grounded_ice);
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
  int changed = 0; // a basin that does not fit also counts as a change
  for (int n = 0; n < cells; ++n) changed |= cell_input(row, n) ^ inputs[n];
  return changed;
}
} // namespace detail

/// read_inputs: the inputs of cells and their first codes; `seen` is updated with their basins.
/// changed_inputs: nonzero if any of the cells has a different input.
NUNATAK_WIDE(void, read_inputs,
             (const InputRow& row, int cells, CellInput* inputs, Code* codes, SeenBasins& seen),
             (row, cells, inputs, codes, seen))
NUNATAK_WIDE(int, changed_inputs, (const InputRow& row, int cells, const CellInput* inputs),
             (row, cells, inputs))

using Answer = Shared<int>; ///< nonzero: yes

/// The input arrays of a patch, in packs of a row: pack n begins at view index first(n).
struct InputArrays {
  static constexpr int together = loops_on_host ? 512 : 1;
  InputArrays(const Patch& p, const PicoInput& in, const PicoOptions& options)
      : xm(p.xm), basins(in.basins), mask(in.mask), b(in.b), depth(options.continental_shelf_depth),
        ice_rises(options.exclude_ice_rises) {}
  static Cells packs(const Patch& p) { return {1, p.ym + 1, 0, (p.xm + together - 1) / together}; }
  KOKKOS_INLINE_FUNCTION static int first(int n) { return 1 + together * n; }
  KOKKOS_INLINE_FUNCTION int cells(int n) const {
    const int left = xm - together * n;
    return left < together ? left : together;
  }
  KOKKOS_INLINE_FUNCTION InputRow row(int j, int i) const {
    return {&basins(j, i), &mask(j, i), &b(j, i), depth, ice_rises};
  }

  int xm;
  Array2<int> basins;
  Array2<int> mask;
  Array2<double> b;
  double depth;
  bool ice_rises;
};

class LastInput {
public:
  /// Nonzero if the input differs from that of the last keep(), if the output is a different
  /// object, or before the first keep(). Loops may read the answer, the host after a fence.
  Answer changed(const Patch& p, const PicoInput& in, const PicoFields& out,
                 const PicoOptions& options) const {
    const bool nothing_kept =
        m_written.data() == nullptr || out.box_mask.data() != m_written.data();
    const InputArrays input(p, in, options);
    const auto last = m_inputs;
    const Cells packs = InputArrays::packs(p);
    const auto look = KOKKOS_LAMBDA(int j, int n, int& any) {
      any |= nothing_kept ? 1 : 0;
      if (any != 0) return; // the first change suffices
      const int i = InputArrays::first(n);
      any = changed_inputs(input.row(j, i), input.cells(n), &last(j, i));
    };
    Kokkos::parallel_reduce("pico input changed", range_of(packs),
                            Loop<decltype(look)>{look, packs.i0, packs.i1},
                            Kokkos::BOr<int, SharedMem>(m_answer));
    return m_answer;
  }

  /// Stores the input of the owned cells, before keep(), and their first codes; updates seen().
  void read(const Patch& p, const PicoInput& in, const PicoOptions& options,
            const SharedArray2<Code>& codes) {
    if (m_inputs.data() == nullptr) m_inputs = make_array<CellInput>("pico: last input", p);
    const InputArrays input(p, in, options);
    const auto inputs = m_inputs;
    reduce_over<SeenBasins>(
        "pico input", InputArrays::packs(p), m_seen, KOKKOS_LAMBDA(int j, int n, SeenBasins& seen) {
          const int i = InputArrays::first(n);
          read_inputs(input.row(j, i), input.cells(n), &inputs(j, i), &codes(j, i), seen);
        });
  }

  const SeenBasins& seen() const { return m_seen(); }

  /// Records that `out` holds the geometry of this input.
  void keep(const PicoFields& out) { m_written = out.box_mask; }

private:
  Answer m_answer = make_shared<int>("pico: has the input changed");
  Later<SeenBasins> m_seen = make_later<SeenBasins>("pico: basins");
  Array2<CellInput> m_inputs;
  SharedArray2<int> m_written; // held, so that its address is not reused
};

} // namespace nunatak::pico
