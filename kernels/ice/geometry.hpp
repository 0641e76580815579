// Flotation, surface elevation and the mask of cell types.
//
//            floating_ice (3)         grounded_ice (2)
//        _____________________  ____________-----
//   ~~~~|_____________________/                  \      ice_free_land (0)
//    ice_free_ocean (4)      /  bed b             \_____---------
//   ________________________/
//
// Cell types have the numbers of PISM's variable "mask", so that files can be compared.
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/grid/constants.hpp"

namespace nunatak {

enum CellType : int { ice_free_land = 0, grounded_ice = 2, floating_ice = 3, ice_free_ocean = 4 };

// Branch-free.
KOKKOS_INLINE_FUNCTION bool icy(int type) {
  return (type == grounded_ice) | (type == floating_ice);
}
KOKKOS_INLINE_FUNCTION bool grounded(int type) {
  return (type == ice_free_land) | (type == grounded_ice);
}
KOKKOS_INLINE_FUNCTION bool ocean(int type) {
  return type == floating_ice || type == ice_free_ocean;
}

constexpr double ice_free_thickness = 0.01; ///< m; a cell with less ice counts as ice-free

/// Surface elevation of ice that is grounded / floating (m; sea level is at 0).
KOKKOS_INLINE_FUNCTION double grounded_surface(double b, double H) { return b + H; }
KOKKOS_INLINE_FUNCTION double floating_surface(double H) { return (1.0 - rho_ice / rho_water) * H; }

/// Flotation criterion: grounded where b + H > (1 - rho/rho_w) H; sea level is at 0.
KOKKOS_INLINE_FUNCTION int cell_type(double b, double H) {
  const bool is_grounded = grounded_surface(b, H) > floating_surface(H);
  if (H > ice_free_thickness) return is_grounded ? grounded_ice : floating_ice;
  return is_grounded ? ice_free_land : ice_free_ocean;
}

KOKKOS_INLINE_FUNCTION double surface(double b, double H) {
  const double h_grounded = grounded_surface(b, H), h_floating = floating_surface(H);
  return h_grounded > h_floating ? h_grounded : h_floating;
}

/// Surface elevation h and mask from b and H (m), in owned cells and ghosts; needs their ghosts.
inline void update_geometry(const Patch& patch, const Array2<double>& b, const Array2<double>& H,
                            const Array2<double>& h, const Array2<int>& mask) {
  for_each_cell_and_ghost(
      "geometry", patch, KOKKOS_LAMBDA(int j, int i) {
        h(j, i) = surface(b(j, i), H(j, i));
        mask(j, i) = cell_type(b(j, i), H(j, i));
      });
}

} // namespace nunatak
