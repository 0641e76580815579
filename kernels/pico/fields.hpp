// Input and output of PICO (pico.hpp) on one local rank. Legends: codes.hpp.
#pragma once

#include "kernels/grid/constants.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/pico/codes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nunatak {

/// Input, in arrays with one ring of ghosts; only basins need valid ghosts.
struct PicoInput {
  Array2<double> H;     ///< thk: ice thickness, m
  Array2<double> b;     ///< topg: bed elevation, m
  Array2<int> mask;     ///< mask: cell types of geometry.hpp
  Array2<int> basins;   ///< basins: 1, 2, ...; 0: none
  Array2<double> theta; ///< theta_ocean: potential temperature, K
  Array2<double> salt;  ///< salinity_ocean: g kg-1
};

/// Output in owned cells; ghosts are work space. Arrays are named as in files.
struct PicoFields {
  explicit PicoFields(const Patch& p)
      : ice_rise_mask(shared_array<int>("pico_ice_rise_mask", p)),
        ocean_mask(shared_array<int>("pico_ocean_mask", p)),
        lake_mask(shared_array<int>("pico_lake_mask", p)),
        contshelf_mask(shared_array<int>("pico_contshelf_mask", p)),
        shelf_mask(shared_array<int>("pico_shelf_mask", p)),
        box_mask(shared_array<int>("pico_box_mask", p)),
        distance_gl(shared_array<int>("pico_distance_gl", p)),
        distance_cf(shared_array<int>("pico_distance_cf", p)),
        temperature(make_array<double>("pico_temperature", p)),
        salinity(make_array<double>("pico_salinity", p)),
        temperature_box0(make_array<double>("pico_temperature_box0", p)),
        salinity_box0(make_array<double>("pico_salinity_box0", p)),
        overturning(make_array<double>("pico_overturning", p)),
        melt(make_array<double>("pico_basal_melt_rate", p)),
        base_temperature(make_array<double>("shelfbtemp", p)),
        masks(shared_array<std::uint8_t>("pico_masks", p)) {
    Kokkos::deep_copy(Exec(), distance_gl, -1);
    Kokkos::deep_copy(Exec(), distance_cf, -1);
    Kokkos::deep_copy(Exec(), base_temperature, T_melting);
  }

  /// Found on the host; legends: codes.hpp.
  SharedArray2<int> ice_rise_mask, ocean_mask, lake_mask, contshelf_mask;
  SharedArray2<int> shelf_mask, box_mask, distance_gl, distance_cf;
  Array2<double> temperature, salinity; ///< of the ocean below the shelf, K and g kg-1; 0 elsewhere
  /// Water that enters the cavity, K and g kg-1; 0 elsewhere.
  Array2<double> temperature_box0, salinity_box0;
  Array2<double> overturning; ///< q in box 1, m3 s-1; 0 elsewhere
  Array2<double> melt;        ///< m s-1 of ice, positive is melting; 0 elsewhere
  /// In-situ pressure-melting point at the shelf base, K; 273.15 elsewhere.
  Array2<double> base_temperature;

  /// The four masks of codes.hpp in one byte; a new geometry rewrites the masks where it changes.
  SharedArray2<std::uint8_t> masks;
  /// Positions (j (xm + 2) + i) that differ from the values for "elsewhere": distances, then the
  /// rest. A new geometry clears only these.
  /// written_before: written_ice of the previous geometry, for clear_water().
  List<int> written_domain, written_ice, written_before;

  /// Writes the masks of cells from <= position < to, all of one code, where they differ.
  void write_masks(int from, int to, Code c, int contshelf) {
    const int rise = pico::ice_rise_mask(c), sea = pico::ocean_mask(c), lake = pico::lake_mask(c);
    const std::uint8_t all = pico::packed_masks(c, contshelf);
    std::uint8_t* written = masks.data();
    const auto rest = static_cast<std::size_t>(to - from - 1);
    if (written[from] == all && std::memcmp(written + from, written + from + 1, rest) == 0) return;
    std::fill(written + from, written + to, all);
    std::fill(ice_rise_mask.data() + from, ice_rise_mask.data() + to, rise);
    std::fill(ocean_mask.data() + from, ocean_mask.data() + to, sea);
    std::fill(lake_mask.data() + from, lake_mask.data() + to, lake);
    std::fill(contshelf_mask.data() + from, contshelf_mask.data() + to, contshelf);
  }
  /// Clears the last geometry except for cells that will be rewritten according to their new codes:
  /// distances in the shelf domain, the rest on shelves. clear_water() clears the water later.
  void clear_written(const Code* code) {
    for (const int c : written_domain) {
      if (!pico::in_shelf_domain(code[c])) distance_gl.data()[c] = distance_cf.data()[c] = -1;
    }
    for (const int c : written_ice) {
      if (!pico::shelf_ice(code[c])) shelf_mask.data()[c] = box_mask.data()[c] = 0;
    }
    std::swap(written_before, written_ice);
    written_domain.clear();
    written_ice.clear();
  }
};

/// The result of an update, the same on all ranks, except `collectives` and `exchanges`.
struct PicoReport {
  bool geometry_kept = false; ///< unchanged input: only the melt was computed
  int shelves = 0;
  int d_max = 0;  ///< largest distance to a grounding line of any shelf cell
  int rounds = 0; ///< ghost exchanges when the distances were last computed
  std::int64_t shelf_cells = 0;
  /// Melt by Beckmann & Goosse (2003): in box 0, or if the previous box is empty.
  std::int64_t fallback_cells = 0;
  std::int64_t warnings = 0; ///< cells of box 1 with a negative discriminant
  double total_melt = 0.0;   ///< kg s-1
  /// Cells per rank, maximum over mean: in the domain of the distances, of shelves.
  double domain_imbalance = 1.0, shelf_imbalance = 1.0;
  std::int64_t collectives = 0, exchanges = 0; ///< of this update
};

} // namespace nunatak
