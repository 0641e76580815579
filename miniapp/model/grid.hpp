// The grid of a run: points, vertical levels, projection, and its cut into patches.
#pragma once

#include "kernels/grid/patch.hpp"
#include "miniapp/model/projection.hpp"

#include <optional>
#include <vector>

namespace nunatak {

struct Grid {
  Decomposition decomposition;
  double x0 = 0.0, y0 = 0.0; ///< coordinates of point (0, 0), m
  double dx = 1.0, dy = 1.0; ///< spacing, m
  std::vector<double> z;     ///< levels above the bed, m; z[0] = 0
  std::optional<PolarStereographic> projection;

  int Mx() const { return decomposition.Mx; }
  int My() const { return decomposition.My; }
  int Mz() const { return static_cast<int>(z.size()); }
  double Lz() const { return z.back(); }
  double x(int i) const { return x0 + i * dx; }
  double y(int j) const { return y0 + j * dy; }
};

/// Points along one direction of a regular grid.
struct Axis {
  double first = 0.0, spacing = 1.0; ///< m
  int points = 1;
  double extent() const { return spacing * (points - 1); }
};

/// The axis asked for by -grid_M* (points > 0) or -grid_dx (spacing > 0) over the extent of `source`; both: points of that
/// spacing, centred on it; none: `source` itself.
Axis choose_axis(const Axis& source, int points, double spacing);

} // namespace nunatak
