// The initial state: a file (-i, input.hpp) or -init (kernels/cases/synthetic.hpp).
#pragma once

#include "kernels/ice/levels.hpp"
#include "kernels/step/state.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/log.hpp"
#include "miniapp/model/options.hpp"

#include <memory>
#include <set>
#include <string>

namespace nunatak {

class Input;
namespace io {
struct ReadOptions;
}

/// The values of -init, separated by |.
std::string generator_words();

/// How input files are read: -io_read and related options.
io::ReadOptions input_options(const Options& options);

class InitialState {
public:
  /// Opens the input and replaces "auto" in `options` by defaults for this start. Collective.
  InitialState(Options& options, MPI_Comm comm, const Log& log);
  ~InitialState();

  /// The horizontal grid of the input or generator, changed by -grid_*; no levels yet. Collective.
  Grid horizontal_grid(MPI_Comm comm) const;

  /// Reads state and forcing with ghosts, sets the levels of `grid`. Collective. Errors: input.hpp.
  void read(Grid& grid, MpiRanks& ranks, State& state, Forcing& forcing);

  double time() const;    ///< s
  bool continues() const; ///< a restart
  /// See Input::series.
  std::string series(const std::string& name) const;
  std::string title() const;

  /// False for a field of the ocean if this run has no ocean and its initial state had no such
  /// field: the array holds a constant, from which no later run should start.
  bool has(const std::string& field) const;

  /// How the file was read, or the generator. Collective.
  nlohmann::json report() const;

private:
  Decomposition balanced(const Grid& grid, MPI_Comm comm) const; ///< -grid_cut ice
  void choose_levels(Grid& grid, MpiRanks& ranks, const State& state) const;
  void require_ocean() const;

  const Options& m_options;
  const Log& m_log;
  std::unique_ptr<Input> m_input;
  std::set<std::string> m_found; ///< optional variables of the input
};

} // namespace nunatak
