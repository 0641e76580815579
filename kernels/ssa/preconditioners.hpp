// The preconditioners that exist, by name. A new one is one file with a class like OneLevel
// (kernels/multigrid/one_level.hpp) and one row in preconditioners.cpp, from which option, help and
// tests are made.
#pragma once

#include "kernels/grid/choices.hpp"
#include "kernels/multigrid/preconditioner.hpp"

#include <memory>
#include <string>
#include <vector>

namespace nunatak {

template <class Real> struct PreconditionerRow {
  std::string name, doc;
  /// dx, dy: grid spacing (m). active[local]: 1 in unknown cells, in owned cells and ghosts.
  /// `ranks` must outlive the result. Collective.
  std::unique_ptr<Preconditioner<Real>> (*make)(Ranks& ranks, double dx, double dy,
                                                const std::vector<Array2<int>>& active,
                                                const MultigridOptions& options);
};

/// Real: float or double.
template <class Real> const std::vector<PreconditionerRow<Real>>& preconditioners();

} // namespace nunatak
