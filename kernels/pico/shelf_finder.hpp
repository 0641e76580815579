// Components of PICO's codes, and what follows from them for each cell. Two methods with the same
// bits, lists and tables on any decomposition:
//   by_segments.hpp       on the host, by segments of a row: for CPUs
//   device/by_loops.hpp   loops on the execution space: for GPUs
// This file has their common rules: the labelled masks, and the codes that follow from them.
#pragma once

#include "kernels/distance/types.hpp"
#include "kernels/labels/boundaries.hpp"
#include "kernels/pico/codes.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/shelves.hpp"

#include <functional>

namespace nunatak::pico {

/// The first batch of labels, from the first codes: grounded cells, ocean, ocean with floating ice.
enum LandAndSea { of_land, of_ocean, of_water };
inline std::vector<LabelMask> land_and_sea() {
  return {
      {[](Code c) { return ice_rise(c); }},
      {[](Code c) { return (c & is_ocean) != 0; }},
      {[](Code c) { return (c & (is_floating | is_ocean)) != 0; }},
  };
}

/// The second batch, from the final codes: shelves with ice rises; shallow sea floor and continent.
enum ShelvesAndSeaFloor { of_shelf, of_sea_floor };
constexpr std::int64_t has_shelf = 2, has_continent = 4; // flags of components
inline std::vector<LabelMask> shelves_and_sea_floor() {
  return {{[](Code c) { return (c & is_floating) != 0 || ice_rise(c); },
           [](Code c) { return shelf_ice(c) ? has_shelf : 0; }, false, has_shelf},
          {[](Code c) { return (c & is_shallow) != 0 || continent(c); },
           [](Code c) { return continent(c) ? has_continent : 0; }}};
}

/// The bits that a cell gets from its component in the first batch. `open`: the largest ocean.
struct ComponentBits {
  double cell_area, continental_area; ///< m2

  KOKKOS_INLINE_FUNCTION Code operator()(int mask, const Component& c,
                                         const Component& open) const {
    if (mask == of_land)
      return static_cast<double>(c.cells()) * cell_area > continental_area ? is_continent : 0;
    if (mask == of_ocean) return c.identity == open.identity ? is_open : 0;
    return (c.flags() & touches_edge) != 0 ? 0 : is_lake;
  }
};

/// Numbers of a local rank to be maximised along with labels; called after the loops so far.
using LocalNumbers = std::function<std::vector<std::int64_t>(std::size_t local)>;

/// Works on the codes given at construction, in this order for each new geometry.
class ShelfFinder {
public:
  virtual ~ShelfFinder() = default;

  /// Labels the first codes, completes them, and labels the final codes. Returns the number of
  /// shelves. `maxima`: of `numbers`, over all ranks; then 1 if there is an unknown cell type.
  virtual int label(const ComponentBits& bits, const LocalNumbers& numbers,
                    std::vector<std::int64_t>& maxima) = 0;
  /// Needs final codes, with valid ghosts, and ghosts of basins. Writes the masks and the seeds of
  /// both distances; clears what only the last geometry had. Finds the lists of each local rank,
  /// with undivided shelves, and its contribution to the sum. `seeds`: positions, or empty. Waits.
  virtual void look_at_cells(const std::vector<PicoInput>& in, std::vector<PicoFields>& out,
                             const ShelfTable& table, const ShelfSum& sum,
                             std::vector<std::vector<std::int64_t>>& sums,
                             std::vector<LocalShelves>& local, DistanceSeeds& seeds) = 0;
};

} // namespace nunatak::pico
