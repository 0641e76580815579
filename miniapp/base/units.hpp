// Values of options: lists like "2x2,8x8", whole numbers, numbers with units (parse.cpp). Units are
// converted by UDUNITS-2 (units.cpp) or refused (no_units.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nunatak {

/// At least one item; items may be empty.
std::vector<std::string> split(const std::string& text, char separator);

bool ends_with(const std::string& text, const std::string& end);

/// A whole number from `min` to `max`. Throws Error naming `what`.
std::int64_t whole_number(const std::string& text, std::int64_t min, std::int64_t max,
                          const std::string& what);

using UnitConversion = std::function<double(double)>;

/// Throws Error naming `what` (a variable or option) for unknown or inconvertible units.
UnitConversion unit_conversion(const std::string& from, const std::string& to,
                               const std::string& what);

/// A sentence for -help on the accepted units.
const char* units_in_words();

/// "16km" in "m" is 16000; a number without unit is in `unit`. Throws Error naming `what`.
double parse_quantity(const std::string& text, const std::string& unit, const std::string& what);

/// Seconds from "3h50m" (d, h, m or min, s), Slurm's forms ("90" minutes, "50:00", "3:50:00",
/// "1-12", "1-12:30"), or a number with a unit of time; positive. Throws Error naming `what`.
double parse_duration(const std::string& text, const std::string& what);

} // namespace nunatak
