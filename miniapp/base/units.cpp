#include "miniapp/base/units.hpp"

#include "common/error.hpp"

#include <udunits2.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <regex>

namespace nunatak {

namespace {

using System = std::unique_ptr<ut_system, decltype(&ut_free_system)>;
using Unit = std::unique_ptr<ut_unit, decltype(&ut_free)>;

System read_system() {
  ut_set_error_message_handler(ut_ignore);
  const char* const named = std::getenv("UDUNITS2_XML_PATH");
  const std::string path = named != nullptr ? named : "";
  std::error_code none;
  // Spack sets this to a file that may not exist; the system's UDUNITS then uses its own
  if (!std::filesystem::exists(path, none)) unsetenv("UDUNITS2_XML_PATH");
  System system(ut_read_xml(nullptr), ut_free_system);
  if (system) return system;
  throw Error("UDUNITS cannot read its unit database: found UDUNITS2_XML_PATH '" + path + "'");
}

/// The same with "a" as the year that glaciologists mean; in UDUNITS it is the are, 100 m2.
std::string with_years(const std::string& name) {
  static const std::regex a("(^|[^A-Za-z_])a(?![A-Za-z_])");
  return name.size() < 100 ? std::regex_replace(name, a, "$1year") : name;
}

Unit parse(const System& units, const std::string& name, const std::string& what) {
  Unit unit(ut_parse(units.get(), name.c_str(), UT_UTF8), ut_free);
  if (!unit) throw Error(what + ": '" + name + "' is not a unit");
  return unit;
}

} // namespace

const char* units_in_words() {
  return "Numbers with a unit may be given in any unit that converts: 16km, 1.5us.";
}

UnitConversion unit_conversion(const std::string& from, const std::string& to,
                               const std::string& what) {
  if (from == to) return [](double x) { return x; };
  static const System units = read_system(); // one copy: reading the database takes long
  // "g/kg" and "psu" are units of salinity in files
  const std::string known = from == "psu" || from == "PSU" ? "g/kg" : from;
  const Unit a = parse(units, known, what), b = parse(units, to, what);
  const std::shared_ptr<cv_converter> converter(ut_get_converter(a.get(), b.get()),
                                                [](cv_converter* c) {
                                                  if (c != nullptr) cv_free(c);
                                                });
  if (!converter && with_years(known) != known) return unit_conversion(with_years(known), to, what);
  if (!converter) throw Error(what + ": units '" + from + "' cannot be converted to '" + to + "'");
  return [converter](double x) { return cv_convert_double(converter.get(), x); };
}

} // namespace nunatak
