// Polar stereographic coordinates against the worked example of IOGP Guidance Note 7-2 (method
// EPSG:9829), and the north as the mirror image of the south.
#include "miniapp/model/projection.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

using namespace nunatak;
using Catch::Matchers::WithinAbs;

TEST_CASE("the example of the guidance note: 75 S, 120 E") {
  PolarStereographic p;
  p.straight_vertical_longitude_from_pole = 70.0;
  p.false_easting = p.false_northing = 6e6;
  const auto place = p.inverse(7255380.79, 7053389.56);
  CHECK_THAT(place.lat, WithinAbs(-75.0, 1e-7)); // a centimetre
  CHECK_THAT(place.lon, WithinAbs(120.0, 1e-6));
}

TEST_CASE("the scale is 1 at the standard parallel and that of EPSG:3031 at the pole") {
  const PolarStereographic p;
  const auto at = [&](double y) { return p.inverse(0.0, y); };
  CHECK_THAT(at(0.0).scale, WithinAbs(0.9727690128918, 1e-12));
  CHECK_THAT(at(1.0).scale, WithinAbs(0.9727690128918, 1e-9)); // the other formula
  double low = 1e6, high = 4e6;
  for (int n = 0; n < 60; ++n) (at((low + high) / 2).lat < -71.0 ? low : high) = (low + high) / 2;
  CHECK_THAT(at(low).scale, WithinAbs(1.0, 1e-9));
}

TEST_CASE("the poles, and longitudes along the axes") {
  PolarStereographic south;
  CHECK_THAT(south.inverse(0.0, 0.0).lat, WithinAbs(-90.0, 1e-12));
  CHECK_THAT(south.inverse(0.0, 1e6).lon, WithinAbs(0.0, 1e-12));
  CHECK_THAT(south.inverse(1e6, 0.0).lon, WithinAbs(90.0, 1e-12));

  PolarStereographic north;
  north.latitude_of_projection_origin = 90.0;
  north.standard_parallel = 71.0;
  CHECK_THAT(north.inverse(0.0, -1e6).lon, WithinAbs(0.0, 1e-12));
  CHECK_THAT(north.inverse(1e6, 0.0).lon, WithinAbs(90.0, 1e-12));
  CHECK_THAT(north.inverse(3e5, 4e5).lat, WithinAbs(-south.inverse(3e5, 4e5).lat, 1e-12));
}
