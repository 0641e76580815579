// One check of point-to-point messages and of groups for every kind of Ranks.
#pragma once

#include "kernels/grid/ranks.hpp"

#include <catch2/catch_test_macros.hpp>

namespace nunatak {

/// Rank r sends r + 1 numbers r to the next rank, -r to the previous one; buffers are longer.
inline void check_messages(Ranks& ranks) {
  const int size = ranks.decomposition().size(), longest = size + 3;
  std::vector<std::vector<Packet>> out, in;
  for (int local = 0; local < ranks.local_size(); ++local) {
    const int r = ranks.first() + local;
    out.emplace_back(), in.emplace_back();
    if (r + 1 < size) {
      out.back().push_back({r + 1, std::vector<int>(static_cast<std::size_t>(r + 1), r)});
      in.back().push_back({r + 1, std::vector<int>(static_cast<std::size_t>(longest))});
    }
    if (r > 0) {
      out.back().push_back({r - 1, {-r}});
      in.back().push_back({r - 1, std::vector<int>(static_cast<std::size_t>(longest))});
    }
  }
  ranks.exchange(out, in);
  for (int local = 0; local < ranks.local_size(); ++local) {
    const int r = ranks.first() + local;
    for (const Packet& packet : in[local]) {
      if (packet.rank > r) CHECK(packet.words == std::vector<int>{-(r + 1)});
      if (packet.rank < r)
        CHECK(packet.words == std::vector<int>(static_cast<std::size_t>(r), r - 1));
    }
  }
}

/// Maxima of the ranks `every` - 1, 2 `every` - 1, ... among themselves; of a single rank.
inline void check_group(Ranks& ranks, int every) {
  const int size = ranks.decomposition().size();
  if (size == 1) every = 1;
  std::vector<int> members;
  for (int r = every - 1; r < size; r += every) members.push_back(r);
  const auto group = ranks.group(members);
  CHECK(group->members() == members);
  std::vector<std::int64_t> values(static_cast<std::size_t>(ranks.local_size()), 1000);
  bool any = false; // the values of the others are not read
  for (std::size_t local = 0; local < values.size(); ++local) {
    const int r = ranks.first() + static_cast<int>(local);
    if (r % every != every - 1) continue;
    values[local] = 10 * r;
    any = true;
  }
  if (!any) return;
  for (int repeat = 0; repeat < 2; ++repeat) {
    group->start_max(values);
    CHECK(group->finish_max() == 10 * members.back());
  }
}

} // namespace nunatak
