#include "miniapp/model/state.hpp"

namespace nunatak {

State::State(const Patch& patch)
    : thk(make_array<double>("thk", patch)), topg(make_array<double>("topg", patch)), usurf(make_array<double>("usurf", patch)),
      mask(make_array<int>("mask", patch)), u_ssa(make_array<double>("u_ssa", patch)), v_ssa(make_array<double>("v_ssa", patch)) {
}

Forcing::Forcing(const Patch& patch)
    : climatic_mass_balance(make_array<double>("climatic_mass_balance", patch)),
      ice_surface_temp(make_array<double>("ice_surface_temp", patch)), bheatflx(make_array<double>("bheatflx", patch)),
      tauc(make_array<double>("tauc", patch)), hardav(make_array<double>("hardav", patch)),
      basins(make_array<int>("basins", patch)), theta_ocean(make_array<double>("theta_ocean", patch)),
      salinity_ocean(make_array<double>("salinity_ocean", patch)) {}

FieldList restart_fields(const State& state, const Forcing& forcing) {
  FieldList fields = {{"thk", state.thk},
                      {"topg", state.topg},
                      {"usurf", state.usurf},
                      {"mask", state.mask},
                      {"temp", state.temp},
                      {"u_ssa", state.u_ssa},
                      {"v_ssa", state.v_ssa},
                      {"climatic_mass_balance", forcing.climatic_mass_balance},
                      {"ice_surface_temp", forcing.ice_surface_temp},
                      {"bheatflx", forcing.bheatflx},
                      {"basins", forcing.basins},
                      {"theta_ocean", forcing.theta_ocean},
                      {"salinity_ocean", forcing.salinity_ocean}};
  if (forcing.has_tauc) fields.push_back({"tauc", forcing.tauc});
  if (forcing.has_hardav) fields.push_back({"hardav", forcing.hardav});
  for (Field& field : fields) field.restart = true;
  return fields;
}

} // namespace nunatak
