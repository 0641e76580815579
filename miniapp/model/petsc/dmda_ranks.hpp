// The ghost exchange as a model on PETSc does it (-halo dmda): one array at a time through the
// DMDA's local-to-local scatter. Fields of doubles are borrowed by a local Vec and go through
// DMLocalToLocalBegin/End in place, columns through the DMDA with as many numbers a cell; all else
// goes through the PetscSF of the same scatter. The same cells are sent as in MpiRanks, with the
// same bits, in more messages: up to eight for every array.
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
  PetscSF m_scatter = nullptr;                 // of the DMDA with one number a cell
  std::map<std::size_t, MPI_Datatype> m_types; // of a cell, by its bytes
  std::int64_t m_messages = 0, m_cells = 0;    // that this rank sends for one array
};

/// The ranks of a grid; halo: packed, loops, dmda, or auto (loops where they run on a GPU, else
/// packed); gpu_aware: of loops (see loop_ranks.hpp). Collective.
std::unique_ptr<MpiRanks> make_ranks(MPI_Comm comm, Dmda& grid, const std::string& halo,
                                     const std::string& gpu_aware = "auto");

} // namespace nunatak
