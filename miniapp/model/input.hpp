// Reads the initial state and the forcing from a NetCDF file, every rank its own block.
//
// The file has coordinates x and y (equally spaced, in any unit of length), variables of shape (y,
// x) or (time, y, x), and `temp` of shape (..., y, x, z). The last record is read; if a variable of
// climate or ocean has another number of records than thk, their mean is used.
//
// On another grid fields are interpolated bilinearly, basins by the nearest point. The ice extent
// is that of the nearest point, and thickness is averaged over icy points only, so that margins are
// not thinned. On the file's own grid values are copied bit for bit.
#pragma once

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/read/reader.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/step/state.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/printed.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/variables.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/log.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/output_schema.hpp"
#include "miniapp/model/timers.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
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
  explicit FieldInfo(const VariableInfo& v)
      : variable(v.name), units(v.internal_units), min(v.input->min), max(v.input->max),
        of_ids(v.kind == Kind::integers), of_ice(variable == "hardav"),
        has_mean(!of_ids && (v.role == Role::forcing || v.role == Role::ocean)) {
    if (variable == "thk") method = Interpolation::thickness;
    if (of_ids) method = Interpolation::nearest;
  }
  std::string variable, units; // "": not converted
  double min, max;             // in these units
  Interpolation method = Interpolation::bilinear;
  bool of_ids;         // integers; 0 means none
  bool of_ice;         // undefined without ice: there the mean over ice is used
  bool has_mean;       // has other records than thk: their mean is used
  bool is_used = true; // if false, a field with missing values is ignored
};

/// The position of a point between two file points: index of the lower one, weight of the upper.
struct BetweenPoints {
  int before;
  double weight;
};

constexpr double on_grid = 1e-6; // spacings; points closer to a file point are that point

