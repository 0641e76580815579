#include "miniapp/model/petsc/dmda_ranks.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/base/loop_ranks.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petscsf.h>

namespace nunatak {

namespace {

/// A local Vec on the memory of a field with ghosts, `dof` values per cell. The field must outlive
/// it.
class BorrowedVec {
public:
  BorrowedVec(Dmda& grid, int dof, double* data) {
    PetscInt xm = 0, ym = 0;
    NUNATAK_PETSC(DMDAGetGhostCorners(grid.dm(), nullptr, nullptr, nullptr, &xm, &ym, nullptr));
    NUNATAK_PETSC(VecCreateSeqWithArray(PETSC_COMM_SELF, dof, dof * xm * ym, data, &m_vec));
  }
  ~BorrowedVec() { VecDestroy(&m_vec); }
  BorrowedVec(const BorrowedVec&) = delete;
  BorrowedVec& operator=(const BorrowedVec&) = delete;
  operator Vec() const { return m_vec; }

private:
  Vec m_vec = nullptr;
};

} // namespace

DmdaRanks::DmdaRanks(MPI_Comm comm, Dmda& grid)
    : MpiRanks(comm, grid.decomposition()), m_grid(grid) {
  // PETSc creates the scatter on its first use
  const auto field = make_array<double>("field", patch());
  const BorrowedVec vec(grid, 1, field.data());
  NUNATAK_PETSC(DMLocalToLocalBegin(grid.dm(), vec, INSERT_VALUES, vec));
  NUNATAK_PETSC(DMLocalToLocalEnd(grid.dm(), vec, INSERT_VALUES, vec));
  NUNATAK_PETSC(DMDAGetScatter(grid.dm(), nullptr, &m_scatter));

  PetscInt receivers = 0;
  const PetscMPIInt* rank = nullptr;
  const PetscInt *start = nullptr, *cells = nullptr;
  NUNATAK_PETSC(PetscSFGetLeafRanks(m_scatter, &receivers, &rank, &start, &cells));
  for (PetscInt n = 0; n < receivers; ++n) {
    if (rank[n] == first()) continue;
    m_messages += 1;
    m_cells += start[n + 1] - start[n];
  }
}

DmdaRanks::~DmdaRanks() {
  for (auto& [bytes, type] : m_types) MPI_Type_free(&type);
}

void DmdaRanks::fill_ghosts(const std::vector<Ghosted>& arrays) {
  for (const Ghosted& array : arrays) {
    scatter(array);
    count([&](Traffic& t) {
      t.exchanges += 1;
      t.messages += m_messages;
      t.bytes += m_cells * static_cast<std::int64_t>(array.cell_bytes);
    });
  }
}

void DmdaRanks::scatter(const Ghosted& array) {
  if (array.doubles) {
    const int dof = static_cast<int>(array.cell_bytes / sizeof(double));
    const BorrowedVec vec(m_grid, dof, reinterpret_cast<double*>(array.data));
    NUNATAK_PETSC(DMLocalToLocalBegin(m_grid.dm(dof), vec, INSERT_VALUES, vec));
    NUNATAK_PETSC(DMLocalToLocalEnd(m_grid.dm(dof), vec, INSERT_VALUES, vec));
  } else {
    const MPI_Datatype cell = cell_type(array.cell_bytes);
    NUNATAK_PETSC(PetscSFBcastBegin(m_scatter, cell, array.data, array.data, MPI_REPLACE));
    NUNATAK_PETSC(PetscSFBcastEnd(m_scatter, cell, array.data, array.data, MPI_REPLACE));
  }
}

MPI_Datatype DmdaRanks::cell_type(std::size_t bytes) {
  const auto found = m_types.find(bytes);
  if (found != m_types.end()) return found->second;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return m_types[bytes] = type;
}

std::unique_ptr<MpiRanks> make_ranks(MPI_Comm comm, Dmda& grid, const std::string& halo,
                                     const std::string& gpu_aware) {
  if (device_memory && halo != "loops" && halo != "auto")
    throw Error("option -halo: expected auto or loops, found " + halo +
                ": the host does not reach arrays (NUNATAK_DEVICE_MEMORY)");
  if (halo == "dmda") return std::make_unique<DmdaRanks>(comm, grid);
  if (halo == "loops" || (halo == "auto" && (device_memory || !loops_on_host)))
    return std::make_unique<LoopRanks>(comm, grid.decomposition(), sends_from_loops(gpu_aware));
  return std::make_unique<MpiRanks>(comm, grid.decomposition());
}

} // namespace nunatak
