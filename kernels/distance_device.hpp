// Distances by tiles, wholly on the execution space (see distance.hpp): the solver for a GPU.
//
//   +----+----+----+      1. A patch is cut into tiles of 32 x 32 cells. One team loads a tile and the ring of cells around it
//   |    | <- | *  |         into its scratch memory and sweeps there, along rows and along columns in turn, until nothing
//   +----+----+-|--+         changes: a thread has a row (column) to itself and goes through it to and fro, so that no two
//   |    |    | v  |         threads touch the same cell.
//   +----+----+----+      2. What changed is written back. A tile beside it is put on the list if a better offer reaches it.
//                         3. The listed tiles are next, until the list is empty. Then border cells are exchanged between patches,
//                            in rounds as in distance_bfs.hpp; tiles that get a better offer are listed.
//
// Every value is the length of a path and values only decrease, so that the order of tiles and threads does not matter: where no
// offer is better the values are the distances, the same bits as those of the other solvers. All fields and all local ranks share
// one list, hence the launches. A value travels one tile per launch: a path through n tiles needs n launches. (A launch for each
// cell of the path, as in a search by levels, would be 32 times as many.) The host sees the length of the list and the border
// cells, which have a buffer of their own; the fields are not touched by it.
#pragma once

#include "kernels/distance_tiles.hpp"
#include "kernels/distance_types.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace nunatak {

namespace device_distance {

/// f(patch, n, cell, ghost) for border cell n of each patch; see FieldPatch.
template <class F> void for_each_border_cell(const char* label, const Kokkos::View<FieldPatch*, Mem>& patches, const F& f) {
  const Kokkos::TeamPolicy<Exec> policy(static_cast<int>(patches.extent(0)), Kokkos::AUTO);
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const Kokkos::TeamPolicy<Exec>::member_type& team) {
        const FieldPatch p = patches(team.league_rank());
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, p.border()), [&](int n) {
          int cell = 0, ghost = 0;
          p.border_cell(n, cell, ghost);
          f(p, n, cell, ghost);
        });
      });
}

/// The fields of all local ranks, their tiles and the buffer of their border cells.
struct Problem {
  Kokkos::View<FieldPatch*, Mem> patches; ///< (local rank, field), fields fastest
  Kokkos::View<int*, Mem> patch_of_tile, border;
  TileList now, next;
};

inline Problem make_problem(const Ranks& ranks, const DistanceFields& fields) {
  Problem problem;
  const int count = ranks.local_size() * static_cast<int>(fields.size());
  problem.patches = Kokkos::View<FieldPatch*, Mem>("distances: patches", count);
  int tiles = 0, border = 0, at = 0;
  std::vector<int> patch_of_tile;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    const int tiles_x = (p.xm + tile - 1) / tile, tiles_y = (p.ym + tile - 1) / tile;
    for (const auto& field : fields) {
      problem.patches(at) = {field[r].data(), p.xm, p.ym, tiles_x, tiles, border};
      border += problem.patches(at).border();
      tiles += tiles_x * tiles_y;
      patch_of_tile.resize(static_cast<std::size_t>(tiles), at++);
    }
  }
  problem.border = Kokkos::View<int*, Mem>("distances: border cells", border);
  problem.patch_of_tile = Kokkos::View<int*, Mem>("distances: patch of tile", tiles);
  std::copy(patch_of_tile.begin(), patch_of_tile.end(), problem.patch_of_tile.data());
  const Kokkos::View<int*, WorkMem> listed("distances: is a tile listed", tiles);
  for (TileList* list : {&problem.now, &problem.next}) {
    *list = {Kokkos::View<int*, WorkMem>("distances: tiles", tiles), listed, Kokkos::View<int, WorkMem>("distances: tiles")};
  }
  return problem;
}

/// List all tiles; no offers from ghosts.
inline void start(const Problem& problem) {
  const TileList list = problem.next;
  const auto tiles = static_cast<int>(problem.patch_of_tile.extent(0));
  Kokkos::parallel_for(
      "distances: all tiles", Kokkos::RangePolicy<Exec>(0, tiles), KOKKOS_LAMBDA(int t) { list.add(t); });
  for_each_border_cell(
      "distances: close ghosts", problem.patches, KOKKOS_LAMBDA(const FieldPatch& p, int, int, int ghost) { p.d[ghost] = -1; });
}

/// Relax the listed tiles, and those that they list, until nothing changes within the patches. True if there was one.
inline bool relax(Problem& problem) {
  const auto bytes = Kokkos::PerTeam(static_cast<int>(RelaxTile::Scratch::shmem_size()));
  for (bool any = false;; any = true) {
    int listed = 0;
    Kokkos::deep_copy(listed, problem.next.count);
    if (listed == 0) return any;
    std::swap(problem.now, problem.next);
    Kokkos::deep_copy(Exec(), problem.next.count, 0);
    Kokkos::parallel_for("distances: tiles", RelaxTile::Policy(listed, threads).set_scratch_size(0, bytes),
                         RelaxTile{problem.patches, problem.patch_of_tile, problem.now, problem.next});
  }
}

