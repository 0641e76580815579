// The MPI-IO implementation behind PnetCDF and HDF5, and its hints.
//
// Open MPI has two, OMPIO (its default) and ROMIO, and selects one when the first file is opened.
// When a write fails, OMPIO (4.1.4) reports success or hangs; ROMIO reports the error or hangs. So
// ROMIO is preferred, OMPIO is refused unless the user accepts it (Options::ompio), space is
// reserved before anything is written (disk/disk.hpp), and a watchdog ends what hangs
// (watchdog.hpp). Other MPI libraries have ROMIO only.
//
// Open MPI 5 does not pass hints to ROMIO. They are left in a file named by the environment
// variable ROMIO_HINTS, which ROMIO reads when it opens the first file of the process: different
// hints of later files are ignored, and used_hints() reports this.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nunatak::io {

std::vector<std::pair<std::string, std::string>> library_versions();
/// Name and version of the MPI library, from MPI_Get_library_version.
std::string mpi_library();

/// Call before MPI_Init: sets variables of Open MPI that are not set. MPI-IO is ROMIO where it is
/// built; OMPI_MCA_io (mpiexec --mca io ...) takes precedence. A rank may have more than 512
/// messages on their way through shared memory: with as many to a server that does not look, ranks
/// could not reach each other, and Open MPI 5.0 loses answers (docs/reference/platforms.md).
void prepare_mpi();

/// "ROMIO" or "OMPIO". Call after MPI_Init.
std::string mpi_io_name();

/// Hints as an MPI_Info, to be freed, for the next file to be opened.
MPI_Info make_info(const std::map<std::string, std::string>& hints);

/// The hints in effect, from those `reported` for the open file, if any; under "ignored" the others
/// of `asked`, "key=value,key=value"; under "mpi_io" its name.
std::map<std::string, std::string> used_hints(const std::map<std::string, std::string>& asked,
                                              MPI_Info reported = MPI_INFO_NULL);

} // namespace nunatak::io
