// What the geometry of PICO was computed from, to tell whether it still holds: cell types, which cells have a bed above the depth
// of the continental shelf, and basins. The geometry reads nothing else. Nothing is communicated; a rank answers for its cells.
//
// One number per cell is kept (cell_input() in codes.hpp), which the codes are made from.
// Neighbours: geometry.hpp asks, codes.hpp says which bits.
#pragma once

#include "kernels/pico/codes.hpp"
#include "kernels/pico/fields.hpp"

namespace nunatak::pico {

using Answer = Shared<int>; ///< not 0: yes

class LastInput {
public:
  /// Is the input another one than at the last keep(), or the output another object? Not 0 if so, and before the first keep();
  /// loops may read the answer, the host after a fence.
  Answer changed(const Patch& p, const PicoInput& in, const PicoFields& out, double depth) const {
    const bool nothing_kept = m_written.data() == nullptr || out.box_mask.data() != m_written.data();
    const auto mask = in.mask, before = m_inputs;
    const auto basins = in.basins;
    const auto b = in.b;
    Kokkos::parallel_reduce(
        "pico input changed", Kokkos::RangePolicy<Exec>(1, p.ym + 1),
        KOKKOS_LAMBDA(int j, int& any) {
          any |= nothing_kept ? 1 : 0;
          if (nothing_kept) return;
          const int *type = &mask(j, 0), *basin = &basins(j, 0), *last = &before(j, 0);
          const double* bed = &b(j, 0);
          int row = 0;
          for (int i = 1; i <= p.xm; ++i) // basins are at most 1000: a larger one is a change
            row |= (cell_input(basin[i], type[i], bed[i], depth) ^ last[i]) | (basin[i] & ~1023);
          any |= row;
        },
        Kokkos::BOr<int, SharedMem>(m_answer));
    return m_answer;
  }

  /// The geometry of this input is in this output.
  void keep(const PicoFields& out) { m_written = out.box_mask; }

  /// cell_input() of the owned cells: to be written before keep().
  const Array2<int>& inputs(const Patch& p) {
    if (m_inputs.data() == nullptr) m_inputs = make_array<int>("pico: last input", p);
    return m_inputs;
  }

private:
  Answer m_answer = make_shared<int>("pico: has the input changed");
  Array2<int> m_inputs;
  SharedArray2<int> m_written; // shared with the caller, so that no other array can get its address
};

} // namespace nunatak::pico
