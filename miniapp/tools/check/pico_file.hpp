// A file of PISM (or nunatak) with PICO fields: grid, input, parameters and results. Neighbours:
// map_file.hpp (how a variable is read), pico_answer.hpp (recomputes the fields).
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/last_input.hpp"
#include "miniapp/tools/map_file.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace nunatak::tools {

/// The source of the water in front of the shelves.
enum class OceanSource { none, fields, box0 };

class PicoFile {
public:
  /// `forcing`: another file on this grid, whose basins, theta_ocean and salinity_ocean take
  /// precedence. All functions that read are collective and throw Error naming file and variable.
  explicit PicoFile(const std::string& path, const std::string& forcing = "")
      : m_file(path, "file", io::Missing::not_zero) {
    const std::vector<double> x = coordinate("x", dx), y = coordinate("y", dy);
    m_file.grid = {static_cast<int>(x.size()), static_cast<int>(y.size()), x, y};
    if (forcing.empty()) return;
    m_forcing = std::make_unique<MapFile>(forcing, "file", io::Missing::not_zero);
    m_forcing->grid = m_file.grid;
  }

  double dx = 0.0, dy = 0.0;                       ///< m
  const Grid& grid() const { return m_file.grid; } ///< with coordinates

  const std::string& path() const { return m_file.path(); }
  bool has(const std::string& variable) const { return m_file.has(variable); }

  /// Values in `unit` ("": unconverted), NaN where missing; 0 is a value even where _FillValue is
  /// 0, as in PISM.
  GridValues read(const std::string& variable, const std::string& unit) const {
    return holder(variable).read(variable, unit);
  }

  /// PICO's input: thk, topg, mask (or by flotation), basins with ghosts, ocean (or zeros).
  /// `rounded`: the number of cells whose basin is not whole and is rounded, as PISM does.
  std::vector<PicoInput> input(Ranks& ranks, std::int64_t& rounded) const {
    const bool ocean = ocean_source() == OceanSource::fields;
    const GridValues H = m_file.numbers("thk", "m"), b = m_file.numbers("topg", "m");
    const MapFile& of_basins = holder("basins");
    GridValues basins = of_basins.numbers("basins", "");
    const io::Packing packing = of_basins.file().packing("basins");
    rounded = 0;
    for (double& v : basins) {
      v = packing.id(v);
      rounded += v != std::rint(v) ? 1 : 0;
      v = std::floor(v + 0.5);
    }
    of_basins.require("basins", basins, "a number from 0 to " + std::to_string(pico::largest_basin),
                      [](double v) { return v >= 0.0 && v <= pico::largest_basin; });
    std::vector<int> mask;
    if (has("mask")) {
      mask = m_file.ids("mask");
    } else {
      for (std::size_t n = 0; n < H.size(); ++n) mask.push_back(cell_type(b[n], H[n]));
    }
    const GridValues theta = ocean ? read("theta_ocean", "kelvin") : H,
                     salt = ocean ? read("salinity_ocean", "g/kg") : H;
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

  OceanSource ocean_source() const {
    const auto found = [&](const std::string& name) { return holder(name).has(name); };
    if (found("theta_ocean") && found("salinity_ocean")) return OceanSource::fields;
    return found("pico_temperature_box0") && found("pico_salinity_box0") ? OceanSource::box0
                                                                         : OceanSource::none;
  }

  /// Value (numbers times `factor`) and origin of PISM's parameter ocean.pico.<pism>:
  /// pism_overrides, pism_config or an attribute of the file. "" if it is nowhere.
  std::pair<std::string, std::string> parameter(const std::string& pism, double factor) const {
    const std::string name = "ocean.pico." + pism;
    for (const std::string from : {"pism_overrides", "pism_config", ""}) {
      if (!from.empty() && !has(from)) continue;
      const auto type = m_file.file().attribute_type(from, name);
      if (!type) continue;
      std::ostringstream value;
      value.precision(17);
      if (*type == "char" || *type == "string") {
        value << *m_file.file().text(from, name);
      } else {
        value << factor * *m_file.file().number(from, name);
      }
      return {value.str(), from.empty() ? "attribute of the file" : from};
    }
    return {};
  }

private:
  const MapFile& holder(const std::string& variable) const {
    const bool of_ocean =
        variable == "basins" || variable == "theta_ocean" || variable == "salinity_ocean";
    return m_forcing && of_ocean && m_forcing->has(variable) ? *m_forcing : m_file;
  }

  /// Points in equal steps, m.
  std::vector<double> coordinate(const std::string& name, double& step) const {
    const std::vector<double> points = m_file.coordinate(name);
    if (points.size() < 2) m_file.fail(name, "expected a coordinate of two or more points (m)");
    const double mean = (points.back() - points.front()) / static_cast<double>(points.size() - 1);
    for (std::size_t n = 1; n < points.size(); ++n) {
      if (!(std::fabs(points[n] - points[n - 1] - mean) <= 1e-3 * std::fabs(mean)) || mean == 0.0)
        m_file.fail(name,
                    "expected equal steps, found another one after value " + std::to_string(n - 1));
    }
    step = std::fabs(points.back() - points.front()) / static_cast<double>(points.size() - 1);
    return points;
  }

  template <class T, class Values>
  static Array2<T> array_of(const std::string& name, const Patch& p, const Values& values) {
    Array2<T> a = make_array<T>(name, p);
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i)
        a(j, i) = static_cast<T>(values[static_cast<std::size_t>(p.cell(j, i))]);
    }
    return a;
  }

  MapFile m_file;
  std::unique_ptr<MapFile> m_forcing;
};

} // namespace nunatak::tools
