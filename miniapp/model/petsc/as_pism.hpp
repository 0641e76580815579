// What PISM sends in the parts of a step besides what nunatak sends (-halo pism), counted in PISM
// 2.3.2 (docs/fidelity.md): ghosts of a field wherever PISM has computed it, and a reduction for
// each of its counts and speeds. The fields are nunatak's; it reads none of the results.
#pragma once

#include "kernels/step/hybrid.hpp"
#include "miniapp/base/mpi_ranks.hpp"

#include <string>

namespace nunatak {

/// Each field has an exchange, and each of the maxima a reduction of its own.
struct AsPism {
  std::vector<Ghosted> fields;
  std::vector<Array2<double>> maxima;
};

/// After the part `name` of a step.
inline AsPism as_pism(const std::string& name, const Hybrid& hybrid) {
  const State& s = hybrid.state(0);
  const Flow& f = hybrid.flow(0);
  const HorizontalVelocity& v = f.velocity;
  const PicoFields& o = hybrid.ocean(0);
  if (name == part::velocity) // limits of the time step
    return {{}, {f.q_x, f.q_y, v.u_surface, v.v_surface, v.u_mean}};
  if (name == part::energy) // the temperature has been sent; w: PISM's enthalpy; counts of cells
    return {{f.w}, {v.heating, f.hardav, f.tauc, v.u_surface, v.v_surface}};
  if (name == part::transport) // copies, fluxes and the geometry, as often as PISM changes them
    return {{s.topg, s.thk, s.u_ssa, s.v_ssa, s.mask, s.usurf, f.q_x, f.q_y, s.thk, s.mask, s.usurf,
             s.thk, s.thk, s.mask, s.usurf, s.topg, s.thk, s.mask, s.usurf},
            {s.thk, s.usurf, o.melt}};
  if (name == part::ocean) // what PISM labels, and the results
    return {{o.ice_rise_mask, o.ice_rise_mask, o.ocean_mask, o.ocean_mask, o.lake_mask, o.lake_mask,
             o.shelf_mask, o.contshelf_mask, o.contshelf_mask, o.distance_gl, o.distance_cf, o.melt,
             o.melt},
            {}};
  AsPism sent; // "geometry": what PISM mends after calving, its ocean and its mass balance
  for (int n = 0; n < 13; ++n) sent.fields.insert(sent.fields.end(), {s.thk, s.mask, s.usurf});
  return name == part::geometry ? sent : AsPism{};
}

inline void send(MpiRanks& ranks, const AsPism& sent) {
  if (!sent.fields.empty()) ranks.update_ghosts(sent.fields);
  for (const Array2<double>& a : sent.maxima) {
    const auto field = a;
    const auto largest = reduce_over<Largest>(
        "largest value", owned_cells(ranks.patch()),
        KOKKOS_LAMBDA(int j, int i, Largest& l) { l += Largest{Kokkos::fabs(field(j, i))}; });
    std::vector<std::vector<double>> value = {{largest.value}};
    max_over_ranks(ranks, value);
  }
}

} // namespace nunatak
