// Element types as MPI and the NetCDF libraries name them: NetCDF-C and PnetCDF use the same numbers. For the formats.
#pragma once

#include "io/schema.hpp"

#include <mpi.h>
#include <netcdf.h>

namespace nunatak::io {

inline nc_type nc_type_of(Type type) {
  constexpr nc_type types[] = {NC_BYTE, NC_SHORT, NC_INT, NC_INT64, NC_FLOAT, NC_DOUBLE};
  return types[static_cast<std::size_t>(type)];
}

inline MPI_Datatype mpi_type_of(Type type) {
  const MPI_Datatype types[] = {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG_LONG_INT, MPI_FLOAT, MPI_DOUBLE};
  return types[static_cast<std::size_t>(type)];
}

} // namespace nunatak::io
