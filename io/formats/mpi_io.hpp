// Which implementation of MPI-IO carries PnetCDF and HDF5; its hints.
//
// Open MPI has two, OMPIO (its default) and ROMIO, and chooses when the first file is opened. OMPIO
// (4.1.4) reports success of a write that failed, or hangs in it; ROMIO reports the error, or
// hangs. So ROMIO is preferred, OMPIO is refused unless the user accepts it (Options::ompio), space
// is reserved before anything is written (durable/durable.hpp), and a watchdog ends what hangs
// (watchdog.hpp). Other MPI libraries have ROMIO only, and nothing changes.
//
// Open MPI 5 keeps hints from ROMIO. They reach it by a file that the environment variable
// ROMIO_HINTS names, which ROMIO reads when it opens the first file of the process: those of later
// files that differ are ignored. Hence used_hints(), which says so.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nunatak::io {

/// Name and version of the NetCDF libraries, for reports.
std::vector<std::pair<std::string, std::string>> library_versions();
/// Name and version of the MPI library, as it says them.
std::string mpi_library();

/// Call before MPI_Init: sets the environment variable OMPI_MCA_io_ompio_priority=1, below that of
/// ROMIO, unless it is set. What OMPI_MCA_io (mpiexec --mca io ...) says comes first.
void prefer_romio();

/// "ROMIO" or "OMPIO". Call after MPI_Init.
std::string mpi_io_name();

/// False: a library that opens a file once more, with the hints that MPI reports of it, loses them
/// all, those of ROMIO_HINTS, too.
bool hints_survive_reopening();

/// Hints as an MPI_Info, to be freed. For a file that is opened next.
MPI_Info make_info(const std::map<std::string, std::string>& hints);

/// What MPI-IO makes of the hints that it was asked for: those in effect; under "ignored" the
/// others, "key=value,key=value", if there are any; under "mpi_io" its name. `reported`: what the
/// library says of the open file; without it those asked for, where they count.
std::map<std::string, std::string> used_hints(const std::map<std::string, std::string>& asked,
                                              MPI_Info reported = MPI_INFO_NULL);

} // namespace nunatak::io
