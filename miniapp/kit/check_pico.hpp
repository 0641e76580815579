// A file of PISM (or nunatak) with PICO fields: grid, input, parameters and results; and PICO on
// this input, optionally with the behaviours of PISM 2.3.2. Neighbours: map_file.hpp (how a
// variable is read), pism_geometry.hpp, nunatak_check.cpp (comparison), kernels/pico.
#pragma once

#include "kernels/pico/geometry.hpp"
#include "kernels/pico/last_input.hpp"
#include "kernels/pico/melt.hpp"
#include "miniapp/kit/map_file.hpp"
#include "miniapp/kit/pism_geometry.hpp"

#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace nunatak::kit {

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

  double dx = 0.0, dy = 0.0;                          ///< m
  const MapGrid& grid() const { return m_file.grid; } ///< with coordinates

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
    for_each_owned(p, [&](int j, int i) {
      a(j, i) = static_cast<T>(values[static_cast<std::size_t>(p.cell(j, i))]);
    });
    return a;
  }

  MapFile m_file;
  std::unique_ptr<MapFile> m_forcing;
};

struct PicoAnswer {
  std::vector<PicoFields> fields; ///< per local rank
  int shelves = 0;
};

/// PISM's geometry in the fields and lists of each local rank.
inline pico::Shelves pism_shelves(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                                  const std::vector<PicoInput>& input, unsigned behaviours,
                                  std::vector<PicoFields>& out) {
  const auto raster = [&](const auto& value) { return gathered<int>(ranks, value); };
  const PismGeometry g = pism_geometry(
      ranks.decomposition(), raster([&](auto r, int j, int i) { return input[r].mask(j, i); }),
      raster([&](auto r, int j, int i) { return input[r].basins(j, i); }),
      raster(
          [&](auto r, int j, int i) { return input[r].b(j, i) > options.continental_shelf_depth; }),
      file.dx * file.dy, options, behaviours);
  pico::Shelves shelves;
  Kokkos::fence(); // arrays of PicoFields are filled by loops
  shelves.table = g.table;
  shelves.local.resize(out.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    const Patch p = ranks.patch(static_cast<int>(r));
    PicoFields& f = out[r];
    pico::LocalShelves& local = shelves.local[r];
    for_each_owned(p, [&](int j, int i) {
      const auto n = p.cell(j, i);
      const int at = j * (p.xm + 2) + i;
      f.ice_rise_mask(j, i) = g.ice_rise[n];
      f.ocean_mask(j, i) = g.ocean[n];
      f.lake_mask(j, i) = g.lake[n];
      f.contshelf_mask(j, i) = g.contshelf[n];
      f.shelf_mask(j, i) = g.shelf[n];
      f.distance_gl(j, i) = g.distance_gl[n];
      f.distance_cf(j, i) = g.distance_cf[n];
      f.box_mask(j, i) = g.box[n];
      if (g.contshelf[n] == 2) local.sea.emplace_back(at, at + 1);
      if (g.shelf[n] > 0) {
        local.cell.push_back(at);
        local.shelf.push_back(g.shelf[n]);
        local.box.push_back(g.box[n]);
      } else if (g.ice_rise[n] == 3) {
        local.lake.push_back(at);
      }
    });
    local.sea_cells = static_cast<std::int64_t>(local.sea.size());
  }
  return shelves;
}

/// The smallest value of each shelf in multiples of 2^-40, 0 for none.
inline std::vector<double> smallest_of_shelves(const GridValues& shelf_mask, int shelves,
                                               const GridValues& values) {
  constexpr double none = HUGE_VAL;
  std::vector<double> smallest(static_cast<std::size_t>(shelves) + 1, none);
  for (std::size_t n = 0; n < values.size(); ++n) {
    double& of_shelf = smallest[static_cast<std::size_t>(shelf_mask[n])];
    if (std::fabs(values[n]) < 1e5) {
      const auto units = static_cast<double>(std::llround(std::ldexp(values[n], 40)));
      of_shelf = std::fmin(of_shelf, std::ldexp(units, -40));
    }
  }
  for (double& v : smallest) v = v == none ? 0.0 : v;
  return smallest;
}

/// Makes each shelf a basin of its own, with the water that the file has in box 0.
inline void take_box0(Ranks& ranks, const PicoFile& file, pico::Shelves& shelves,
                      const std::vector<PicoFields>& out, std::vector<PicoInput>& input) {
  const GridValues mask =
      gathered(ranks, [&](std::size_t r, int j, int i) { return out[r].shelf_mask(j, i); });
  const int n_shelves = shelves.table.shelves;
  const auto smallest = [&](const std::string& name, const std::string& unit) {
    return smallest_of_shelves(mask, n_shelves, file.read(name, unit));
  };
  const std::vector<double> T = smallest("pico_temperature_box0", "kelvin"),
                            S = smallest("pico_salinity_box0", "g/kg");
  shelves.table.reset(n_shelves, n_shelves);
  for (int s = 1; s <= n_shelves; ++s)
    shelves.table.cells[shelves.table.at(s, s)] =
        shelves.table.front_cells[shelves.table.at(s, s)] = 1;
  for (std::size_t r = 0; r < input.size(); ++r) {
    pico::LocalShelves& local = shelves.local[r];
    input[r].basins = out[r].shelf_mask;
    local.sea.clear();
    for (std::size_t n = 0; n < local.cell.size(); ++n) {
      const int c = local.cell[n];
      input[r].theta.data()[c] = T[static_cast<std::size_t>(local.shelf[n])];
      input[r].salt.data()[c] = S[static_cast<std::size_t>(local.shelf[n])];
      local.sea.emplace_back(c, c + 1);
    }
  }
}

/// With water unless `source` is `none`. With box0 the water of a shelf is the coldest of its cells
/// in the file, where fewest cells are warmed to the melting point, not a basin's mean.
/// `behaviours`: bits of PismBehaviour. Collective.
inline PicoAnswer compute_pico(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                               const std::vector<PicoInput>& input, OceanSource source,
                               unsigned behaviours) {
  PicoAnswer answer;
  for (int r = 0; r < ranks.local_size(); ++r) answer.fields.emplace_back(ranks.patch(r));
  pico::Shelves shelves;
  if (behaviours != 0) {
    shelves = pism_shelves(ranks, file, options, input, behaviours, answer.fields);
  } else {
    pico::ShelfGeometry geometry(ranks, file.dx, file.dy, options);
    shelves = geometry.update(input, answer.fields);
    Kokkos::fence();
  }
  answer.shelves = shelves.table.shelves;
  if (source == OceanSource::none) return answer;
  std::vector<PicoInput> ocean = input;
  if (source == OceanSource::box0) take_box0(ranks, file, shelves, answer.fields, ocean);
  PicoReport report;
  pico::ShelfMelt(ranks, file.dx, file.dy, options).update(shelves, ocean, answer.fields, report);
  return answer;
}

} // namespace nunatak::kit
