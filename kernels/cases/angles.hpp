// Angles and distances from elementary::tan and sqrt alone, so that the synthetic continent has the
// same bits with every C library. Errors: a few units in the last place.
#pragma once

#include "kernels/grid/elementary.hpp"

#include <cmath>

namespace nunatak::synthetic {

/// sin x and cos x by the tangent of half the angle, for |x| <= 2e5.
inline double sine(double x) {
  const double t = elementary::tan(0.5 * x);
  return 2.0 * t / (1.0 + t * t);
}
inline double cosine(double x) {
  const double t = elementary::tan(0.5 * x);
  return (1.0 - t * t) / (1.0 + t * t);
}

inline double length(double x, double y) { return std::sqrt(x * x + y * y); }

/// The angle of the point (x, y), -pi to pi, 0 of the origin: Newton's method for its tangent, or
/// for its cotangent where that is smaller.
inline double angle(double x, double y) {
  constexpr double pi = 3.14159265358979324;
  const bool steep = std::fabs(y) > std::fabs(x);
  if (x == 0.0 && y == 0.0) return 0.0;
  const double q = steep ? x / y : y / x;
  double a = q * (0.97 - 0.19 * q * q); // to 0.006
  for (int n = 0; n < 3; ++n) {
    const double t = elementary::tan(a);
    a -= (t - q) / (1.0 + t * t);
  }
  if (steep) return (y > 0.0 ? 0.5 : -0.5) * pi - a;
  return x > 0.0 ? a : a + (y < 0.0 ? -pi : pi);
}

} // namespace nunatak::synthetic
