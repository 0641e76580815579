// ROMIO or OMPIO. See mpi_io.hpp.
#include "io/formats/mpi_io.hpp"

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

MPI_Info make_info(const std::map<std::string, std::string>& hints) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : hints) MPI_Info_set(info, key.c_str(), value.c_str());
  return info;
}

std::map<std::string, std::string> read_info(MPI_Info info) {
  std::map<std::string, std::string> hints;
  int n = 0;
  MPI_Info_get_nkeys(info, &n);
  for (int k = 0; k < n; ++k) {
    char key[MPI_MAX_INFO_KEY + 1] = {}, value[MPI_MAX_INFO_VAL + 1] = {};
    int found = 0;
    MPI_Info_get_nthkey(info, k, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    if (found != 0) hints[key] = value;
  }
  return hints;
}

} // namespace nunatak::io
