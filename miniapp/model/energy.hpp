// Temperature of the ice over MPI ranks: the columns of kernels/ice/columns.hpp, heated by shearing, by friction at the bed and
// from below.
#pragma once

#include "kernels/ice/columns.hpp"
#include "kernels/ssa/rheology.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/state.hpp"
#include "miniapp/model/stress_balance.hpp"

namespace nunatak {

class Energy {
public:
  Energy(const Options& options, const Grid& grid, const Levels& levels, MpiRanks& ranks);

  /// The temperature of `state` after dt seconds, ghosts included, for the geometry and flow of the beginning of the step: call
  /// it before the mass transport. Returns what was melted inside the ice, over all ranks (metres of ice, summed over cells; it
  /// is counted, not taken from the thickness). One exchange, one reduction.
  FixedSum step(State& state, const Flow& flow, const Forcing& forcing, double dt);

private:
  const Grid& m_grid;
  const Levels& m_levels;
  MpiRanks& m_ranks;
  bool m_on;
  TillLaw m_till;
  Array3<double> m_temp;
  Array2<double> m_base_flux, m_melted;
};

} // namespace nunatak
