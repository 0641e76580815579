// Which basins are neighbours: those of two ocean cells side by side, one of which is next to ice.
// Pointwise; nothing is communicated. Neighbours: by_segments.hpp and by_loops.hpp look at the
// ocean, split.hpp uses the result.
//
//   i i i i        i: ice, 1 and 2: ice-free ocean of these basins
//   1 1 2 2        adjacent, here
//   1 1 2 2        not because of these
#pragma once

#include "kernels/pico/codes.hpp"

#include <cstdint>
#include <cstring>

namespace nunatak::pico {

/// put(a, b) for the basins b beside that of the ocean cell c, a: flat positions, in rows of length
/// `up`. Codes and basins need valid ghosts.
template <class F>
KOKKOS_INLINE_FUNCTION void for_each_adjacent_basin(const Code* code, int up, int c,
                                                    const int* basin, const F& put) {
  const int neighbours[] = {c - 1, c + 1, c - up, c + up};
  bool ice = false;
  for (const int n : neighbours) ice = ice || has_ice(code[n]);
  if (!ice) return;
  for (const int n : neighbours) {
    if ((code[n] & is_ocean) != 0 && basin[n] != basin[c]) put(basin[c], basin[n]);
  }
}

/// The ocean cells from..to of one row. Sets adjacent[a (basins + 1) + b] and its mirror image
/// to 1.
inline void find_adjacent_basins(const Code* code, int up, int from, int to, const int* basin,
                                 int basins, std::int64_t* adjacent) {
  const auto check = [&](int at) {
    for_each_adjacent_basin(code, up, at, basin, [=](int a, int b) {
      adjacent[a * (basins + 1) + b] = adjacent[b * (basins + 1) + a] = 1;
    });
  };
  constexpr std::uint64_t all_ocean = 0x0101010101010101ULL * is_ocean;
  for (int c = from; c < to;) {
    if (c > from && c + 8 < to) { // eight cells with ocean on all sides are not next to ice
      std::uint64_t above, below;
      std::memcpy(&above, code + c + up, 8);
      std::memcpy(&below, code + c - up, 8);
      if ((above & below & all_ocean) == all_ocean) {
        c += 8;
        continue;
      }
    }
    check(c++);
  }
}

} // namespace nunatak::pico
