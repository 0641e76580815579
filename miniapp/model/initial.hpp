// Where a run starts: a NetCDF file (-i, see input.hpp) or a state made without any file (-init,
// see kernels/cases/synthetic.hpp).
#pragma once

#include "kernels/ice/levels.hpp"
#include "kernels/step/state.hpp"
#include "miniapp/base/log.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/input.hpp"
#include "miniapp/model/options.hpp"

#include <memory>

namespace nunatak {

/// Who reads files, and how: -io_read and others.
io::ReadOptions ways_to_read(const Options& options);

class InitialState {
public:
  /// Opens the input. Collective. `options` gets the defaults that depend on where the run starts
  /// ("auto").
  InitialState(Options& options, MPI_Comm comm, const Log& log);

  /// The grid: that of the input or the generator, changed by -grid_*; without levels until read()
  /// has seen the ice. Collective.
  Grid horizontal_grid(MPI_Comm comm) const;

  /// State and forcing with ghosts; sets the levels of `grid`. Collective. Throws Error, see
  /// input.hpp.
  void read(Grid& grid, MpiRanks& ranks, State& state, Forcing& forcing) const;

  double time() const { return m_input ? m_input->time().value_or(0.0) : 0.0; } ///< s
  bool continues() const {
    return m_input && m_input->time();
  } ///< a run that had come to that time
  std::string title() const;

  /// How the file was read; the generator otherwise. Collective.
  nlohmann::json report() const;

private:
  Decomposition balanced(const Grid& grid, MPI_Comm comm) const; ///< -grid_cut ice
  void choose_levels(Grid& grid, MpiRanks& ranks, const State& state) const;

  const Options& m_options;
  const Log& m_log;
  std::unique_ptr<Input> m_input;
};

} // namespace nunatak
