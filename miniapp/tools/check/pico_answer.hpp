// PICO on the input of a file, optionally with the behaviours of PISM 2.3.2. Neighbours:
// pico_file.hpp (input), pism_geometry.hpp, differences.hpp (comparison), kernels/pico.
#pragma once

#include "kernels/pico/geometry.hpp"
#include "miniapp/tools/check/pico_file.hpp"

namespace nunatak::tools {

struct PicoAnswer {
  std::vector<PicoFields> fields; ///< per local rank
  int shelves = 0;
};

/// With water unless `source` is `none`. With box0 the water of a shelf is the coldest of its cells
/// in the file, where fewest cells are warmed to the melting point, not a basin's mean.
/// `behaviours`: bits of PismBehaviour. Collective.
PicoAnswer compute_pico(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                        const std::vector<PicoInput>& input, OceanSource source,
                        unsigned behaviours);

/// value(r, j, i) of every cell of the grid on all ranks; r: local rank that owns it. Collective.
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