inline BetweenPoints place(double coordinate, const Axis& axis) {
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
    const auto cover = [&](std::vector<BetweenPoints>& places, const Axis& axis, bool flip) {
      const int first = places.front().before, points = places.back().before + 2 - first;
      for (BetweenPoints& p : places) p.before -= first;
      start.push_back(static_cast<std::size_t>(flip ? axis.points - first - points : first));
      count.push_back(static_cast<std::size_t>(points));
    };
    cover(y, axis_y, flip_y);
    cover(x, axis_x, flip_x);
  }

  /// f(position in the block, weight) for the file points around the view indices (j, i).
  template <class F> void for_each_corner(int j, int i, const F& f) const {
    const BetweenPoints &py = y[static_cast<std::size_t>(j - 1)],
                        &px = x[static_cast<std::size_t>(i - 1)];
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
  std::vector<BetweenPoints> x, y;
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
  struct Numbers {
    FixedSum sum;
    std::int64_t n = 0;
  } mine;
  const Patch p = ranks.patch();
  for_each_owned(p, [&](int j, int i) {
    if (std::isnan(field(j, i))) return;
    mine.sum.add(field(j, i) / largest);
    mine.n += 1;
  });
  const auto all = sum_over_ranks<Numbers>(ranks, {mine});
  const double mean = all.n > 0 ? largest * all.sum.value() / static_cast<double>(all.n) : 0.0;
  for_each_owned(p, [&](int j, int i) {
    if (std::isnan(field(j, i))) field(j, i) = mean;
  });
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

inline bool is_speed(const std::string& units) {
  try {
    unit_conversion(units, "m s-1", "units");
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The mapping of x in "name" or (CF-1.7) "name: x y other: lat lon"; the default is "mapping".
inline std::string mapping_of_x(const std::string& grid_mapping) {
  if (grid_mapping.find(':') == std::string::npos)
    return grid_mapping.empty() ? "mapping" : grid_mapping;
  std::istringstream words(grid_mapping);
  std::string name = "mapping";
  for (std::string word; words >> word && word != "x";) {
    if (word.back() == ':') name = word.substr(0, word.size() - 1);
  }
  return name;
}

class Input {
public:
  /// Collective. Throws Error if the file cannot be read; lacks thk, topg, a coordinate or a
  /// variable of its model_state_variables; or if x or y is not regular.
  Input(const std::string& path, MPI_Comm comm, const Log& log, io::ReadOptions read_options)
      : m_reader(path, comm, std::move(read_options)), m_comm(comm), m_log(log) {
    m_x = read_axis(m_reader, "x", m_flip_x);
    m_y = read_axis(m_reader, "y", m_flip_y);
    if (const auto spacing = m_reader.numbers("", "model_grid_spacing");
        spacing && spacing->size() == 2) {
      // the exact spacing of the run; coordinates give it only to rounding
      for (const auto& [axis, value] :
           {std::pair{&m_x, (*spacing)[0]}, std::pair{&m_y, (*spacing)[1]}})
        if (std::fabs(value - axis->spacing) <= 1e-12 * axis->spacing) axis->spacing = value;
    }
    for (const char* required : {"thk", "topg"}) {
      if (!gives(required))
        throw Error(path + ": variable '" + required + "' is missing (thk and topg are required)");
    }
    if (const std::size_t records = records_of("thk"); records > 1)
      m_log.line("input: " + path + ": the last of " + std::to_string(records) +
                 " records is read");
    std::istringstream state(m_reader.text("", "model_state_variables").value_or(""));
    for (std::string name; state >> name;) {
      if (!m_reader.has(name))
        throw Error(path + ": variable '" + name +
                    "' is missing (expected, as the attribute model_state_variables names it)");
    }
    m_time = find_time();
  }

  /// Which ranks read, and the cost so far. Collective.
  nlohmann::json report() const {
    const io::ReadSummary s = io::summarize(m_comm, m_reader.statistics());
    const auto seconds = min_mean_max;
    return {{"file", m_reader.path()},       {"read", io::word_of(m_reader.by())},
            {"open", seconds(s.open)},       {"values", seconds(s.read)},
            {"scatter", seconds(s.scatter)}, {"bytes", s.bytes},
            {"operations", s.operations},    {"sent_bytes", s.sent_bytes},
            {"opening_ranks", s.openers}};
  }

  const Axis& x() const { return m_x; }
  const Axis& y() const { return m_y; }
  /// nullopt (with a log message) without a complete polar stereographic mapping.
  std::optional<PolarStereographic> projection() const {
    const std::string named = m_reader.text("thk", "grid_mapping")
                                  .value_or(m_reader.text("topg", "grid_mapping").value_or(""));
    const std::string mapping = mapping_of_x(named);
    const auto no_projection = [&](const std::string& why) -> std::optional<PolarStereographic> {
      m_log.line("input: " + m_reader.path() + ": grid mapping '" + mapping + "' " + why +
                 ": no lat and lon in the output");
      return std::nullopt;
    };
    if (!m_reader.has(mapping))
      return named.empty() ? std::nullopt : no_projection("is not a variable of the file");
    if (m_reader.text(mapping, "grid_mapping_name").value_or("") != "polar_stereographic")
      return no_projection("is not polar_stereographic");
    const auto number = [&](const std::string& attribute) {
      const auto found = m_reader.number(mapping, attribute);
      if (found && !std::isfinite(*found)) {
        throw Error(m_reader.path() + ": attribute '" + mapping + ":" + attribute +
                    "': expected a finite number, found " + std::to_string(*found));
      }
      return found;
    };
    PolarStereographic p;
    std::string missing;
    for (const auto& [attribute, value] :
         {std::pair{"latitude_of_projection_origin", &p.latitude_of_projection_origin},
          {"standard_parallel", &p.standard_parallel},
          {"straight_vertical_longitude_from_pole", &p.straight_vertical_longitude_from_pole}}) {
      const auto found = number(attribute);
      if (!found) missing += std::string(" ") + attribute;
      *value = found.value_or(*value);
    }
    for (const auto& [axis, attribute, value] :
         {std::tuple{"x", "false_easting", &p.false_easting},
          {"y", "false_northing", &p.false_northing}}) { // in the coordinate's unit
      const std::string units = m_reader.text(axis, "units").value_or("m");
      *value = unit_conversion(units, "m", axis)(number(attribute).value_or(0.0));
    }
    const auto a = number("semi_major_axis"), b = number("semi_minor_axis"),
               radius = number("earth_radius"), flattening = number("inverse_flattening");
    if (a || radius) p.semi_major_axis = a ? *a : *radius;
    if (flattening) {
      p.inverse_flattening = *flattening;
    } else if (b) {
      p.inverse_flattening =
          *b == p.semi_major_axis ? 0.0 : p.semi_major_axis / (p.semi_major_axis - *b);
    } else if (radius) {
      p.inverse_flattening = 0.0;
    } else if (p.semi_major_axis != PolarStereographic().semi_major_axis) {
      missing += " inverse_flattening";
    }
    const bool is_ellipsoid =
        p.semi_major_axis > 0.0 && (p.inverse_flattening == 0.0 || p.inverse_flattening > 1.0);
    if (missing.empty() && is_ellipsoid) return p;
    return no_projection("lacks" + (missing.empty() ? " an ellipsoid" : missing));
  }

  /// Levels and time of a file that nunatak wrote; empty otherwise.
  std::vector<double> levels() const {
    if (!has_temperature()) return {};
    const std::string what = m_reader.path() + ": coordinate 'z' of temp";
    if (!m_reader.has("z")) throw Error(what + " is missing");
    check_own_dimension(m_reader, "z", what);
    std::vector<double> z = m_reader.read_all("z");
    const auto to_metres = unit_conversion(m_reader.text("z", "units").value_or("m"), "m", what);
    for (double& height : z) height = to_metres(height);
    bool upwards = z.size() >= 2 && z[0] == 0.0;
    for (std::size_t k = 1; k < z.size(); ++k)
      upwards = upwards && z[k] > z[k - 1] && std::isfinite(z[k]);
    if (!upwards)
      throw Error(what +
                  ": expected at least 2 heights above the bed, from 0 upwards, found other ones");
    return z;
  }

  std::optional<double> time() const { return m_time; } ///< s
  /// "records digest" of a series ("spatial", ...) of the writing run; "": none, or version 1.0.0.
  std::string series(const std::string& name) const {
    return m_reader.text("", "model_" + name + "_series").value_or("");
  }
  /// The writing run's choice for an option with "auto"; nullopt for other files.
  std::optional<std::string> choice(const std::string& option) const {
    return m_reader.text("", "option_" + option);
  }

  /// Reads the fields that the file gives and `options` use; the others keep their values. Returns
  /// the names of those that were read. Collective. Throws Error naming file and variable: wrong
  /// dimensions or units, NaN, negative thickness.
  std::set<std::string> read(const Options& options, const Grid& grid, MpiRanks& ranks,
                             const FieldList& fields) const {
    std::set<std::string> found;
    const bool slides = options.stress != "sia";
    const Array2<double> numbers = make_array<double>("basins", ranks.patch());
    for (const Field& field : fields) {
      const VariableInfo& variable = variable_info(field.name);
      FieldInfo info(variable);
      if (!gives(info.variable)) continue;
      const bool is_guess = info.variable == "u_ssa" || info.variable == "v_ssa";
      info.is_used = is_guess || info.variable == "tauc" ? slides
                     : variable.role == Role::ocean      ? options.ocean != "none"
                                                         : true;
      const bool in_metres = info.variable == "climatic_mass_balance" &&
                             is_speed(m_reader.text(info.variable, "units").value_or(""));
      if (in_metres) {
        info.units = "m s-1"; // of ice
        info.min /= rho_ice;
        info.max /= rho_ice;
      }
      const auto* const ids = std::get_if<Array2<int>>(&field.array);
      const Array2<double> values = ids != nullptr || (is_guess && !slides)
                                        ? numbers // without sliding it stays 0
                                        : std::get<Array2<double>>(field.array);
      Kokkos::fence("loops of the fields before"); // the host fills the next one
      if (!read_field(info, grid, ranks, values)) continue;
      found.insert(info.variable);
      if (in_metres)
        for_each_cell(
            "metres of ice to kg m-2", ranks.patch(),
            KOKKOS_LAMBDA(int j, int i) { values(j, i) *= rho_ice; });
      if (ids == nullptr) continue;
      const auto target = *ids;
      for_each_cell(
          "integers", ranks.patch(),
          KOKKOS_LAMBDA(int j, int i) { target(j, i) = static_cast<int>(values(j, i)); });
    }
    return found;
  }

  void read_thickness(const Grid& grid, MpiRanks& ranks, const Array2<double>& thk) const {
    read_field(FieldInfo(variable_info("thk")), grid, ranks, thk);
  }

  bool has_temperature() const { return gives("temp"); }
  /// Linear in z onto the levels of the grid. Collective.
  void read_temperature(const Grid& grid, MpiRanks& ranks, Array3<double>& temp) const {
    check_dimensions("temp", true, false);
    const UnitConversion convert = conversion("temp", "K");
    const std::vector<double> z = levels();
    const std::size_t nz = z.size();
    const Patch patch = ranks.patch();
    const FileBlock points = block(grid, patch);
    std::vector<std::size_t> start = points.start, count = points.count;
    const bool first = levels_first("temp");
    start.insert(first ? start.begin() : start.end(), 0);
    count.insert(first ? count.begin() : count.end(), nz);
    const std::vector<double> values = m_reader.read_record("temp", start, count);
    const std::size_t n_points = points.count[0] * points.count[1];

    std::vector<std::vector<std::int64_t>> bad{{0}};
    std::vector<double> column(nz);
    const auto to = on_host(temp);
    for_each_owned(patch, [&](int j, int i) {
      std::fill(column.begin(), column.end(), 0.0);
      points.for_each_corner(j, i, [&](std::size_t n, double weight) {
        for (std::size_t k = 0; k < nz; ++k)
          column[k] += weight * convert(values[first ? k * n_points + n : n * nz + k]);
      });
      for (int k = 0; k < grid.Mz(); ++k) {
        const double T = at_height(column, z, grid.z[static_cast<std::size_t>(k)]);
        to(j, i, k) = T;
        if (!(T >= 150.0 && T <= 330.0)) bad[0][0] += 1;
      }
    });
    to_loops(temp, to);
    ranks.sum(bad);
    if (bad[0][0] > 0) {
      throw Error(m_reader.path() +
                  ": variable 'temp': expected values from 150 to 330 K everywhere, found other or "
                  "missing " +
                  "values at " + std::to_string(bad[0][0]) + " points");
    }
  }

  /// True if the file has the variable and it is not a diagnostic of the run that wrote it.
  bool gives(const std::string& variable) const {
    const auto state = m_reader.text("", "model_state_variables");
    return m_reader.has(variable) &&
           (!state || (" " + *state + " ").find(" " + variable + " ") != std::string::npos);
  }

private:
  /// The time of the record that is read, and of the attribute model_time_seconds, which is exact.
  /// They differ where snapshots were joined: attributes are those of the first file. Collective.
  std::optional<double> find_time() const {
    const auto time = m_reader.number("", "model_time_seconds");
    const std::string what = m_reader.path() + ": attribute 'model_time_seconds': expected ";
    constexpr double longest = 1e15; // s, 30 million years: above it rounding errors exceed 1 s
    if (time && !(std::fabs(*time) <= longest))
      throw Error(what + printed("a time of at most %g s, found %g", longest, *time));
    const bool has_record = time && m_reader.has("time") &&
                            m_reader.text("time", "units").value_or("") == time_units &&
                            m_reader.text("time", "calendar").value_or("") == time_calendar;
    const std::vector<double> days = has_record ? m_reader.read_all("time") : std::vector<double>{};
    if (days.empty() || std::fabs(days.back() - calendar_days(*time)) < same_time) return time;
    const std::string of_record = printed("year %.10g", days.back() / 365.0),
                      of_file = printed("year %.10g", *time / seconds_per_year);
    if (days.size() == 1 || !(std::fabs(days.back()) <= calendar_days(longest)))
      throw Error(what + "the " + of_record + " of variable 'time', found " + of_file);
    m_log.line("input: " + m_reader.path() + ": the run starts in " + of_record +
               ", that of the last record (attribute model_time_seconds: " + of_file + ")");
    return seconds_of(days.back());
  }

  FileBlock block(const Grid& grid, const Patch& patch) const {
    return {m_x, m_y, m_flip_x, m_flip_y, grid, patch};
  }

  bool levels_first(const std::string& variable) const {
    const auto axes = m_reader.dimensions(variable);
    return axes.size() > 2 && axes[axes.size() - 3].name == "z";
  }

  void check_dimensions(const std::string& variable, bool columns, bool has_mean) const {
    std::vector<std::string> names = io::names_of(m_reader.dimensions(variable));
    const std::string found = joined(names);
    if (names.size() > 2 && names[0] == "time") names.erase(names.begin());
    std::vector<std::string> expected{"y", "x"};
    if (columns) expected.insert(levels_first(variable) ? expected.begin() : expected.end(), "z");
    const std::string what = m_reader.path() + ": variable '" + variable + "': expected ";
    if (names != expected) {
      throw Error(what + "dimensions " + (columns ? "(y, x, z) or (z, y, x)" : "(y, x)") +
                  " with or without time in front, found (" + found + ")");
    }
    const std::size_t records = records_of(variable), of_ice = records_of("thk");
    if (records > 1 && records != of_ice && !has_mean) {
      throw Error(what + "one record" +
                  (of_ice > 1 ? ", or " + std::to_string(of_ice) + " as thk has" : "") +
                  ", found " + std::to_string(records));
    }
  }

  std::size_t records_of(const std::string& variable) const {
    const auto axes = m_reader.dimensions(variable);
    return axes.size() > 2 && axes[0].name == "time" ? axes[0].length : 1;
  }

  std::vector<double> read_values(const FieldInfo& info, const FileBlock& points) const {
    const std::size_t records = records_of(info.variable);
    if (records <= 1 || records == records_of("thk"))
      return m_reader.read_record(info.variable, points.start, points.count);
    m_log.line("input: " + m_reader.path() + ": variable '" + info.variable +
               "': the mean of its " + std::to_string(records) + " records is taken");
    std::vector<double> sum(points.count[0] * points.count[1], 0.0);
    for (std::size_t record = 0; record < records; ++record) {
      const auto values = m_reader.read_record(info.variable, points.start, points.count, record);
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += values[n];
    }
    for (double& v : sum) v /= static_cast<double>(records);
    return sum;
  }
  /// Throws Error if the least of the values as stored is -9999, which marks missing values in many
  /// files and would be a bed 9999 m deep. Deeper ones are the deep sea. One reduction.
  void refuse_marker(const FieldInfo& info, MpiRanks& ranks,
                     const std::vector<double>& values) const {
    constexpr double marker = -9999.0;
    if (info.min > marker) return; // refused as out of range
    const auto count = [&](auto is_one) {
      return std::count_if(values.begin(), values.end(), is_one);
    };
    std::vector<std::vector<std::int64_t>> all{
        {count([](double v) { return v == marker; }), count([](double v) { return v < marker; })}};
    ranks.sum(all);
    if (all[0][0] == 0 || all[0][1] > 0) return;
    throw Error(m_reader.path() + ": variable '" + info.variable +
                "': its smallest value, -9999, looks like a missing value that is not declared "
                "(ncatted -a _FillValue," +
                info.variable + ",o," + m_reader.type(info.variable)[0] + ",-9999 FILE)");
  }

  /// The conversion from the units of the file.
  UnitConversion conversion(const std::string& variable, const std::string& to) const {
    if (to.empty()) return [](double v) { return v; };
    const std::string what = m_reader.path() + ": variable '" + variable + "'";
    const auto units = m_reader.text(variable, "units");
    if (!units) m_log.line("input: " + what + " has no units: taken to be in " + to);
    return unit_conversion(units.value_or(to), to, what);
  }
  /// Returns false if the field has missing values and the run does not use it.
  bool read_field(const FieldInfo& info, const Grid& grid, MpiRanks& ranks,
                  const Array2<double>& to) const {
    check_dimensions(info.variable, false, info.has_mean);
    const UnitConversion convert = conversion(info.variable, info.units);
    const Patch patch = ranks.patch();
    const FileBlock points = block(grid, patch);
    std::vector<double> values = read_values(info, points), ice;
    refuse_marker(info, ranks, values);
    if (!info.is_used) {
      const auto missing =
          std::count_if(values.begin(), values.end(), [](double v) { return v != v; });
      std::vector<std::vector<std::int64_t>> all{{missing}};
      ranks.sum(all);
      if (all[0][0] > 0) {
        m_log.line("input: " + m_reader.path() + ": variable '" + info.variable +
                   "' has missing values, and this run does not use it: left out");
        return false;
      }
    }
    if (info.of_ids) {
      const io::Packing packing = m_reader.packing(info.variable);
      for (double& v : values) v = packing.id(v);
    }
    for (double& v : values) v = convert(v);
    if (info.of_ice) ice = m_reader.read_record("thk", points.start, points.count);

    Faults faults;
    const auto field = on_host(to);
    for_each_owned(patch, [&](int j, int i) {
      Fault fault = n_faults;
      field(j, i) = interpolate(info, points, j, i, values, ice, fault);
      faults.add(fault, patch.cell(j, i));
    });
    if (info.of_ice) fill_with_mean(ranks, field, info.max);
    to_loops(to, field);
    faults.check(ranks, grid, info, m_reader.path() + ": variable '" + info.variable + "'");
    return true;
  }

  io::Reader m_reader;
  MPI_Comm m_comm;
  const Log& m_log;
  Axis m_x, m_y;
  bool m_flip_x = false, m_flip_y = false; // decreasing coordinates
  std::optional<double> m_time;
};

} // namespace nunatak
