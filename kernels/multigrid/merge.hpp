// Coarse levels of kernels/multigrid/multigrid.hpp on fewer ranks: blocks of neighbouring patches go to the first rank of each
// block. The other ranks have no part of the coarser levels; they wait for what comes back.
//
//   +---+---+---+    2 x 2    +-------+---+    Only messages between these ranks are sent, through the Ranks of all: nobody needs
//   | 6 | 7 | 8 |   patches   |   6   | 8 |    a communicator of those that go on. Both sides list the unknowns of a patch in
//   +---+---+---+   become    +-------+---+    raster order, so that numbers travel without their places.
//   | 3 | 4 | 5 |    one:     |       |   |
//   +---+---+---+             |   0   | 2 |
//   | 0 | 1 | 2 |             |       |   |
//   +---+---+---+             +-------+---+
#pragma once

#include "kernels/grid/halo_strips.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/multigrid/nine_point.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace nunatak {

/// Packets of bytes (a multiple of 4) between ranks, and from a rank to itself: to() and expect() for each piece, send(), and
/// from() for each piece in the order in which the sender has written it. After clear() the same again, between the same ranks,
/// with what was allocated before.
class Mail {
public:
  explicit Mail(Ranks& ranks) : m_ranks(ranks), m_out(locals()), m_in(locals()), m_read(locals()), m_own(locals()) {}

  void clear() {
    for (auto* all : {&m_out, &m_in}) {
      for (auto& packets : *all) {
        for (Packet& packet : packets) packet.words.clear();
      }
    }
    for (auto& read : m_read) read.clear();
    for (Own& own : m_own) own.packet.words.clear(), own.read = 0;
  }
  std::byte* to(int local, int rank, std::size_t bytes) {
    Packet& packet = is_own(local, rank) ? m_own[at(local)].packet : find(m_out[at(local)], rank);
    return grow(packet, bytes);
  }
  void expect(int local, int rank, std::size_t bytes) {
    if (!is_own(local, rank)) grow(find(m_in[at(local)], rank), bytes);
  }
  void send() {
    m_ranks.exchange(m_out, m_in);
    for (std::size_t n = 0; n < m_in.size(); ++n) m_read[n].resize(m_in[n].size(), 0);
  }
  const std::byte* from(int local, int rank, std::size_t bytes) {
    Own& own = m_own[at(local)];
    if (is_own(local, rank)) return next(own.packet, own.read, bytes);
    Packet& packet = find(m_in[at(local)], rank);
    return next(packet, m_read[at(local)][static_cast<std::size_t>(&packet - m_in[at(local)].data())], bytes);
  }

private:
  struct Own {
    Packet packet;
    std::size_t read = 0;
  };
  static std::size_t at(int local) { return static_cast<std::size_t>(local); }
  std::size_t locals() const { return at(m_ranks.local_size()); }
  bool is_own(int local, int rank) const { return m_ranks.first() + local == rank; }
  static Packet& find(std::vector<Packet>& packets, int rank) {
    const auto found = std::find_if(packets.begin(), packets.end(), [rank](const Packet& p) { return p.rank == rank; });
    if (found != packets.end()) return *found;
    packets.push_back({rank, {}});
    return packets.back();
  }
  static std::byte* grow(Packet& packet, std::size_t bytes) {
    const std::size_t before = packet.words.size();
    packet.words.resize(before + bytes / sizeof(int));
    return reinterpret_cast<std::byte*>(packet.words.data() + before);
  }
  static const std::byte* next(const Packet& packet, std::size_t& read, std::size_t bytes) {
    const int* first = packet.words.data() + read;
    read += bytes / sizeof(int);
    return reinterpret_cast<const std::byte*>(first);
  }

  Ranks& m_ranks;
  std::vector<std::vector<Packet>> m_out, m_in;
  std::vector<std::vector<std::size_t>> m_read; // words, of the packets that came
  std::vector<Own> m_own;
};

/// Some of the ranks over a decomposition of their own: patch n lies on rank members[n] of `all`, which counts what is sent and
/// has the clocks. Only ghosts and work: all that is collective throws std::logic_error.
class MergedRanks final : public Ranks {
public:
  /// `members`: ascending. `all` must outlive this object.
  MergedRanks(Ranks& all, const Decomposition& decomposition, std::vector<int> members)
      : Ranks(decomposition), m_all(all), m_members(std::move(members)), m_mail(all) {
    const auto position = [this](int rank) {
      return static_cast<int>(std::lower_bound(m_members.begin(), m_members.end(), rank) - m_members.begin());
    };
    m_first = position(all.first());
    m_locals = position(all.first() + all.local_size()) - m_first;
  }

