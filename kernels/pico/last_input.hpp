// What the geometry of PICO was computed from, to tell whether it still holds: cell types, which
// cells have a bed above the depth of the continental shelf, and basins. The geometry reads nothing
// else. Nothing is communicated; a rank answers for its cells.
//
// One number per cell is kept (input_row.hpp), which the codes are made from.
// Neighbours: geometry.hpp asks.
#pragma once

#include "kernels/pico/fields.hpp"
#include "kernels/pico/input_row.hpp"
#include "kernels/pico/options.hpp"

namespace nunatak::pico {

using Answer = Shared<int>; ///< not 0: yes

/// What is read of the cells of a patch, in packs of a row: pack n begins at view index first(n).
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
  /// Is the input another one than at the last keep(), or the output another object? Not 0 if so,
  /// and before the first keep(); loops may read the answer, the host after a fence.
  Answer changed(const Patch& p, const PicoInput& in, const PicoFields& out,
                 const PicoOptions& options) const {
    const bool nothing_kept =
        m_written.data() == nullptr || out.box_mask.data() != m_written.data();
    const InputArrays input(p, in, options);
    const auto last = m_inputs;
    const Cells packs = InputArrays::packs(p);
    const auto look = KOKKOS_LAMBDA(int j, int n, int& any) {
      any |= nothing_kept ? 1 : 0;
      if (any != 0) return; // the first change is enough
      const int i = InputArrays::first(n);
      any = changed_inputs(input.row(j, i), input.cells(n), &last(j, i));
    };
    Kokkos::parallel_reduce("pico input changed", range_of(packs),
                            Loop<decltype(look)>{look, packs.i0, packs.i1},
                            Kokkos::BOr<int, SharedMem>(m_answer));
    return m_answer;
  }

  /// What is read of the owned cells, to be written before keep(), and their first codes. Their
  /// basins are in seen() when that is done.
  void read(const Patch& p, const PicoInput& in, const PicoOptions& options,
            const Array2<Code>& codes) {
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

  /// The geometry of this input is in this output.
  void keep(const PicoFields& out) { m_written = out.box_mask; }

private:
  Answer m_answer = make_shared<int>("pico: has the input changed");
  Later<SeenBasins> m_seen = make_later<SeenBasins>("pico: basins");
  Array2<CellInput> m_inputs;
  Array2<int> m_written; // shared with the caller, so that no other array can get its address
};

} // namespace nunatak::pico
