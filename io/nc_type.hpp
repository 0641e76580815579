// Element types as the NetCDF libraries name them: NetCDF-C and PnetCDF use the same numbers. For serial.cpp and pnetcdf.cpp.
#pragma once

#include "io/schema.hpp"

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

} // namespace nunatak::io