  int local_size() const override { return m_locals; } ///< 0: this process has no part in it
  int first() const override { return m_first; }
  int member(int n) const { return m_members[static_cast<std::size_t>(n)]; }

  void launch_ghosts(const std::vector<std::vector<Ghosted>>& arrays) override {
    Kokkos::fence("nunatak: before the ghost exchange");
    m_mail.clear();
    for (int n = 0; n < m_locals; ++n) {
      const auto& mine = arrays[static_cast<std::size_t>(n)];
      const std::size_t cell_bytes = bytes_per_cell(mine);
      for_each_message(m_decomposition, m_first + n, [&](int dx, int dy, int to, int from) {
        const Strip out = owned_strip(patch(n), dx, dy), in = ghost_strip(patch(n), -dx, -dy);
        if (to >= 0) pack(patch(n), out, mine, m_mail.to(place(n), member(to), out.cells() * cell_bytes));
        if (from >= 0) m_mail.expect(place(n), member(from), in.cells() * cell_bytes);
      });
    }
    if (m_decomposition.size() > 1) m_mail.send();
    for (int n = 0; n < m_locals; ++n) {
      const auto& mine = arrays[static_cast<std::size_t>(n)];
      for_each_message(m_decomposition, m_first + n, [&](int dx, int dy, int, int from) {
        const Strip in = ghost_strip(patch(n), -dx, -dy);
        if (from >= 0) unpack(patch(n), in, mine, m_mail.from(place(n), member(from), in.cells() * bytes_per_cell(mine)));
      });
    }
    for (int n = 0; n < m_locals; ++n) {
      for (const Ghosted& a : arrays[static_cast<std::size_t>(n)])
        replicate_edges(m_decomposition, patch(n), a.data, a.cell_bytes);
    }
  }
  void work(int local, std::int64_t visits) override { m_all.work(place(local), visits); }

  void sum(std::vector<std::vector<std::int64_t>>&) override { refuse(); }
  void max(std::vector<std::vector<std::int64_t>>&) override { refuse(); }
  void sum(std::vector<std::vector<ReproducibleSum>>&) override { refuse(); }
  std::vector<std::int64_t> gather_all(const std::vector<std::vector<std::int64_t>>&) override { refuse(); }
  std::vector<std::int64_t> gather_all(const std::vector<std::vector<std::int64_t>>&, const std::vector<int>&) override {
    refuse();
  }
  void exchange(const std::vector<std::vector<Packet>>&, std::vector<std::vector<Packet>>&) override { refuse(); }
  std::unique_ptr<Group> group(std::vector<int>) override { refuse(); }

private:
  std::unique_ptr<Ranks> make_over(const Decomposition& decomposition) const override {
    return std::make_unique<MergedRanks>(m_all, decomposition, m_members);
  }
  [[noreturn]] static void refuse() { throw std::logic_error("ranks of merged patches: expected an exchange of ghosts"); }

  int place(int local) const { return member(m_first + local) - m_all.first(); } // among the local ranks of m_all

  Ranks& m_all;
  std::vector<int> m_members;
  int m_first = 0, m_locals = 0;
  Mail m_mail; // of ghosts; it stays
};

/// Blocks of side x side patches, fewer at the ends.
inline Decomposition merged(const Decomposition& d, int side) {
  Decomposition m = d;
  const auto keep = [side](std::vector<int>& starts) {
    std::vector<int> kept;
    for (std::size_t r = 0; r + 1 < starts.size(); r += static_cast<std::size_t>(side)) kept.push_back(starts[r]);
    kept.push_back(starts.back());
    starts = std::move(kept);
    return static_cast<int>(starts.size()) - 1;
  };
  m.px = keep(m.x), m.py = keep(m.y);
  return m;
}

