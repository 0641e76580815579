// Classic NetCDF files: which kind a schema needs, and a file with its whole header, made by one
// rank.
//
//   CDF-2   64-bit offsets; what every tool reads, GDAL (QGIS, rasterio) included. Variables (of a
//   record) below 4 GiB, no 64-bit
//           integers.
//   CDF-5   64-bit sizes and integers
//
// Used by serial.cpp, pnetcdf.cpp and direct.cpp. Reference: NetCDF classic format specification,
// appendix B of the NetCDF Users Guide.
#pragma once

#include "io/options.hpp"
#include "io/schema.hpp"

#include <string>

namespace nunatak::io {

/// The kind that Options::classic asks for (auto: CDF-2 where it can hold the schema) as a mode of
/// nc_create and ncmpi_create. Error, naming what does not fit and what it needs, if CDF-2 was
/// asked for and cannot hold it.
int classic_mode(const std::string& path, const Schema& schema, const Options& options);

/// The same for the log: "CDF-2", or "CDF-5" and why.
std::string classic_kind(const Schema& schema, const Options& options);

/// Create the file `path` with all definitions of the schema by NetCDF-C. Local.
void create_classic(const std::string& path, const Schema& schema, const Options& options);

} // namespace nunatak::io
