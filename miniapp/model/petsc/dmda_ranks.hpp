// The ghost exchange of a PETSc model (-halo dmda): one array at a time through the DMDA's
// local-to-local scatter. Fields of doubles are wrapped in a local Vec and exchanged in place by
// DMLocalToLocalBegin/End, columns through a DMDA with as many values per cell; other types use the
// scatter's PetscSF. The bits are those of MpiRanks, in up to eight messages per array.
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
  void scatter(const Ghosted& array);
  MPI_Datatype cell_type(std::size_t bytes);

  Dmda& m_grid;
  PetscSF m_scatter = nullptr;                 // of the DMDA with one value per cell
  std::map<std::size_t, MPI_Datatype> m_types; // cell type by size in bytes
  std::int64_t m_messages = 0, m_cells = 0;    // sent by this rank per array
};

/// The ranks of a grid. halo: packed, loops, dmda, or auto (loops on a GPU, otherwise packed);
/// gpu_aware: for loops (see loop_ranks.hpp). Collective.
std::unique_ptr<MpiRanks> make_ranks(MPI_Comm comm, Dmda& grid, const std::string& halo,
                                     const std::string& gpu_aware = "auto");

} // namespace nunatak
