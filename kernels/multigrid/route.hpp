// Moves numbers of single cells between the patches of a level, or of two levels: ghosts, merged
// patches (halo.hpp). Both ends list the same cells in the same order, so that numbers travel
// without their places, and only those of unknowns.
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/grid/ranks.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace nunatak {

using RoutePlaces = Kokkos::View<int*, Mem>;

/// to[k] = from[places[k]], or to[places[k]] = from[k], for `width` numbers of each cell.
template <class T> void gather_cells(const RoutePlaces& places, int width, const T* from, T* to) {
  Kokkos::parallel_for(
      "route: pack", Kokkos::RangePolicy<Exec>(0, static_cast<int>(places.extent(0))),
      KOKKOS_LAMBDA(int k) {
        for (int m = 0; m < width; ++m)
          to[static_cast<std::ptrdiff_t>(k) * width + m] =
              from[static_cast<std::ptrdiff_t>(places(k)) * width + m];
      });
}
template <class T> void scatter_cells(const RoutePlaces& places, int width, const T* from, T* to) {
  Kokkos::parallel_for(
      "route: unpack", Kokkos::RangePolicy<Exec>(0, static_cast<int>(places.extent(0))),
      KOKKOS_LAMBDA(int k) {
        for (int m = 0; m < width; ++m)
          to[static_cast<std::ptrdiff_t>(places(k)) * width + m] =
              from[static_cast<std::ptrdiff_t>(k) * width + m];
      });
}

/// The ends of the pieces of a list, for the host and loops.
using RouteEnds = Kokkos::View<int*, PinnedMem>;

/// Of `all`, the places of cells that are 1 in `active`, in the same order. `ends`: of the pieces
/// of `all`, then of those kept.
inline void keep_active(const RoutePlaces& all, const Array2<int>& active, const RoutePlaces& kept,
                        const RouteEnds& ends) {
  const int pieces = ends.extent_int(0) / 2;
  scan_range<int>(
      "route: keep", 0, all.extent_int(0), KOKKOS_LAMBDA(int n, int& before, bool last) {
        if (active.data()[all(n)] != 0) {
          if (last) kept(before) = all(n);
          before += 1;
        }
        for (int k = 0; last && k < pieces; ++k) {
          if (n + 1 == ends(k)) ends(pieces + k) = before;
        }
      });
}

/// One end of a route: what leaves the local patches, or what arrives at them.
class RouteEnd {
public:
  static constexpr std::size_t to_itself = ~std::size_t{0};

  RouteEnd() = default;
  explicit RouteEnd(int first_rank) : m_first(first_rank) {}

  /// Cells of patch `part`, on local rank `local`, that travel from or to `rank`. Those of a pair
  /// of ranks are added in the same order at both ends. One patch per local rank.
  void add(std::size_t part, int local, int rank, const std::vector<int>& places) {
    if (m_parts.empty() || m_parts.back().part != part)
      m_parts.push_back({part, local, {}, {}, {}});
    std::vector<Piece>& pieces = m_parts.back().pieces;
    auto piece = std::find_if(pieces.begin(), pieces.end(),
                              [rank](const Piece& other) { return other.rank == rank; });
    if (piece == pieces.end()) piece = pieces.insert(piece, {rank, {}, 0});
    piece->places.insert(piece->places.end(), places.begin(), places.end());
    piece->cells = static_cast<int>(piece->places.size());
  }
  /// From now on only cells travel that are 1 in active[part].
  void keep(const std::vector<Array2<int>>& active) {
    if (empty()) return;
    list();
    std::vector<RoutePlaces> kept;
    std::vector<RouteEnds> ends;
    for (const Part& part : m_parts) {
      kept.emplace_back(Kokkos::view_alloc("multigrid: places", Kokkos::WithoutInitializing),
                        part.places.extent(0));
      ends.emplace_back(shared_label("multigrid: ends"), 2 * part.pieces.size());
      int end = 0;
      for (std::size_t k = 0; k < part.pieces.size(); ++k)
        ends.back()(k) = end += static_cast<int>(part.pieces[k].places.size());
    }
    for (std::size_t n = 0; n < m_parts.size(); ++n)
      keep_active(m_parts[n].places, active[m_parts[n].part], kept[n], ends[n]);
    Kokkos::fence("multigrid: cells that travel");
    for (std::size_t n = 0; n < m_parts.size(); ++n) {
      int before = 0;
      for (std::size_t k = 0; k < m_parts[n].pieces.size(); ++k) {
        const int end = ends[n](m_parts[n].pieces.size() + k);
        m_parts[n].pieces[k].cells = end - before;
        before = end;
      }
      m_parts[n].places = Kokkos::subview(kept[n], std::make_pair(0, before));
    }
  }
  /// The Views of places. Call it after the last add().
  void list() {
    for (Part& part : m_parts) {
      std::vector<int> all;
      for (const Piece& piece : part.pieces)
        all.insert(all.end(), piece.places.begin(), piece.places.end());
      part.places = RoutePlaces(
          Kokkos::view_alloc("multigrid: places", Kokkos::WithoutInitializing), all.size());
      Kokkos::deep_copy(part.places,
                        Kokkos::View<const int*, Kokkos::HostSpace>(all.data(), all.size()));
    }
  }

  bool empty() const { return m_parts.empty(); }
  /// Allocates so many bytes of each cell.
  void reserve(std::size_t bytes_of_cell) {
    for (Part& part : m_parts) {
      const std::size_t size = (part.places.extent(0) * bytes_of_cell + 7) / 8;
      if (part.buffer.extent(0) < size)
        part.buffer = make_shared<double*>("multigrid: buffer", size);
    }
  }
  template <class T, class F> void pack(int width, const F& source) const {
    for (const Part& part : m_parts)
      gather_cells<T>(part.places, width, source(part.part),
                      reinterpret_cast<T*>(part.buffer.data()));
  }
  template <class T, class F> void unpack(int width, const F& target) const {
    for (const Part& part : m_parts)
      scatter_cells<T>(part.places, width, reinterpret_cast<const T*>(part.buffer.data()),
                       target(part.part));
  }
  /// f(local, rank, n, bytes, buffer) of each piece that is not empty, n = 0, 1, ... of those of a
  /// patch, or to_itself.
  template <class F> void for_each(std::size_t bytes_of_cell, const F& f) const {
    for (const Part& part : m_parts) {
      std::byte* at = reinterpret_cast<std::byte*>(part.buffer.data());
      std::size_t n = 0;
      for (const Piece& piece : part.pieces) {
        const std::size_t bytes = static_cast<std::size_t>(piece.cells) * bytes_of_cell;
        const bool own = piece.rank == m_first + part.local;
        if (bytes > 0) f(part.local, piece.rank, own ? to_itself : n++, bytes, at);
        at += bytes;
      }
    }
  }

private:
  struct Piece {
    int rank;
    std::vector<int> places; ///< all that may travel
    int cells;               ///< how many of them do
  };
  struct Part {
    std::size_t part;
    int local;
    std::vector<Piece> pieces;
    RoutePlaces places; ///< of all pieces
    Shared<double*> buffer;
  };
  int m_first = 0; // rank of the first local one
  std::vector<Part> m_parts;
};

/// Moves numbers from patches to patches. Not collective, except for messages between the ranks of
/// its ends.
class Route {
public:
  Route() = default;
  /// `alone`: no cell goes to another rank, and no rank is waited for.
  explicit Route(Ranks& all, bool alone = false)
      : start(all.first()), end(all.first()), m_all(&all), m_alone(alone) {}

  RouteEnd start, end;
  void keep(const std::vector<Array2<int>>& at_start, const std::vector<Array2<int>>& at_end) {
    start.keep(at_start);
    end.keep(at_end);
    m_there = {};
    m_back = {};
  }

  void list() {
    start.list();
    end.list();
  }

  /// `width` numbers of each cell: source(patch) of the start becomes target(patch) of the end. One
  /// round of messages.
  template <class F, class G> void move(int width, const F& source, const G& target) {
    move(m_there, width, start, source, end, target);
  }
  /// From the end to the start.
  template <class F, class G> void move_back(int width, const F& source, const G& target) {
    move(m_back, width, end, source, start, target);
  }

private:
  /// Packets of the local ranks, in the order of the pieces, and what a rank has for itself. Their
  /// memory stays.
  struct Mail {
    std::vector<std::vector<Packet>> out, in;
    std::vector<const std::byte*> own;
  };
  static std::byte* packet(std::vector<Packet>& packets, std::size_t n, int rank,
                           std::size_t bytes) {
    if (n == packets.size()) packets.push_back({rank, {}});
    packets[n].words.resize(bytes / sizeof(int));
    return reinterpret_cast<std::byte*>(packets[n].words.data());
  }

  template <class F, class G>
  void move(Mail& mail, int width, RouteEnd& from, const F& source, RouteEnd& to, const G& target) {
    if (m_alone && from.empty()) return;
    for (auto* packets : {&mail.out, &mail.in}) packets->resize(m_all->local_size());
    mail.own.resize(m_all->local_size());
    using T = std::remove_reference_t<decltype(*target(std::size_t{0}))>;
    const std::size_t bytes_of_cell = static_cast<std::size_t>(width) * sizeof(T);
    from.reserve(bytes_of_cell);
    to.reserve(bytes_of_cell);
    from.pack<T>(width, source);
    Kokkos::fence("multigrid: before messages");
    from.for_each(bytes_of_cell,
                  [&](int local, int rank, std::size_t n, std::size_t bytes, std::byte* at) {
                    if (n == RouteEnd::to_itself)
                      mail.own[local] = at;
                    else
                      std::memcpy(packet(mail.out[local], n, rank, bytes), at, bytes);
                  });
    to.for_each(bytes_of_cell,
                [&](int local, int rank, std::size_t n, std::size_t bytes, std::byte*) {
                  if (n != RouteEnd::to_itself) packet(mail.in[local], n, rank, bytes);
                });
    if (!m_alone) m_all->exchange(mail.out, mail.in);
    to.for_each(
        bytes_of_cell, [&](int local, int rank, std::size_t n, std::size_t bytes, std::byte* at) {
          const bool own = n == RouteEnd::to_itself;
          std::memcpy(at, own ? mail.own[local] : packet(mail.in[local], n, rank, bytes), bytes);
        });
    to.unpack<T>(width, target);
  }

  Ranks* m_all = nullptr;
  bool m_alone = false;
  Mail m_there, m_back;
};

} // namespace nunatak
