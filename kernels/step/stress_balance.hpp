// The stress balance of the hybrid model (Winkelmann et al. 2011) over the local ranks: sliding by
// the SSA (kernels/ssa/solver.hpp), shearing by the SIA (kernels/ice/sia.hpp), and the velocity at
// every level that follows from both (kernels/ice/velocity3d.hpp).
#pragma once

#include "kernels/grid/elementary.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/ice/columns.hpp"
#include "kernels/ice/levels.hpp"
#include "kernels/ice/sia.hpp"
#include "kernels/ice/till.hpp"
#include "kernels/ice/time_step.hpp"
#include "kernels/ssa/solver.hpp"
#include "kernels/step/state.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace nunatak {

struct StressBalanceOptions {
  bool shears = true; ///< false: no SIA
  /// true: constant softness without enhancement; false: from the temperature
  bool isothermal = false;
  double softness = ice_softness, sia_enhancement = 2.0,
         ssa_enhancement = 0.6; ///< A, Pa-3 s-1; factors of A
  TillParameters till;
};

/// A of the SIA (0 without shearing) and B of the SSA from the hardness B, each with its
/// enhancement factor of A = B^-3. isothermal: the constant A, Pa-3 s-1; 0: A from B.
inline void enhance(const Patch& patch, const Array2<double>& hardness, double isothermal,
                    double sia_factor, double ssa_factor, const Array2<double>& softness,
                    const Array2<double>& ssa_hardness) {
  const double stiffening = elementary::inverse_cbrt(ssa_factor);
  for_each_cell_and_ghost(
      "softness", patch, KOKKOS_LAMBDA(int j, int i) {
        const double B = hardness(j, i);
        softness(j, i) = sia_factor * (isothermal > 0.0 ? isothermal : 1.0 / (B * B * B));
        ssa_hardness(j, i) = stiffening * B;
      });
}

class StressBalance {
public:
  /// `sliding`: null if the base does not slide. `ranks` and `levels` must outlive this.
  StressBalance(Ranks& ranks, double dx, double dy, const Levels& levels,
                const StressBalanceOptions& options, std::unique_ptr<SsaSolver> sliding)
      : m_ranks(ranks), m_dx(dx), m_dy(dy), m_levels(levels), m_options(options),
        m_sliding(std::move(sliding)) {
    for (const int n : ranks.locals()) {
      const Patch p = ranks.patch(n);
      m_flows.emplace_back(p, levels.size());
      m_ssa_hardness.push_back(make_array<double>("ssa_hardness", p));
      m_softness.push_back(make_array<double>("softness", p));
      m_shearing.push_back(make_later<Largest>("largest diffusivity"));
      m_advection.push_back(make_later<Largest>("largest advection rate"));
    }
  }

  // The parts of the balance in their order, for the geometry and temperature of `states` (with
  // ghosts), which do not change except for u_ssa and v_ssa. Collective.

  /// Till and hardness. One exchange unless the hardness is constant or given.
  void set_material(const std::vector<State>& states, const std::vector<Forcing>& forcings) {
    const bool given = forcings[0].has_hardav, thermal = !given && !m_options.isothermal;
    for (const int n : m_ranks.locals()) {
      const State& s = states[n];
      const Flow& f = m_flows[n];
      if (forcings[n].has_tauc) {
        Kokkos::deep_copy(f.tauc, forcings[n].tauc);
      } else {
        till_yield_stress(m_ranks.patch(n), m_options.till, s.topg, s.thk, s.mask, s.temp, f.tauc);
      }
      if (given) {
        Kokkos::deep_copy(f.hardav, forcings[n].hardav);
      } else if (m_options.isothermal) {
        Kokkos::deep_copy(f.hardav, elementary::inverse_cbrt(m_options.softness));
      } else {
        update_hardness(m_ranks.patch(n), m_levels, s.thk, forcings[n].ice_surface_temp, s.temp,
                        f.hardav);
      }
    }
    if (thermal)
      launch_ghosts(m_ranks,
                    [this](std::size_t n) -> std::vector<Ghosted> { return {m_flows[n].hardav}; });
    const double sia_factor = !m_options.shears ? 0.0 : thermal ? m_options.sia_enhancement : 1.0;
    for (const int n : m_ranks.locals()) {
      enhance(m_ranks.patch(n), m_flows[n].hardav,
              m_options.isothermal && !given ? m_options.softness : 0.0, sia_factor,
              thermal ? m_options.ssa_enhancement : 1.0, m_softness[n], m_ssa_hardness[n]);
    }
  }

