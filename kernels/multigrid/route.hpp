// Moves values of single cells between the patches of one or two levels: ghosts, merged patches
// (halo.hpp). Both ends list the same cells in the same order: values travel without positions.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/multigrid/lanes.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace nunatak {

/// Packets of bytes (multiples of 4) between ranks, or on one rank: to() and expect() for each
/// piece, send(), then from() for each piece in the order in which the sender wrote it. clear()
/// allows the next round between the same ranks and reuses the memory.
class Mail {
public:
  explicit Mail(Ranks& ranks) : m_ranks(ranks), m_out(locals()), m_in(locals()), m_own(locals()) {}

  void clear() {
    for (auto* all : {&m_out, &m_in, &m_own}) {
      for (auto& packets : *all) {
        for (Packet& packet : packets) {
          packet.words.clear();
          packet.read = 0;
        }
      }
    }
  }
  std::byte* to(int local, int rank, std::size_t bytes) {
    return grow(find(is_own(local, rank) ? m_own[local] : m_out[local], rank), bytes);
  }
  void expect(int local, int rank, std::size_t bytes) {
    if (!is_own(local, rank)) grow(find(m_in[local], rank), bytes);
  }
  void send() { m_ranks.exchange(m_out, m_in); }
  const std::byte* from(int local, int rank, std::size_t bytes) {
    Packet& packet = find(is_own(local, rank) ? m_own[local] : m_in[local], rank);
    const int* first = packet.words.data() + packet.read;
    packet.read += bytes / sizeof(int);
    return reinterpret_cast<const std::byte*>(first);
  }

private:
  std::size_t locals() const { return static_cast<std::size_t>(m_ranks.local_size()); }
  bool is_own(int local, int rank) const { return m_ranks.first() + local == rank; }
  static Packet& find(std::vector<Packet>& packets, int rank) {
    const auto found = std::find_if(packets.begin(), packets.end(),
                                    [rank](const Packet& p) { return p.rank == rank; });
    if (found != packets.end()) return *found;
    packets.push_back({rank, {}});
    return packets.back();
  }
  static std::byte* grow(Packet& packet, std::size_t bytes) {
    const std::size_t before = packet.words.size();
    packet.words.resize(before + bytes / sizeof(int));
    return reinterpret_cast<std::byte*>(packet.words.data() + before);
  }

  Ranks& m_ranks;
  std::vector<std::vector<Packet>> m_out, m_in, m_own; // [local]; m_own: of a rank to itself
};

using RoutePlaces = Kokkos::View<int*, Mem>;

/// Values of the cells at `places` into a list, `width` per cell, and back.
template <class T>
void gather_cells(const RoutePlaces& places, int width, const CellValues<T>& from, T* to) {
  Kokkos::parallel_for(
      "route: pack", Kokkos::RangePolicy<Exec>(0, static_cast<int>(places.extent(0))),
      KOKKOS_LAMBDA(int k) {
        for (int m = 0; m < width; ++m)
          to[static_cast<std::ptrdiff_t>(k) * width + m] = from(places(k), m);
      });
}
template <class T>
void scatter_cells(const RoutePlaces& places, int width, const T* from, const CellValues<T>& to) {
  Kokkos::parallel_for(
      "route: unpack", Kokkos::RangePolicy<Exec>(0, static_cast<int>(places.extent(0))),
      KOKKOS_LAMBDA(int k) {
        for (int m = 0; m < width; ++m)
          to(places(k), m) = from[static_cast<std::ptrdiff_t>(k) * width + m];
      });
}

/// One end of a route: what leaves the local patches, or what arrives.
class RouteEnd {
public:
  RouteEnd() = default;
  explicit RouteEnd(Ranks& all) : m_all(&all) {}

