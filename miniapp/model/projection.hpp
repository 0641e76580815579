// Polar stereographic projection of the ellipsoid (Snyder 1987, Map Projections: A Working Manual,
// eqs. 14-15, 15-9, 21-32 to 21-41, with the series 3-5), and its CF description.
#pragma once

#include <cmath>
#include <sstream>
#include <string>

namespace nunatak {

struct PolarStereographic {
  double latitude_of_projection_origin = -90.0;       ///< degrees: 90 or -90
  double standard_parallel = -71.0;                   ///< degrees
  double straight_vertical_longitude_from_pole = 0.0; ///< degrees
  double false_easting = 0.0, false_northing = 0.0;   ///< m
  double semi_major_axis = 6378137.0;                 ///< m (WGS 84)
  double inverse_flattening = 298.257223563;          ///< 0: a sphere

  struct LatLon {
    double lat, lon; ///< degrees
    double scale;    ///< a metre on the ellipsoid is so many on the map
  };
  /// Latitude and longitude of the point (x, y), in metres.
  LatLon inverse(double x, double y) const {
    const double pi = 3.14159265358979323846, degree = pi / 180.0;
    const double f = inverse_flattening > 0.0 ? 1.0 / inverse_flattening : 0.0;
    const double e2 = f * (2.0 - f), e = std::sqrt(e2);
    const double phi_c = std::fabs(standard_parallel) * degree, s = std::sin(phi_c);
    const double sign = latitude_of_projection_origin > 0.0 ? 1.0 : -1.0; // the south is mirrored
    const double X = x - false_easting, Y = y - false_northing, rho = std::hypot(X, Y);

    // rho = c t: eqs. 21-34, and 21-33 for a standard parallel at the pole
    const auto m = [&](double sine, double cosine) {
      return cosine / std::sqrt(1.0 - e2 * sine * sine);
    };
    const double at_pole = std::sqrt(std::pow(1.0 + e, 1.0 + e) * std::pow(1.0 - e, 1.0 - e));
    double c = 2.0 * semi_major_axis / at_pole;
    if (phi_c < pi / 2.0 - 1e-10) {
      const double t_c =
          std::tan(pi / 4.0 - phi_c / 2.0) / std::pow((1.0 - e * s) / (1.0 + e * s), e / 2.0);
      c = semi_major_axis * m(s, std::cos(phi_c)) / t_c;
    }
    const double t = rho / c;
    const double chi = pi / 2.0 - 2.0 * std::atan(t), e4 = e2 * e2, e6 = e4 * e2, e8 = e4 * e4;
    const double phi =
        chi + (e2 / 2.0 + 5.0 * e4 / 24.0 + e6 / 12.0 + 13.0 * e8 / 360.0) * std::sin(2.0 * chi) +
        (7.0 * e4 / 48.0 + 29.0 * e6 / 240.0 + 811.0 * e8 / 11520.0) * std::sin(4.0 * chi) +
        (7.0 * e6 / 120.0 + 81.0 * e8 / 1120.0) * std::sin(6.0 * chi) +
        4279.0 * e8 / 161280.0 * std::sin(8.0 * chi);
    double lon = straight_vertical_longitude_from_pole + std::atan2(X, -sign * Y) / degree;
    if (lon > 180.0) lon -= 360.0;
    if (lon <= -180.0) lon += 360.0;
    const double scale = t > 1e-9 ? rho / (semi_major_axis * m(std::sin(phi), std::cos(phi)))
                                  : c * at_pole / (2.0 * semi_major_axis); // eqs. 21-32, 21-35
    return {sign * phi / degree, lon, scale};
  }

  /// The projection as well-known text (CF attribute crs_wkt).
  std::string wkt() const {
    const std::string metre = ",LENGTHUNIT[\"metre\",1]]",
                      degree = ",ANGLEUNIT[\"degree\",0.0174532925199433]]";
    std::ostringstream s;
    s.precision(15);
    s << R"(PROJCRS["polar stereographic",BASEGEOGCRS["unknown",DATUM["unknown",)"
      << R"(ELLIPSOID["unknown",)" << semi_major_axis << "," << inverse_flattening << metre
      << R"(],PRIMEM["Greenwich",0)" << degree << R"(],CONVERSION["unknown",)"
      << R"-(METHOD["Polar Stereographic (variant B)",ID["EPSG",9829]],)-"
      << R"(PARAMETER["Latitude of standard parallel",)" << standard_parallel << degree
      << R"(,PARAMETER["Longitude of origin",)" << straight_vertical_longitude_from_pole << degree
      << R"(,PARAMETER["False easting",)" << false_easting << metre
      << R"(,PARAMETER["False northing",)" << false_northing << metre
      << R"-(],CS[Cartesian,2],AXIS["easting (X)",unspecified,ORDER[1])-" << metre
      << R"-(,AXIS["northing (Y)",unspecified,ORDER[2])-" << metre << "]";
    return s.str();
  }
};

} // namespace nunatak
