// Classic NetCDF files: the kind that a schema requires, and a new file with its header.
//
//   CDF-2   64-bit offsets; read by every tool, including GDAL (QGIS, rasterio). Variables (of a
//           record) below 4 GiB, no 64-bit integers.
//   CDF-5   64-bit sizes and integers
//
// Reference: NetCDF classic format specification, appendix B of the NetCDF Users Guide.
#pragma once

#include "io/data/schema.hpp"
#include "io/formats/options.hpp"

#include <cstdint>
#include <string>

namespace nunatak::io {

/// CDF-2 if it can hold the schema, else CDF-5, as a mode of nc_create.
int classic_mode(const Schema& schema);

/// The same for the log: "CDF-2", or "CDF-5" and why.
std::string classic_kind(const Schema& schema);

/// Create the file `path` with the definitions of the schema, using NetCDF-C; with Options::define
/// interleaved without those of the variables. Local.
void create_classic(const std::string& path, const Schema& schema, const Options& options);

} // namespace nunatak::io
