// Shelf cells lie on few ranks. Which cells other ranks compute, and when that pays. Plain numbers; nothing is communicated.
//
//   cells       9 | 0 | 1 | 2     Each rank keeps at most its quota (here 3). What is above it, in the order of ranks, fills
//   quota       3 | 3 | 3 | 3     what others have below it, in the order of ranks:
//   above       6 | . | . | .
//   below       . | 3 | 2 | 1     moves: 0 -> 1: cells 3, 4, 5    0 -> 2: cells 6, 7    0 -> 3: cell 8
//
// Only cells above the quota travel: a cut of all cells into equal ranges would have the same loads and move nearly all of them.
// Neighbours: melt.hpp sends the cells and gets the results; ../loggp.hpp has the model of the messages.
#pragma once

#include "kernels/grid/loggp.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak {

enum class Redistribute { off, on, automatic };

/// "off", "on", "auto"; an invalid_argument for another word.
inline Redistribute redistribute(const std::string& word) {
  if (word == "off") return Redistribute::off;
  if (word == "on") return Redistribute::on;
  if (word == "auto") return Redistribute::automatic;
  throw std::invalid_argument("redistribution of shelf cells '" + word + "': expected off, on or auto");
}

namespace pico {

/// How many cells ranks have.
struct Load {
  std::int64_t largest = 0, total = 0;
  int ranks = 1;

  double mean() const { return static_cast<double>(total) / ranks; }
  /// Largest over mean, 1 if there are no cells: the time of the slowest rank over that of a perfect balance.
  double imbalance() const { return total > 0 ? static_cast<double>(largest) / mean() : 1.0; }
};

/// Rank `to` computes the cells first .. first + cells - 1 in the list of rank `from`.
struct ShelfMove {
  int from, to, first, cells;
};

/// Cells that rank `rank` has if `total` are shared equally.
inline std::int64_t quota(std::int64_t total, int ranks, int rank) { return total / ranks + (rank < total % ranks ? 1 : 0); }

/// The moves after which each rank computes its quota, in ascending order of both `from` and `to`. `cells`: of each rank.
inline std::vector<ShelfMove> plan_moves(const std::vector<std::int64_t>& cells) {
  const int ranks = static_cast<int>(cells.size());
  std::int64_t total = 0;
  for (const std::int64_t n : cells) total += n;
  std::vector<ShelfMove> moves;
  int to = 0;
  std::int64_t room = 0; // of rank to - 1
  for (int from = 0; from < ranks; ++from) {
    std::int64_t first = quota(total, ranks, from);
    while (first < cells[static_cast<std::size_t>(from)]) {
      for (; room <= 0; ++to) room = quota(total, ranks, to) - cells[static_cast<std::size_t>(to)];
      const std::int64_t n = std::min(room, cells[static_cast<std::size_t>(from)] - first);
      moves.push_back({from, to - 1, static_cast<int>(first), static_cast<int>(n)});
      first += n, room -= n;
    }
  }
  return moves;
}

/// What the physics costs its owner, s per shelf cell: to compute and store it; to send it away and store what comes back. Most
/// of both is storing seven numbers per cell. Measured on one core (docs/model.md).
constexpr double seconds_per_cell = 20e-9, seconds_per_moved_cell = 17e-9;
/// Bytes that travel for a moved cell, there and back.
constexpr double bytes_per_moved_cell = 12.0 + 48.0;

/// Seconds that the slowest rank gains by moving cells, by the model of `machine`; negative: loses. With 10 GB/s per rank a moved
/// cell costs 6 ns on its way and saves 3: moving never pays. It would on a network of more than 20 GB/s per rank.
///   without   largest * cell
///   with      mean * cell (its own, while its helpers do as many each) + moved cells * (what moving costs + bytes G)
///             + two rounds of messages with helpers that take a mean share each
///             + the numbers of cells of all ranks, one word each, in a sum that is needed anyway
inline double gain_of_moves(const Load& load, const LogGP& machine = {}) {
  if (load.total == 0 || load.ranks == 1) return 0.0;
  const double largest = static_cast<double>(load.largest), moved = largest - load.mean();
  const double helpers = std::min(std::ceil(moved / std::max(load.mean(), 1.0)), static_cast<double>(load.ranks - 1));
  const double messages = 2.0 * (machine.L + 2.0 * machine.o) + 2.0 * helpers * std::max(machine.g, machine.o);
  const double counts = LogGP::steps(load.ranks) * 8.0 * load.ranks * machine.G;
  return moved * (seconds_per_cell - seconds_per_moved_cell - bytes_per_moved_cell * machine.G) - messages - counts;
}

} // namespace pico
} // namespace nunatak
