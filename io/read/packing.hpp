// How the stored values of a variable become numbers: the attributes of the NetCDF Users' Guide
// (Attribute Conventions), in one place for all that read values.
//
//   _FillValue, missing_value, the default fill of the type -> NaN: missing
//   any other stored value                                  -> stored * scale_factor + add_offset
//
// _Unsigned = "true" makes signed integers of the file unsigned ("false": the reverse), with their
// fill values and limits. Packed integers give numbers to half a quantum only, |scale_factor| / 2:
// a number that close to zero is zero, an id that close to a whole number is that number.
// valid_min, valid_max and valid_range are stored values, but numbers if their type is wider than
// the stored one and is floating-point or that of scale_factor.
#pragma once

#include "io/read/contents.hpp"

#include <limits>
#include <string>
#include <vector>

namespace nunatak::io {

struct Packing {
  /// Error that names the file if an attribute is of the wrong kind or loses the values.
  Packing(const Contents::Variable& variable, const std::string& path);

  int nc_type = 0; ///< of the stored values, as _Unsigned has it
  bool is_packed = false;
  double scale = 1.0, offset = 0.0;
  double quantum = 0.0;        ///< between neighbouring numbers of packed integers, else 0
  std::vector<double> fills;   ///< stored values that are missing
  std::vector<double> missing; ///< numbers that are missing
  double low = -std::numeric_limits<double>::infinity(), high = -low; ///< valid numbers

  /// Stored values become numbers.
  void unpack(std::vector<double>& values) const;

  /// The whole number within half a quantum, else the number itself. A missing value is 0 if 0 is a
  /// fill value: there is nothing, and 0 is the id of nothing.
  double id(double number) const;

  /// By which a number may lie beyond a limit: half a quantum and rounding.
  double tolerance() const;
};

} // namespace nunatak::io