  /// u_ssa and v_ssa hold the first guess on entry and the solution on return, ghosts included.
  /// Throws SsaError if the SSA does not converge.
  void slide(const std::vector<State>& states, const std::vector<Forcing>& forcings) {
    std::vector<SsaInput> inputs;
    std::vector<Array2<double>> u, v;
    for (const int n : m_ranks.locals()) {
      const State& s = states[n];
      const Forcing& f = forcings[n];
      inputs.push_back({s.thk, s.usurf, s.topg, m_flows[n].tauc, m_ssa_hardness[n], s.mask, f.fixed,
                        f.u_fixed, f.v_fixed});
      u.push_back(s.u_ssa);
      v.push_back(s.v_ssa);
    }
    m_last = m_sliding->solve(inputs, u, v);
  }

  /// Fluxes by shearing.
  void shear(const std::vector<State>& states) {
    for (const int n : m_ranks.locals()) {
      const State& s = states[n];
      const Flow& f = m_flows[n];
      sia_fluxes(m_ranks.patch(n), m_dx, m_dy, s.edges, s.thk, s.mask, m_softness[n], f.q_x, f.q_y,
                 m_shearing[n]);
    }
  }

  /// Velocities at all levels, and the limits of the time step. melt: basal melt of floating ice,
  /// m s-1. One exchange, one maximum.
  void set_velocities(const std::vector<State>& states, const std::vector<Array2<double>>& melt) {
    for (const int n : m_ranks.locals()) {
      const State& s = states[n];
      horizontal_velocity(m_ranks.patch(n), m_dx, m_dy, m_levels, s.edges, s.thk, s.mask,
                          m_softness[n], s.u_ssa, s.v_ssa, m_flows[n].velocity);
    }
    launch_ghosts(m_ranks, [this](std::size_t n) -> std::vector<Ghosted> {
      return {m_flows[n].velocity.u, m_flows[n].velocity.v};
    });
    for (const int n : m_ranks.locals()) {
      const State& s = states[n];
      const HorizontalVelocity& velocity = m_flows[n].velocity;
      vertical_velocity(m_ranks.patch(n), m_dx, m_dy, m_levels, s.thk, s.mask, melt[n], velocity,
                        m_flows[n].w);
      advection_rate(m_ranks.patch(n), m_dx, m_dy, s.mask, velocity.u_surface, velocity.v_surface,
                     s.u_ssa, s.v_ssa, m_advection[n]);
    }
    Kokkos::fence("limits of the time step");
    std::vector<std::vector<double>> limits;
    for (const int n : m_ranks.locals())
      limits.push_back({m_shearing[n]().value, m_advection[n]().value});
    max_over_ranks(m_ranks, limits);
    m_D_max = limits[0][0];
    m_advection_rate = limits[0][1];
  }

  const std::vector<Flow>& flows() const { return m_flows; } ///< of the last update
  /// Maxima over all ranks: diffusivity of the SIA, m2 s-1, and |u|/dx + |v|/dy, s-1.
  double D_max() const { return m_D_max; }
  double advection_rate_max() const { return m_advection_rate; }
  const SsaReport& last_solve() const { return m_last; }
  const SsaSolver* sliding() const { return m_sliding.get(); }

private:
  Ranks& m_ranks;
  double m_dx, m_dy; // m
  const Levels& m_levels;
  StressBalanceOptions m_options;
  std::unique_ptr<SsaSolver> m_sliding;
  std::vector<Flow> m_flows;
  std::vector<Array2<double>> m_ssa_hardness, m_softness; // B of the SSA, A of the SIA
  std::vector<Later<Largest>> m_shearing, m_advection;
  double m_D_max = 0.0, m_advection_rate = 0.0;
  SsaReport m_last;
};

} // namespace nunatak
