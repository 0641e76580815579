// The solver of the SSA that the options ask for: our own (kernels/ssa/newton.hpp), or PETSc's SNES
// and KSP around the same residual, matrix and multigrid. The method of both is described in
// kernels/ssa/solver.hpp.
//
//   -ssa_solver auto    own, unless there is an option of PETSc's or -ssa_operator for it
//               own     conjugate gradients with one reduction per iteration, all in the precision
//               of the multigrid petsc   PETSc options have the prefix ssa_: -ssa_ksp_type,
//               -ssa_pc_type, -ssa_snes_monitor, ...
#pragma once

#include "kernels/ssa/solver.hpp"
#include "miniapp/model/ssa_system.hpp"

#include <memory>

namespace nunatak {

/// `ranks` must outlive the solver. dx, dy in m. Throws Error if options contradict each other.
std::unique_ptr<SsaSolver> make_ssa_solver(MpiRanks& ranks, double dx, double dy,
                                           const SsaOptions& options,
                                           const SsaSystemOptions& system = {});

} // namespace nunatak
