#include "miniapp/tools/check/pico_file.hpp"

#include "kernels/ice/geometry.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/world_comm.hpp"

#include <cmath>
#include <optional>
#include <sstream>

namespace nunatak::tools {

namespace {

std::string place(const io::Reader& file, const std::string& variable) {
  return "file '" + file.path() + "', variable '" + variable + "'";
}

/// Reads an equally spaced coordinate, m.
std::vector<double> coordinate(const io::Reader& file, const std::string& name) {
  if (!file.has(name))
    throw Error("file '" + file.path() + "': expected a variable '" + name + "' (m), found none");
  std::vector<double> values = file.read_all(name);
  const std::string what = place(file, name);
  if (file.dimensions(name).size() != 1 || values.size() < 2)
    throw Error(what + ": expected two or more values of one dimension");
  const UnitConversion metres = unit_conversion(file.text(name, "units").value_or("m"), "m", what);
  for (double& v : values) v = metres(v);
  const double step = (values.back() - values.front()) / static_cast<double>(values.size() - 1);
  for (std::size_t n = 1; n < values.size(); ++n) {
    if (!(std::fabs(values[n] - values[n - 1] - step) <= 1e-3 * std::fabs(step)) || step == 0.0)
      throw Error(what + ": expected equal steps, found another one after value " +
                  std::to_string(n - 1));
  }
  return values;
}

template <class T>
Array2<T> array_of(const std::string& name, const Patch& p, const GridValues& values) {
  Array2<T> a = make_array<T>(name, p);
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i)
      a(j, i) = static_cast<T>(values[static_cast<std::size_t>(p.cell(j, i))]);
  }
  return a;
}

io::ReadOptions options() {
  io::ReadOptions options;
  options.missing = io::Missing::not_zero;
  return options;
}

} // namespace

PicoFile::PicoFile(const std::string& path, const std::string& forcing)
    : m_file(path, world_comm(), options()) {
  x = coordinate(m_file, "x");
  y = coordinate(m_file, "y");
  dx = std::fabs(x.back() - x.front()) / static_cast<double>(x.size() - 1);
  dy = std::fabs(y.back() - y.front()) / static_cast<double>(y.size() - 1);
  if (!forcing.empty()) m_forcing = std::make_unique<io::Reader>(forcing, world_comm(), options());
}

const io::Reader& PicoFile::holder(const std::string& variable) const {
  const bool of_ocean =
      variable == "basins" || variable == "theta_ocean" || variable == "salinity_ocean";
  return m_forcing && of_ocean && m_forcing->has(variable) ? *m_forcing : m_file;
}

GridValues PicoFile::read(const std::string& variable, const std::string& unit,
                          const std::string& needed_for) const {
  const io::Reader& file = holder(variable);
  if (!file.has(variable))
    throw Error("file '" + path() + "': expected a variable '" + variable + "' (needed for " +
                needed_for + "), found none");
  const std::string what = place(file, variable);
  const auto axes = file.dimensions(variable);
  const bool records = axes.size() == 3 && (axes[0].unlimited || axes[0].name == "time");
  if (!(axes.size() == 2 || records) || axes.back().length != x.size() ||
      axes[axes.size() - 2].length != y.size()) {
    throw Error(what + ": expected (y = " + std::to_string(y.size()) +
                ", x = " + std::to_string(x.size()) + "), alone or after time, found (" +
                file.shape(variable) + ")");
  }
  GridValues values = file.read_record(variable, {0, 0}, {y.size(), x.size()});
  const std::string own = file.text(variable, "units").value_or(unit);
  if (unit.empty() || own == unit) return values;
  const UnitConversion convert = unit_conversion(own, unit, what);
  for (double& v : values) v = convert(v);
  return values;
}

std::vector<PicoInput> PicoFile::input(Ranks& ranks, std::int64_t& rounded) const {
  const auto numbers = [&](const std::string& name, const std::string& unit, bool whole,
                           const std::string& needed_for) {
    GridValues values = read(name, unit, needed_for);
    const io::Packing packing = holder(name).packing(name);
    for (double& v : values) {
      v = packing.id(v);
      if (std::fabs(v) < (whole ? 1e9 : HUGE_VAL) && (!whole || v == std::rint(v))) continue;
      std::ostringstream found;
      found << v;
      throw Error(place(holder(name), name) + ": expected " +
                  (whole ? "whole numbers" : "numbers") + " in all cells, found " + found.str());
    }
    return values;
  };
  const bool ocean = ocean_source() == OceanSource::fields;
  const GridValues H = numbers("thk", "m", false, "all of PICO");
  const GridValues b = numbers("topg", "m", false, "pico_contshelf_mask");
  GridValues basins = numbers("basins", "", false, "pico_shelf_mask, pico_box_mask and the water");
  rounded = 0;
  for (double& v : basins) {
    rounded += v != std::rint(v) ? 1 : 0;
    v = std::floor(v + 0.5);
  }
  GridValues mask;
  if (has("mask")) {
    mask = numbers("mask", "", true, "all of PICO");
  } else {
    for (std::size_t n = 0; n < H.size(); ++n) mask.push_back(cell_type(b[n], H[n]));
  }
  const GridValues theta = ocean ? read("theta_ocean", "kelvin", "the water") : H;
  const GridValues salt = ocean ? read("salinity_ocean", "g/kg", "the water") : H;
  std::vector<PicoInput> input;
  std::vector<std::vector<Ghosted>> ghosted;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    input.push_back({array_of<double>("thk", p, H), array_of<double>("topg", p, b),
                     array_of<int>("mask", p, mask), array_of<int>("basins", p, basins),
                     array_of<double>("theta_ocean", p, theta),
                     array_of<double>("salinity_ocean", p, salt)});
    ghosted.push_back({input.back().basins});
  }
  ranks.update_ghosts(ghosted);
  return input;
}

OceanSource PicoFile::ocean_source() const {
  const auto found = [&](const std::string& name) { return holder(name).has(name); };
  if (found("theta_ocean") && found("salinity_ocean")) return OceanSource::fields;
  return found("pico_temperature_box0") && found("pico_salinity_box0") ? OceanSource::box0
                                                                       : OceanSource::none;
}

std::pair<std::string, std::string> PicoFile::parameter(const std::string& pism,
                                                        double factor) const {
  const std::string name = "ocean.pico." + pism;
  for (const std::string holder_name : {"pism_overrides", "pism_config", ""}) {
    if (!holder_name.empty() && !has(holder_name)) continue;
    const std::optional<std::string> type = m_file.attribute_type(holder_name, name);
    if (!type) continue;
    std::ostringstream value;
    value.precision(17);
    if (*type == "char" || *type == "string") {
      value << *m_file.text(holder_name, name);
    } else {
      value << factor * *m_file.number(holder_name, name);
    }
    return {value.str(), holder_name.empty() ? "attribute of the file" : holder_name};
  }
  return {};
}

} // namespace nunatak::tools
