// Components of the codes of PICO, and what follows from them for each cell. Two methods:
//   by_segments.hpp       on the host, a segment of a row at a time: on a CPU
//   device/by_loops.hpp   loops of the execution space: on a GPU
// Both give the same bits, lists and tables, on any decomposition. This file has the rules of both:
// which masks are labelled, and what a cell becomes by its component. geometry.hpp calls them.
#pragma once

#include "kernels/distance/types.hpp"
#include "kernels/labels/boundaries.hpp"
#include "kernels/pico/codes.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/shelves.hpp"

#include <functional>

namespace nunatak::pico {

/// The first batch of labels, from the first codes: ice rises and continents, ocean, water and what
/// floats on it.
enum LandAndSea { of_land, of_ocean, of_water };
inline std::vector<LabelMask> land_and_sea() {
  return {
      {[](Code c) { return ice_rise(c); }},
      {[](Code c) { return (c & is_ocean) != 0; }},
      {[](Code c) { return (c & (is_floating | is_ocean)) != 0; }},
  };
}

/// The second batch, from the whole codes: shelves with ice rises (the number of a component is
/// that of the shelf), shallow sea floor with the continent.
enum ShelvesAndSeaFloor { of_shelf, of_sea_floor };
constexpr std::int64_t has_shelf = 2, has_continent = 4; // flags of components
inline std::vector<LabelMask> shelves_and_sea_floor() {
  return {{[](Code c) { return (c & is_floating) != 0 || ice_rise(c); },
           [](Code c) { return shelf_ice(c) ? has_shelf : 0; }, false, has_shelf},
          {[](Code c) { return (c & is_shallow) != 0 || continent(c); },
           [](Code c) { return continent(c) ? has_continent : 0; }}};
}

/// The bits that a cell gets from its component, of each mask of the first batch. `open`: the
/// largest component of the ocean.
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

/// Numbers of a local rank that travel along with labels; asked for when the loops launched so far
/// are done.
using LocalNumbers = std::function<std::vector<std::int64_t>(std::size_t local)>;

/// Over the codes that it is given at its construction; functions are called in this order, for
/// each new geometry.
class ShelfFinder {
public:
  virtual ~ShelfFinder() = default;

  /// Labels the first codes, which get the bits of the components, and labels the whole codes.
  /// Returns the number of shelves. `maxima`: of `numbers`, over all ranks; then: is there an
  /// unknown cell type?
  virtual int label(const ComponentBits& bits, const LocalNumbers& numbers,
                    std::vector<std::int64_t>& maxima) = 0;
  /// Whole codes, their ghosts and those of basins are valid. Writes the masks and the seeds of
  /// both distances; clears what the last geometry had and this one has not. Finds the lists of
  /// each local rank, with shelves before they are divided over basins, and its numbers of the sum.
  /// `seeds`: positions, or none. Waits.
  virtual void look_at_cells(const std::vector<PicoInput>& in, std::vector<PicoFields>& out,
                             const ShelfTable& table, const ShelfSum& sum,
                             std::vector<std::vector<std::int64_t>>& sums,
                             std::vector<LocalShelves>& local, DistanceSeeds& seeds) = 0;
};

} // namespace nunatak::pico
