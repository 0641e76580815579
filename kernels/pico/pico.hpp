// PICO, the Potsdam Ice-shelf Cavity mOdel: melt below ice shelves from the ocean in front of them.
//
//   Pico pico(ranks, dx, dy, options);
//   PicoReport report = pico.update(input, fields); // ranks.update_ghosts({basins}) before, once
//
// Reese et al. (2018), The Cryosphere 12, 1969-1985, doi:10.5194/tc-12-1969-2018. Two parts that
// can be used separately: geometry.hpp (masks, shelves, distances, boxes), melt.hpp (water, melt).
//
// The geometry depends on cell types, on which cells have a bed above the depth of the continental
// shelf, and on basins. Unless PicoOptions::skip_unchanged is off, an update starts with the
// physics on the last geometry, and its first sum includes whether any rank has seen a change. If
// not, the geometry is kept; the melt is always computed.
//
// Communicates two sums if the geometry is kept. Otherwise 3 ghost exchanges and those of the
// distances (rounds in the report); collectives: two gathers (2 each), 3 sums, those of the
// distances (`buckets`: 1 maximum; `bfs` and `sweep`: one per round), and one wasted sum if there
// was a geometry to compare with: at most 9 with `buckets`. Without PicoOptions::batch: as many as
// PISM (one_by_one.hpp).
#pragma once

#include "kernels/pico/fields.hpp"
#include "kernels/pico/options.hpp"
#include "kernels/pico/shelf_water.hpp"

#include <memory>

namespace nunatak {

class Pico {
public:
  /// dx, dy: cell size, m. `ranks` must outlive this object. Throws invalid_argument.
  Pico(Ranks& ranks, double dx, double dy, const PicoOptions& options = {});
  ~Pico();

  /// One entry of `in` and `out` per local rank. Ghosts of `basins` must be valid. `out`: as the
  /// last update left it; different arrays are filled completely. Host memory.
  PicoReport update(const std::vector<PicoInput>& in, std::vector<PicoFields>& out);

  /// Water below each shelf (1..n) after an update.
  const std::vector<pico::ShelfWater>& water() const;

private:
  struct Parts; ///< the geometry and the melt
  Ranks& m_ranks;
  bool m_skip_unchanged;
  std::unique_ptr<Parts> m_parts;
};

} // namespace nunatak
