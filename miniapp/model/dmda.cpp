#include "miniapp/model/dmda.hpp"

#include "io/agree.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace nunatak {

namespace {

constexpr std::int64_t most_cells = 1 << 30; // PETSc counts two unknowns of each in 32 bits

/// Sets the grid of ranks. Checks what PETSc would refuse, with messages of our own.
void cut(DM dm, const DmdaShape& shape, int size) {
  PetscInt Mx = 0, My = 0, px = 0, py = 0;
  NUNATAK_PETSC(DMDAGetInfo(dm, nullptr, &Mx, &My, nullptr, &px, &py, nullptr, nullptr, nullptr,
                            nullptr, nullptr, nullptr, nullptr));
  if (Mx < 1 || My < 1 || std::int64_t{Mx} * My > most_cells)
    throw Error("grid of " + std::to_string(Mx) + " x " + std::to_string(My) +
                " points (-grid_..., -da_grid_x, -da_grid_y, -da_refine): expected at most " +
                std::to_string(most_cells));
  if (px <= 0) px = shape.px; // -da_processors_x is not given
  if (py <= 0) py = shape.py;
  if (px <= 0 && py <= 0) {
    Decomposition::make(Mx, My, size); // throws where a patch would have no cell
  } else {
    if (px <= 0) px = size / py;
    if (py <= 0) py = size / px;
    if (std::int64_t{px} * py != size)
      throw Error("options -grid_px and -grid_py: expected a product of " + std::to_string(size) +
                  " ranks, found " + std::to_string(px) + " x " + std::to_string(py));
    Decomposition::make(Mx, My, px, py);
    NUNATAK_PETSC(DMDASetNumProcs(dm, px, py, PETSC_DECIDE));
  }
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

} // namespace

Dmda::Dmda(MPI_Comm comm, const DmdaShape& shape) {
  const auto boundary = [](bool periodic) {
    return periodic ? DM_BOUNDARY_PERIODIC : DM_BOUNDARY_GHOSTED;
  };
  DM dm = nullptr;
  NUNATAK_PETSC(DMDACreate2d(comm, boundary(shape.periodic_x), boundary(shape.periodic_y),
                             DMDA_STENCIL_BOX, shape.Mx, shape.My, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                             nullptr, nullptr, &dm));
  m_dms.emplace(1, dm);
  NUNATAK_PETSC(DMSetFromOptions(dm));
  cut(dm, shape, io::size_of(comm));
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

} // namespace nunatak
