// PICO on the input of a file, optionally with the behaviours of PISM 2.3.2. Neighbours:
// pico_file.hpp (input), pism_geometry.hpp, nunatak_check.cpp (comparison), kernels/pico.
#pragma once

#include "kernels/pico/geometry.hpp"
#include "kernels/pico/melt.hpp"
#include "miniapp/tools/check/pico_file.hpp"
#include "miniapp/tools/check/pism_geometry.hpp"

#include <cmath>

namespace nunatak::tools {

struct PicoAnswer {
  std::vector<PicoFields> fields; ///< per local rank
  int shelves = 0;
};

/// PISM's geometry in the fields and lists of each local rank.
inline pico::Shelves pism_shelves(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                                  const std::vector<PicoInput>& input, unsigned behaviours,
                                  std::vector<PicoFields>& out) {
  const auto raster = [&](const auto& value) {
    const GridValues values = gathered(ranks, value);
    return Raster(values.begin(), values.end());
  };
  const PismGeometry g = pism_geometry(
      ranks.decomposition(), raster([&](auto r, int j, int i) { return input[r].mask(j, i); }),
      raster([&](auto r, int j, int i) { return input[r].basins(j, i); }),
      raster(
          [&](auto r, int j, int i) { return input[r].b(j, i) > options.continental_shelf_depth; }),
      file.dx * file.dy, options, behaviours);
  pico::Shelves shelves;
  shelves.table = g.table;
  shelves.local.resize(out.size());
  for (std::size_t r = 0; r < out.size(); ++r) {
    const Patch p = ranks.patch(static_cast<int>(r));
    PicoFields& f = out[r];
    pico::LocalShelves& local = shelves.local[r];
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) {
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
      }
    }
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
    PicoOptions by_segments = options; // take_box0() changes their lists in place
    by_segments.by_loops = false;
    pico::ShelfGeometry geometry(ranks, file.dx, file.dy, by_segments);
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

} // namespace nunatak::tools
