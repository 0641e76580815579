// netcdf.hpp in programs without NetCDF.
#include "common/error.hpp"
#include "miniapp/kit/netcdf.hpp"

namespace nunatak::kit {

void require_netcdf(const std::string& what) {
  throw Error(what + ": this program was built without NetCDF");
}

Mask mask_from_netcdf(const std::string& path, std::string) {
  throw Error("mask '" + path +
              "': expected a picture (plain PBM), found something else: this program was built "
              "without NetCDF");
}

void write_fields(const std::string& path, const MapGrid&, const std::vector<Answer::Field>&,
                  const Texts&) {
  require_netcdf("file '" + path + "'");
}

GridValues read_field(const std::string& path, const std::string&, const MapGrid&) {
  require_netcdf("file '" + path + "'");
  return {}; // not reached
}

} // namespace nunatak::kit
