// Units are converted by UDUNITS-2 (units.cpp) or refused (no_units.cpp).
#pragma once

#include <functional>
#include <string>

namespace nunatak {

using UnitConversion = std::function<double(double)>;

/// Throws Error naming `what` (a variable or option) for unknown or inconvertible units.
UnitConversion unit_conversion(const std::string& from, const std::string& to,
                               const std::string& what);

/// A sentence for -help on the accepted units.
const char* units_in_words();

} // namespace nunatak
