// Distances by tiles on the execution space (see distance.hpp): the solver for GPUs.
//
//  +----+----+----+   1. A patch is cut into tiles of 32 x 32 cells. One team loads a tile and the
//  |    | <- | *  |      ring of cells around it into its scratch memory and sweeps there, along
//  +----+----+-|--+      rows and columns alternately, until nothing changes. A thread has a row
//  |    |    | v  |      (column) to itself and passes through it in both directions.
//  +----+----+----+   2. What changed is written back. A neighbouring tile that gets a better offer
//                        is put on the list.
//                     3. The listed tiles are next, until the list is empty. Border cells are then
//                        exchanged between patches, and tiles that get a better offer are listed.
//                        Only after 4, 8, 16, ... of these rounds a reduction finds whether
//                        anything has changed: extra rounds cost only their messages.
//
// Every value is the length of a path and values only decrease, so that the order of tiles and
// threads does not matter: the result has the bits of the other solvers. All fields and local ranks
// share a list and launches. A value travels one tile per launch. The host reads only the length of
// the list, on a GPU after each 8 launches, and a buffer of border cells.
#pragma once

#include "kernels/distance/types.hpp"
#include "kernels/grid/atomics.hpp"
#include "kernels/grid/border_exchange.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace nunatak {

namespace device_distance {

constexpr int tile = 32;           ///< cells along a side
constexpr int scratch_row = 35;    ///< tile, ring and padding against bank conflicts on GPUs
constexpr int unreached = 1 << 30; ///< in scratch: larger than any distance
constexpr int threads = loops_on_host ? 1 : tile;

/// One field on one local rank.
struct FieldPatch {
  int* d;             ///< with ghosts
  BorderCells border; ///< its size, too
  int tiles_x;        ///< number of tiles along x
  int first_tile;     ///< first tile number; numbered row by row
  int* buffer;        ///< border cells: cell n has position n * stride
  int stride;

  KOKKOS_INLINE_FUNCTION int tile_of(int cell) const {
    const int row = border.xm + 2;
    return first_tile + (cell / row - 1) / tile * tiles_x + (cell % row - 1) / tile;
  }
};

/// Tiles to be relaxed, each at most once.
struct TileList {
  Kokkos::View<int*, WorkMem> tiles, listed; ///< listed[t]: 1 if tile t is in the list
  Kokkos::View<int, WorkMem> count;

  KOKKOS_INLINE_FUNCTION void add(int t) const {
    if (Kokkos::atomic_exchange(&listed(t), 1) == 0)
      tiles(Kokkos::atomic_fetch_add(&count(), 1)) = t;
  }
  /// Takes a tile before its cells are loaded: later changes of adjacent cells list it again.
  KOKKOS_INLINE_FUNCTION int take(int n) const {
    Kokkos::atomic_exchange(&listed(tiles(n)), 0);
    Kokkos::memory_fence();
    return tiles(n);
  }
};

KOKKOS_INLINE_FUNCTION int at_most_a_tile(int cells) { return cells < tile ? cells : tile; }

/// True if `from`, a neighbour's value, improves the value `d` of a cell.
KOKKOS_INLINE_FUNCTION bool accepts(int d, int from) {
  return from > 0 && (d == 0 || d > from + 1);
}

/// Sweeps both ways through a line of `cells` cells. Returns a bit mask of changed cells.
KOKKOS_INLINE_FUNCTION unsigned sweep_line(int* before, int step, int cells) {
  unsigned changed = 0;
  int last = before[0] < 0 ? unreached : before[0];
  for (int k = 1; k <= cells; ++k) {
    int& here = before[k * step];
    if (here > last + 1) {
      here = last + 1;
      changed |= 1u << (k - 1);
    }
    last = here < 0 ? unreached : here;
  }
  last = before[(cells + 1) * step] < 0 ? unreached : before[(cells + 1) * step];
  for (int k = cells; k >= 1; --k) {
    int& here = before[k * step];
    if (here > last + 1) {
      here = last + 1;
      changed |= 1u << (k - 1);
    }
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
  TileList now, next, after; ///< after: of the next launch, unused in this one

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
    const int rows = at_most_a_tile(ym - tile_j * tile);
    const int columns = at_most_a_tile(xm - tile_i * tile);
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

    // all rows, all columns; then only lines across which something has changed
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

    // sides where an adjacent cell takes an offer: 1 west, 2 east, 4 south, 8 north
    int sides = 0;
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
      // makes the stores of this team visible to teams that take tiles listed here
      Kokkos::memory_fence();
      if ((sides & 1) && tile_i > 0) next.add(t - 1);
      if ((sides & 2) && tile_i + 1 < p.tiles_x) next.add(t + 1);
      if ((sides & 4) && tile_j > 0) next.add(t - p.tiles_x);
      if ((sides & 8) && (tile_j + 1) * tile < ym) next.add(t + p.tiles_x);
    };
    Kokkos::single(Kokkos::PerTeam(team), list_neighbours);
  }
};

