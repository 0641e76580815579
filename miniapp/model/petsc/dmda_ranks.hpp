// The ghost exchange of a PETSc model (-halo dmda): one array at a time through the PetscSF of the
// DMDA's local-to-local scatter, as DMLocalToLocalBegin/End do, for cells of any size and type. The
// bits are those of MpiRanks, in up to eight messages per array.
#pragma once

#include "miniapp/base/error.hpp"
#include "miniapp/base/loop_ranks.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petscsf.h>

#include <map>

namespace nunatak {

class DmdaRanks final : public MpiRanks {
public:
  /// `grid` must outlive this object. Collective.
  DmdaRanks(MPI_Comm comm, Dmda& grid) : MpiRanks(comm, grid.decomposition()) {
    Vec field = nullptr;
    NUNATAK_PETSC(DMCreateLocalVector(grid.dm(), &field));
    NUNATAK_PETSC(DMLocalToLocalBegin(grid.dm(), field, INSERT_VALUES, field)); // makes the scatter
    NUNATAK_PETSC(DMLocalToLocalEnd(grid.dm(), field, INSERT_VALUES, field));
    NUNATAK_PETSC(VecDestroy(&field));
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
  ~DmdaRanks() override {
    for (auto& [bytes, type] : m_types) MPI_Type_free(&type);
  }
  DmdaRanks(const DmdaRanks&) = delete;
  DmdaRanks& operator=(const DmdaRanks&) = delete;

private:
  void fill_ghosts(const std::vector<Ghosted>& arrays) override {
    for (const Ghosted& array : arrays) {
      const auto [cell, is_new] = m_types.emplace(array.cell_bytes, MPI_DATATYPE_NULL);
      if (is_new) {
        MPI_Type_contiguous(static_cast<int>(array.cell_bytes), MPI_BYTE, &cell->second);
        MPI_Type_commit(&cell->second);
      }
      NUNATAK_PETSC(
          PetscSFBcastBegin(m_scatter, cell->second, array.data, array.data, MPI_REPLACE));
      NUNATAK_PETSC(PetscSFBcastEnd(m_scatter, cell->second, array.data, array.data, MPI_REPLACE));
      count([&](Traffic& t) {
        t.exchanges += 1;
        t.messages += m_messages;
        t.bytes += m_cells * static_cast<std::int64_t>(array.cell_bytes);
      });
    }
  }

  PetscSF m_scatter = nullptr;                 // of the DMDA with one value per cell
  std::map<std::size_t, MPI_Datatype> m_types; // of a cell, by its size in bytes
  std::int64_t m_messages = 0, m_cells = 0;    // sent by this rank per array
};

/// The ranks of a grid. halo: packed, loops, dmda, or auto (loops on a GPU, otherwise packed);
/// gpu_aware: for loops (see loop_ranks.hpp). Collective.
inline std::unique_ptr<MpiRanks> make_ranks(MPI_Comm comm, Dmda& grid, const std::string& halo,
                                            const std::string& gpu_aware = "auto") {
  if (device_memory && halo != "loops" && halo != "auto")
    throw Error("option -halo: expected auto or loops, found " + halo +
                ": the host does not reach arrays (NUNATAK_DEVICE_MEMORY)");
  if (halo == "dmda") return std::make_unique<DmdaRanks>(comm, grid);
  if (halo == "loops" || (halo == "auto" && (device_memory || !loops_on_host)))
    return std::make_unique<LoopRanks>(comm, grid.decomposition(), sends_from_loops(gpu_aware));
  return std::make_unique<MpiRanks>(comm, grid.decomposition());
}

} // namespace nunatak
