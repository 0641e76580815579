// How stored values become numbers: the Attribute Conventions of the NetCDF Users' Guide.
//
//   _FillValue, missing_value, the default fill of the type -> NaN: missing
//   any other stored value                                  -> stored * scale_factor + add_offset
//
// _Unsigned = "true" makes signed integers of the file unsigned ("false": the reverse), including
// fill values and limits. Packed integers are exact only to half a quantum, |scale_factor| / 2: a
// number that close to zero is zero, an id that close to a whole number is that number. valid_min,
// valid_max and valid_range are stored values, but numbers if their type is wider than the stored
// one and is floating-point or that of scale_factor.
#pragma once

#include "io/read/contents.hpp"

#include <limits>
#include <string>
#include <vector>

namespace nunatak::io {

struct Packing {
  /// Error naming the file if an attribute has the wrong kind or makes the values unusable.
  Packing(const Contents::Variable& variable, const std::string& path);

  int nc_type = 0; ///< of the stored values, after _Unsigned
  bool is_packed = false;
  double scale = 1.0, offset = 0.0;
  double quantum = 0.0;        ///< spacing of the numbers of packed integers, else 0
  std::vector<double> fills;   ///< stored values that are missing
  std::vector<double> missing; ///< numbers that are missing
  double low = -std::numeric_limits<double>::infinity(), high = -low; ///< valid numbers

  void unpack(std::vector<double>& values) const;

  /// The whole number within half a quantum, else the number; 0 if it is missing and 0 is a fill.
  double id(double number) const;

  /// How far a number may lie beyond a limit: half a quantum and rounding.
  double tolerance() const;
};

} // namespace nunatak::io
