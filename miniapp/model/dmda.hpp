// The grid as PETSc has it: a DMDA with a box stencil of width 1, DMDACreate2d's choice of patches,
// and Vecs over its cells.
//
//   DM_BOUNDARY_GHOSTED, or DM_BOUNDARY_PERIODIC where the grid is: either way a local Vec has (ym
//   + 2) x (xm + 2) cells, which is the shape of a field with its ghosts (kernels/grid/array.hpp),
//   in the same order. PETSc leaves the ghosts beyond an edge of the domain alone;
//   Ranks::update_ghosts copies the nearest owned cell into them.
//
// A Vec in the memory of a field is made where PETSc's scatters are used: petsc/dmda_ranks.cpp.
#pragma once

#include "kernels/grid/array.hpp"

#include <petscdmda.h>

#include <map>
#include <memory>
#include <vector>

namespace nunatak {

/// What the DMDA is made from; 0 patches along an axis: PETSc chooses.
struct DmdaShape {
  int Mx = 0, My = 0, px = 0, py = 0;
  bool periodic_x = false, periodic_y = false;
  std::vector<PetscInt> columns = {},
                        rows = {}; ///< of the patches along x, y; empty: as equal as can be
};

class Dmda {
public:
  /// Hears PETSc's options: -da_processors_x, -da_grid_x, -da_refine, -dm_view, ..., so that it may
  /// have other cells and patches than `shape`. Collective. Throws Error or std::invalid_argument
  /// where the grid cannot be cut so.
  Dmda(MPI_Comm comm, const DmdaShape& shape);

  /// The DMDA with `dof` numbers a cell. Those with more than one have the same cells and patches
  /// (DMDACreateCompatibleDMDA) and are made when first asked for. Collective.
  DM dm(int dof = 1);

  /// Its cells and patches: DMDAGetOwnershipRanges, DMDAGetNeighbors.
  const Decomposition& decomposition() const { return m_decomposition; }

private:
  struct Destroy {
    void operator()(DM dm) const { DMDestroy(&dm); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<DM>, Destroy>;
  std::map<int, Handle> m_dms; // by numbers a cell
  Decomposition m_decomposition;
};

} // namespace nunatak
