// Parameters of PICO: defaults, units, valid ranges.
#pragma once

#include "kernels/distance/types.hpp"

#include <sstream>
#include <stdexcept>

namespace nunatak {

/// Defaults: Reese et al. (2018), The Cryosphere 12, 1969, table 1 and section 2.
struct PicoOptions {
  double gamma_T = 2.0e-5;              ///< effective turbulent heat exchange velocity, m s-1
  double overturning_coefficient = 1e6; ///< C, m6 s-1 kg-1
  /// Bed elevation above which the sea floor is continental shelf, m.
  double continental_shelf_depth = -800.0;
  /// Grounded components larger than this are continental ice, m2.
  double continental_ice_area = 1e5 * 1e6;
  /// Smaller ones are ice rises: part of the domain of the shelf, without a grounding line.
  bool exclude_ice_rises = true;
  int boxes = 5;                  ///< largest number of boxes, n_max
  std::string solver = "buckets"; ///< for the distances (distance/distance.hpp)
  bool skip_unchanged = true;     ///< keep the geometry while its input is unchanged
  bool batch = true;              ///< false: one collective after another (one_by_one.hpp)

  /// Throws invalid_argument, naming the parameter, what was expected and what was found.
  void check() const {
    const auto require = [](bool good, const char* name, const char* expected, double found) {
      if (good) return;
      std::ostringstream message;
      message << "PICO: " << name << " is " << found << ", expected " << expected;
      throw std::invalid_argument(message.str());
    };
    require(gamma_T > 0.0 && gamma_T < 1.0, "gamma_T", "a velocity between 0 and 1 m s-1", gamma_T);
    require(overturning_coefficient > 0.0 && overturning_coefficient < 1e12,
            "overturning_coefficient", "a positive number of m6 s-1 kg-1", overturning_coefficient);
    require(continental_shelf_depth <= 0.0, "continental_shelf_depth",
            "a bed elevation, 0 m or below", continental_shelf_depth);
    require(continental_ice_area >= 0.0, "continental_ice_area", "an area of 0 m2 or more",
            continental_ice_area);
    require(boxes >= 1 && boxes <= 100, "boxes", "between 1 and 100", boxes);
  }
};

} // namespace nunatak
