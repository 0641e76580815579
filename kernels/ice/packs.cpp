// Loops over columns and faces: see column_pack.hpp, face_pack.hpp, till.hpp. Compiled for two, four and eight lanes where the
// processor can choose at run time: the bits do not depend on the width.
#include "kernels/grid/widths.hpp"
#include "kernels/ice/column_pack.hpp"
#include "kernels/ice/face_pack.hpp"
#include "kernels/ice/till.hpp"

namespace nunatak {

#if !(defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP) || defined(KOKKOS_ENABLE_SYCL))
NUNATAK_WIDTHS void add_explicit_terms(const ColumnFields& f, const double* z, double dt_x, double dt_y, double dt_heat, int p,
                                       ColumnPack& pack) {
  detail::add_explicit_terms(f, z, dt_x, dt_y, dt_heat, p, pack);
}
NUNATAK_WIDTHS void solve_columns(int Mz, const double* z, double dt, ColumnPack& pack) {
  detail::solve_columns(Mz, z, dt, pack);
}
NUNATAK_WIDTHS void paterson_budd_hardness(int n, double* x) {
  for (int k = 0; k < n; ++k) x[k] = paterson_budd_hardness(x[k]);
}
NUNATAK_WIDTHS void yield_stresses(const TillParameters& till, double log_delta, int n, const double* b, const double* H,
                                   const double* T_base, double* tauc) {
  detail::yield_stresses(till, log_delta, n, b, H, T_base, tauc);
}
NUNATAK_WIDTHS bool find_slopes(const FaceRow& row, int n, FacePack& pack) { return detail::find_slopes(row, n, pack); }
#endif

} // namespace nunatak