/// The way of numbers from the patches of a level to those of the same grid, merged, and back.
class Merge {
public:
  Merge() = default;
  /// members[n]: the rank of `all` that has patch n of `fine`. At first all cells of a patch travel. Not collective.
  Merge(Ranks& all, const Ranks& fine, const std::vector<int>& members, const MergedRanks& merged, int side) : m_all(&all) {
    const Decomposition &d = fine.decomposition(), &m = merged.decomposition();
    for (int n = 0; n < d.size(); ++n) {
      const int block = (n / d.px / side) * m.px + n % d.px / side;
      const int child = members[static_cast<std::size_t>(n)], first = merged.member(block);
      const Patch p = d.patch(n);
      const auto own = [](const Ranks& ranks, int k) { return k >= ranks.first() && k < ranks.first() + ranks.local_size(); };
      if (own(fine, n)) m_below.push_back(End(n - fine.first(), child - all.first(), first, p, p));
      if (own(merged, block)) m_above.push_back(End(block - merged.first(), first - all.first(), child, m.patch(block), p));
    }
  }
  /// From now on only unknowns travel: below[n], above[n] are 1 in those of the local patches, ghosts included.
  void keep(const std::vector<Array2<int>>& below, const std::vector<Array2<int>>& above) {
    Kokkos::fence("multigrid: unknowns");
    for (End& end : m_below) end.keep(below[end.part]);
    for (End& end : m_above) end.keep(above[end.part]);
  }

  /// `width` numbers of each cell that travels: data(patch) of those below becomes data(patch) of those merged. Communicates: a
  /// message from each patch that is not the first of its block.
  template <class F, class G> void gather(int width, const F& from, const G& to) const {
    move(width, m_below, from, m_above, to, false);
  }
  /// And back, with the ghosts of each patch if wanted.
  template <class F, class G> void give_back(int width, const F& from, const G& to, bool ghosts) const {
    move(width, m_above, from, m_below, to, ghosts);
  }

private:
  struct End { // of the way of one patch
    std::size_t part;
    int local, other;             // rank at this end (local, of all), at the other one (global)
    Patch array, patch;           // of the numbers at this end; that travel
    std::vector<int> cells, ring; // their places: owned cells of the patch, its ghosts

    End(int part_, int local_, int other_, const Patch& array_, const Patch& patch_)
        : part(static_cast<std::size_t>(part_)), local(local_), other(other_), array(array_), patch(patch_) {
      list([](int, int) { return true; });
    }
    void keep(const Array2<int>& active) {
      list([&](int j, int i) { return active(j, i) != 0; });
    }
    template <class F> void list(const F& travels) {
      cells.clear(), ring.clear();
      for (int j = 0; j <= patch.ym + 1; ++j) {
        for (int i = 0; i <= patch.xm + 1; ++i) {
          const int row = patch.global_j(j) - array.ys + 1, column = patch.global_i(i) - array.xs + 1;
          const bool ghost = j == 0 || j == patch.ym + 1 || i == 0 || i == patch.xm + 1;
          if (travels(row, column)) (ghost ? ring : cells).push_back(row * (array.xm + 2) + column);
        }
      }
    }
    /// f(place) of all cells that travel.
    template <class F> void for_each(bool ghosts, const F& f) const {
      for (const int place : cells) f(place);
      if (!ghosts) return;
      for (const int place : ring) f(place);
    }
    std::size_t size(bool ghosts) const { return cells.size() + (ghosts ? ring.size() : 0); }
  };

  template <class F, class G>
  void move(int width, const std::vector<End>& from, const F& source, const std::vector<End>& to, const G& target,
            bool ghosts) const {
    Kokkos::fence("multigrid: before messages");
    Mail mail(*m_all);
    const std::size_t bytes = static_cast<std::size_t>(width) * sizeof(*source(std::size_t{0}));
    for (const End& end : from) {
      if (end.size(ghosts) == 0) continue;
      const auto* numbers = source(end.part);
      std::byte* out = mail.to(end.local, end.other, bytes * end.size(ghosts));
      end.for_each(ghosts, [&](int place) {
        std::memcpy(out, numbers + static_cast<std::ptrdiff_t>(place) * width, bytes);
        out += bytes;
      });
    }
    for (const End& end : to) {
      if (end.size(ghosts) > 0) mail.expect(end.local, end.other, bytes * end.size(ghosts));
    }
    mail.send();
    for (const End& end : to) {
      if (end.size(ghosts) == 0) continue;
      auto* numbers = target(end.part);
      const std::byte* in = mail.from(end.local, end.other, bytes * end.size(ghosts));
      end.for_each(ghosts, [&](int place) {
        std::memcpy(numbers + static_cast<std::ptrdiff_t>(place) * width, in, bytes);
        in += bytes;
      });
    }
  }

  Ranks* m_all = nullptr;
  std::vector<End> m_below, m_above;
};

} // namespace nunatak
