// ROMIO or OMPIO. See mpi_io.hpp.
#include "io/mpi_io.hpp"

#include <mpi.h>

#include <cstdlib>

namespace nunatak::io {

void prefer_romio() { ::setenv("OMPI_MCA_io", "^ompio", 0); }

std::string mpi_io_name() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(version, &length);
  if (std::string(version).find("Open MPI") == std::string::npos) return "ROMIO";
  const char* chosen = std::getenv("OMPI_MCA_io");
  const std::string components = chosen != nullptr ? chosen : "ompio";
  const bool listed = components.find("ompio") != std::string::npos, excludes = components[0] == '^';
  return listed != excludes ? "OMPIO" : "ROMIO";
}

} // namespace nunatak::io
