// The ghost exchange of a patch in two loops, for arrays that only loops touch: one packs what goes
// to all neighbours, for all arrays, into a buffer; one fills all ghosts from what has arrived,
// including those beyond the domain edges. Same bytes in the same order as pack(), unpack() and
// replicate_edges() of halo_strips.hpp on the host.
#pragma once

#include "kernels/grid/halo_strips.hpp"
#include "kernels/grid/ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nunatak {

// Types of the two loops: nvcc does not accept private ones.
namespace halo_loops {

/// A sent cell or a ghost: its position in the arrays, j (xm + 2) + i, and in the buffer: cell `n`
/// of the message of `cells` cells that begins at cell `first`. cells = 0: not in the buffer; n is
/// then the position of the owned cell that it copies.
struct Place {
  int position, n, first, cells;
};
using Places = Shared<Place*>;

constexpr int most_arrays = 32;

/// The arrays as machine words: `together` words per cell and level; levels are `map` cells apart.
template <class Word> struct Arrays {
  int count = 0;
  std::int64_t map = 0; ///< cells of a patch and its ghosts
  Word* data[most_arrays] = {};
  int together[most_arrays] = {};
  int before[most_arrays + 1] = {0}; ///< words per cell of the preceding arrays
  KOKKOS_INLINE_FUNCTION int words() const { return before[count]; }
  /// Locates word n of all cells of all arrays, array by array, level by level.
  KOKKOS_INLINE_FUNCTION void find(std::int64_t n, std::int64_t cells, int& a, int& cell,
                                   int& word) const {
    a = 0;
    while (n >= cells * before[a + 1]) ++a;
    const std::int64_t rest = n - cells * before[a];
    const std::int64_t width = together[a];
    const std::int64_t level = rest / (cells * width);
    cell = static_cast<int>((rest - level * cells * width) / width);
    word = static_cast<int>(level * width + rest % width);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t in_buffer(const Place& p, int a, int word) const {
    return static_cast<std::int64_t>(p.first) * words() +
           static_cast<std::int64_t>(p.cells) * before[a] + at_level(p.n, p.cells, a, word);
  }
  KOKKOS_INLINE_FUNCTION Word& at(int a, int position, int word) const {
    return data[a][at_level(position, map, a, word)];
  }
  /// Offset of a word of cell n where a level has `cells` cells.
  KOKKOS_INLINE_FUNCTION std::int64_t at_level(int n, std::int64_t cells, int a, int word) const {
    const int width = together[a];
    if (width == before[a + 1] - before[a])
      return static_cast<std::int64_t>(n) * width + word; // one level
    return (word / width * cells + n) * width + word % width;
  }
};

// Bytes of values of any type.
struct __attribute__((may_alias)) Word8 {
  std::uint64_t bits;
};
struct __attribute__((may_alias)) Word4 {
  std::uint32_t bits;
};
struct __attribute__((may_alias)) Word1 {
  std::uint8_t bits;
};

/// f(place, array, word) for all words of the cells that `places` lists.
template <class Word, class F>
void for_each_word(const char* label, const Arrays<Word>& arrays, const Places& places,
                   const F& f) {
  const auto cells = static_cast<std::int64_t>(places.extent(0));
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(0, cells * arrays.words()),
      KOKKOS_LAMBDA(std::int64_t n) {
        int a = 0, cell = 0, word = 0;
        arrays.find(n, cells, a, cell, word);
        f(places(cell), a, word);
      });
}
template <class Word> void pack_words(const Arrays<Word>& arrays, const Places& sent, Word* out) {
  for_each_word(
      "ghosts: pack", arrays, sent, KOKKOS_LAMBDA(const Place& p, int a, int word) {
        out[arrays.in_buffer(p, a, word)] = arrays.at(a, p.position, word);
      });
}
template <class Word>
void unpack_words(const Arrays<Word>& arrays, const Places& ghosts, const Word* in) {
  for_each_word(
      "ghosts: unpack", arrays, ghosts, KOKKOS_LAMBDA(const Place& p, int a, int word) {
        arrays.at(a, p.position, word) =
            p.cells > 0 ? in[arrays.in_buffer(p, a, word)] : arrays.at(a, p.n, word);
      });
}

} // namespace halo_loops

/// The arrays of local ranks with each level as a separate array, as the host packs them.
inline decltype(auto) by_level(const Decomposition& d, int first,
                               const std::vector<std::vector<Ghosted>>& arrays) {
  if constexpr (levels_apart) {
    std::vector<std::vector<Ghosted>> all(arrays.size());
    for (std::size_t r = 0; r < arrays.size(); ++r) {
      const Patch p = d.patch(first + static_cast<int>(r));
      const std::size_t map =
          static_cast<std::size_t>(p.xm + 2) * static_cast<std::size_t>(p.ym + 2);
      for (Ghosted a : arrays[r]) {
        const int levels = std::exchange(a.levels, 1);
        for (int k = 0; k < levels; ++k, a.data += map * a.cell_bytes) all[r].push_back(a);
      }
    }
    return all;
  } else {
    (void)d, (void)first;
    return (arrays);
  }
}

class HaloLoops {
public:
  /// The cells of a message; its bytes begin at first * (bytes per cell of all arrays).
  struct Message {
    int dx, dy, rank; ///< direction and number of the other rank
    int first, cells;
  };

