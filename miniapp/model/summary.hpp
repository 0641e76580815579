// Global sums and maxima for time series, the line per step, and the closure of the mass budget.
#pragma once

#include "common/error.hpp"
#include "kernels/grid/constants.hpp"
#include "kernels/step/checks.hpp"
#include "miniapp/base/printed.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/output_schema.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace nunatak {

/// "grid: 381 x 381 x 31 points, 16 x 16 km, up to 4500 m; ranks: 2 (1 x 2)"
inline std::string describe(const Grid& grid) {
  const Decomposition& d = grid.decomposition;
  return printed("grid: %d x %d x %d points, %.6g x %.6g km, up to %.6g m; ranks: %d (%d x %d)",
                 d.Mx, d.My, grid.Mz(), grid.dx / 1e3, grid.dy / 1e3, grid.Lz(), d.size(), d.px,
                 d.py);
}

class Summary {
public:
  Summary(const Grid& grid, MpiRanks& ranks, const State& state)
      : m_grid(grid), m_ranks(ranks), m_cell_area(grid.dx * grid.dy) {
    measure(state, nullptr, 0.0);
    m_start_thickness = m_now.thickness;
  }

  /// Adds a step of dt seconds. Two reductions. Throws Error if thickness or temperature is not
  /// finite, ice reaches above the highest level, or the mass budget of the run does not close.
  /// Returns the largest `wish` (EarlyEnd) of all ranks.
  double add(const Hybrid& hybrid, double dt, double wish = 0.0) {
    const double largest_wish = measure(hybrid.state(0), &hybrid, wish);
    m_dt = dt;
    m_total += m_now.step.budget;
    m_melted += m_now.step.melted_inside;
    m_racing_steps += m_now.racing > 0;
    m_most_racing_cells = std::max(m_most_racing_cells, m_now.racing);
    m_clipped_steps += m_now.step.budget.clipped.value() > 0.0;
    if (m_now.broken > 0) {
      throw Error(
          "thickness or temperature of the ice: expected numbers, found NaN or infinity in " +
          std::to_string(m_now.broken) + " cells");
    }
    if (m_thickest > m_grid.Lz()) {
      throw Error("ice of " + std::to_string(m_thickest) +
                  " m has grown above the highest level: expected at most " +
                  std::to_string(m_grid.Lz()) + " m (-grid_Lz)");
    }
    if (!(std::fabs(closure()) < 1e-9))
      throw Error(printed("the mass budget does not close: a fraction of %.1e of the volume is "
                          "unexplained",
                          closure()));
    return largest_wish;
  }

  /// Scalars of the last step.
  std::vector<Scalar> scalars() const {
    const auto flux = [&](const FixedSum& sum) {
      return m_dt > 0.0 ? sum.value() * m_cell_area * rho_ice / m_dt : 0.0;
    };
    const auto area = [&](std::int64_t cells) { return static_cast<double>(cells) * m_cell_area; };
    const MassBudget& b = m_now.step.budget;
    return {
        {"ice_volume", "m3", "volume of the ice", m_now.thickness.value() * m_cell_area},
        {"ice_area_grounded", "m2", "area of grounded ice", area(m_now.grounded)},
        {"ice_area_floating", "m2", "area of floating ice", area(m_now.floating)},
        {"surface_mass_flux", "kg s-1", "mass gained at the surface (negative: lost)",
         flux(b.surface)},
        {"basal_mass_flux", "kg s-1",
         "mass lost by melting below ice shelves (negative: gained by freezing)", flux(b.basal)},
        {"calving_mass_flux", "kg s-1", "mass lost by calving", flux(b.calved)},
        {"edge_mass_flux", "kg s-1", "mass gained through the edge of the domain (negative: lost)",
         flux(b.edge)},
        {"clipped_mass_flux", "kg s-1",
         "mass that balance and melt asked for where there was no more ice (gained)",
         flux(b.clipped)},
        {"max_sliding_speed", "m year-1", "largest sliding speed", m_fastest * seconds_per_year},
        {"dt", "s", "length of the time step", m_dt},
    };
  }

