#include "miniapp/input.hpp"

#include "kernels/constants.hpp"
#include "kernels/fixed_sum.hpp"
#include "kernels/geometry.hpp"
#include "miniapp/error.hpp"
#include "miniapp/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace nunatak {

namespace {

constexpr double on_grid = 1e-6; // a point this close to a point of the file (in spacings) is that point

Axis read_axis(const io::Reader& in, const std::string& name, bool& flip) {
  const std::string what = in.path() + ": coordinate '" + name + "'";
  if (!in.has(name)) throw Error(what + " is missing (expected a variable " + name + "(" + name + "))");
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
  return axis;
}

/// Where a point lies between the points of the file: index of the point before, and the weight of the one after.
struct Place {
  int before;
  double weight;
};

Place place(double coordinate, const Axis& axis) {
  double f = (coordinate - axis.first) / axis.spacing;
  f = std::min(std::max(f, 0.0), static_cast<double>(axis.points - 1));
  const double nearest = std::round(f);
  if (std::fabs(f - nearest) < on_grid) f = nearest;
  const int before = std::min(static_cast<int>(f), axis.points - 2);
  return {before, f - before};
}

} // namespace

// Rows j0..j0+nj and columns i0..i0+ni of the file (in increasing coordinates), and the place of every point of a patch in it.
struct Input::Source {
  int i0, j0, ni, nj;
  std::vector<Place> x, y; // per owned column and row, relative to i0 and j0
};

Input::Input(const std::string& path, MPI_Comm comm, const Log& log) : m_reader(path, comm), m_log(log) {
  m_x = read_axis(m_reader, "x", m_flip_x);
  m_y = read_axis(m_reader, "y", m_flip_y);
  for (const char* required : {"thk", "topg"}) {
    if (!m_reader.has(required)) throw Error(path + ": variable '" + required + "' is missing (thk and topg are required)");
  }
}

std::optional<PolarStereographic> Input::projection() const {
  const auto name = m_reader.text("thk", "grid_mapping");
  const std::string mapping = name.value_or("mapping");
  if (!m_reader.has(mapping)) return std::nullopt;
  if (m_reader.text(mapping, "grid_mapping_name").value_or("") != "polar_stereographic") {
    m_log.line("input: " + m_reader.path() + ": grid mapping '" + mapping +
               "' is not polar_stereographic: no lat and lon in the output");
    return std::nullopt;
  }
  PolarStereographic p;
  const auto take = [&](double& value, const char* attribute) { value = m_reader.number(mapping, attribute).value_or(value); };
  take(p.latitude_of_projection_origin, "latitude_of_projection_origin");
  take(p.standard_parallel, "standard_parallel");
  take(p.straight_vertical_longitude_from_pole, "straight_vertical_longitude_from_pole");
  take(p.false_easting, "false_easting");
  take(p.false_northing, "false_northing");
  take(p.semi_major_axis, "semi_major_axis");
  take(p.inverse_flattening, "inverse_flattening");
  return p;
}

bool Input::gives(const std::string& variable) const {
  const auto state = m_reader.text("", "model_state_variables");
  return m_reader.has(variable) && (!state || (" " + *state + " ").find(" " + variable + " ") != std::string::npos);
}

std::vector<double> Input::levels() const {
  return has_temperature() && m_reader.has("z") ? m_reader.read_all("z") : std::vector<double>{};
}

double Input::time() const { return m_reader.number("", "model_time_seconds").value_or(0.0); }

Input::Source Input::source(const Grid& grid, const Patch& patch) const {
  Source s{};
  for (int i = 0; i < patch.xm; ++i) s.x.push_back(place(grid.x(patch.xs + i), m_x));
  for (int j = 0; j < patch.ym; ++j) s.y.push_back(place(grid.y(patch.ys + j), m_y));
  s.i0 = s.x.front().before;
  s.j0 = s.y.front().before;
  s.ni = s.x.back().before + 2 - s.i0;
  s.nj = s.y.back().before + 2 - s.j0;
  for (Place& p : s.x) p.before -= s.i0;
  for (Place& p : s.y) p.before -= s.j0;
  return s;
}

void Input::check_dimensions(const std::string& variable, bool columns) const {
  std::string found;
  std::vector<std::string> names;
  for (const auto& axis : m_reader.dimensions(variable)) {
    names.push_back(axis.name);
    found += (found.empty() ? "" : ", ") + axis.name;
  }
  if (names.size() > 2 && (names[0] == "time" || names[0] == "t")) names.erase(names.begin());
  const std::vector<std::string> expected =
      columns ? std::vector<std::string>{"y", "x", "z"} : std::vector<std::string>{"y", "x"};
  if (names != expected) {
    throw Error(m_reader.path() + ": variable '" + variable + "': expected dimensions " + (columns ? "(y, x, z)" : "(y, x)") +
                " with or without time in front, found (" + found + ")");
  }
}

