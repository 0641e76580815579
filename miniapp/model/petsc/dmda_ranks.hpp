// The ghost exchange of a PETSc model (-halo dmda): one array at a time through the PetscSF of the
// DMDA's local-to-local scatter, as DMLocalToLocalBegin/End do, for cells of any size and type. The
// bits are those of MpiRanks, in up to eight messages per array. -halo pism: two rings of ghosts on
// a periodic grid, as PISM's maps and columns have them; of these, fields keep one inside the
// domain.
#pragma once

#include "common/error.hpp"
#include "miniapp/base/loop_ranks.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/petsc_error.hpp"

#include <petscsf.h>

#include <algorithm>
#include <map>

namespace nunatak {

class DmdaRanks final : public MpiRanks {
public:
  /// `grid` must outlive this object. Collective.
  DmdaRanks(MPI_Comm comm, Dmda& grid, bool wide = false)
      : MpiRanks(comm, grid.decomposition()), m_wide(wide) {
    const DM dm = wide ? grid.wide(1) : grid.dm();
    Vec field = nullptr;
    NUNATAK_PETSC(DMCreateLocalVector(dm, &field));
    NUNATAK_PETSC(DMLocalToLocalBegin(dm, field, INSERT_VALUES, field)); // makes the scatter
    NUNATAK_PETSC(DMLocalToLocalEnd(dm, field, INSERT_VALUES, field));
    NUNATAK_PETSC(VecDestroy(&field));
    NUNATAK_PETSC(DMDAGetScatter(dm, nullptr, &m_scatter));

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
      const std::size_t bytes = m_wide ? wide_bytes(array) : array.cell_bytes;
      const auto [cell, is_new] = m_types.emplace(bytes, MPI_DATATYPE_NULL);
      if (is_new) {
        MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &cell->second);
        MPI_Type_commit(&cell->second);
      }
      if (m_wide) copy_stretches(array, true);
      std::byte* const cells = m_wide ? m_widened.data() : array.data;
      NUNATAK_PETSC(PetscSFBcastBegin(m_scatter, cell->second, cells, cells, MPI_REPLACE));
      NUNATAK_PETSC(PetscSFBcastEnd(m_scatter, cell->second, cells, cells, MPI_REPLACE));
      if (m_wide) copy_stretches(array, false);
      m_traffic.exchanges += 1;
      m_traffic.messages += m_messages;
      m_traffic.bytes += m_cells * static_cast<std::int64_t>(bytes);
    }
  }

  /// PISM's masks are doubles.
  static std::size_t wide_bytes(const Ghosted& array) {
    return std::max(array.cell_bytes, sizeof(double));
  }
  /// `out`: copies the owned cells that neighbours need, two deep, to m_widened; otherwise the ring
  /// of ghosts from there.
  void copy_stretches(const Ghosted& array, bool out) {
    const Patch p = patch();
    const std::size_t narrow = array.cell_bytes, wide = wide_bytes(array);
    const auto all = static_cast<std::size_t>((p.xm + 4) * (p.ym + 4)) * wide;
    if (m_widened.size() < all) m_widened.resize(all);
    const auto copy = [&](int j, int i, int end) {
      std::byte* field = array.data + static_cast<std::size_t>(j * (p.xm + 2) + i) * narrow;
      std::byte* widened =
          m_widened.data() + static_cast<std::size_t>((j + 1) * (p.xm + 4) + i + 1) * wide;
      const int cells = narrow == wide ? 1 : end - i;
      const std::size_t bytes = narrow == wide ? static_cast<std::size_t>(end - i) * wide : narrow;
      for (int n = 0; n < cells; ++n, field += narrow, widened += wide)
        std::memcpy(out ? widened : field, out ? field : widened, bytes);
    };
    const int from = out ? 1 : 0, depth = out ? 2 : 1, end_j = p.ym + 2 - from,
              end_i = p.xm + 2 - from;
    for (int j = from; j < end_j; ++j) {
      if (j < from + depth || j >= end_j - depth) {
        copy(j, from, end_i);
      } else {
        copy(j, from, std::min(from + depth, end_i));
        copy(j, std::max(from, end_i - depth), end_i);
      }
    }
  }

  bool m_wide;
  std::vector<std::byte> m_widened;            // a field with two rings of ghosts
  PetscSF m_scatter = nullptr;                 // of the DMDA with one value per cell
  std::map<std::size_t, MPI_Datatype> m_types; // of a cell, by its size in bytes
  std::int64_t m_messages = 0, m_cells = 0;    // sent by this rank per array
};

/// The ranks of a grid. halo: packed, loops, dmda, pism, or auto (loops on a GPU, otherwise
/// packed); gpu_aware: for loops (see loop_ranks.hpp). Collective.
inline std::unique_ptr<MpiRanks> make_ranks(MPI_Comm comm, Dmda& grid, const std::string& halo,
                                            const std::string& gpu_aware = "auto") {
  if (device_memory && halo != "loops" && halo != "auto")
    throw Error("option -halo: expected auto or loops, found " + halo +
                ": the host does not reach arrays (NUNATAK_DEVICE_MEMORY)");
  if (halo == "dmda" || halo == "pism")
    return std::make_unique<DmdaRanks>(comm, grid, halo == "pism");
  if (halo == "auto") return ranks_of_loops(comm, grid.decomposition(), gpu_aware);
  if (halo == "loops")
    return std::make_unique<LoopRanks>(comm, grid.decomposition(), sends_from_loops(gpu_aware));
  return std::make_unique<MpiRanks>(comm, grid.decomposition());
}

} // namespace nunatak
