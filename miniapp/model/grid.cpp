#include "miniapp/model/grid.hpp"

#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "kernels/cases/synthetic.hpp"
#include "miniapp/model/petsc_error.hpp"
#include "miniapp/model/session.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace nunatak {

namespace {

constexpr std::int64_t most_cells = 1 << 30;

// Checks what PETSc would refuse, with messages of our own. px, py <= 0: chosen by PETSc.
void require_product(int px, int py, int size) {
  if (px <= 0 && py <= 0) return;
  if (px <= 0) px = size / py;
  if (py <= 0) py = size / px;
  if (std::int64_t{px} * py == size) return;
  throw Error("options -grid_px and -grid_py: expected a product of " + std::to_string(size) +
              " ranks, found " + std::to_string(px) + " x " + std::to_string(py));
}
void require_cells(DM dm, const DmdaShape& shape, int size) {
  PetscInt Mx = 0, My = 0, px = 0, py = 0;
  NUNATAK_PETSC(DMDAGetInfo(dm, nullptr, &Mx, &My, nullptr, &px, &py, nullptr, nullptr, nullptr,
                            nullptr, nullptr, nullptr, nullptr));
  if (Mx < 1 || My < 1 || std::int64_t{Mx} * My > most_cells) {
    throw Error("grid of " + std::to_string(Mx) + " x " + std::to_string(My) +
                " points (-grid_..., -da_grid_x, -da_grid_y, -da_refine): expected at most " +
                std::to_string(most_cells) + " (PETSc counts two unknowns of each in 32 bits)");
  }
  require_product(px, py, size);
  if (px <= 0 && py <= 0)
    Decomposition::make(Mx, My, size); // throws where a patch would have no cell
  else
    Decomposition::make(Mx, My, px > 0 ? px : size / py, py > 0 ? py : size / px);
  // subdomain boundaries are valid only for the number of points that they were made for
  if (!shape.columns.empty() && (Mx != shape.Mx || My != shape.My))
    throw Error("options -grid_cut ice and -da_refine: expected one of them; -grid_dx refines the "
                "grid, too");
}

Decomposition decomposition_of(DM dm, int rank) {
  Decomposition d;
  DMBoundaryType x = DM_BOUNDARY_NONE, y = DM_BOUNDARY_NONE;
  NUNATAK_PETSC(DMDAGetInfo(dm, nullptr, &d.Mx, &d.My, nullptr, &d.px, &d.py, nullptr, nullptr,
                            nullptr, &x, &y, nullptr, nullptr));
  d.periodic_x = x == DM_BOUNDARY_PERIODIC;
  d.periodic_y = y == DM_BOUNDARY_PERIODIC;
  const PetscInt *columns = nullptr, *rows = nullptr;
  NUNATAK_PETSC(DMDAGetOwnershipRanges(dm, &columns, &rows, nullptr));
  d.x = d.y = {0};
  for (int r = 0; r < d.px; ++r) d.x.push_back(d.x.back() + columns[r]);
  for (int r = 0; r < d.py; ++r) d.y.push_back(d.y.back() + rows[r]);
  const PetscMPIInt* neighbours = nullptr;
  NUNATAK_PETSC(DMDAGetNeighbors(dm, &neighbours));
  for (int n = 0; n < 9; ++n) {
    if (n != 4 && std::max(neighbours[n], -1) != d.neighbour(rank, n % 3 - 1, n / 3 - 1))
      throw std::logic_error("DMDA: rank " + std::to_string(rank) +
                             " has another neighbour in direction " + std::to_string(n));
  }
  return d;
}

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

Dmda::Dmda(MPI_Comm comm, const DmdaShape& shape) {
  const auto boundary = [](bool periodic) {
    return periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_GHOSTED;
  };
  const auto patches = [](int n) { return n > 0 ? n : PETSC_DECIDE; };
  DM dm = nullptr;
  require_product(shape.px, shape.py, io::size_of(comm));
  NUNATAK_PETSC(DMDACreate2d(comm, boundary(shape.periodic_x), boundary(shape.periodic_y),
                             DMDA_STENCIL_BOX, shape.Mx, shape.My, patches(shape.px),
                             patches(shape.py), 1, 1, nullptr, nullptr, &dm));
  m_dms.emplace(1, dm);
  NUNATAK_PETSC(DMSetFromOptions(dm));
  require_cells(dm, shape, io::size_of(comm));
  if (!shape.columns.empty())
    NUNATAK_PETSC(DMDASetOwnershipRanges(dm, shape.columns.data(), shape.rows.data(), nullptr));
  NUNATAK_PETSC(DMSetUp(dm)); // processes -dm_view as well
  m_decomposition = decomposition_of(dm, io::rank_in(comm));
}

DM Dmda::dm(int dof) {
  Handle& handle = m_dms[dof];
  if (!handle) {
    DM dm = nullptr;
    NUNATAK_PETSC(DMDACreateCompatibleDMDA(m_dms.at(1).get(), dof, &dm));
    handle.reset(dm);
  }
  return handle.get();
}

DM Dmda::wide(int dof) {
  Handle& handle = m_wide[dof];
  if (!handle) {
    DM dm = nullptr;
    const Decomposition& d = m_decomposition;
    const PetscInt *columns = nullptr, *rows = nullptr;
    NUNATAK_PETSC(DMDAGetOwnershipRanges(m_dms.at(1).get(), &columns, &rows, nullptr));
    NUNATAK_PETSC(DMDACreate2d(PetscObjectComm(reinterpret_cast<PetscObject>(m_dms.at(1).get())),
                               DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC, DMDA_STENCIL_BOX, d.Mx,
                               d.My, d.px, d.py, dof, 2, columns, rows, &dm));
    handle.reset(dm);
    NUNATAK_PETSC(DMSetUp(dm));
  }
  return handle.get();
}

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
  axis.points = points > 0 ? points : synthetic::points_that_fit(source.extent(), spacing);
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
