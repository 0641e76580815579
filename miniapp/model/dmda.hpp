// The grid as a PETSc DMDA with a box stencil of width 1. DMDACreate2d chooses the patches.
//
// Boundaries are DM_BOUNDARY_GHOSTED, or DM_BOUNDARY_PERIODIC, so that a local Vec has (ym + 2) x
// (xm + 2) cells: shape and order of a field with ghosts (kernels/grid/array.hpp). PETSc does not
// set ghosts beyond an edge of the domain; Ranks::update_ghosts copies the nearest owned cell into
// them. petsc/dmda_ranks.cpp wraps fields in Vecs for PETSc's scatters.
#pragma once

#include "kernels/grid/array.hpp"

#include <petscdmda.h>

#include <map>
#include <memory>
#include <vector>

namespace nunatak {

/// Parameters of the DMDA; 0 patches along an axis: PETSc chooses.
struct DmdaShape {
  int Mx = 0, My = 0, px = 0, py = 0;
  bool periodic_x = false, periodic_y = false;
  /// Cells of each patch column and row; empty: as equal as possible.
  std::vector<PetscInt> columns = {}, rows = {};
};

class Dmda {
public:
  /// PETSc options apply (-da_processors_x, -da_grid_x, -da_refine, -dm_view,...) and may change
  /// cells and patches. Collective. Throws for an impossible decomposition.
  Dmda(MPI_Comm comm, const DmdaShape& shape);

  /// The DMDA with `dof` values per cell: DMDACreateCompatibleDMDA on first use. Collective.
  DM dm(int dof = 1);

  /// Cells and patches of the DMDA: DMDAGetOwnershipRanges, DMDAGetNeighbors.
  const Decomposition& decomposition() const { return m_decomposition; }

private:
  struct Destroy {
    void operator()(DM dm) const { DMDestroy(&dm); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<DM>, Destroy>;
  std::map<int, Handle> m_dms; // key: values per cell
  Decomposition m_decomposition;
};

} // namespace nunatak
