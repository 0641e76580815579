// units.hpp in programs without UDUNITS: units are refused.
#include "common/error.hpp"
#include "miniapp/base/units.hpp"

namespace nunatak {

const char* units_in_words() {
  return "Numbers are in the unit that is shown, and are given without it: 16000 for 16 km (this "
         "program was built "
         "without UDUNITS, which would convert units).";
}

UnitConversion unit_conversion(const std::string& from, const std::string& to,
                               const std::string& what) {
  if (from == to) return [](double x) { return x; };
  throw Error(what + ": expected a number in " + to + ", found the unit '" + from +
              "': this program was built without UDUNITS");
}

} // namespace nunatak