  /// Adds cells of patch `part` that travel to or from `rank`, in the same order at both ends.
  void add(std::size_t part, int local, int rank, std::vector<int> places) {
    if (m_parts.empty() || m_parts.back().part != part)
      m_parts.push_back({part, local, {}, {}, {}});
    m_parts.back().pieces.push_back({rank, std::move(places)});
  }
  /// Restricts the route to cells that are 1 in active[part]; once.
  void keep(const std::vector<Array2<int>>& active) {
    if (empty()) return;
    Kokkos::fence("multigrid: cells that travel");
    for (Part& part : m_parts) {
      const Turn turn(*m_all, m_all->first() + part.local);
      const auto is_active = on_host(active[part.part]);
      for (Piece& piece : part.pieces) {
        const auto others =
            std::remove_if(piece.places.begin(), piece.places.end(),
                           [&is_active](int place) { return is_active.data()[place] == 0; });
        piece.places.erase(others, piece.places.end());
      }
    }
    list();
  }
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
  void reserve(std::size_t bytes_of_cell) {
    for (Part& part : m_parts) {
      const std::size_t size = (part.places.extent(0) * bytes_of_cell + 7) / 8;
      if (part.buffer.extent(0) < size)
        part.buffer = make_shared<double*>("multigrid: buffer", size);
    }
  }
  template <class T, class F> void pack(int width, const F& source) const {
    for (const Part& part : m_parts) {
      const Turn turn(*m_all, m_all->first() + part.local);
      gather_cells<T>(part.places, width, source(part.part),
                      reinterpret_cast<T*>(part.buffer.data()));
    }
  }
  template <class T, class F> void unpack(int width, const F& target) const {
    for (const Part& part : m_parts) {
      const Turn turn(*m_all, m_all->first() + part.local);
      scatter_cells<T>(part.places, width, reinterpret_cast<const T*>(part.buffer.data()),
                       target(part.part));
    }
  }
  /// f(local, rank, bytes, buffer) for each piece that is not empty.
  template <class F> void for_each(std::size_t bytes_of_cell, const F& f) const {
    for (const Part& part : m_parts) {
      std::byte* at = reinterpret_cast<std::byte*>(part.buffer.data());
      for (const Piece& piece : part.pieces) {
        const std::size_t bytes = piece.places.size() * bytes_of_cell;
        if (bytes > 0) f(part.local, piece.rank, bytes, at);
        at += bytes;
      }
    }
  }

private:
  struct Piece {
    int rank;
    std::vector<int> places;
  };
  struct Part {
    std::size_t part;
    int local;
    std::vector<Piece> pieces;
    RoutePlaces places; ///< of all pieces
    Shared<double*> buffer;
  };
  Ranks* m_all = nullptr;
  std::vector<Part> m_parts;
};

/// Moves values between patches. Not collective, except for messages between the ranks of its ends.
class Route {
public:
  Route() = default;
  /// `alone`: no cell goes to another rank, so no rank is waited for.
  explicit Route(Ranks& all, bool alone = false)
      : start(all), end(all), m_all(&all), m_alone(alone) {}

  RouteEnd start, end;
  /// True if no cell travels, on any rank.
  bool empty() const { return m_alone && start.empty(); }
  void keep(const std::vector<Array2<int>>& at_start, const std::vector<Array2<int>>& at_end) {
    start.keep(at_start);
    end.keep(at_end);
    m_there.reset();
    m_back.reset();
  }

  void list() {
    start.list();
    end.list();
  }

  /// Moves `width` values per cell from source(patch) to target(patch), CellValues. One round of
  /// messages.
  template <class F, class G> void move(int width, const F& source, const G& target) {
    move(m_there, width, start, source, end, target);
  }
  template <class F, class G> void move_back(int width, const F& source, const G& target) {
    move(m_back, width, end, source, start, target);
  }

private:
  template <class F, class G>
  void move(std::unique_ptr<Mail>& mail, int width, RouteEnd& from, const F& source, RouteEnd& to,
            const G& target) {
    if (empty()) return;
    if (mail == nullptr) mail = std::make_unique<Mail>(*m_all);
    mail->clear();
    using T = typename decltype(target(std::size_t{0}))::value_type;
    const std::size_t bytes_of_cell = static_cast<std::size_t>(width) * sizeof(T);
    from.reserve(bytes_of_cell);
    to.reserve(bytes_of_cell);
    from.pack<T>(width, source);
    Kokkos::fence("multigrid: before messages");
    from.for_each(bytes_of_cell,
                  [&](int local, int rank, std::size_t bytes, const std::byte* buffer) {
                    std::memcpy(mail->to(local, rank, bytes), buffer, bytes);
                  });
    to.for_each(bytes_of_cell, [&](int local, int rank, std::size_t bytes, std::byte*) {
      mail->expect(local, rank, bytes);
    });
    if (!m_alone) mail->send();
    to.for_each(bytes_of_cell, [&](int local, int rank, std::size_t bytes, std::byte* buffer) {
      std::memcpy(buffer, mail->from(local, rank, bytes), bytes);
    });
    to.unpack<T>(width, target);
  }

  Ranks* m_all = nullptr;
  bool m_alone = false;
  std::unique_ptr<Mail> m_there, m_back; // reused
};

} // namespace nunatak
