// Loops over cells of a row: see input_row.hpp. Compiled twice where the compiler can choose at run time.
#include "kernels/pico/input_row.hpp"

#include "kernels/grid/widths.hpp"

namespace nunatak::pico {

#if !(defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL))
NUNATAK_WIDTHS void read_inputs(const InputRow& row, int cells, CellInput* inputs, Code* codes, SeenBasins& seen) {
  detail::read_inputs(row, cells, inputs, codes, seen);
}
NUNATAK_WIDTHS int changed_inputs(const InputRow& row, int cells, const CellInput* inputs) {
  return detail::changed_inputs(row, cells, inputs);
}
#endif

} // namespace nunatak::pico
