// The grid of a run: points, vertical levels, projection, and the PETSc DMDA that decomposes it,
// with a box stencil of width 1. DMDACreate2d chooses the patches.
//
// Boundaries are DM_BOUNDARY_GHOSTED, or DM_BOUNDARY_PERIODIC, so that a local Vec has (ym + 2) x
// (xm + 2) cells: shape and order of a field with ghosts (kernels/grid/array.hpp). PETSc does not
// set ghosts beyond an edge of the domain; Ranks::update_ghosts copies the nearest owned cell into
// them. petsc/dmda_ranks.hpp wraps fields in Vecs for PETSc's scatters.
#pragma once

#include "kernels/grid/array.hpp"
#include "miniapp/model/projection.hpp"

#include <petscdmda.h>

#include <map>
#include <memory>
#include <optional>
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
  /// The same patches as PISM has them: periodic, with a box stencil of width 2. Collective.
  DM wide(int dof);

  /// Cells and patches of the DMDA: DMDAGetOwnershipRanges, DMDAGetNeighbors.
  const Decomposition& decomposition() const { return m_decomposition; }

private:
  struct Destroy {
    void operator()(DM dm) const { DMDestroy(&dm); }
  };
  using Handle = std::unique_ptr<std::remove_pointer_t<DM>, Destroy>;
  std::map<int, Handle> m_dms, m_wide; // key: values per cell
  Decomposition m_decomposition;
};

struct Axis {
  double first = 0.0, spacing = 1.0; ///< m
  int points = 1;
  bool periodic = false;
  double extent() const { return spacing * (points - 1); } ///< from the first point to the last
};

struct Grid {
  /// Cells, patches and neighbours; null in tests and benchmarks without PETSc.
  std::shared_ptr<Dmda> dmda;
  Decomposition decomposition; ///< of the DMDA
  double x0 = 0.0, y0 = 0.0;   ///< coordinates of point (0, 0), m
  double dx = 1.0, dy = 1.0;   ///< spacing, m
  std::vector<double> z;       ///< levels above the bed, m; z[0] = 0
  std::optional<PolarStereographic> projection;

  int Mx() const { return decomposition.Mx; }
  int My() const { return decomposition.My; }
  int Mz() const { return static_cast<int>(z.size()); }
  double Lz() const { return z.back(); }
  double x(int i) const { return x0 + i * dx; }
  double y(int j) const { return y0 + j * dy; }
};

/// A grid without levels over two axes in px x py patches (0: PETSc chooses). If PETSc options
/// (-da_grid_x, -da_refine) change the points, the extent stays. Collective. Throws as Dmda, and
/// Error for unused options with prefix da_ or dm_.
Grid make_grid(MPI_Comm comm, const Axis& x, const Axis& y, int px = 0, int py = 0);

/// The same grid with another decomposition. Collective. Throws Error if PETSc changes the points.
Grid recut(MPI_Comm comm, const Grid& grid, const Decomposition& decomposition);

/// The axis requested by -grid_M* (points > 0) or -grid_dx (spacing > 0) over the extent of
/// `source`. Both: that many points of that spacing, centred; neither: `source` itself.
Axis choose_axis(const Axis& source, int points, double spacing);

} // namespace nunatak
