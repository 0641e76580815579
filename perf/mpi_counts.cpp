// See mpi_counts.hpp. MPI's profiling interface: the linker takes these functions before the
// library's, and they hand on.
#include "perf/mpi_counts.hpp"

#include <mpi.h>

namespace {
nunatak::bench::MpiCounts counts;

void sent(int n, MPI_Datatype type, int to, MPI_Comm comm) {
  int rank = 0, size = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Type_size(type, &size);
  if (to == rank || to == MPI_PROC_NULL) return;
  counts.messages += 1;
  counts.bytes += static_cast<std::int64_t>(n) * size;
}
} // namespace

nunatak::bench::MpiCounts nunatak::bench::mpi_counts() { return counts; }

extern "C" {

int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  sent(n, type, to, comm);
  return PMPI_Isend(data, n, type, to, tag, comm, request);
}

int MPI_Send(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  sent(n, type, to, comm);
  return PMPI_Send(data, n, type, to, tag, comm);
}

int MPI_Allreduce(const void* mine, void* all, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  counts.collectives += 1;
  return PMPI_Allreduce(mine, all, n, type, op, comm);
}

int MPI_Allgatherv(const void* mine, int n, MPI_Datatype type, void* all, const int* lengths,
                   const int* starts, MPI_Datatype their_type, MPI_Comm comm) {
  counts.collectives += 1;
  return PMPI_Allgatherv(mine, n, type, all, lengths, starts, their_type, comm);
}

int MPI_Allgather(const void* mine, int n, MPI_Datatype type, void* all, int length,
                  MPI_Datatype their_type, MPI_Comm comm) {
  counts.collectives += 1;
  return PMPI_Allgather(mine, n, type, all, length, their_type, comm);
}

} // extern "C"
