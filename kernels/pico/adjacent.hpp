// Which basins are neighbours: those of two ocean cells side by side, one of which is next to ice. Pointwise; nothing is
// communicated. Neighbours: geometry.hpp calls it for each segment of ocean, split.hpp uses the result.
//
//   i i i i        i: ice, 1 and 2: ice-free ocean of these basins
//   1 1 2 2        adjacent, here
//   1 1 2 2        not because of these
#pragma once

#include "kernels/pico/codes.hpp"

#include <algorithm>
#include <cstring>

namespace nunatak::pico {

/// The ocean cells from..to of one row of length `up`, as flat positions. Codes and basins need valid ghosts.
/// Sets adjacent[a (basins + 1) + b] and its mirror image to 1.
inline void find_adjacent_basins(const Code* code, int up, int from, int to, const int* basin, int basins,
                                 std::int64_t* adjacent) {
  const auto check = [&](int c) {
    const int neighbours[] = {c - 1, c + 1, c - up, c + up};
    if (std::none_of(neighbours, neighbours + 4, [&](int n) { return has_ice(code[n]); })) return;
    for (const int n : neighbours) {
      if (!(code[n] & is_ocean) || basin[n] == basin[c]) continue;
      adjacent[basin[c] * (basins + 1) + basin[n]] = adjacent[basin[n] * (basins + 1) + basin[c]] = 1;
    }
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
