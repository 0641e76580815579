// One step of mass transport over MPI ranks: the kernels of kernels/ice/transport.hpp with their ghost exchanges, and the mass
// budget.
#pragma once

#include "kernels/ice/transport.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/state.hpp"
#include "miniapp/model/stress_balance.hpp"

namespace nunatak {

class MassTransport {
public:
  MassTransport(const Grid& grid, MpiRanks& ranks);

  /// Move, add and melt ice for dt seconds: thk, usurf and mask of `state` become those of the end of the step, ghosts included.
  /// `melt`: basal melt of floating ice, m s-1. Returns the budget over all ranks. Two exchanges, one reduction.
  MassBudget step(State& state, const Flow& flow, const Forcing& forcing, const Array2<double>& melt, double dt);

private:
  const Grid& m_grid;
  MpiRanks& m_ranks;
  Array2<double> m_q_x, m_q_y, m_outflow, m_balance, m_thk;
};

} // namespace nunatak
