// The geometry of PICO as PISM 2.3.2 computes it, with its behaviours one by one: to tell a file of
// PISM that differs because of them from one that is wrong otherwise. Serial, on whole grids in
// raster order, on every rank. Written from descriptions; contains no code of PISM. docs/pism.md
// has an example of each. Neighbours: pico_answer.hpp (uses it), kernels/pico (the other method).
#pragma once

#include "kernels/grid/patch.hpp"
#include "kernels/pico/options.hpp"
#include "kernels/pico/shelves.hpp"

#include <utility>
#include <vector>

namespace nunatak::tools {

/// What PISM 2.3.2 does otherwise than physics and paper; bits, so that each can be left out.
///
/// lost_labels: equivalences of labels are lost. A row is scanned from left to right; a run of
/// cells has a current label L, at first a new one; T is the label of the run above a cell. T < L:
/// table[L] = T unless L is new, then L = T; T > L: table[T] = L. The table is written at the
/// labels, not at the roots of their trees, so that the previous entry is lost:
///
///   1000002     The first run of the last row records that 3 is 1, the second one that 3 is 2. One
///   1033302     component becomes two: 1 is alone. This happens within patches, not across their
///   3330222     boundaries, so that the result depends on the ranks.
///
enum PismBehaviour : unsigned {
  lost_labels = 1,
  saturation = 2,   ///< a neighbour counts for 2 max(Mx, My) at most: no distance exceeds that + 1
  lake_shelves = 4, ///< what is no shelf is divided over basins, too: lakes with ocean in them
  wrapping = 8,     ///< cells on opposite edges are neighbours: for seeds, fronts, and one step
  basin_0 = 16,     ///< basin 0 may be the main basin of a shelf, without adjacent ones
  icy_contshelf = 32, ///< pico_contshelf_mask is 1 on ice, too
  rounded_boxes = 64, ///< ties between boxes are decided by rounding
  no_water = 128,     ///< water of 0 K and 0 g kg-1 enters shelves without a front
  all_of_pism = 255
};

constexpr std::pair<unsigned, const char*> pism_behaviours[] = {
    {lost_labels, "labels that lose equivalences"},
    {saturation, "distances that saturate"},
    {lake_shelves, "lakes that become shelves"},
    {wrapping, "neighbours across the edge of the grid"},
    {basin_0, "basin 0 as a main basin"},
    {icy_contshelf, "continental shelf below ice"},
    {rounded_boxes, "ties between boxes that are rounded"},
    {no_water, "shelves without a front and without water"}};

struct PismGeometry {
  using Raster = std::vector<int>;
  Raster ice_rise, ocean, lake, contshelf, shelf, distance_gl, distance_cf, box; // pico_..._mask
  pico::ShelfTable table;
};

/// From cell types (ice/geometry.hpp), basins, and 1 where the bed is above the depth of the
/// continental shelf. `d`: of PISM's run. `behaviours`: bits; 0: the answer of kernels/pico.
PismGeometry pism_geometry(const Decomposition& d, const PismGeometry::Raster& types,
                           const PismGeometry::Raster& basins, const PismGeometry::Raster& shallow,
                           double cell_area, const PicoOptions& options, unsigned behaviours);

} // namespace nunatak::tools
