// State, forcing and flow of the ice on one local rank. SI units, one ring of ghosts.
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/ice/velocity3d.hpp"

#include <string>
#include <variant>
#include <vector>

namespace nunatak {

/// The prognostic state; together with the Forcing it makes a restart file.
struct State {
  explicit State(const Patch& p) : patch(p) {} ///< zeros; temp is allocated with the levels

  /// Surface, mask and edges from thickness and bed, including ghosts.
  void update_surface() const {
    update_geometry(patch, topg, thk, usurf, mask);
    update_edges(patch, usurf, mask, edges);
  }

  Patch patch;
  Array2<double> thk = make_array<double>("thk", patch);   ///< H, ice thickness, m
  Array2<double> topg = make_array<double>("topg", patch); ///< b, bed elevation, m
  /// h, surface elevation, m, and cell type (kernels/ice/geometry.hpp): from thk and topg.
  Array2<double> usurf = make_array<double>("usurf", patch);
  Array2<int> mask = make_array<int>("mask", patch);
  Edges edges = Edges(patch); ///< see kernels/ice/sia.hpp (from usurf and mask)
  Array3<double> temp;        ///< T, ice temperature, K; levels above the bed
  /// Sliding velocity, m s-1: the last solution, and the first guess of the next solve.
  Array2<double> u_ssa = make_array<double>("u_ssa", patch),
                 v_ssa = make_array<double>("v_ssa", patch);
};

/// The forcing of the model, constant in time.
struct Forcing {
  explicit Forcing(const Patch& p) : patch(p) {}

  Patch patch;
  /// kg m-2 s-1
  Array2<double> climatic_mass_balance = make_array<double>("climatic_mass_balance", patch);
  Array2<double> ice_surface_temp = make_array<double>("ice_surface_temp", patch); ///< K
  Array2<double> bheatflx = make_array<double>("bheatflx", patch);                 ///< W m-2
  Array2<int> basins = make_array<int>("basins", patch);                 ///< of PICO, 1..n; 0: none
  Array2<double> theta_ocean = make_array<double>("theta_ocean", patch); ///< K
  Array2<double> salinity_ocean = make_array<double>("salinity_ocean", patch); ///< g kg-1
  /// Yield stress of the till, Pa, if has_tauc; else the till model.
  Array2<double> tauc = make_array<double>("tauc", patch);
  /// Vertically averaged hardness, Pa s^(1/3); used if has_hardav.
  Array2<double> hardav = make_array<double>("hardav", patch);
  Array2<int> fixed; ///< optional: where nonzero, the sliding velocity is (u_fixed, v_fixed)
  Array2<double> u_fixed, v_fixed; ///< m s-1
  bool has_tauc = false, has_hardav = false;
};

/// A field as files see it: an array (j, i) or (j, i, k) with one ring of ghosts, and its name.
struct Field {
  std::string name; ///< a variable of miniapp/base/variables.hpp
  std::variant<Array2<double>, Array2<int>, Array3<double>> array;
  bool restart = false; ///< read by a restart: state, or given forcing; otherwise a diagnostic
};
using FieldList = std::vector<Field>;

/// The maps that a run is given by a file, a generator or constants. The rest of a state follows.
inline FieldList given_fields(const State& s, const Forcing& f) {
  return {{"thk", s.thk, true},
          {"topg", s.topg, true},
          {"u_ssa", s.u_ssa, true},
          {"v_ssa", s.v_ssa, true},
          {"climatic_mass_balance", f.climatic_mass_balance, true},
          {"ice_surface_temp", f.ice_surface_temp, true},
          {"bheatflx", f.bheatflx, true},
          {"basins", f.basins, true},
          {"theta_ocean", f.theta_ocean, true},
          {"salinity_ocean", f.salinity_ocean, true},
          {"tauc", f.tauc, f.has_tauc},
          {"hardav", f.hardav, f.has_hardav}};
}

/// For an exchange of their ghosts. The arrays must outlive the result.
inline std::vector<Ghosted> ghosts_of(const FieldList& fields) {
  std::vector<Ghosted> ghosts;
  for (const Field& field : fields)
    ghosts.push_back(std::visit([](const auto& a) { return Ghosted(a); }, field.array));
  return ghosts;
}

/// The flow of the ice for one geometry; the sliding velocity is in the State (u_ssa, v_ssa).
/// Arrays are valid in owned cells; velocity.u, velocity.v, hardav in ghosts too.
struct Flow {
  Flow(const Patch& patch, int Mz)
      : q_x(make_array<double>("q_x", patch)), q_y(make_array<double>("q_y", patch)),
        velocity(HorizontalVelocity::make(patch, Mz)), w(make_columns<double>("wvel", patch, Mz)),
        tauc(make_array<double>("tauc", patch)), hardav(make_array<double>("hardav", patch)) {}

  Array2<double> q_x, q_y;     ///< flux by shearing through faces, m2 s-1 (kernels/ice/sia.hpp)
  HorizontalVelocity velocity; ///< at the levels and the surface, mean over depth; strain heating
  Array3<double> w;            ///< vertical velocity across the levels, m s-1
  Array2<double> tauc, hardav; ///< till yield stress, Pa; mean hardness, Pa s^(1/3)
};

} // namespace nunatak
