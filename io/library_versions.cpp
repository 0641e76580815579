#include "io/library_versions.hpp"

#include <netcdf.h>
#include <pnetcdf.h>

namespace nunatak::io {

std::vector<std::pair<std::string, std::string>> library_versions() {
  const auto first_word = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  return {{"NetCDF-C", first_word(nc_inq_libvers())}, {"PnetCDF", first_word(ncmpi_inq_libvers())}};
}

} // namespace nunatak::io
