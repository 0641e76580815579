#include "kernels/ssa/preconditioners.hpp"

#include "kernels/multigrid/multigrid.hpp"
#include "kernels/multigrid/one_level.hpp"

namespace nunatak {

namespace {

template <class P, class Real>
std::unique_ptr<Preconditioner<Real>> make(Ranks& ranks, double dx, double dy,
                                           const std::vector<Array2<int>>& active,
                                           const MultigridOptions& options) {
  return std::make_unique<P>(ranks, dx, dy, active, options);
}

} // namespace

template <class Real> const std::vector<PreconditionerRow<Real>>& preconditioners() {
  static const std::vector<PreconditionerRow<Real>> all = {
      {"multigrid", "iterations hardly depend on the grid", make<Multigrid<Real>, Real>},
      {"chebyshev", "the smoother of the finest grid alone: iterations grow with the grid",
       make<OneLevel<Real>, Real>},
  };
  return all;
}
template const std::vector<PreconditionerRow<float>>& preconditioners();
template const std::vector<PreconditionerRow<double>>& preconditioners();

} // namespace nunatak