void Input::read_field(const std::string& variable, const std::string& units, Method method, const Grid& grid, MpiRanks& ranks,
                       const Array2<double>& field) const {
  const std::string what = m_reader.path() + ": variable '" + variable + "'";
  check_dimensions(variable, false);
  UnitConversion convert = [](double v) { return v; };
  if (!units.empty()) {
    const auto found = m_reader.text(variable, "units");
    if (!found) m_log.line("input: " + what + " has no units: taken to be in " + units);
    convert = unit_conversion(found.value_or(units), units, what);
  }

  const Patch patch = ranks.patch();
  const Source s = source(grid, patch);
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  const int fi0 = m_flip_x ? m_x.points - s.i0 - s.ni : s.i0, fj0 = m_flip_y ? m_y.points - s.j0 - s.nj : s.j0;
  const std::vector<double> values = m_reader.read_record(variable, {size(fj0), size(fi0)}, {size(s.nj), size(s.ni)});
  const auto value = [&](int j, int i) {
    return convert(values[size(m_flip_y ? s.nj - 1 - j : j) * size(s.ni) + size(m_flip_x ? s.ni - 1 - i : i)]);
  };

  // NaN (first place in raster order), negative thickness: found anywhere, reported everywhere
  constexpr std::int64_t none = -1;
  std::vector<std::vector<std::int64_t>> bad{{0, none, 0, none}};
  const auto note = [&](std::size_t kind, int j, int i) {
    bad[0][kind] += 1;
    bad[0][kind + 1] = std::max(bad[0][kind + 1], patch.cell(j, i));
  };
  for (int j = 1; j <= patch.ym; ++j) {
    for (int i = 1; i <= patch.xm; ++i) {
      const Place y = s.y[size(j - 1)], x = s.x[size(i - 1)];
      double sum = 0.0, weights = 0.0, nearest = 0.0, largest = -1.0;
      for (int corner = 0; corner < 4; ++corner) {
        const int dj = corner / 2, di = corner % 2;
        const double w = (dj == 1 ? y.weight : 1.0 - y.weight) * (di == 1 ? x.weight : 1.0 - x.weight);
        if (w == 0.0) continue;
        const double v = value(y.before + dj, x.before + di);
        if (w > largest) largest = w, nearest = v;
        if (method == Method::thickness && v < 0.0) note(2, j, i);
        if (method == Method::thickness && v == 0.0) continue;
        sum += w * v, weights += w;
      }
      const double v = method == Method::nearest || largest == 1.0                         ? nearest
                       : method == Method::thickness && (nearest == 0.0 || weights == 0.0) ? nearest
                                                                                           : sum / weights;
      if (!std::isfinite(v)) note(0, j, i);
      field(j, i) = v;
    }
  }
  std::vector<std::vector<std::int64_t>> counts{{bad[0][0], bad[0][2]}};
  ranks.sum(counts);
  ranks.max(bad);
  const auto place_text = [&](std::int64_t cell) {
    std::ostringstream text;
    text << "one of them at x = " << grid.x(static_cast<int>(cell % grid.Mx()))
         << " m, y = " << grid.y(static_cast<int>(cell / grid.Mx())) << " m";
    return text.str();
  };
  if (counts[0][0] > 0) {
    throw Error(what + ": expected numbers everywhere, found NaN or missing values at " + std::to_string(counts[0][0]) +
                " points, " + place_text(bad[0][1]));
  }
  if (counts[0][1] > 0) {
    throw Error(what + ": expected thickness of at least 0, found negative values at " + std::to_string(counts[0][1]) +
                " points, " + place_text(bad[0][3]));
  }
}

void Input::read(const Grid& grid, MpiRanks& ranks, State& state, Forcing& forcing) const {
  const auto read_double = [&](const char* name, const char* units, Method method, const Array2<double>& field) {
    read_field(name, units, method, grid, ranks, field);
  };
  read_double("thk", "m", Method::thickness, state.thk);
  read_double("topg", "m", Method::bilinear, state.topg);
  state.time = time();
  for (auto* velocity : {&state.u_ssa, &state.v_ssa}) {
    if (gives(velocity->label())) read_double(velocity->label().c_str(), "m s-1", Method::bilinear, *velocity);
  }

  const auto optional = [&](const char* name, const char* units, const Array2<double>& field) {
    if (!gives(name)) return false;
    read_double(name, units, Method::bilinear, field);
    return true;
  };
  if (gives("climatic_mass_balance") && m_reader.text("climatic_mass_balance", "units").value_or("").rfind("m ", 0) == 0) {
    read_double("climatic_mass_balance", "m s-1", Method::bilinear, forcing.climatic_mass_balance); // metres of ice
    const auto smb = forcing.climatic_mass_balance;
    for_each_cell(
        "metres of ice to kg m-2", ranks.patch(), KOKKOS_LAMBDA(int j, int i) { smb(j, i) *= rho_ice; });
  } else {
    optional("climatic_mass_balance", "kg m-2 s-1", forcing.climatic_mass_balance);
  }
  optional("ice_surface_temp", "K", forcing.ice_surface_temp);
  optional("bheatflx", "W m-2", forcing.bheatflx);
  forcing.has_tauc = optional("tauc", "Pa", forcing.tauc);
  forcing.has_hardav = optional("hardav", "", forcing.hardav); // in Pa s^(1/3), which UDUNITS cannot parse
  optional("theta_ocean", "K", forcing.theta_ocean);
  optional("salinity_ocean", "g/kg", forcing.salinity_ocean);
  if (gives("basins")) {
    const Array2<double> numbers = make_array<double>("basins", ranks.patch());
    read_double("basins", "", Method::nearest, numbers);
    const auto target = forcing.basins;
    for_each_cell(
        "basins", ranks.patch(), KOKKOS_LAMBDA(int j, int i) { target(j, i) = static_cast<int>(numbers(j, i)); });
  }
  if (gives("usurf")) check_surface(grid, ranks, state);
}

