// units.hpp without UDUNITS: units are refused.
#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"

namespace nunatak {

UnitConversion unit_conversion(const std::string& from, const std::string& to, const std::string& what) {
  if (from == to) return [](double x) { return x; };
  throw Error(what + ": expected a number in " + to + ", found the unit '" + from + "': this program was built without UDUNITS");
}

} // namespace nunatak
