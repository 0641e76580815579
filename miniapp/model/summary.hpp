// Global sums and maxima for time series, the line per step, and the closure of the mass budget.
#pragma once

#include "miniapp/model/clock.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/output_schema.hpp"

#include <nlohmann/json.hpp>

namespace nunatak {

/// "grid: 381 x 381 x 31 points, 16 x 16 km, up to 4500 m; ranks: 2 (1 x 2)"
std::string describe(const Grid& grid);

class Summary {
public:
  Summary(const Grid& grid, MpiRanks& ranks, const State& state);

  /// Adds a step of dt seconds. Two reductions. Throws Error if thickness or temperature is not
  /// finite, ice reaches above the highest level, or the mass budget of the run does not close.
  /// Returns the largest `wish` (EarlyEnd) of all ranks.
  double add(const Hybrid& hybrid, double dt, double wish = 0.0);

  std::vector<Scalar> scalars() const; ///< of the last step

  std::string line(const Clock& clock, const char* why, const SsaReport& ssa) const;
  nlohmann::json report() const; ///< mass budget of the run and its closure

  /// Logs implausible results: ice faster than 100 km/a; mass loss or melt without ice.
  void warn(const Log& log) const;

private:
  double closure() const; ///< residual of the budget, relative to its largest term
  double measure(const State& state, const Hybrid* hybrid, double wish);

  const Grid& m_grid;
  MpiRanks& m_ranks;
  double m_cell_area;                      // m2
  FixedSum m_thickness, m_start_thickness; // m, summed over cells
  std::int64_t m_grounded_cells = 0, m_floating_cells = 0, m_broken_cells = 0;
  double m_thickest = 0.0; // m
  double m_fastest = 0.0;  // sliding, m s-1
  // above the plausible speed: cells in this step; steps with such cells
  std::int64_t m_racing_cells = 0, m_racing_steps = 0;
  std::int64_t m_most_racing_cells = 0, m_clipped_steps = 0;
  StepSums m_last;
  double m_dt = 0.0; // of the last step, s
  MassBudget m_total;
  FixedSum m_melted; // internal melt, m summed over cells; not removed from the ice
};

} // namespace nunatak
