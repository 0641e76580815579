// What conjugate gradients (kernels/ssa/linear.hpp) and PETSc's KSP (-ssa_solver petsc) ask of a
// preconditioner M, an approximation of A^-1 for a symmetric 9-point operator A on the unknown
// cells of a grid. M has the same bits on every decomposition, which makes those of the solution
// the same. Those that exist: kernels/ssa/preconditioners.cpp.
#pragma once

#include "kernels/multigrid/nine_point.hpp"

#include <string>
#include <vector>

namespace nunatak {

struct MultigridOptions {
  /// degree of the smoother on the finest grid, at least 1; one more on coarser grids. The only one
  /// of these that a preconditioner without coarser grids has
  int smoothing = 4;
  int gather = 200; ///< a small grid of at most N unknown cells is on one rank
  int bottom = 25;  ///< at most N unknown cells on the last level, if a coarser grid exists
  int share = 4;    ///< patches with fewer unknown cells per rank are merged
};

template <class Real> class Preconditioner {
public:
  virtual ~Preconditioner() = default;

  /// The grid on a local rank. The caller fills A in the owned unknowns, then set_operator(); it
  /// sets b, then apply(), and reads x and r.
  virtual NinePoint<Real>& finest(int n) = 0;
  /// Collective, as apply() and smooth(): see the file of the preconditioner.
  virtual void set_operator() = 0;
  /// x = M b in the owned unknowns; if wanted, also r = b - A x.
  virtual void apply(bool with_residual) = 0;
  /// The same for some cells, by a smoother; x is unchanged elsewhere. chosen[n]: counts[n]
  /// positions in finest(n).cells. Needs A and b there; the next apply() needs set_operator().
  virtual void smooth(const std::vector<Kokkos::View<int*, Mem>>& chosen,
                      const std::vector<int>& counts) = 0;
  /// "multigrid: ...": what it is, for people.
  virtual std::string describe() const = 0;
};

} // namespace nunatak
