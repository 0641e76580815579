// Small ice sheets drawn as text, run through PICO on virtual ranks.
//
//   # grounded ice     ^ bare land     f floating ice     s floating ice over shallow sea
//   ~ ocean            : shallow ocean
//
// Cells are 100 km wide; grounded components of more than 3 cells are continental.
#pragma once

#include "kernels/ice/geometry.hpp"
#include "kernels/pico/pico.hpp"
#include "tests/kernels/global_grid.hpp"

#include <tuple>

namespace nunatak {

struct PicoCase {
  Grid<double> H, b, T, S;
  Grid<int> mask, basins;
  PicoOptions options;
  double dx = 1e5;

  /// Everything in basin 1, ocean of 0 C and 34.5 g/kg, floating ice 500 m thick.
  explicit PicoCase(const std::vector<std::string>& rows) {
    mask = draw(rows, [](char c) {
      const bool floats = c == 'f' || c == 's', water = c == '~' || c == ':';
      return c == '^' ? int{ice_free_land}
             : floats ? int{floating_ice}
             : water  ? int{ice_free_ocean}
                      : int{grounded_ice};
    });
    b = draw(rows, [](char c) {
      return c == '#' || c == '^' ? 100.0 : c == 's' || c == ':' ? -500.0 : -2000.0;
    });
    H = draw(rows, [](char c) { return c == 'f' || c == 's' ? 500.0 : c == '#' ? 1000.0 : 0.0; });
    T = Grid<double>(mask.Mx, mask.My, T_melting);
    S = Grid<double>(mask.Mx, mask.My, 34.5);
    basins = Grid<int>(mask.Mx, mask.My, 1);
    options.continental_ice_area = 3.5e10;
  }
};

struct PicoResult {
  PicoReport report;
  Grid<int> ice_rise_mask, ocean_mask, lake_mask, contshelf_mask, shelf_mask, distance_gl,
      distance_cf, box_mask;
  Grid<double> temperature, salinity, temperature_box0, salinity_box0, overturning, melt,
      base_temperature;

  auto fields() const {
    return std::tie(ice_rise_mask, ocean_mask, lake_mask, contshelf_mask, shelf_mask, distance_gl,
                    distance_cf, box_mask, temperature, salinity, temperature_box0, salinity_box0,
                    overturning, melt, base_temperature);
  }
  /// The same bits everywhere.
  bool operator==(const PicoResult& o) const {
    const auto numbers = [](const PicoReport& r) {
      return std::tie(r.total_melt, r.shelves, r.warnings, r.shelf_cells, r.fallback_cells,
                      r.d_max);
    };
    return fields() == o.fields() && numbers(report) == numbers(o.report);
  }
};

inline std::vector<PicoInput> pico_input(VirtualRanks& ranks, const PicoCase& c) {
  const auto H = scatter(ranks, c.H), b = scatter(ranks, c.b), T = scatter(ranks, c.T),
             S = scatter(ranks, c.S);
  const auto mask = scatter(ranks, c.mask), basins = scatter_with_ghosts(ranks, c.basins);
  std::vector<PicoInput> in;
  for (std::size_t r = 0; r < H.size(); ++r) {
    in.push_back({H[r], b[r], mask[r], basins[r], T[r], S[r]});
  }
  return in;
}

inline std::vector<PicoFields> pico_fields(const Ranks& ranks) {
  std::vector<PicoFields> fields;
  for (int r = 0; r < ranks.local_size(); ++r) fields.emplace_back(ranks.patch(r));
  return fields;
}

inline PicoResult pico_result(const Ranks& ranks, const PicoReport& report,
                              const std::vector<PicoFields>& fields) {
  const auto global = [&](auto member) {
    std::vector<std::decay_t<decltype(fields[0].*member)>> local;
    for (const PicoFields& f : fields) local.push_back(f.*member);
    return gather(ranks, local);
  };
  using F = PicoFields;
  return {report,
          global(&F::ice_rise_mask),
          global(&F::ocean_mask),
          global(&F::lake_mask),
          global(&F::contshelf_mask),
          global(&F::shelf_mask),
          global(&F::distance_gl),
          global(&F::distance_cf),
          global(&F::box_mask),
          global(&F::temperature),
          global(&F::salinity),
          global(&F::temperature_box0),
          global(&F::salinity_box0),
          global(&F::overturning),
          global(&F::melt),
          global(&F::base_temperature)};
}

inline PicoResult run_pico(const PicoCase& c, int px = 1, int py = 1) {
  VirtualRanks ranks(Decomposition::make(c.mask.Mx, c.mask.My, px, py));
  std::vector<PicoFields> fields = pico_fields(ranks);
  const PicoReport report = Pico(ranks, c.dx, c.dx, c.options).update(pico_input(ranks, c), fields);
  return pico_result(ranks, report, fields);
}

/// A random coast: blocks of grounded ice, shelves and ocean, several basins, all with noise.
inline PicoCase random_coast(int Mx, int My, unsigned seed) {
  std::mt19937 random(seed);
  const int block = 5, columns = Mx / block + 1;
  std::string blocks;
  for (int n = 0; n < columns * (My / block + 1); ++n) blocks += "##ffff~~~"[random() % 9];
  std::vector<std::string> rows(static_cast<std::size_t>(My),
                                std::string(static_cast<std::size_t>(Mx), '~'));
  for (const auto& [j, i] : points_of(Mx, My))
    rows[j][i] =
        random() % 12 == 0 ? "##ff~^s:"[random() % 8] : blocks[(j / block) * columns + i / block];
  PicoCase c(rows);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  for (std::size_t n = 0; n < c.H.values.size(); ++n) {
    if (c.mask.values[n] == floating_ice) c.H.values[n] = 100.0 + 1500.0 * uniform();
    if (c.mask.values[n] == ice_free_ocean && uniform() < 0.7) c.b.values[n] = -400.0;
    c.T.values[n] = T_melting - 1.8 + 3.0 * uniform();
    c.S.values[n] = 34.0 + uniform();
    c.basins.values[n] =
        static_cast<int>(n) % Mx * 6 / Mx + (static_cast<int>(n) / Mx > My / 2 ? 6 : 0); // 0 to 11
  }
  return c;
}

} // namespace nunatak
