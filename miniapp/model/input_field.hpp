// From a variable of an input file to a field: checks, block, interpolation. Used by input.hpp.
#pragma once

#include "io/reader.hpp"
#include "kernels/grid/sums.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/model/grid.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace nunatak {

/// Throws Error, beginning with `what`, unless the coordinate has exactly its own dimension.
inline void check_own_dimension(const io::Reader& in, const std::string& name,
                                const std::string& what) {
  const auto axes = in.dimensions(name);
  if (axes.size() == 1 && axes[0].name == name) return;
  throw Error(what + ": expected " + name + "(" + name + "), found " + name + "(" + in.shape(name) +
              ")");
}

/// The points of a coordinate in metres, increasing; `flip`: they decrease in the file. Collective.
/// Throws Error if it is missing, not regular, has fewer than two points or an implausible spacing.
inline Axis read_axis(const io::Reader& in, const std::string& name, bool& flip) {
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

/// `thickness`: bilinear over icy points; the ice extent is that of the nearest point.
enum class Interpolation { bilinear, nearest, thickness };

/// Requirements on a variable of the input.
struct FieldInfo {
  std::string variable, units; // "": not converted
  double min, max;             // in these units
  Interpolation method = Interpolation::bilinear;
  bool of_ids = false;   // integers; 0 means none
  bool of_ice = false;   // undefined without ice: there the mean over ice is used
  bool has_mean = false; // has other records than thk: their mean is used
  bool is_used = true;   // if false, a field with missing values is ignored
};

/// The position of a point between two file points: index of the lower one, weight of the upper.
struct Place {
  int before;
  double weight;
};

constexpr double on_grid = 1e-6; // spacings; points closer to a file point are that point

inline Place place(double coordinate, const Axis& axis) {
  double f = (coordinate - axis.first) / axis.spacing;
  f = std::min(std::max(f, 0.0), static_cast<double>(axis.points - 1));
  const double nearest = std::round(f);
  if (std::fabs(f - nearest) < on_grid) f = nearest;
  const int before = std::min(static_cast<int>(f), axis.points - 2);
  return {before, f - before};
}

/// The block of a file that covers a patch, in file order, and the position of the patch's points
/// in it. x and y are the file's axes; `flip_x`: its x decreases.
struct FileBlock {
  FileBlock(const Axis& axis_x, const Axis& axis_y, bool flip_x, bool flip_y, const Grid& grid,
            const Patch& patch)
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

  /// f(position in the block, weight) for the file points around the view indices (j, i).
  template <class F> void for_each_corner(int j, int i, const F& f) const {
    const Place &py = y[static_cast<std::size_t>(j - 1)], &px = x[static_cast<std::size_t>(i - 1)];
    for (int corner = 0; corner < 4; ++corner) {
      const int dj = corner / 2, di = corner % 2;
      const double weight =
          (dj == 1 ? py.weight : 1.0 - py.weight) * (di == 1 ? px.weight : 1.0 - px.weight);
      if (weight == 0.0) continue;
      const std::size_t row = static_cast<std::size_t>(py.before + dj),
                        column = static_cast<std::size_t>(px.before + di);
      f((flip_rows ? count[0] - 1 - row : row) * count[1] +
            (flip_columns ? count[1] - 1 - column : column),
        weight);
    }
  }

  std::vector<std::size_t> start, count; // rows, columns
  // Per owned column and row; indices increase with the coordinate, within the block.
  std::vector<Place> x, y;
  bool flip_rows, flip_columns;
};

enum Fault : std::size_t { not_a_number, negative, out_of_range, n_faults };

inline Fault fault_of(double v, const FieldInfo& info) {
  if (!std::isfinite(v)) return not_a_number;
  if (info.method == Interpolation::thickness && v < 0.0) return negative;
  return v < info.min || v > info.max || (info.of_ids && v != std::floor(v)) ? out_of_range
                                                                             : n_faults;
}

inline std::string expected(Fault fault, const FieldInfo& info) {
  if (fault == not_a_number) return "numbers everywhere, found NaN or missing values";
  if (fault == negative) return "thickness of at least 0, found negative values";
  std::ostringstream text;
  text << (info.of_ids ? "whole numbers" : "values") << " from " << info.min << " to " << info.max
       << (info.units.empty() ? "" : " ") << info.units << ", found other values";
  return text.str();
}

/// Counts the points with each fault and keeps one of these points.
class Faults {
public:
  void add(Fault fault, std::int64_t cell) {
    if (fault == n_faults) return;
    m_count[fault] += 1;
    m_where[fault] = std::max(m_where[fault], cell);
  }
  /// Throws Error, beginning with `what`, on all ranks if any rank has a fault. Two reductions.
  void check(MpiRanks& ranks, const Grid& grid, const FieldInfo& info,
             const std::string& what) const {
    std::vector<std::vector<std::int64_t>> count{m_count}, where{m_where};
    ranks.sum(count);
    ranks.max(where);
    for (const Fault fault : {not_a_number, negative, out_of_range}) {
      if (count[0][fault] == 0) continue;
      std::ostringstream text;
      text << what << ": expected " << expected(fault, info) << " at " << count[0][fault]
           << " points, one of them at x = "
           << grid.x(static_cast<int>(where[0][fault] % grid.Mx()))
           << " m, y = " << grid.y(static_cast<int>(where[0][fault] / grid.Mx())) << " m";
      throw Error(text.str());
    }
  }

private:
  std::vector<std::int64_t> m_count = std::vector<std::int64_t>(n_faults, 0),
                            m_where = std::vector<std::int64_t>(n_faults, -1);
};

/// The value at (j, i) from the `values` around it, in the order of the block; NaN if none is
/// valid. `ice`: thickness at these points if info.of_ice. `fault` is set if one is invalid.
inline double interpolate(const FieldInfo& info, const FileBlock& block, int j, int i,
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

/// Replaces NaN in owned cells by the mean of values up to `largest` (0 if none). One reduction.
inline void fill_with_mean(MpiRanks& ranks, const SharedArray2<double>& field, double largest) {
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

/// The value of a column at a height (m): linear between the heights z, constant above the highest.
inline double at_height(const std::vector<double>& column, const std::vector<double>& z,
                        double height) {
  height = std::min(height, z.back());
  const auto above =
      static_cast<std::size_t>(std::lower_bound(z.begin(), z.end(), height) - z.begin());
  const double weight =
      z[above] == height ? 1.0 : (height - z[above - 1]) / (z[above] - z[above - 1]);
  return weight == 1.0 ? column[above]
                       : (1.0 - weight) * column[above - 1] + weight * column[above];
}

} // namespace nunatak
