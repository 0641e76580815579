// Which implementation of MPI-IO carries PnetCDF and HDF5; its hints.
//
// Open MPI has two, OMPIO (its default) and ROMIO, and chooses when MPI starts. OMPIO (4.1.4) hangs in a collective write that
// fails on a rank: a full disk then stops the run without a message. ROMIO returns the error in many cases, and is therefore
// chosen unless the user says otherwise; but it can hang, too, where ranks write two-dimensional patches. Other MPI libraries
// have ROMIO only, and nothing changes.
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
