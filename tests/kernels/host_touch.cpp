// For the tests of memory that only loops reach (kernels/grid/memory.hpp): the host reads an array,
// of which it has taken a copy if there is an argument. Columns have their levels apart, and the
// same values.
#include "kernels/grid/array.hpp"

int main(int argc, char**) {
  using namespace nunatak;
  const Kokkos::ScopeGuard kokkos;
  const Patch patch = Decomposition::make(5, 4, 1, 1).patch(0);
  const auto H = make_array<double>("thickness", patch);
  const auto T = make_columns<double>("temperature", patch, 3);
  for_each_cell_and_ghost(
      "fill", patch, KOKKOS_LAMBDA(int j, int i) {
        H(j, i) = 10.0 * j + i;
        for (int k = 0; k < 3; ++k) T(j, i, k) = 100.0 * k + H(j, i);
      });
  const auto h = argc > 1 ? on_host(H) : H;
  const auto t = on_host(T);
  Kokkos::fence();
  const auto column = levels_of_cell(t, 2, 3);
  return h(2, 3) == 23.0 && column[2] == 223.0 && t.stride(2) == 6 * 7 && t.stride(1) == 1 ? 0 : 1;
}
