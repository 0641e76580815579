// Numbers with units, which are converted by UDUNITS-2 (units.cpp) or refused (no_units.cpp).
#pragma once

#include <functional>
#include <string>

namespace nunatak {

using UnitConversion = std::function<double(double)>;

/// Throws Error naming `what` (a variable or option) for unknown or inconvertible units. "a" is a
/// year where UDUNITS' are, 100 m2, does not convert: m a-1.
UnitConversion unit_conversion(const std::string& from, const std::string& to,
                               const std::string& what);

/// "16km" in "m" is 16000; a number without unit is in `unit`. Throws Error naming `what`.
double parse_quantity(const std::string& text, const std::string& unit, const std::string& what);

/// A sentence for -help on the accepted units.
const char* units_in_words();

} // namespace nunatak
