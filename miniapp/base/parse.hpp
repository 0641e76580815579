// Values of options: lists like "2x2,8x8", whole numbers, numbers with units (units.hpp).
#pragma once

#include "miniapp/base/error.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace nunatak {

using io::split;

constexpr int largest_int = std::numeric_limits<int>::max();

bool ends_with(const std::string& text, const std::string& end);

/// A whole number from `min` to `max`. Throws Error naming `what`.
std::int64_t whole_number(const std::string& text, std::int64_t min, std::int64_t max,
                          const std::string& what);

/// "16km" in "m" is 16000; a number without unit is in `unit`. Throws Error naming `what`.
double parse_quantity(const std::string& text, const std::string& unit, const std::string& what);

/// Seconds from "3h50m" (d, h, m or min, s), Slurm's forms ("90" minutes, "50:00", "3:50:00",
/// "1-12", "1-12:30"), or a number with a unit of time; positive. Throws Error naming `what`.
double parse_duration(const std::string& text, const std::string& what);

} // namespace nunatak
