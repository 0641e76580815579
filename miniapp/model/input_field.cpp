#include "miniapp/model/input_field.hpp"

#include "kernels/grid/ranks.hpp"
#include "kernels/grid/sums.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace nunatak {

namespace {

constexpr double on_grid = 1e-6; // spacings; points closer to a file point are that point

Place place(double coordinate, const Axis& axis) {
  double f = (coordinate - axis.first) / axis.spacing;
  f = std::min(std::max(f, 0.0), static_cast<double>(axis.points - 1));
  const double nearest = std::round(f);
  if (std::fabs(f - nearest) < on_grid) f = nearest;
  const int before = std::min(static_cast<int>(f), axis.points - 2);
  return {before, f - before};
}

std::string expected(Fault fault, const FieldInfo& info) {
  if (fault == not_a_number) return "numbers everywhere, found NaN or missing values";
  if (fault == negative) return "thickness of at least 0, found negative values";
  std::ostringstream text;
  text << (info.of_ids ? "whole numbers" : "values") << " from " << info.min << " to " << info.max
       << (info.units.empty() ? "" : " ") << info.units << ", found other values";
  return text.str();
}

Fault fault_of(double v, const FieldInfo& info) {
  if (!std::isfinite(v)) return not_a_number;
  if (info.method == Interpolation::thickness && v < 0.0) return negative;
  return v < info.min || v > info.max || (info.of_ids && v != std::floor(v)) ? out_of_range
                                                                             : n_faults;
}

} // namespace

void check_own_dimension(const io::Reader& in, const std::string& name, const std::string& what) {
  const auto axes = in.dimensions(name);
  if (axes.size() == 1 && axes[0].name == name) return;
  throw Error(what + ": expected " + name + "(" + name + "), found " + name + "(" + in.shape(name) +
              ")");
}

Axis read_axis(const io::Reader& in, const std::string& name, bool& flip) {
  const std::string what = in.path() + ": coordinate '" + name + "'";
  if (!in.has(name))
    throw Error(what + " is missing (expected a variable " + name + "(" + name + "))");
  check_own_dimension(in, name, what);
  std::vector<double> c = in.read_all(name);
  if (c.size() < 2)
    throw Error(what + ": expected at least 2 points, found " + std::to_string(c.size()));
  const auto to_metres = unit_conversion(in.text(name, "units").value_or("m"), "m", what);
  for (double& v : c) v = to_metres(v);
  flip = c.back() < c.front();
  if (flip) std::reverse(c.begin(), c.end());
  Axis axis{c.front(), (c.back() - c.front()) / static_cast<double>(c.size() - 1),
            static_cast<int>(c.size())};
  for (std::size_t n = 0; n < c.size(); ++n) {
    if (!(std::fabs(c[n] - (axis.first + static_cast<double>(n) * axis.spacing)) <
          1e-3 * axis.spacing)) {
      throw Error(what + ": expected equally spaced points, found " + std::to_string(c[n]) +
                  " m at index " + std::to_string(n));
    }
  }
  constexpr double shortest = 1.0, longest = 1e7; // m
  if (!(axis.spacing >= shortest && axis.spacing <= longest)) {
    std::ostringstream text;
    text << what << ": expected points every 1 m to 10000 km, found them every " << axis.spacing
         << " m (is its unit right?)";
    throw Error(text.str());
  }
  return axis;
}

FileBlock::FileBlock(const Axis& axis_x, const Axis& axis_y, bool flip_x, bool flip_y,
                     const Grid& grid, const Patch& patch)
    : flip_rows(flip_y), flip_columns(flip_x) {
  for (int i = 0; i < patch.xm; ++i) x.push_back(place(grid.x(patch.xs + i), axis_x));
  for (int j = 0; j < patch.ym; ++j) y.push_back(place(grid.y(patch.ys + j), axis_y));
  const auto cover = [&](std::vector<Place>& places, const Axis& axis, bool flip) {
    const int first = places.front().before, points = places.back().before + 2 - first;
    for (Place& p : places) p.before -= first;
    start.push_back(static_cast<std::size_t>(flip ? axis.points - first - points : first));
    count.push_back(static_cast<std::size_t>(points));
  };
  cover(y, axis_y, flip_y);
  cover(x, axis_x, flip_x);
}

void Faults::add(Fault fault, std::int64_t cell) {
  if (fault == n_faults) return;
  m_count[fault] += 1;
  m_where[fault] = std::max(m_where[fault], cell);
}

void Faults::check(MpiRanks& ranks, const Grid& grid, const FieldInfo& info,
                   const std::string& what) const {
  std::vector<std::vector<std::int64_t>> count{m_count}, where{m_where};
  ranks.sum(count);
  ranks.max(where);
  for (const Fault fault : {not_a_number, negative, out_of_range}) {
    if (count[0][fault] == 0) continue;
    std::ostringstream text;
    text << what << ": expected " << expected(fault, info) << " at " << count[0][fault]
         << " points, one of them at x = " << grid.x(static_cast<int>(where[0][fault] % grid.Mx()))
         << " m, y = " << grid.y(static_cast<int>(where[0][fault] / grid.Mx())) << " m";
    throw Error(text.str());
  }
}

double interpolate(const FieldInfo& info, const FileBlock& block, int j, int i,
                   const std::vector<double>& values, const std::vector<double>& ice,
                   Fault& fault) {
  const bool thickness = info.method == Interpolation::thickness;
  double sum = 0.0, weights = 0.0, nearest = 0.0, largest = -1.0;
  block.for_each_corner(j, i, [&](std::size_t n, double weight) {
    if (info.of_ice && ice[n] == 0.0) return;
    const double v = values[n];
    if (weight > largest) {
      largest = weight;
      nearest = v;
    }
    const Fault found = fault_of(v, info);
    if (found != n_faults) fault = found;
    if (thickness && v == 0.0) return; // thickness is averaged over ice only
    sum += weight * v;
    weights += weight;
  });
  const bool as_nearest = largest == 1.0 || info.method == Interpolation::nearest ||
                          (thickness && (nearest == 0.0 || weights == 0.0));
  return as_nearest ? nearest : weights > 0.0 ? sum / weights : std::nan("");
}

void fill_with_mean(MpiRanks& ranks, const SharedArray2<double>& field, double largest) {
  const Patch p = ranks.patch();
  FixedSum sum;
  std::int64_t numbers = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      if (std::isnan(field(j, i))) continue;
      sum.add(field(j, i) / largest);
      numbers += 1;
    }
  }
  std::vector<std::vector<std::int64_t>> all{{numbers, sum.hi, sum.lo}};
  ranks.sum(all);
  sum.hi = all[0][1];
  sum.lo = all[0][2];
  const double mean = all[0][0] > 0 ? largest * sum.value() / static_cast<double>(all[0][0]) : 0.0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) field(j, i) = std::isnan(field(j, i)) ? mean : field(j, i);
  }
}

double at_height(const std::vector<double>& column, const std::vector<double>& z, double height) {
  height = std::min(height, z.back());
  const auto above =
      static_cast<std::size_t>(std::lower_bound(z.begin(), z.end(), height) - z.begin());
  const double weight =
      z[above] == height ? 1.0 : (height - z[above - 1]) / (z[above] - z[above - 1]);
  return weight == 1.0 ? column[above]
                       : (1.0 - weight) * column[above - 1] + weight * column[above];
}

} // namespace nunatak
