// The grid of a run: points, vertical levels, projection, and the DMDA that decomposes it.
#pragma once

#include "miniapp/model/dmda.hpp"
#include "miniapp/model/projection.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace nunatak {

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
