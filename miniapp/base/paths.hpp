// Files that a run will write at its end: is there a place for them?
#pragma once

#include <mpi.h>

#include <string>

namespace nunatak {

/// Throws Error on all ranks, naming option and file, if rank 0 cannot create `path`: no such folder, no permission, or it is a
/// folder itself. Better before the run than after it. Nothing is created; an empty path is fine. One broadcast.
void require_writable(MPI_Comm comm, const std::string& option, const std::string& path);

} // namespace nunatak
