// What this process has sent, whoever called MPI: the model, PETSc, or the levels of the multigrid,
// which count for themselves. For bench_ssa. Persistent requests (PETSc's matrices of type aij on
// several ranks) are not counted.
#pragma once

#include <cstdint>

namespace nunatak::bench {

struct MpiCounts {
  std::int64_t messages = 0;    ///< to other ranks, point to point
  std::int64_t bytes = 0;       ///< of these messages
  std::int64_t collectives = 0; ///< all-reduces and all-gathers
};

/// Since the start of the program.
MpiCounts mpi_counts();

} // namespace nunatak::bench
