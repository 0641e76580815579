#include "miniapp/model/grid.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/base/parse.hpp"
#include "miniapp/model/petsc_error.hpp"
#include "miniapp/model/session.hpp"

#include <petscsys.h>

#include <cmath>
#include <string>

namespace nunatak {

namespace {

Axis with_points(Axis axis, int points) {
  if (points == axis.points) return axis;
  axis.spacing = axis.periodic ? axis.spacing * axis.points / points : axis.extent() / (points - 1);
  axis.points = points;
  return axis;
}

/// PETSc accepts any text as a number, and its errors name no option.
void check_da_option(const std::string& name, int least, int most) {
  char word[32] = "";
  PetscBool is_set = PETSC_FALSE;
  NUNATAK_PETSC(PetscOptionsGetString(nullptr, nullptr, name.c_str(), word, sizeof word, &is_set));
  if (is_set == PETSC_TRUE) whole_number(word, least, most, "option " + name);
}

} // namespace

Grid make_grid(MPI_Comm comm, const Axis& x, const Axis& y, int px, int py) {
  Grid grid;
  check_da_option("-da_refine", 0, 30);
  for (const char* name : {"-da_grid_x", "-da_grid_y"}) check_da_option(name, 2, 1 << 30);
  for (const char* name : {"-da_refine_x", "-da_refine_y"}) check_da_option(name, 1, 1000);
  for (const char* name : {"-da_processors_x", "-da_processors_y"})
    check_da_option(name, 1, 1 << 30);
  grid.dmda =
      std::make_shared<Dmda>(comm, DmdaShape{x.points, y.points, px, py, x.periodic, y.periodic});
  check_petsc_options({"da_", "dm_"}, "the DMDA of the grid");
  grid.decomposition = grid.dmda->decomposition();
  const Axis columns = with_points(x, grid.Mx()), rows = with_points(y, grid.My());
  grid.x0 = columns.first;
  grid.dx = columns.spacing;
  grid.y0 = rows.first;
  grid.dy = rows.spacing;
  return grid;
}

Grid recut(MPI_Comm comm, const Grid& grid, const Decomposition& decomposition) {
  const Decomposition& d = decomposition;
  DmdaShape shape{d.Mx, d.My, d.px, d.py, d.periodic_x, d.periodic_y};
  for (int r = 0; r < d.px; ++r)
    shape.columns.push_back(d.x[static_cast<std::size_t>(r) + 1] -
                            d.x[static_cast<std::size_t>(r)]);
  for (int r = 0; r < d.py; ++r)
    shape.rows.push_back(d.y[static_cast<std::size_t>(r) + 1] - d.y[static_cast<std::size_t>(r)]);
  Grid other = grid;
  other.dmda = std::make_shared<Dmda>(comm, shape);
  other.decomposition = other.dmda->decomposition();
  return other;
}

Axis choose_axis(const Axis& source, int points, double spacing) {
  if (points == 0 && spacing == 0.0) return source;
  if (spacing > 0.0 && spacing < 1.0)
    throw Error("option -grid_dx: expected 0 or a spacing of at least 1 m, found " +
                std::to_string(spacing) + " m");
  constexpr double rounding = 1e-3; // of coordinates in the file, in spacings
  Axis axis;
  if (spacing == 0.0) {
    axis.points = points;
    axis.spacing = source.extent() / (points - 1);
    axis.first = source.first;
    return axis;
  }
  axis.spacing = spacing;
  axis.points =
      points > 0 ? points : static_cast<int>(std::floor(source.extent() / spacing + rounding)) + 1;
  if (axis.points < 2) {
    throw Error("grid spacing of " + std::to_string(spacing) +
                " m (-grid_dx): the domain is only " + std::to_string(source.extent()) + " m wide");
  }
  if (std::fabs(axis.extent() - source.extent()) <= rounding * spacing &&
      axis.points == source.points)
    return source;
  if (axis.extent() > source.extent() + rounding * spacing) {
    throw Error("grid of " + std::to_string(axis.points) + " points every " +
                std::to_string(spacing) + " m (-grid_Mx, -grid_My, -grid_dx): expected at most " +
                std::to_string(source.extent()) +
                " m from the first to the last, the width of the domain, found " +
                std::to_string(axis.extent()) + " m");
  }
  axis.first = source.first + (source.extent() - axis.extent()) / 2.0;
  return axis;
}

} // namespace nunatak
