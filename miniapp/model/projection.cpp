#include "miniapp/model/projection.hpp"

#include <cmath>
#include <sstream>

namespace nunatak {

PolarStereographic::LatLon PolarStereographic::inverse(double x, double y) const {
  const double pi = 3.14159265358979323846, degree = pi / 180.0;
  const double f = inverse_flattening > 0.0 ? 1.0 / inverse_flattening : 0.0;
  const double e2 = f * (2.0 - f), e = std::sqrt(e2);
  const double phi_c = std::fabs(standard_parallel) * degree, s = std::sin(phi_c);
  const double sign = latitude_of_projection_origin > 0.0 ? 1.0 : -1.0; // the south is mirrored
  const double X = x - false_easting, Y = y - false_northing, rho = std::hypot(X, Y);

  // rho = a m_c t / t_c; for a standard parallel at the pole a (1 + sin) ...: eq. 21-33
  double t = 0.0;
  if (phi_c < pi / 2.0 - 1e-10) {
    const double t_c =
        std::tan(pi / 4.0 - phi_c / 2.0) / std::pow((1.0 - e * s) / (1.0 + e * s), e / 2.0);
    const double m_c = std::cos(phi_c) / std::sqrt(1.0 - e2 * s * s);
    t = rho * t_c / (semi_major_axis * m_c);
  } else {
    t = rho * std::sqrt(std::pow(1.0 + e, 1.0 + e) * std::pow(1.0 - e, 1.0 - e)) /
        (2.0 * semi_major_axis);
  }
  const double chi = pi / 2.0 - 2.0 * std::atan(t), e4 = e2 * e2, e6 = e4 * e2, e8 = e4 * e4;
  const double phi =
      chi + (e2 / 2.0 + 5.0 * e4 / 24.0 + e6 / 12.0 + 13.0 * e8 / 360.0) * std::sin(2.0 * chi) +
      (7.0 * e4 / 48.0 + 29.0 * e6 / 240.0 + 811.0 * e8 / 11520.0) * std::sin(4.0 * chi) +
      (7.0 * e6 / 120.0 + 81.0 * e8 / 1120.0) * std::sin(6.0 * chi) +
      4279.0 * e8 / 161280.0 * std::sin(8.0 * chi);
  double lon = straight_vertical_longitude_from_pole + std::atan2(X, -sign * Y) / degree;
  if (lon > 180.0) lon -= 360.0;
  if (lon <= -180.0) lon += 360.0;
  return {sign * phi / degree, lon};
}

std::string PolarStereographic::wkt() const {
  std::ostringstream s;
  s.precision(15);
  s << "PROJCRS[\"polar "
       "stereographic\",BASEGEOGCRS[\"unknown\",DATUM[\"unknown\",ELLIPSOID[\"unknown\","
    << semi_major_axis << "," << inverse_flattening
    << ",LENGTHUNIT[\"metre\",1]]],PRIMEM[\"Greenwich\",0,ANGLEUNIT[\"degree\",0.0174532925199433]]"
       "],"
       "CONVERSION[\"unknown\",METHOD[\"Polar Stereographic (variant B)\",ID[\"EPSG\",9829]],"
       "PARAMETER[\"Latitude of standard parallel\","
    << standard_parallel
    << ",ANGLEUNIT[\"degree\",0.0174532925199433]],PARAMETER[\"Longitude of origin\","
    << straight_vertical_longitude_from_pole
    << ",ANGLEUNIT[\"degree\",0.0174532925199433]],PARAMETER[\"False easting\"," << false_easting
    << ",LENGTHUNIT[\"metre\",1]],PARAMETER[\"False northing\"," << false_northing
    << ",LENGTHUNIT[\"metre\",1]]],CS[Cartesian,2],AXIS[\"easting "
       "(X)\",unspecified,ORDER[1],LENGTHUNIT[\"metre\",1]],"
       "AXIS[\"northing (Y)\",unspecified,ORDER[2],LENGTHUNIT[\"metre\",1]]]";
  return s.str();
}

} // namespace nunatak
