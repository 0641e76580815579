// What the geometry of PICO was computed from, to tell whether it still holds: cell types, which cells have a bed above the depth
// of the continental shelf, and basins. The geometry reads nothing else. Nothing is communicated; a rank answers for its cells.
//
// Types and depths are the lower bits of the codes, which the labels do not touch; of basins a copy is kept.
// Neighbours: geometry.hpp asks, codes.hpp says which bits.
#pragma once

#include "kernels/pico/codes.hpp"
#include "kernels/pico/fields.hpp"

namespace nunatak::pico {

using Answer = Kokkos::View<int, Mem>; ///< not 0: yes

class LastInput {
public:
  /// Is the input another one than at the last keep(), or the output another object? Not 0 if so, and before the first keep();
  /// loops may read the answer, the host after a fence. `codes`: of the owned cells, from the last input, with any further bits.
  Answer changed(const Patch& p, const PicoInput& in, const PicoFields& out, double depth, const Array2<Code>& codes) const {
    const bool nothing_kept = m_basins.data() == nullptr || out.box_mask.data() != m_written.data();
    const auto mask = in.mask, basins = in.basins, before = m_basins;
    const auto b = in.b;
    Kokkos::parallel_reduce(
        "pico input changed", Kokkos::RangePolicy<Exec>(1, p.ym + 1),
        KOKKOS_LAMBDA(int j, int& any) {
          any |= nothing_kept ? 1 : 0;
          if (nothing_kept) return;
          const int *type = &mask(j, 0), *basin = &basins(j, 0), *old_basin = &before(j, 0);
          const double* bed = &b(j, 0);
          const Code* code = &codes(j, 0);
          int row = 0;
          for (int i = 1; i <= p.xm; ++i) {
            row |= ((first_code(type[i], bed[i] > depth) ^ code[i]) & (type_bits | is_shallow)) | (basin[i] ^ old_basin[i]);
          }
          any |= row;
        },
        Kokkos::BOr<int, Mem>(m_answer));
    return m_answer;
  }

  /// The geometry of this input is in this output.
  void keep(const PicoInput& in, const PicoFields& out) {
    if (m_basins.data() == nullptr) m_basins = Array2<int>("basins of the last update", in.basins.extent(0), in.basins.extent(1));
    const auto kept = m_basins, basins = in.basins;
    const int columns = static_cast<int>(kept.extent(1));
    for_each_of(
        "pico: basins are kept", {0, static_cast<int>(kept.extent(0)), 0, columns},
        KOKKOS_LAMBDA(int j, int i) { kept(j, i) = basins(j, i); });
    m_written = out.box_mask;
  }

private:
  Answer m_answer = Answer("pico: has the input changed");
  Array2<int> m_basins;
  Array2<int> m_written; // shared with the caller, so that no other array can get its address
};

} // namespace nunatak::pico
