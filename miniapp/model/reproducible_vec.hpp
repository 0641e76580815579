// A type of PETSc's Vec whose dot products and norms have the same bits on any number of ranks:
// VECSTANDARD with the sums of kernels/grid/reproducible_sum.hpp. Its axpy and the like are plain
// loops: a BLAS may fuse multiply and add in some elements and not in others, as they happen to lie
// in its blocks.
//
// What a Krylov method of PETSc computes with it depends on the decomposition only through the
// matrix and the preconditioner: not at all with ours, but an AIJ matrix adds the columns of other
// ranks last, and bjacobi solves by rank. Methods that split their reductions (-ssa_ksp_type
// pipecg, groppcg, ...) use PETSc's sums.
#pragma once

#include <petscvec.h>

namespace nunatak {

/// For MatSetVecType, DMSetVecType, VecSetType. Registers it with PETSc when first called, which
/// must be initialised.
VecType reproducible_vec();

} // namespace nunatak
