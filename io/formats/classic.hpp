// Classic NetCDF files: the kind that a schema requires, and their creation by one rank.
//
//   CDF-2   64-bit offsets; read by every tool, including GDAL (QGIS, rasterio). Variables (of a
//           record) below 4 GiB, no 64-bit integers.
//   CDF-5   64-bit sizes and integers
//
// Reference: NetCDF classic format specification, appendix B of the NetCDF Users Guide.
#pragma once

#include "io/options.hpp"
#include "io/schema.hpp"

#include <string>

namespace nunatak::io {

/// The kind in Options::classic (auto: CDF-2 if it can hold the schema) as a mode of nc_create.
/// Error, naming what does not fit, if CDF-2 is required and cannot hold the schema.
int classic_mode(const std::string& path, const Schema& schema, const Options& options);

/// The same for the log: "CDF-2", or "CDF-5" and why.
std::string classic_kind(const Schema& schema, const Options& options);

/// Create the file `path` with all definitions of the schema, using NetCDF-C. Local.
void create_classic(const std::string& path, const Schema& schema, const Options& options);

} // namespace nunatak::io
