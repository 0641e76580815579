// The communicator of World: of the processes that compute, while run_program() runs.
#pragma once

#include <mpi.h>

namespace nunatak {

MPI_Comm world_comm();

} // namespace nunatak
