// Polar stereographic projection of the ellipsoid (Snyder 1987, Map Projections: A Working Manual,
// eqs. 14-15, 15-9, 21-39 to 21-41, with the series 3-5), and its CF description.
#pragma once

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
  };
  /// Latitude and longitude of the point (x, y), in metres.
  LatLon inverse(double x, double y) const;

  /// The projection as well-known text (CF attribute crs_wkt).
  std::string wkt() const;
};

} // namespace nunatak
