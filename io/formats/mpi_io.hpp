// Which implementation of MPI-IO carries PnetCDF and HDF5; its hints.
//
// Open MPI has two, OMPIO (its default) and ROMIO, and chooses when MPI starts. OMPIO (4.1.4) reports success of a write that
// failed, or hangs in it; ROMIO reports the error, or hangs. So ROMIO is chosen unless the user says otherwise, space is reserved
// before anything is written (durable/space.hpp), and a watchdog ends what hangs (watchdog.hpp). Other MPI libraries have ROMIO
// only, and nothing changes.
#pragma once

#include <mpi.h>

#include <map>
#include <string>

namespace nunatak::io {

/// Call before MPI_Init: sets the environment variable OMPI_MCA_io=^ompio, unless it is set (mpiexec --mca io sets it too).
void prefer_romio();

/// "ROMIO" or "OMPIO". Call after MPI_Init.
std::string mpi_io_name();

/// Hints as an MPI_Info, to be freed, and back.
MPI_Info make_info(const std::map<std::string, std::string>& hints);
std::map<std::string, std::string> read_info(MPI_Info info);

} // namespace nunatak::io
