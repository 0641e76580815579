// PICO on the input of a file, and the same with two defects of PISM 2.3. Neighbours: pico_file.hpp
// (the input), differences.hpp (compares the fields with those of the file), kernels/pico (what
// computes).
#pragma once

#include "kernels/pico/geometry.hpp"
#include "miniapp/tools/check/pico_file.hpp"

namespace nunatak::tools {

/// Two defects of PISM 2.3, made after their descriptions, so that a file that shows them can be
/// told from one that is wrong in another way (docs/tools.md). Nothing here is code of PISM.
///
/// labels: labels that lose equivalences. Runs get provisional labels, each with an entry that says
/// which smaller label it is equal to. A run goes on with the label of the run above it; where it
/// touches another one, it writes the smaller of both labels into the entry of the larger, over
/// what was known of that one, and goes on with the other:
///
///   1000002     The first run of the last row notes that 3 is 1, the second one that 3 is 2. One
///   1033302     component becomes two: 1 is alone. It happens within patches; subdomain boundaries
///   3330222     are complete, so that the answer depends on the ranks. PISM is known to split this
///               case in two and to melt by the number of ranks, not where it cuts.
///
/// distances: they saturate. A neighbour counts for 2 max(Mx, My) at most, so that no distance is
/// larger than that and 1. The boxes follow.
struct PismDefects {
  bool labels = false, distances = false;
};

struct PicoAnswer {
  std::vector<PicoFields> fields; ///< of each local rank
  int shelves = 0;
};

/// With water if `source` is not `none`. From box0 fields: the water of a shelf is the coldest of
/// its cells in the file, where fewest cells are warmed to the melting point, instead of a mean
/// over basins. Collective.
PicoAnswer compute_pico(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                        const std::vector<PicoInput>& input, OceanSource source,
                        PismDefects defects);

/// The value of every cell of the grid on all ranks: value(r, j, i) of the owned cells of local
/// rank r. Collective.
template <class F> GridValues gathered(Ranks& ranks, const F& value) {
  std::vector<std::vector<std::int64_t>> mine;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    mine.emplace_back();
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) {
        mine.back().push_back(Kokkos::bit_cast<std::int64_t>(
            static_cast<double>(value(static_cast<std::size_t>(r), j, i))));
      }
    }
  }
  const std::vector<std::int64_t> all = ranks.gather_all(mine);
  const Decomposition& d = ranks.decomposition();
  GridValues values(all.size());
  auto next = all.begin();
  for (int rank = 0; rank < d.size(); ++rank) {
    const Patch p = d.patch(rank);
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i)
        values[static_cast<std::size_t>(p.cell(j, i))] = Kokkos::bit_cast<double>(*next++);
    }
  }
  return values;
}

} // namespace nunatak::tools