/// The model finds the surface by flotation; tell how far that is from the file's.
void Input::check_surface(const Grid& grid, MpiRanks& ranks, const State& state) const {
  const Array2<double> given = make_array<double>("usurf", ranks.patch());
  read_field("usurf", "m", Method::bilinear, grid, ranks, given);
  FixedSum difference;
  std::int64_t cells = 0;
  for (int j = 1; j <= ranks.patch().ym; ++j) {
    for (int i = 1; i <= ranks.patch().xm; ++i) {
      if (state.thk(j, i) <= ice_free_thickness) continue;
      difference.add(std::fabs(given(j, i) - surface(state.topg(j, i), state.thk(j, i))));
      cells += 1;
    }
  }
  std::vector<std::vector<std::int64_t>> sums{{difference.hi, difference.lo, cells}};
  ranks.sum(sums);
  if (sums[0][2] == 0) return;
  difference.hi = sums[0][0], difference.lo = sums[0][1];
  char text[200];
  std::snprintf(text, sizeof text,
                "input: usurf follows from thk and topg by flotation; the file's differs from it by %.1f m on average (with ice)",
                difference.value() / static_cast<double>(sums[0][2]));
  m_log.line(text);
}

void Input::read_temperature(const Grid& grid, MpiRanks& ranks, Array3<double>& temp) const {
  const std::string what = m_reader.path() + ": variable 'temp'";
  check_dimensions("temp", true);
  const auto convert = unit_conversion(m_reader.text("temp", "units").value_or("K"), "K", what);
  const std::vector<double> z = levels();
  if (z.size() < 2)
    throw Error(m_reader.path() + ": coordinate 'z' of temp: expected at least 2 levels, found " + std::to_string(z.size()));
  const Patch patch = ranks.patch();
  const Source s = source(grid, patch);
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  const std::size_t nz = z.size();
  const int fi0 = m_flip_x ? m_x.points - s.i0 - s.ni : s.i0, fj0 = m_flip_y ? m_y.points - s.j0 - s.nj : s.j0;
  const std::vector<double> values = m_reader.read_record("temp", {size(fj0), size(fi0), 0}, {size(s.nj), size(s.ni), nz});

  std::vector<std::vector<std::int64_t>> bad{{0}};
  std::vector<double> column(nz);
  for (int j = 1; j <= patch.ym; ++j) {
    for (int i = 1; i <= patch.xm; ++i) {
      const Place y = s.y[size(j - 1)], x = s.x[size(i - 1)];
      std::fill(column.begin(), column.end(), 0.0);
      for (int corner = 0; corner < 4; ++corner) {
        const int dj = corner / 2, di = corner % 2;
        const double w = (dj == 1 ? y.weight : 1.0 - y.weight) * (di == 1 ? x.weight : 1.0 - x.weight);
        if (w == 0.0) continue;
        const int fj = m_flip_y ? s.nj - 1 - y.before - dj : y.before + dj,
                  fi = m_flip_x ? s.ni - 1 - x.before - di : x.before + di;
        const double* from = &values[(size(fj) * size(s.ni) + size(fi)) * nz];
        for (std::size_t k = 0; k < nz; ++k) column[k] += w * convert(from[k]);
      }
      for (int k = 0; k < grid.Mz(); ++k) {
        const double height = std::min(grid.z[size(k)], z.back());
        const std::size_t above =
            std::min(nz - 1, size(static_cast<int>(std::lower_bound(z.begin(), z.end(), height) - z.begin())));
        const double w = z[above] == height ? 1.0 : (height - z[above - 1]) / (z[above] - z[above - 1]);
        const double T = w == 1.0 ? column[above] : (1.0 - w) * column[above - 1] + w * column[above];
        temp(j, i, k) = T;
        if (!std::isfinite(T)) bad[0][0] += 1;
      }
    }
  }
  ranks.sum(bad);
  if (bad[0][0] > 0)
    throw Error(what + ": expected numbers everywhere, found NaN or missing values at " + std::to_string(bad[0][0]) + " points");
}

} // namespace nunatak
