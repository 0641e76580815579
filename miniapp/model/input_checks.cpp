#include "miniapp/model/input_checks.hpp"

#include "kernels/ice/time_step.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace nunatak {

namespace {

/// valid_min, valid_max or valid_range of a variable, in the units of its unpacked values; infinite where it has none.
std::pair<double, double> valid_range(const io::Reader& in, const std::string& name) {
  const double scale = in.number(name, "scale_factor").value_or(1.0), offset = in.number(name, "add_offset").value_or(0.0);
  double low = in.number(name, "valid_min").value_or(-HUGE_VAL), high = in.number(name, "valid_max").value_or(HUGE_VAL);
  if (const auto range = in.numbers(name, "valid_range"); range && range->size() == 2) low = (*range)[0], high = (*range)[1];
  low = low * scale + offset, high = high * scale + offset;
  return {std::fmin(low, high), std::fmax(low, high)};
}

} // namespace

void check_own_dimension(const io::Reader& in, const std::string& name, const std::string& what) {
  const auto axes = in.dimensions(name);
  if (axes.size() == 1 && axes[0].name == name) return;
  std::string found;
  for (const auto& axis : axes) found += (found.empty() ? "" : ", ") + axis.name + " = " + std::to_string(axis.length);
  throw Error(what + ": expected " + name + "(" + name + "), found " + name + "(" + found + ")");
}

Axis read_axis(const io::Reader& in, const std::string& name, bool& flip) {
  const std::string what = in.path() + ": coordinate '" + name + "'";
  if (!in.has(name)) throw Error(what + " is missing (expected a variable " + name + "(" + name + "))");
  check_own_dimension(in, name, what);
  std::vector<double> c = in.read_all(name);
  if (c.size() < 2) throw Error(what + ": expected at least 2 points, found " + std::to_string(c.size()));
  const auto to_metres = unit_conversion(in.text(name, "units").value_or("m"), "m", what);
  for (double& v : c) v = to_metres(v);
  flip = c.back() < c.front();
  if (flip) std::reverse(c.begin(), c.end());
  Axis axis{c.front(), (c.back() - c.front()) / static_cast<double>(c.size() - 1), static_cast<int>(c.size())};
  for (std::size_t n = 0; n < c.size(); ++n) {
    if (!(std::fabs(c[n] - (axis.first + static_cast<double>(n) * axis.spacing)) < 1e-3 * axis.spacing)) {
      throw Error(what + ": expected equally spaced points, found " + std::to_string(c[n]) + " m at index " + std::to_string(n));
    }
  }
  constexpr double shortest = 1.0, longest = 1e7; // m
  if (!(axis.spacing >= shortest && axis.spacing <= longest)) {
    std::ostringstream text;
    text << what << ": expected points every 1 m to 10000 km, found them every " << axis.spacing << " m (is its unit right?)";
    throw Error(text.str());
  }
  return axis;
}

void check_valid(const io::Reader& in, const std::string& variable, const std::vector<double>& values, MpiRanks& ranks) {
  const auto [low, high] = valid_range(in, variable);
  if (low == -HUGE_VAL && high == HUGE_VAL) return;
  const double rounding =
      1e-6 * std::fmax(std::isfinite(low) ? std::fabs(low) : 0.0, std::isfinite(high) ? std::fabs(high) : 0.0);
  std::vector<std::vector<double>> worst{{0.0, 0.0}};
  for (const double v : values) {
    worst[0][0] = std::fmax(worst[0][0], low - v);
    worst[0][1] = std::fmax(worst[0][1], v - high);
  }
  max_over_ranks(ranks, worst);
  if (worst[0][0] <= rounding && worst[0][1] <= rounding) return;
  std::ostringstream text;
  text << in.path() << ": variable '" << variable << "': expected values from " << low << " to " << high
       << ", its own valid range, found " << (worst[0][0] > rounding ? low - worst[0][0] : high + worst[0][1]);
  throw Error(text.str());
}

} // namespace nunatak
