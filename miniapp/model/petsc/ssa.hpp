// The solver of the SSA that the options ask for: our own (kernels/ssa/newton.hpp), or PETSc's SNES
// and KSP around the same residual and matrix. The method of both is described in
// kernels/ssa/solver.hpp.
//
//   -ssa_solver auto    own, unless an option of PETSc's is given for it
//               own     conjugate gradients with one reduction per iteration
//               petsc   PETSc's options have the prefix ssa_: -ssa_ksp_type, -ssa_pc_type, ...
//
// PETSc's way is that of its manual: two numbers in every cell of the grid's DMDA, whether ice
// moves there or not, and the matrix of DMCreateMatrix: 18 nonzeros a row, those of
// kernels/multigrid/nine_point.hpp in cells that are unknowns; the identity in the others, where
// every vector of the iteration is 0. So every preconditioner of PETSc works on it:
//
//   (none)       multigrid of kernels/multigrid/multigrid.hpp, in double precision
//   mg           PETSc's geometric multigrid on the DMDA; by default Galerkin operators and SOR
//   gamg         PETSc's smoothed aggregation; by default SOR: Chebyshev's estimate of the spectrum
//                fails on these matrices
//   hypre        BoomerAMG; by default HMIS with one aggressive level, the best on Antarctica
//   bjacobi, asm, sor, lu, none, ...
//
// Sums are PETSc's: the last bits of the velocity depend on the number of ranks.
#pragma once

#include "kernels/ssa/solver.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/dmda.hpp"

#include <memory>
#include <string>

namespace nunatak {

/// `solver`: auto, own or petsc, as above. `ranks` must outlive the solver, and so must `grid`, the
/// DMDA of the model, which PETSc's way needs; nullptr: one with the cells and patches of `ranks`
/// is made. dx, dy in m. Collective. Throws Error if options contradict each other.
std::unique_ptr<SsaSolver> make_ssa_solver(MpiRanks& ranks, double dx, double dy,
                                           const SsaOptions& options,
                                           const std::string& solver = "auto",
                                           Dmda* grid = nullptr);

} // namespace nunatak
