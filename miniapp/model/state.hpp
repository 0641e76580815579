// What the model carries from step to step, and what drives it. Arrays in SI units, with one ring of ghosts.
#pragma once

#include "kernels/grid/array.hpp"
#include "miniapp/model/field.hpp"

namespace nunatak {

/// The prognostic state; together with the Forcing it makes a restart file.
struct State {
  explicit State(const Patch& patch); ///< zeros; temp once the levels are known

  Array2<double> thk;          ///< H, ice thickness, m
  Array2<double> topg;         ///< b, bed elevation, m
  Array2<double> usurf;        ///< h, surface elevation, m (from thk and topg)
  Array2<int> mask;            ///< cell type, see kernels/ice/geometry.hpp (from thk and topg)
  Array3<double> temp;         ///< T, ice temperature, K; levels above the bed
  Array2<double> u_ssa, v_ssa; ///< sliding velocity, m s-1: of the last solve, and the first guess of the next
};

/// What drives the model; constant in time.
struct Forcing {
  explicit Forcing(const Patch& patch);

  Array2<double> climatic_mass_balance; ///< kg m-2 s-1
  Array2<double> ice_surface_temp;      ///< K
  Array2<double> bheatflx;              ///< W m-2
  Array2<double> tauc;                  ///< yield stress of the till, Pa; used if has_tauc, else the till model
  Array2<double> hardav;                ///< vertically averaged hardness, Pa s^(1/3); used if has_hardav
  Array2<int> basins;                   ///< drainage basins of PICO, 1..n; 0: none
  Array2<double> theta_ocean;           ///< K
  Array2<double> salinity_ocean;        ///< g kg-1
  Array2<int> fixed;                    ///< optional: where not 0, the sliding velocity is (u_fixed, v_fixed)
  Array2<double> u_fixed, v_fixed;      ///< m s-1
  bool has_tauc = false, has_hardav = false;
};

/// What a restart file holds, each marked so: the state, and the forcing that was given.
FieldList restart_fields(const State& state, const Forcing& forcing);

} // namespace nunatak