inline void pack_border(const Problem& problem) {
  const auto border = problem.border;
  for_each_border_cell(
      "distances: border cells", problem.patches,
      KOKKOS_LAMBDA(const FieldPatch& p, int n, int cell, int) { border(p.first_border + n) = p.d[cell]; });
  Kokkos::fence("distances: border cells");
}

/// The buffer holds the values of the ghosts (a cell at the edge of the domain finds its own there, which is no offer).
inline void unpack_border(const Problem& problem) {
  const auto border = problem.border;
  const TileList list = problem.next;
  for_each_border_cell(
      "distances: offers", problem.patches, KOKKOS_LAMBDA(const FieldPatch& p, int n, int cell, int ghost) {
        p.d[ghost] = border(p.first_border + n);
        if (accepts(p.d[cell], p.d[ghost])) list.add(p.tile_of(cell));
      });
}

/// Messages between neighbours: a side of a patch, all fields one after another.
class Messages {
public:
  Messages(Ranks& ranks, std::size_t fields) : m_ranks(ranks), m_fields(fields) {
    const auto locals = static_cast<std::size_t>(ranks.local_size());
    m_out.resize(locals), m_in.resize(locals), m_sides.resize(locals);
    for (std::size_t r = 0; r < locals; ++r) {
      const Patch p = ranks.patch(static_cast<int>(r));
      const int rank = ranks.first() + static_cast<int>(r);
      const Decomposition& d = ranks.decomposition();
      int start = 0;
      for (const auto& [dx, dy, cells] : {std::array<int, 3>{-1, 0, p.ym}, {1, 0, p.ym}, {0, -1, p.xm}, {0, 1, p.xm}}) {
        const int neighbour = d.neighbour(rank, dx, dy);
        if (neighbour >= 0) {
          m_sides[r].push_back({start, cells});
          m_out[r].push_back({neighbour, std::vector<int>(fields * static_cast<std::size_t>(cells))});
        }
        start += cells;
      }
      m_in[r] = m_out[r];
    }
  }

  /// Border cells become those of the neighbours.
  void exchange(const Problem& problem) {
    for_each_piece(problem, m_out, [](int* border, int* words, int cells) { std::copy_n(border, cells, words); });
    m_ranks.exchange(m_out, m_in);
    for_each_piece(problem, m_in, [](int* border, int* words, int cells) { std::copy_n(words, cells, border); });
  }

private:
  template <class F> void for_each_piece(const Problem& problem, std::vector<std::vector<Packet>>& packets, const F& f) {
    for (std::size_t r = 0; r < packets.size(); ++r) {
      for (std::size_t m = 0; m < packets[r].size(); ++m) {
        const auto [start, cells] = m_sides[r][m];
        for (std::size_t k = 0; k < m_fields; ++k) {
          f(problem.border.data() + problem.patches(r * m_fields + k).first_border + start,
            packets[r][m].words.data() + k * static_cast<std::size_t>(cells), cells);
        }
      }
    }
  }

  Ranks& m_ranks;
  std::size_t m_fields;
  std::vector<std::vector<Packet>> m_out, m_in;          // a packet for each neighbour on a side
  std::vector<std::vector<std::pair<int, int>>> m_sides; // of each packet: first border cell, number of cells
};

} // namespace device_distance

/// The distances. The grid must not be periodic. `fields` are in Mem and are read and written by loops only.
/// Communicates: per round one message to each neighbour on a side; after 4, 8, 16, ... rounds one maximum.
inline DistanceReport device_distances(Ranks& ranks, const DistanceFields& fields, const DistanceMaxima& maxima) {
  device_distance::Problem problem = device_distance::make_problem(ranks, fields);
  device_distance::Messages messages(ranks, fields.size());
  device_distance::start(problem);
  device_distance::relax(problem);
  DistanceReport report;
  std::vector<char> changed(static_cast<std::size_t>(ranks.local_size()), 0);
  int until = ranks.decomposition().size() == 1 ? 0 : 4;
  do {
    for (; report.rounds < until; ++report.rounds) {
      device_distance::pack_border(problem);
      messages.exchange(problem);
      device_distance::unpack_border(problem);
      std::fill(changed.begin(), changed.end(), device_distance::relax(problem) ? 1 : 0);
    }
    until *= 2;
  } while (anything_changed(ranks, changed, maxima, report));
  return report;
}

} // namespace nunatak
