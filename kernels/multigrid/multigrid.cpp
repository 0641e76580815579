// The multigrid, compiled once for all that use it. See multigrid.hpp.
#include "kernels/multigrid/cycle.hpp"
#include "kernels/multigrid/levels.hpp"

namespace nunatak {

template class Multigrid<float>;
template class Multigrid<double>;

} // namespace nunatak