/// f(patch, n, cell, ghost) for border cell n of each patch; n is a position in its buffer.
template <class F>
void for_each_border_cell(const char* label, const Shared<FieldPatch*>& patches, const F& f) {
  const Kokkos::TeamPolicy<Exec> policy(static_cast<int>(patches.extent(0)), Kokkos::AUTO);
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const Kokkos::TeamPolicy<Exec>::member_type& team) {
        const FieldPatch p = patches(team.league_rank());
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, p.border.size()), [&](int n) {
          int cell = 0, ghost = 0;
          p.border.find(n, cell, ghost);
          f(p, n * p.stride, cell, ghost);
        });
      });
}

/// The fields of all local ranks, and their tiles.
struct Tiles {
  Shared<FieldPatch*> patches;
  Shared<int*> patch_of_tile;
  int total = 0;
  TileList now, next, after;
};

inline Tiles make_tiles(const Ranks& ranks, int count) {
  Tiles tiles;
  tiles.patches = make_shared<FieldPatch*>("distances: patches", ranks.local_size() * count);
  std::vector<int> patch_of_tile;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    const int tiles_x = (p.xm + tile - 1) / tile, tiles_y = (p.ym + tile - 1) / tile;
    for (int f = 0; f < count; ++f) {
      tiles.patches(r * count + f) = {nullptr, {p.xm, p.ym}, tiles_x, tiles.total, nullptr, count};
      tiles.total += tiles_x * tiles_y;
      patch_of_tile.resize(static_cast<std::size_t>(tiles.total), r * count + f);
    }
  }
  tiles.patch_of_tile = make_shared<int*>("distances: patch of tile", tiles.total);
  std::copy(patch_of_tile.begin(), patch_of_tile.end(), tiles.patch_of_tile.data());
  const Kokkos::View<int*, WorkMem> listed("distances: is a tile listed", tiles.total);
  for (TileList* list : {&tiles.now, &tiles.next, &tiles.after}) {
    *list = {Kokkos::View<int*, WorkMem>("distances: tiles", tiles.total), listed,
             Kokkos::View<int, WorkMem>("distances: tiles")};
  }
  return tiles;
}

/// Waits for the loops that use the tiles.
inline void set_fields(const Tiles& tiles, const DistanceFields& fields,
                       const BorderExchange& border) {
  Kokkos::fence("distances: other fields");
  const std::size_t count = fields.size();
  for (std::size_t n = 0; n < tiles.patches.size(); ++n) {
    tiles.patches(n).d = fields[n % count][n / count].data();
    tiles.patches(n).buffer = border.data(n / count) + n % count;
  }
}

/// Lists all tiles, without offers from ghosts.
inline void start(const Tiles& tiles) {
  const TileList list = tiles.next;
  Kokkos::parallel_for(
      "distances: all tiles", Kokkos::RangePolicy<Exec>(0, tiles.total),
      KOKKOS_LAMBDA(int t) { list.add(t); });
  for_each_border_cell(
      "distances: close ghosts", tiles.patches,
      KOKKOS_LAMBDA(const FieldPatch& p, int, int, int ghost) { p.d[ghost] = -1; });
}

