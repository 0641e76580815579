// Numbers that sum up the ice sheet, the same on all ranks: for the time series, the line per step, and the closure of the mass
// budget.
#pragma once

#include "kernels/ice/transport.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/output_schema.hpp"
#include "miniapp/model/state.hpp"
#include "miniapp/model/stress_balance.hpp"

#include <nlohmann/json.hpp>

namespace nunatak {

/// "grid: 381 x 381 x 31 points, 16 x 16 km, up to 4500 m; ranks: 2 (1 x 2)"
std::string describe(const Grid& grid);

/// Messages, bytes and collectives of the model itself (PETSc's and MPI-IO's are not counted), summed over ranks; "halo": the
/// part of the ghost exchanges, by whichever -halo, and the time of the slowest rank in them. Collective.
nlohmann::json traffic_report(const MpiRanks& ranks);

class Summary {
public:
  Summary(const Grid& grid, MpiRanks& ranks, const State& state);

  /// Take the state at the end of a step of dt seconds, what moved in it, and what melted inside the ice. Three reductions.
  /// Checks the run: throws Error if thickness or temperature is no number, if ice reaches above the highest level, or if the
  /// mass budget of the run does not close.
  void add(const State& state, const Flow& flow, const MassBudget& budget, const FixedSum& melted, double dt);

  static const std::vector<Scalar>& scalars();
  std::vector<double> values() const; ///< of the last step, in the order of scalars()

  std::string line(const Clock& clock, double dt, const char* why, const SsaReport& ssa) const;
  std::string progress(const Clock& clock) const;
  nlohmann::json report() const; ///< the mass budget of the run; closure: see above

private:
  double closure() const; ///< what the budget misses, relative to its largest term
  void measure(const State& state);

  const Grid& m_grid;
  MpiRanks& m_ranks;
  double m_cell_area;                      // m2
  FixedSum m_thickness, m_start_thickness; // m, summed over cells
  std::int64_t m_grounded_cells = 0, m_floating_cells = 0, m_broken_cells = 0;
  double m_thickest = 0.0; // m
  double m_fastest = 0.0;  // sliding, m s-1
  double m_dt = 0.0;
  MassBudget m_last, m_total;
  FixedSum m_melted; // inside the ice, m summed over cells; not taken from it
};

} // namespace nunatak
