// Time step limits from the diffusivity of sia.hpp and from velocities (transport.hpp,
// velocity3d.hpp). Maxima over ranks are exact: the step is the same on any number of ranks.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/ice/geometry.hpp"

namespace nunatak {

/// Largest |u|/dx + |v|/dy (s-1) over the owned icy cells: inverse CFL limit. `later`: see
/// reduce_over.
inline double advection_rate(const Patch& patch, double dx, double dy, const Array2<int>& mask,
                             const Array2<double>& u, const Array2<double>& v,
                             const Array2<double>& u_base, const Array2<double>& v_base,
                             const Later<Largest>& later = {}) {
  const double per_dx = 1.0 / dx, per_dy = 1.0 / dy;
  const auto both = KOKKOS_LAMBDA(int j, int i, Largest& largest) {
    const double rate = Kokkos::abs(u(j, i)) * per_dx + Kokkos::abs(v(j, i)) * per_dy;
    const double at_base = Kokkos::abs(u_base(j, i)) * per_dx + Kokkos::abs(v_base(j, i)) * per_dy;
    largest.see(icy(mask(j, i)) ? rate : 0.0);
    largest.see(icy(mask(j, i)) ? at_base : 0.0);
  };
  return reduce_over<Largest>("advection rate", owned_cells(patch), later, both).value;
}

enum class StepLimit { dt_max, diffusion, advection };

struct TimeStep {
  double dt = 0.0; ///< s
  StepLimit limit = StepLimit::dt_max;

  const char* why() const {
    return limit == StepLimit::diffusion   ? "diffusion"
           : limit == StepLimit::advection ? "advection"
                                           : "dt_max";
  }
};

/// dt = min{ 2 r/[D_max (dx^-2 + dy^-2)], 1/rate, dt_max }; r = 0.12, stable below 0.25 (explicit
/// step, Bueler et al. 2005). D_max (m2 s-1) and rate (s-1, advection_rate) are maxima over all
/// ranks. 0 is no limit: no ice moves.
inline TimeStep time_step(double dx, double dy, double D_max, double rate, double dt_max,
                          double r = 0.12) {
  TimeStep step{dt_max, StepLimit::dt_max};
  const double diffusion = D_max * (1.0 / (dx * dx) + 1.0 / (dy * dy));
  if (2.0 * r < step.dt * diffusion) step = {2.0 * r / diffusion, StepLimit::diffusion};
  if (1.0 < step.dt * rate) step = {1.0 / rate, StepLimit::advection};
  return step;
}

} // namespace nunatak
