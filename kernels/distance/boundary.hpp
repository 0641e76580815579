// The boundary between two patches, seen from one side (buckets.hpp): the known values of the cells
// on the other side, offers that improve them, and the messages.
//
//     mine | theirs (known)       They offer 5 + 1 and 6 + 1 to my cells. My 2 offers 3 to their 8,
//        9 | 5                    so it is sent; my 9 and 6 are of no use to them. Once it is sent,
//        6 | 6                    their cell has at most 3: nothing is sent twice. '#' is outside
//        2 | 8                    the domain. A boundary across which the domain does not continue
//        # | 7                    is closed: it has no message after the first one.
//
// A message holds, per field, the number of runs of changed cells, and of each run: position, 3
// length + slope + 1, first value. Values change by the slope (-1, 0 or 1) from cell to cell. A
// message without changes is empty.
#pragma once

#include "kernels/distance/wave.hpp"

namespace nunatak {

class DistanceBoundary {
public:
  /// The side (dx, dy) of `patch`, one of four, towards the patch of `rank`.
  DistanceBoundary(const Patch& patch, int dx, int dy, int rank, std::size_t fields)
      : m_rank(rank) {
    const int row = patch.xm + 2;
    m_step = dx != 0 ? row : 1;
    m_length = dx != 0 ? patch.ym : patch.xm;
    m_first = dx != 0 ? row + (dx > 0 ? patch.xm : 1) : (dy > 0 ? patch.ym : 1) * row + 1;
    m_known.assign(fields * static_cast<std::size_t>(m_length), -1);
  }

  int rank() const { return m_rank; }
  /// The maximum length of a message, in words.
  std::size_t longest() const {
    return 3 * m_known.size() + m_known.size() / static_cast<std::size_t>(m_length);
  }

  /// Writes the first message: all cells. Returns visits of cells, like all functions below.
  std::int64_t write_all(const std::vector<PatchWave>& waves, std::vector<int>& words) {
    return write(waves, words, [](int d, int&) { return d >= 0; });
  }

  /// Writes a later message: cells whose offers improve the known values of the other side.
  std::int64_t write_better(const std::vector<PatchWave>& waves, std::vector<int>& words) {
    return write(waves, words, [](int d, int& known) {
      if (d <= 0 || known < 0 || !improves(d + 1, known)) return false;
      known = d + 1;
      return true;
    });
  }

  /// Reads a message: its values become known and are offered to the cells on this side.
  std::int64_t read(const std::vector<int>& words, std::vector<PatchWave>& waves) {
    std::int64_t cells = 0;
    std::size_t at = 0;
    for (std::size_t f = 0; f < waves.size() && at < words.size(); ++f) {
      int* known = m_known.data() + f * static_cast<std::size_t>(m_length);
      for (int runs = words[at++]; runs > 0; --runs, at += 3) {
        const int length = words[at + 1] / 3, slope = words[at + 1] % 3 - 1;
        cells += length;
        for (int n = 0; n < length; ++n) {
          const int position = words[at] + n, value = words[at + 2] + n * slope;
          if (known[position] < 0 || (value > 0 && improves(value, known[position])))
            known[position] = value;
          if (value > 0) waves[f].offer(value + 1, cell(position));
        }
      }
    }
    return cells;
  }

  /// After the first messages: true if the domain continues across the boundary.
  bool open(const std::vector<PatchWave>& waves) {
    bool is_open = false;
    for (std::size_t f = 0; f < waves.size(); ++f) {
      int* known = m_known.data() + f * static_cast<std::size_t>(m_length);
      for (int n = 0; n < m_length; ++n) {
        const int d = waves[f].d()[cell(n)];
        if (d < 0 || known[n] < 0) continue;
        is_open = true;
        if (d > 0 && improves(d + 1, known[n])) known[n] = d + 1;
      }
    }
    return is_open;
  }

private:
  int cell(int position) const { return m_first + position * m_step; }

  template <class Wanted>
  std::int64_t write(const std::vector<PatchWave>& waves, std::vector<int>& words,
                     const Wanted& wanted) {
    words.clear();
    bool empty = true;
    for (std::size_t f = 0; f < waves.size(); ++f) {
      const int* d = waves[f].d();
      int* known = m_known.data() + f * static_cast<std::size_t>(m_length);
      const std::size_t runs = words.size();
      words.push_back(0);
      int end = -1, length = 0, slope = 0, last = 0; // of the latest run
      for (int n = 0; n < m_length; ++n) {
        const int value = d[cell(n)], step = value - last;
        if (!wanted(value, known[n])) continue;
        if (n == end && (length == 1 ? std::abs(step) <= 1 : step == slope)) {
          slope = step;
          length += 1;
          words[words.size() - 2] = 3 * length + slope + 1;
        } else {
          length = 1;
          words.insert(words.end(), {n, 3 * length + 1, value});
          words[runs] += 1;
          empty = false;
        }
        last = value;
        end = n + 1;
      }
    }
    if (empty) words.clear();
    return static_cast<std::int64_t>(m_known.size());
  }

  int m_rank, m_first, m_step, m_length;
  std::vector<int> m_known; // upper bound of the value on the other side; -1: outside the domain
};

} // namespace nunatak
