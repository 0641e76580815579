// The ghost exchange of a PETSc model (-halo dmda): one array at a time through the PetscSF of the
// DMDA's local-to-local scatter, as DMLocalToLocalBegin/End do, for cells of any size and type. The
// bits are those of MpiRanks, in up to eight messages per array.
#pragma once

#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/dmda.hpp"

#include <map>

namespace nunatak {

class DmdaRanks final : public MpiRanks {
public:
  /// `grid` must outlive this object. Collective.
  DmdaRanks(MPI_Comm comm, Dmda& grid);
  ~DmdaRanks() override;
  DmdaRanks(const DmdaRanks&) = delete;
  DmdaRanks& operator=(const DmdaRanks&) = delete;

private:
  void fill_ghosts(const std::vector<Ghosted>& arrays) override;

  PetscSF m_scatter = nullptr;                 // of the DMDA with one value per cell
  std::map<std::size_t, MPI_Datatype> m_types; // of a cell, by its size in bytes
  std::int64_t m_messages = 0, m_cells = 0;    // sent by this rank per array
};

/// The ranks of a grid. halo: packed, loops, dmda, or auto (loops on a GPU, otherwise packed);
/// gpu_aware: for loops (see loop_ranks.hpp). Collective.
std::unique_ptr<MpiRanks> make_ranks(MPI_Comm comm, Dmda& grid, const std::string& halo,
                                     const std::string& gpu_aware = "auto");

} // namespace nunatak
