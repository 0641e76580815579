// Element types as MPI and the NetCDF libraries name them: NetCDF-C and PnetCDF use the same numbers. For the formats.
#pragma once

#include "io/schema.hpp"

#include <mpi.h>
#include <netcdf.h>

namespace nunatak::io {

inline nc_type nc_type_of(Type type) {
  switch (type) {
  case Type::int8:
    return NC_BYTE;
  case Type::int16:
    return NC_SHORT;
  case Type::int32:
    return NC_INT;
  case Type::int64:
    return NC_INT64;
  case Type::float32:
    return NC_FLOAT;
  case Type::float64:
    return NC_DOUBLE;
  }
  return NC_NAT;
}

inline MPI_Datatype mpi_type_of(Type type) {
  switch (type) {
  case Type::int8:
    return MPI_SIGNED_CHAR;
  case Type::int16:
    return MPI_SHORT;
  case Type::int32:
    return MPI_INT;
  case Type::int64:
    return MPI_LONG_LONG_INT;
  case Type::float32:
    return MPI_FLOAT;
  case Type::float64:
    return MPI_DOUBLE;
  }
  return MPI_DATATYPE_NULL;
}

} // namespace nunatak::io
