#include "miniapp/model/state.hpp"

namespace nunatak {

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
