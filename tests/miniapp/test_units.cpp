// Units of options and files.
#include "miniapp/base/units.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

TEST_CASE("quantities with and without a unit") {
  CHECK(parse_quantity("16km", "m", "x") == 16000.0);
  CHECK(parse_quantity("16 km", "m", "x") == 16000.0);
  CHECK(parse_quantity("-2.5e3", "m", "x") == -2500.0);
  CHECK_THAT(parse_quantity("-1.5 degC", "K", "x"), WithinRel(271.65, 1e-15));
  CHECK_THAT(parse_quantity("1 m/day", "m year-1", "x"), WithinRel(365.242198781, 1e-9));
}

TEST_CASE("malformed quantities name the culprit") {
  CHECK_THROWS_WITH(parse_quantity("", "m", "option -grid_dx"),
                    ContainsSubstring("option -grid_dx"));
  CHECK_THROWS_WITH(parse_quantity("km", "m", "x"),
                    ContainsSubstring("expected a number in m, found 'km'"));
  CHECK_THROWS_WITH(parse_quantity("nan", "m", "x"), ContainsSubstring("found 'nan'"));
  CHECK_THROWS_WITH(parse_quantity("3 s", "m", "x"),
                    ContainsSubstring("'s' cannot be converted to 'm'"));
  CHECK_THROWS_WITH(parse_quantity("3 m", "", "x"), ContainsSubstring("without unit"));
}

TEST_CASE("units as they stand in files") {
  CHECK(unit_conversion("Celsius", "K", "theta_ocean")(-1.8) == -1.8 + 273.15);
  CHECK(unit_conversion("degree_Celsius", "K", "theta_ocean")(0.0) == 273.15);
  CHECK_THAT(unit_conversion("kg m-2 year-1", "kg m-2 s-1", "smb")(31556926.0),
             WithinRel(1.0, 1e-8));
  CHECK(unit_conversion("kg m-2 a-1", "kg m-2 s-1",
                        "smb")(31556926.0) == // "a": the year, not the are
        unit_conversion("kg m-2 year-1", "kg m-2 s-1", "smb")(31556926.0));
  CHECK(parse_quantity("10a", "year", "x") == 10.0);
  CHECK(unit_conversion("psu", "g/kg", "salinity")(34.5) == 34.5);
}
