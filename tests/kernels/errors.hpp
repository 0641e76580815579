// The largest of some errors, for tests.
#pragma once

#include <algorithm>
#include <cmath>

namespace nunatak {

/// The larger of `error` and |x|; infinite if x is no number, which a maximum would pass over.
inline double larger_error(double error, double x) {
  return std::isnan(x) ? HUGE_VAL : std::max(error, std::abs(x));
}

} // namespace nunatak
