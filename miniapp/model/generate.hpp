// Initial states without a file: grids and fields from kernels/cases/synthetic.hpp, every rank its
// own cells.
#pragma once

#include "kernels/step/state.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/options.hpp"

namespace nunatak {

/// The grid that a state (`options.init`) has if -grid_* does not change it.
struct GeneratedGrid {
  Axis x, y;
  bool square = false; ///< -grid_Mx alone sets My too
  bool periodic_y = false;
  bool on_the_earth = false; ///< has a projection: `marine` lies on the South Pole
};
GeneratedGrid generated_grid(const Options& options);

/// Fill the owned cells. Forcing keeps what it has where the state says nothing.
void generate(const Options& options, const Grid& grid, const Patch& patch, State& state,
              Forcing& forcing);

} // namespace nunatak
