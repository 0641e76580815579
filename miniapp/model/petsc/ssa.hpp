// The SSA solver chosen by the options: our own (kernels/ssa/newton.hpp), or PETSc's SNES and KSP
// with the same residual and matrix. kernels/ssa/solver.hpp describes the method of both.
//
//   -ssa_solver auto    own, unless a PETSc option is given for it
//               own     conjugate gradients with one reduction per iteration
//               petsc   PETSc's options have the prefix ssa_: -ssa_ksp_type, -ssa_pc_type, ...
//               pism    as PISM's finite elements, which such options replace: Newton with the line
//                       search, norms and tolerances of PETSc's defaults, GMRES(30), block Jacobi
//                       and ILU(0) of a matrix in blocks on PISM's DMDA (Dmda::wide): 50 entries in
//                       a row, of which 18 are not zero. -ssa_tolerance does not apply.
//
// The PETSc solver has two values in every cell of the grid's DMDA, with or without moving ice, and
// the matrix of DMCreateMatrix: 18 nonzeros per row, from kernels/multigrid/nine_point.hpp in cells
// that are unknowns; identity rows in the others, where all vectors of the iteration are 0. So
// every PETSc preconditioner applies:
//
//   (none)       -ssa_preconditioner (kernels/ssa/preconditioners.hpp), in double precision
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
#include "miniapp/model/grid.hpp"

#include <memory>
#include <string>

namespace nunatak {

/// `solver`: as above. `ranks` and `grid` must outlive the solver. `grid`: the
/// DMDA for PETSc; nullptr: one is made like `ranks`. dx, dy in m. Collective. Throws Error if
/// options contradict each other.
std::unique_ptr<SsaSolver> make_ssa_solver(MpiRanks& ranks, double dx, double dy,
                                           const SsaOptions& options,
                                           const std::string& solver = "auto",
                                           Dmda* grid = nullptr);

} // namespace nunatak