  HaloLoops(const Decomposition& d, int rank) : m_patch(d.patch(rank)) {
    std::vector<Place> sent, ghosts;
    for (int n = 0; n < 9; ++n) {
      const int dx = n % 3 - 1, dy = n / 3 - 1, other = n == 4 ? -1 : d.neighbour(rank, dx, dy);
      if (other < 0) continue;
      const Strip owned = owned_strip(m_patch, dx, dy), ghost = ghost_strip(m_patch, dx, dy);
      m_outgoing.push_back({dx, dy, other, cells(m_outgoing), static_cast<int>(owned.cells())});
      m_incoming.push_back({dx, dy, other, cells(m_incoming), static_cast<int>(ghost.cells())});
      const Message& m = m_outgoing.back();
      for (int j = owned.j0; j < owned.j1; ++j) {
        for (int i = owned.i0; i < owned.i1; ++i)
          sent.push_back(
              {position(j, i), static_cast<int>(sent.size()) - m.first, m.first, m.cells});
      }
    }
    for (int j = 0; j <= m_patch.ym + 1; ++j) {
      const int step = j == 0 || j == m_patch.ym + 1 ? 1 : m_patch.xm + 1;
      for (int i = 0; i <= m_patch.xm + 1; i += step) ghosts.push_back(source(d, j, i));
    }
    m_sent = list("halo: cells that are sent", sent);
    m_ghosts = list("halo: ghosts", ghosts);
  }

  const std::vector<Message>& outgoing() const { return m_outgoing; }
  const std::vector<Message>& incoming() const { return m_incoming; }
  /// Cells of all outgoing messages; as many arrive.
  int cells() const { return cells(m_outgoing); }

  /// `out`, `in`: cells() times the bytes per cell of all arrays, aligned to 8 bytes. No waits.
  void pack(const std::vector<Ghosted>& arrays, std::byte* out) const {
    in_words(arrays, [&](const auto& a) { halo_loops::pack_words(a, m_sent, words_of(a, out)); });
  }
  void unpack(const std::vector<Ghosted>& arrays, const std::byte* in) const {
    in_words(arrays,
             [&](const auto& a) { halo_loops::unpack_words(a, m_ghosts, words_of(a, in)); });
  }

private:
  using Place = halo_loops::Place;
  using Places = halo_loops::Places;
  template <class Word> using Arrays = halo_loops::Arrays<Word>;

  template <class Word> static Word* words_of(const Arrays<Word>&, std::byte* buffer) {
    return reinterpret_cast<Word*>(buffer);
  }
  template <class Word> static const Word* words_of(const Arrays<Word>&, const std::byte* buffer) {
    return reinterpret_cast<const Word*>(buffer);
  }

  /// f(Arrays) with the widest words that divide all cells.
  template <class F> void in_words(const std::vector<Ghosted>& arrays, const F& f) const {
    if (arrays.size() > halo_loops::most_arrays) {
      throw std::invalid_argument("ghost exchange: expected at most " +
                                  std::to_string(halo_loops::most_arrays) + " arrays, found " +
                                  std::to_string(arrays.size()));
    }
    const auto all = [&](std::size_t bytes) {
      return std::all_of(arrays.begin(), arrays.end(),
                         [&](const Ghosted& a) { return a.cell_bytes % bytes == 0; });
    };
    if (all(8)) return f(as_words<halo_loops::Word8>(arrays));
    if (all(4)) return f(as_words<halo_loops::Word4>(arrays));
    f(as_words<halo_loops::Word1>(arrays));
  }
  template <class Word> Arrays<Word> as_words(const std::vector<Ghosted>& arrays) const {
    Arrays<Word> words;
    words.map = static_cast<std::int64_t>(m_patch.xm + 2) * (m_patch.ym + 2);
    for (const Ghosted& a : arrays) {
      words.data[words.count] = reinterpret_cast<Word*>(a.data);
      const int together = words.together[words.count] =
          static_cast<int>(a.cell_bytes / sizeof(Word));
      words.before[words.count + 1] = words.before[words.count] + together * a.levels;
      words.count += 1;
    }
    return words;
  }

  static int cells(const std::vector<Message>& messages) {
    return messages.empty() ? 0 : messages.back().first + messages.back().cells;
  }
  int position(int j, int i) const { return j * (m_patch.xm + 2) + i; }

  /// The source of ghost (j, i): the nearest cell inside the domain, owned or of a neighbour.
  Place source(const Decomposition& d, int j, int i) const {
    const Patch& p = m_patch;
    const int ghost = position(j, i);
    if (!d.periodic_x && i == 0 && p.xs == 0) i = 1;
    if (!d.periodic_x && i == p.xm + 1 && p.xs + p.xm == p.Mx) i = p.xm;
    if (!d.periodic_y && j == 0 && p.ys == 0) j = 1;
    if (!d.periodic_y && j == p.ym + 1 && p.ys + p.ym == p.My) j = p.ym;
    const int dx = i == 0 ? -1 : i == p.xm + 1 ? 1 : 0, dy = j == 0 ? -1 : j == p.ym + 1 ? 1 : 0;
    for (const Message& m : m_incoming) {
      if (m.dx != dx || m.dy != dy) continue;
      const Strip strip = ghost_strip(p, dx, dy);
      return {ghost, (j - strip.j0) * (strip.i1 - strip.i0) + i - strip.i0, m.first, m.cells};
    }
    return {ghost, position(j, i), 0, 0};
  }

  static Places list(const char* label, const std::vector<Place>& places) {
    const Places view(Kokkos::view_alloc(shared_label(label), Kokkos::WithoutInitializing),
                      places.size());
    std::copy(places.begin(), places.end(), view.data());
    return view;
  }

  Patch m_patch;
  std::vector<Message> m_outgoing, m_incoming;
  Places m_sent, m_ghosts;
};

} // namespace nunatak
