// The communicator of World: the compute processes, while run_program() runs.
#pragma once

#include <mpi.h>

namespace nunatak {

MPI_Comm world_comm();

} // namespace nunatak
