#include "common/error.hpp"
#include "miniapp/base/units.hpp"

#include <cmath>
#include <cstdlib>

namespace nunatak {

double parse_quantity(const std::string& text, const std::string& unit, const std::string& what) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number)) {
    throw Error(what + ": expected a number" + (unit.empty() ? "" : " in " + unit) + ", found '" +
                text + "'");
  }
  std::string suffix = end;
  suffix.erase(0, suffix.find_first_not_of(' '));
  if (suffix.empty()) return number;
  if (unit.empty()) throw Error(what + ": expected a number without unit, found '" + text + "'");
  return unit_conversion(suffix, unit, what)(number);
}

} // namespace nunatak
