// Distances by tiles, wholly on the execution space (see distance.hpp): the solver for a GPU.
//
//  +----+----+----+   1. A patch is cut into tiles of 32 x 32 cells. One team loads a tile and the
//  |    | <- | *  |      ring of cells around it into its scratch memory and sweeps there, along
//  +----+----+-|--+      rows and columns alternately, until nothing changes. A thread has a row
//  |    |    | v  |      (column) to itself and passes through it in both directions.
//  +----+----+----+   2. What changed is written back. A neighbouring tile that gets a better offer
//                        is put on the list.
//                     3. The listed tiles are next, until the list is empty. Border cells are then
//                        exchanged between patches, and tiles that get a better offer are listed.
//                        A reduction tells only after 4, 8, 16, ... of these rounds whether
//                        anything has changed: superfluous rounds cost only their messages.
//
// Every value is the length of a path and values only decrease, so that the order of tiles and
// threads does not matter: the result has the bits of the other solvers. All fields and all local
// ranks share one list, hence the launches. A value travels one tile per launch (a search by levels
// would need 32 times as many launches). The host reads the length of the list, on a GPU after each
// 8 launches, and the border cells, which have a buffer of their own; it never touches the fields.
#pragma once

#include "kernels/distance/device/tiles.hpp"
#include "kernels/distance/types.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace nunatak {

namespace device_distance {

/// f(patch, n, cell, ghost) for border cell n of each patch, n as a place in its buffer.
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

/// The tiles of `count` fields; set_fields() says which.
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
                       const BorderExchange<int>& border) {
  Kokkos::fence("distances: other fields");
  const std::size_t count = fields.size();
  for (std::size_t n = 0; n < tiles.patches.size(); ++n) {
    tiles.patches(n).d = fields[n % count][n / count].data();
    tiles.patches(n).buffer = border.data(static_cast<int>(n / count)) + n % count;
  }
}

/// List all tiles; no offers from ghosts.
inline void start(const Tiles& tiles) {
  const TileList list = tiles.next;
  Kokkos::parallel_for(
      "distances: all tiles", Kokkos::RangePolicy<Exec>(0, tiles.total),
      KOKKOS_LAMBDA(int t) { list.add(t); });
  for_each_border_cell(
      "distances: close ghosts", tiles.patches,
      KOKKOS_LAMBDA(const FieldPatch& p, int, int, int ghost) { p.d[ghost] = -1; });
}

/// Relax the listed tiles (at most `listed`), and those that they list, until nothing changes
/// within the patches. The host looks at the length of the list after several launches: those that
/// find it empty cost little. Before each look it calls `launch`.
template <class F> void relax(Tiles& tiles, int listed, const F& launch) {
  const auto bytes = Kokkos::PerTeam(static_cast<int>(RelaxTile::Scratch::shmem_size()));
  constexpr int launches = loops_on_host ? 2 : 8; // on a GPU an empty launch is cheaper than a look
  while (listed > 0) {
    for (int n = 0; n < launches; ++n) {
      const TileList free = tiles.now;
      tiles.now = tiles.next, tiles.next = tiles.after, tiles.after = free;
      Kokkos::parallel_for(
          "distances: tiles", RelaxTile::Policy(listed, threads).set_scratch_size(0, bytes),
          RelaxTile{tiles.patches, tiles.patch_of_tile, tiles.now, tiles.next, tiles.after});
      listed = std::min(tiles.total, 4 * listed); // a tile lists those beside it
    }
    launch();
    Kokkos::deep_copy(listed, tiles.next.count);
  }
}

inline int how_many(const TileList& list) {
  int listed = 0;
  Kokkos::deep_copy(listed, list.count);
  return listed;
}

/// Exchange border cells, and list the tiles that get a better offer from beyond their patch. (A
/// cell at the edge of the domain finds its own value in the buffer, which is no offer.)
inline void exchange(const Tiles& tiles, BorderExchange<int>& border) {
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

/// Distances by tiles, of one problem after another; keeps its work space.
class DeviceDistances {
public:
  /// The grid must not be periodic. `ranks` must outlive this object.
  explicit DeviceDistances(Ranks& ranks) : m_ranks(ranks) {}

  /// The distances. Fields are read and written by loops only.
  /// Communicates: per round one message to each neighbour on a side; after 4, 8, 16, ... rounds
  /// one maximum.
  DistanceReport solve(const DistanceProblem& problem) {
    const DistanceFields& fields = problem.fields;
    const bool one_rank = m_ranks.decomposition().size() == 1;
    const auto launch = [&] {
      for (int r = 0; r < m_ranks.local_size() && problem.launch; ++r) problem.launch(r);
    };
    if (fields.size() != m_fields.size()) {
      m_border.emplace(m_ranks, static_cast<int>(fields.size()));
      m_tiles = device_distance::make_tiles(m_ranks, static_cast<int>(fields.size()));
    }
    if (fields != m_fields) device_distance::set_fields(m_tiles, m_fields = fields, *m_border);
    device_distance::start(m_tiles);
    device_distance::relax(m_tiles, m_tiles.total, [&] {
      if (one_rank) launch();
    });
    DistanceReport report;
    std::vector<char> changed(static_cast<std::size_t>(m_ranks.local_size()), 0);
    int until = one_rank ? 0 : 4;
    do {
      for (; report.rounds < until; ++report.rounds) {
        device_distance::exchange(m_tiles, *m_border);
        const int listed = device_distance::how_many(m_tiles.next);
        device_distance::relax(m_tiles, listed, [] {});
        std::fill(changed.begin(), changed.end(), listed > 0 ? 1 : 0);
      }
      until *= 2;
      if (!one_rank) {
        launch();
        Kokkos::fence("distances: maxima");
      }
    } while (anything_changed(m_ranks, changed, problem.maxima, report));
    return report;
  }

private:
  Ranks& m_ranks;
  DistanceFields m_fields; // of the last problem
  std::optional<BorderExchange<int>> m_border;
  device_distance::Tiles m_tiles;
};

inline SolveDistances make_device(Ranks& ranks, const DistanceOptions&) {
  return [by_tiles = std::make_shared<DeviceDistances>(ranks)](const DistanceProblem& problem) {
    return by_tiles->solve(problem);
  };
}

} // namespace nunatak
