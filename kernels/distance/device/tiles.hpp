// The loops of the distances by tiles (distance/device/distance.hpp): a patch as they see it, the
// list of tiles, the work on one tile.
#pragma once

#include "kernels/grid/atomics.hpp"
#include "kernels/grid/border_exchange.hpp"

namespace nunatak {

namespace device_distance {

constexpr int tile = 32; ///< cells along a side
constexpr int scratch_row =
    35; ///< tile and ring, and one: rows begin in different banks of a GPU's scratch memory
constexpr int unreached = 1 << 30; ///< in scratch: larger than any distance
constexpr int threads = loops_on_host ? 1 : tile;

/// One field on one local rank.
struct FieldPatch {
  int* d;             ///< with ghosts
  BorderCells border; ///< its size, too
  int tiles_x;        ///< tiles along x
  int first_tile;     ///< their numbers go on from here, row by row
  int* buffer;        ///< of border cells: cell n has place n * stride
  int stride;

  KOKKOS_INLINE_FUNCTION int tile_of(int cell) const {
    const int row = border.xm + 2;
    return first_tile + (cell / row - 1) / tile * tiles_x + (cell % row - 1) / tile;
  }
};

/// Tiles that wait, each at most once.
struct TileList {
  Kokkos::View<int*, WorkMem> tiles, listed; ///< listed[t]: is tile t in the list?
  Kokkos::View<int, WorkMem> count;

  KOKKOS_INLINE_FUNCTION void add(int t) const {
    if (Kokkos::atomic_exchange(&listed(t), 1) == 0)
      tiles(Kokkos::atomic_fetch_add(&count(), 1)) = t;
  }
  /// Take a tile before its cells are loaded: who changes a cell beside it later finds it not
  /// listed, and lists it again.
  KOKKOS_INLINE_FUNCTION int take(int n) const {
    Kokkos::atomic_exchange(&listed(tiles(n)), 0);
    Kokkos::memory_fence();
    return tiles(n);
  }
};

KOKKOS_INLINE_FUNCTION int at_most_a_tile(int cells) { return cells < tile ? cells : tile; }

/// Would a cell of value `d` take the offer of a neighbour of value `from`?
KOKKOS_INLINE_FUNCTION bool accepts(int d, int from) {
  return from > 0 && (d == 0 || d > from + 1);
}

/// Go to and fro through a line of `cells` cells (scratch, `step` apart), from the cell of the ring
/// before it and from the one behind it. Returns which cells have changed, as bits.
KOKKOS_INLINE_FUNCTION unsigned sweep_line(int* before, int step, int cells) {
  unsigned changed = 0;
  int last = before[0] < 0 ? unreached : before[0];
  for (int k = 1; k <= cells; ++k) {
    int& here = before[k * step];
    if (here > last + 1) here = last + 1, changed |= 1u << (k - 1);
    last = here < 0 ? unreached : here;
  }
  last = before[(cells + 1) * step] < 0 ? unreached : before[(cells + 1) * step];
  for (int k = cells; k >= 1; --k) {
    int& here = before[k * step];
    if (here > last + 1) here = last + 1, changed |= 1u << (k - 1);
    last = here < 0 ? unreached : here;
  }
  return changed;
}

/// The work of a team: one tile of the list.
struct RelaxTile {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = Policy::member_type;
  using Scratch = Kokkos::View<int[tile + 2][scratch_row], Kokkos::LayoutRight,
                               Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Shared<const FieldPatch*> patches;
  Shared<const int*> patch_of_tile;
  TileList now, next, after; ///< after: of the launch behind this one, not in use now

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int n = team.league_rank();
    if (n == 0) Kokkos::single(Kokkos::PerTeam(team), [&] { after.count() = 0; });
    if (n >= now.count()) return;
    const int t = now.tiles(n);
    Kokkos::single(Kokkos::PerTeam(team), [&] { now.take(n); });
    team.team_barrier();
    const FieldPatch p = patches(patch_of_tile(t));
    const int xm = p.border.xm, ym = p.border.ym, row = xm + 2;
    const int tile_j = (t - p.first_tile) / p.tiles_x, tile_i = (t - p.first_tile) % p.tiles_x;
    const int rows = at_most_a_tile(ym - tile_j * tile),
              columns = at_most_a_tile(xm - tile_i * tile);
    int* const corner =
        p.d + static_cast<std::ptrdiff_t>(tile_j) * tile * row + tile_i * tile; // of the ring
    const Scratch s(team.team_scratch(0));

    int any = 0;
    const auto load = [&](int k, int& reached) {
      const int j = k / (tile + 2), i = k % (tile + 2);
      if (j > rows + 1 || i > columns + 1) return;
      const int d = atomic_load(corner + j * row + i); // another team may be writing the ring
      s(j, i) = d == 0 ? unreached : d;
      reached |= d > 0;
    };
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, (tile + 2) * (tile + 2)), load,
                            Kokkos::BOr<int>(any));
    team.team_barrier();
    if (any == 0) return;

    // all rows, all columns; then the rows where a column has changed something, the columns where
    // a row has, ...
    unsigned lines = 0;
    for (int sweeps = 0; sweeps < 2 || lines != 0; ++sweeps) {
      const bool along_x = sweeps % 2 == 0;
      const unsigned wanted = sweeps < 2 ? ~0u : lines;
      const auto sweep = [&](int line, unsigned& changed) {
        if ((wanted >> line & 1u) == 0) return;
        int* before = along_x ? &s(line + 1, 0) : &s(0, line + 1);
        changed |= sweep_line(before, along_x ? 1 : scratch_row, along_x ? columns : rows);
      };
      Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, along_x ? rows : columns), sweep,
                              Kokkos::BOr<unsigned>(lines));
      team.team_barrier();
    }

    int sides =
        0; // where a cell beside the tile would take an offer: 1 west, 2 east, 4 south, 8 north
    const auto store = [&](int k, int& side) {
      const int j = k / tile + 1, i = k % tile + 1;
      if (i > columns || s(j, i) < 0 || s(j, i) == unreached) return;
      int* const to = corner + j * row + i;
      const int d = s(j, i);
      if (*to == d) return;
      atomic_store(to, d);
      side |= (i == 1 && s(j, 0) > d + 1) * 1 | (i == columns && s(j, columns + 1) > d + 1) * 2 |
              (j == 1 && s(0, i) > d + 1) * 4 | (j == rows && s(rows + 1, i) > d + 1) * 8;
    };
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, rows * tile), store,
                            Kokkos::BOr<int>(sides));
    team.team_barrier();
    const auto list_neighbours = [&] {
      Kokkos::memory_fence(); // who takes a tile that is listed here will see what this team has
                              // stored
      if ((sides & 1) && tile_i > 0) next.add(t - 1);
      if ((sides & 2) && tile_i + 1 < p.tiles_x) next.add(t + 1);
      if ((sides & 4) && tile_j > 0) next.add(t - p.tiles_x);
      if ((sides & 8) && (tile_j + 1) * tile < ym) next.add(t + p.tiles_x);
    };
    Kokkos::single(Kokkos::PerTeam(team), list_neighbours);
  }
};

} // namespace device_distance

} // namespace nunatak
