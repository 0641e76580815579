// The SSA on the DMDA of the grid, as a PETSc user would set it up (-ssa_operator dm): two numbers
// in every cell, whether ice moves there or not. PETSc's own geometric multigrid can then make its
// levels (-ssa_pc_type mg -ssa_pc_mg_levels 4).
//
// The matrix is DMCreateMatrix's: 18 nonzeros a row, those of kernels/multigrid/nine_point.hpp in
// cells that are unknowns; the identity, and 0 in every vector of the nonlinear iteration, in the
// others. Used by ssa_system.cpp.
#pragma once

#include "kernels/ssa/assembly.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/dmda.hpp"

#include <memory>
#include <vector>

namespace nunatak {

class SsaDm {
public:
  /// `grid`: of the model, or nullptr: a DMDA with the cells and patches of `ranks` is made.
  /// Collective.
  SsaDm(MpiRanks& ranks, Dmda* grid);

  DM dm() const { return m_dm.get(); }

  /// Collective. The caller destroys it.
  Mat create_matrix() const;
  /// The rows of `matrix`: `rows` (kernels/ssa/loops.hpp: jacobian) in unknown cells. Collective.
  void assemble(const SsaPatch& patch, const Rows<double>& rows, Mat matrix) const;

  /// The pairs (u, v) of the unknowns among the numbers of a global Vec of this rank, and back: 0
  /// in the other cells.
  void gather(const SsaPatch& patch, const double* all, double* unknowns) const;
  void scatter(const SsaPatch& patch, const double* unknowns, double* all) const;

  /// Throws Error unless `levels` of PETSc's multigrid fit to the grid: each has half as many
  /// intervals as the next.
  void require_levels(int levels) const;

private:
  struct Destroy {
    void operator()(DM dm) const { DMDestroy(&dm); }
  };
  Patch m_patch;
  Decomposition m_decomposition;
  std::unique_ptr<Dmda> m_own;
  std::unique_ptr<std::remove_pointer_t<DM>, Destroy>
      m_dm; // a clone: SNES keeps its functions in it
};

} // namespace nunatak
