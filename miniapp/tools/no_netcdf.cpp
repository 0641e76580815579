// netcdf.hpp and output_model.hpp in programs without NetCDF.
#include "miniapp/base/error.hpp"
#include "miniapp/tools/netcdf.hpp"
#include "miniapp/tools/output_model.hpp"

namespace nunatak::tools {

void require_netcdf(const std::string& what) {
  throw Error(what + ": this program was built without NetCDF");
}

Mask mask_from_netcdf(const std::string& path, std::string) {
  throw Error("mask '" + path +
              "': expected a picture (plain PBM), found something else: this program was built "
              "without NetCDF");
}

void write_fields(const std::string& path, const Grid&, const std::vector<Answer::Field>&,
                  const Texts&) {
  require_netcdf("file '" + path + "'");
}

GridValues read_field(const std::string& path, const std::string&, const Grid&) {
  require_netcdf("file '" + path + "'");
  return {}; // not reached
}

std::vector<Record> output_records(OutputOptions, const MachineOptions&, const SteppedRun&) {
  require_netcdf("option -output");
  return {}; // not reached
}

} // namespace nunatak::tools