/// Relaxes the listed tiles (at most `listed`), and those that they list, until nothing changes
/// within the patches. The host reads the length after several launches: empty ones are cheap.
inline void relax(Tiles& tiles, int listed) {
  const auto bytes = Kokkos::PerTeam(static_cast<int>(RelaxTile::Scratch::shmem_size()));
  constexpr int launches = loops_on_host ? 2 : 8; // an empty launch on a GPU is cheaper than a read
  while (listed > 0) {
    for (int n = 0; n < launches; ++n) {
      const TileList free = tiles.now;
      tiles.now = tiles.next;
      tiles.next = tiles.after;
      tiles.after = free;
      Kokkos::parallel_for(
          "distances: tiles", RelaxTile::Policy(listed, threads).set_scratch_size(0, bytes),
          RelaxTile{tiles.patches, tiles.patch_of_tile, tiles.now, tiles.next, tiles.after});
      listed = std::min(tiles.total, 4 * listed); // a tile lists its neighbours
    }
    Kokkos::deep_copy(listed, tiles.next.count);
  }
}

inline int how_many(const TileList& list) {
  int listed = 0;
  Kokkos::deep_copy(listed, list.count);
  return listed;
}

/// Exchanges border cells, and lists the tiles that get a better offer from another patch. (A cell
/// at the domain edge finds its own value in the buffer, which is no offer.)
inline void exchange(const Tiles& tiles, BorderExchange& border) {
  for_each_border_cell(
      "distances: border cells", tiles.patches,
      KOKKOS_LAMBDA(const FieldPatch& p, int n, int cell, int) { p.buffer[n] = p.d[cell]; });
  border.exchange();
  const TileList list = tiles.next;
  for_each_border_cell(
      "distances: offers", tiles.patches,
      KOKKOS_LAMBDA(const FieldPatch& p, int n, int cell, int ghost) {
        p.d[ghost] = p.buffer[n];
        if (accepts(p.d[cell], p.d[ghost])) list.add(p.tile_of(cell));
      });
}

} // namespace device_distance

/// Solves successive problems by tiles; keeps work space.
class DeviceDistances {
public:
  /// The grid must not be periodic. `ranks` must outlive this object.
  explicit DeviceDistances(Ranks& ranks) : m_ranks(ranks) {}

  /// Computes the distances; only loops access the fields. Communicates: per round one message to
  /// each neighbour on a side; after 4, 8, 16, ... rounds one maximum.
  DistanceReport solve(const DistanceProblem& problem) {
    const DistanceFields& fields = problem.fields;
    const bool one_rank = m_ranks.decomposition().size() == 1;
    if (fields.size() != m_fields.size()) {
      m_border.emplace(m_ranks, static_cast<int>(fields.size()));
      m_tiles = device_distance::make_tiles(m_ranks, static_cast<int>(fields.size()));
    }
    if (fields != m_fields) device_distance::set_fields(m_tiles, m_fields = fields, *m_border);
    device_distance::start(m_tiles);
    device_distance::relax(m_tiles, m_tiles.total);
    DistanceReport report;
    std::vector<char> changed(static_cast<std::size_t>(m_ranks.local_size()), 0);
    int until = one_rank ? 0 : 4;
    do {
      for (; report.rounds < until; ++report.rounds) {
        device_distance::exchange(m_tiles, *m_border);
        const int listed = device_distance::how_many(m_tiles.next);
        device_distance::relax(m_tiles, listed);
        std::fill(changed.begin(), changed.end(), listed > 0 ? 1 : 0);
      }
      until *= 2;
    } while (anything_changed(m_ranks, changed, problem.maxima, report));
    return report;
  }

private:
  Ranks& m_ranks;
  DistanceFields m_fields; // of the last problem
  std::optional<BorderExchange> m_border;
  device_distance::Tiles m_tiles;
};

inline SolveDistances make_device(Ranks& ranks, const DistanceOptions&) {
  return [by_tiles = std::make_shared<DeviceDistances>(ranks)](const DistanceProblem& problem) {
    return by_tiles->solve(problem);
  };
}

} // namespace nunatak
