#include "io/disk/mpi_io.hpp"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <netcdf.h>
#include <pnetcdf.h>
#include <sys/mman.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

using Hints = std::map<std::string, std::string>;

/// 4 for Open MPI 4.1.4; 0 for other libraries.
int open_mpi_version() {
  const std::string text = mpi_library(), name = "Open MPI v";
  const std::size_t found = text.find(name);
  return found != std::string::npos ? std::atoi(text.c_str() + found + name.size()) : 0;
}

/// Open MPI was built with ROMIO and has found it, as a library of its own or part of libmpi.
bool open_mpi_has_romio() {
  MPI_File_delete("/nowhere/nothing", MPI_INFO_NULL); // loads the MPI-IO components
  for (const char* component : {"mca_io_romio321_component", "mca_io_romio341_component"}) {
    if (dlsym(RTLD_DEFAULT, component) != nullptr) return true;
  }
  const auto is_romio = [](dl_phdr_info* library, std::size_t, void*) {
    return std::strstr(library->dlpi_name, "/mca_io_romio") != nullptr ? 1 : 0;
  };
  return dl_iterate_phdr(is_romio, nullptr) != 0;
}

/// OMPI_MCA_io, a list of components to use or, after ^, not to use, allows this one.
bool is_allowed(const std::string& component) {
  const char* const text = std::getenv("OMPI_MCA_io");
  const std::string list = text != nullptr ? text : "^";
  return (list.find(component) != std::string::npos) != (list[0] == '^');
}

std::string find_mpi_io_name() {
  if (open_mpi_version() == 0) return "ROMIO";
  return is_allowed("romio") && open_mpi_has_romio() ? "ROMIO" : "OMPIO";
}

/// Open MPI 5 does not pass the hints of MPI_File_open to ROMIO, and few of them to OMPIO.
bool drops_hints() { return open_mpi_version() >= 5; }

/// The hints in the file named by ROMIO_HINTS, in memory, which ROMIO reads once.
const Hints& leave_for_romio(const Hints& hints) {
  static const Hints left = [&]() -> Hints {
    std::string text;
    for (const auto& [key, value] : hints) text += key + " " + value + "\n";
    // the user may have such a file
    if (text.empty() || std::getenv("ROMIO_HINTS") != nullptr) return {};
    const int file = memfd_create("romio_hints", 0);
    if (file < 0 || ::write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return {};
    ::setenv("ROMIO_HINTS", ("/proc/self/fd/" + std::to_string(file)).c_str(), 0);
    return hints;
  }();
  return left;
}

Hints read_info(MPI_Info info) {
  Hints hints;
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

} // namespace

std::vector<std::pair<std::string, std::string>> library_versions() {
  const auto first_word = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  return {{"NetCDF-C", first_word(nc_inq_libvers())}, {"PnetCDF", first_word(ncmpi_inq_libvers())}};
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all = text;
  return all.substr(0, all.find_first_of(",\n"));
}

void prepare_mpi() {
  ::setenv("OMPI_MCA_io_ompio_priority", "1", 0); // ROMIO: 10
  for (const char* const of : {"OMPI_MCA_btl_vader_free_list_max", "OMPI_MCA_btl_sm_free_list_max"})
    ::setenv(of, "-1", 0); // Open MPI 4, 5
}

std::string mpi_io_name() {
  static const std::string name = find_mpi_io_name();
  return name;
}

MPI_Info make_info(const Hints& hints) {
  const bool by_file = drops_hints() && mpi_io_name() == "ROMIO" && !leave_for_romio(hints).empty();
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : hints) {
    const bool pnetcdfs_own = key.rfind("nc_", 0) == 0 || key.rfind("pnetcdf_", 0) == 0;
    if (!by_file || pnetcdfs_own)
      MPI_Info_set(info, key.c_str(), value.c_str()); // a hint in both is lost in Open MPI 5
  }
  return info;
}

Hints used_hints(const Hints& asked, MPI_Info reported) {
  const std::string name = mpi_io_name();
  Hints used;
  if (reported != MPI_INFO_NULL) used = read_info(reported);
  if (reported == MPI_INFO_NULL && !drops_hints()) used = asked;
  if (drops_hints() && name == "ROMIO") {
    const Hints& left = leave_for_romio(asked);
    used.insert(left.begin(), left.end());
  }
  std::string ignored;
  for (const auto& [key, value] : asked) {
    // Open MPI 4 reports what was given, known or not
    if (name == "OMPIO" && key.rfind("romio_", 0) == 0) used.erase(key);
    const auto found = used.find(key);
    if (found == used.end() || (drops_hints() && found->second != value))
      ignored += (ignored.empty() ? "" : ",") + key + "=" + value;
  }
  if (!ignored.empty()) used["ignored"] = ignored;
  used["mpi_io"] = name;
  return used;
}

} // namespace nunatak::io