  std::string line(const Clock& clock, const char* why, const SsaReport& ssa) const {
    const double year = clock.time() / seconds_per_year;
    const std::string step =
        clock.zero_length()
            ? printed("no step: year %.4f", year)
            : printed("step %5lld  year %10.4f  dt %8.4f a (%s)",
                      static_cast<long long>(clock.steps()), year, m_dt / seconds_per_year, why);
    return step +
           printed("  volume %.6g km3  fastest %5.0f m/a  SSA: %d steps, %d linear iterations",
                   m_now.thickness.value() * m_cell_area / 1e9, m_fastest * seconds_per_year,
                   ssa.steps, ssa.linear_iterations);
  }

  /// Mass budget of the run and its closure.
  nlohmann::json report() const {
    const auto km3 = [&](const FixedSum& sum) { return sum.value() * m_cell_area / 1e9; };
    const double start = m_start_thickness.value(), end = m_now.thickness.value();
    return {{"volume_start_km3", start * m_cell_area / 1e9},
            {"volume_end_km3", end * m_cell_area / 1e9},
            {"surface_km3", km3(m_total.surface)},
            {"basal_melt_km3", km3(m_total.basal)},
            {"calved_km3", km3(m_total.calved)},
            {"edge_km3", km3(m_total.edge)},
            {"clipped_km3", km3(m_total.clipped)},
            {"melted_inside_km3", km3(m_melted)},
            {"closure", closure()}};
  }

  /// Logs implausible results: ice faster than 100 km/a; mass loss or melt without ice.
  void warn(const Log& log) const {
    if (m_racing_steps > 0) {
      log.line(printed(
          "warning: the surface of the ice moves faster than 100 km/a in up to %lld cells, "
          "in %lld step(s)",
          static_cast<long long>(m_most_racing_cells), static_cast<long long>(m_racing_steps)));
    }
    const double asked = m_total.clipped.value() * m_cell_area / 1e9;
    if (asked > 0.0) {
      log.line(
          printed("warning: mass balance and melt asked for %.3g km3 of ice where there was no "
                  "more, in %lld step(s)",
                  asked, static_cast<long long>(m_clipped_steps)));
    }
  }

private:
  struct Sums {
    FixedSum thickness;                              // m, summed over cells
    std::int64_t grounded, floating, broken, racing; // cells; racing: faster than is plausible
    StepSums step;
  };

  /// Residual of the budget, relative to its largest term.
  double closure() const { return nunatak::closure(m_start_thickness, m_now.thickness, m_total); }

  double measure(const State& state, const Hybrid* hybrid, double wish) {
    const Seen found =
        look_over(m_ranks.patch(), state, hybrid != nullptr ? &hybrid->flow(0) : nullptr); // fences
    m_now = sum_over_ranks<Sums>(
        m_ranks, {{found.volume, found.grounded, found.floating, found.broken, found.racing,
                   hybrid != nullptr ? hybrid->step_sums()[0] : StepSums{}}});
    std::vector<std::vector<double>> largest{
        {found.thickness.value, std::sqrt(found.speed2.value), wish}};
    max_over_ranks(m_ranks, largest);
    m_thickest = largest[0][0];
    m_fastest = largest[0][1];
    return largest[0][2];
  }

  const Grid& m_grid;
  MpiRanks& m_ranks;
  double m_cell_area;         // m2
  FixedSum m_start_thickness; // m, summed over cells
  Sums m_now{};
  double m_thickest = 0.0; // m
  double m_fastest = 0.0;  // sliding, m s-1
  std::int64_t m_racing_steps = 0, m_most_racing_cells = 0, m_clipped_steps = 0;
  double m_dt = 0.0; // of the last step, s
  MassBudget m_total;
  FixedSum m_melted; // internal melt, m summed over cells; not removed from the ice
};

} // namespace nunatak
