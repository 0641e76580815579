// Shelf cells on their way: a rank that has more than its quota sends the rest to others (balance.hpp), which compute them as
// their guests and send the results back.
//
//   owner   p, shelf and box of its last cells  -->  cells(r)         three words of 4 bytes per cell
//           for_each_result                     <--  result(r, n)     twelve words per cell
//
// Communicates: send() and send_results(), one message per move and direction, between ranks that know of it; nothing if there
// are no moves. Neighbours: melt.hpp.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/pico/shelf_water.hpp"
#include "kernels/pico/shelves.hpp"

#include <cstring>

namespace nunatak::pico {

class Guests {
public:
  explicit Guests(Ranks& ranks) : m_ranks(ranks), m_local(static_cast<std::size_t>(ranks.local_size())) {}

  /// Are cells to be moved, for this load?
  static bool wanted(Redistribute mode, const Load& load) {
    if (load.ranks == 1 || mode == Redistribute::off) return false;
    return mode == Redistribute::on || gain_of_moves(load) > 0.0;
  }

  /// Plan the moves. `cells`: shelf cells of each rank, or empty if each computes its own.
  void plan(const std::vector<std::int64_t>& cells) {
    m_moved = 0;
    for (Local& local : m_local) local.away.clear(), local.here.clear(), local.cells.p.clear();
    const std::vector<ShelfMove> moves = plan_moves(cells);
    for (const ShelfMove& move : moves) {
      m_moved += move.cells;
      if (is_local(move.from)) at(move.from).away.push_back(move);
      if (is_local(move.to)) at(move.to).here.push_back(move);
    }
  }
  std::int64_t moved_cells() const { return m_moved; } ///< on all ranks

  /// Cells above the quota leave `own`, and come as guests. `boxes`: one more than the largest number of a box.
  void send(std::vector<ShelfCells>& own, int boxes) {
    if (m_moved == 0) return;
    std::vector<std::vector<Packet>> out(m_local.size()), in(m_local.size());
    for (std::size_t r = 0; r < m_local.size(); ++r) {
      for (const ShelfMove& move : m_local[r].away) {
        out[r].push_back(packet(move.to, move.cells, cell_words));
        int* word = out[r].back().words.data();
        for (int n = move.first; n < move.first + move.cells; ++n, word += cell_words) {
          std::memcpy(word, &own[r].p[static_cast<std::size_t>(n)], sizeof(double));
          word[2] = own[r].shelf[n] * boxes + own[r].box[n];
        }
      }
      for (const ShelfMove& move : m_local[r].here) in[r].push_back(packet(move.from, move.cells, cell_words));
    }
    m_ranks.exchange(out, in);
    for (std::size_t r = 0; r < m_local.size(); ++r) {
      Local& local = m_local[r];
      if (!local.away.empty()) own[r].p.resize(static_cast<std::size_t>(local.away.front().first));
      local.cells.p.clear(), local.shelf.clear(), local.box.clear();
      for (const Packet& from : in[r]) {
        for (std::size_t n = 0; n < from.words.size(); n += cell_words) {
          double p;
          std::memcpy(&p, &from.words[n], sizeof p);
          local.cells.p.push_back(p);
          local.shelf.push_back(from.words[n + 2] / boxes);
          local.box.push_back(from.words[n + 2] % boxes);
        }
      }
      local.cells.shelf = local.shelf.data(), local.cells.box = local.box.data();
      local.result.resize(local.cells.p.size());
    }
  }

  /// The guests of local rank r, and room for their results. No cells before the first send().
  ShelfCells& cells(std::size_t r) { return m_local[r].cells; }
  CellMelt& result(std::size_t r, std::size_t n) { return m_local[r].result[n]; }

  void send_results() {
    if (m_moved == 0) return;
    std::vector<std::vector<Packet>> out(m_local.size()), in(m_local.size());
    for (std::size_t r = 0; r < m_local.size(); ++r) {
      const CellMelt* result = m_local[r].result.data();
      for (const ShelfMove& move : m_local[r].here) {
        out[r].push_back(packet(move.from, move.cells, result_words));
        std::memcpy(out[r].back().words.data(), result, static_cast<std::size_t>(move.cells) * sizeof(CellMelt));
        result += move.cells;
      }
      for (const ShelfMove& move : m_local[r].away) in[r].push_back(packet(move.to, move.cells, result_words));
    }
    m_ranks.exchange(out, in);
    for (std::size_t r = 0; r < m_local.size(); ++r) m_local[r].back = std::move(in[r]);
  }

  /// f(n, CellMelt) for each cell n of local rank r that was computed elsewhere.
  template <class F> void for_each_result(std::size_t r, const F& f) const {
    const Local& local = m_local[r];
    for (std::size_t m = 0; m < local.away.size(); ++m) {
      const int* word = local.back[m].words.data();
      for (int n = 0; n < local.away[m].cells; ++n, word += result_words) {
        CellMelt melt;
        std::memcpy(&melt, word, sizeof melt);
        f(static_cast<std::size_t>(local.away[m].first + n), melt);
      }
    }
  }

private:
  static constexpr int cell_words = 3, result_words = sizeof(CellMelt) / sizeof(int);

  struct Local {
    std::vector<ShelfMove> away, here; // of its cells to others, of others' cells to it
    ShelfCells cells;
    std::vector<int> shelf, box;
    std::vector<CellMelt> result;
    std::vector<Packet> back;
  };

  static Packet packet(int rank, int cells, int words) {
    return {rank, std::vector<int>(static_cast<std::size_t>(cells) * static_cast<std::size_t>(words))};
  }
  bool is_local(int rank) const { return rank >= m_ranks.first() && rank < m_ranks.first() + m_ranks.local_size(); }
  Local& at(int rank) { return m_local[static_cast<std::size_t>(rank - m_ranks.first())]; }

  Ranks& m_ranks;
  std::vector<Local> m_local;
  std::int64_t m_moved = 0;
};

} // namespace nunatak::pico
