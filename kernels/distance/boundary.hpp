// The boundary between two patches, seen from one side (buckets.hpp): the known values of the cells
// on the other side, offers that improve them, and the messages.
//
//     mine | theirs (known)       They offer 5 + 1 and 6 + 1 to my cells. My 2 offers 3 to their 8,
//        9 | 5                    so it is sent; my 9 and 6 are of no use to them. Once it is sent,
//        6 | 6                    their cell has at most 3: nothing is sent twice. '#' is outside
//        2 | 8                    the domain. A boundary across which the domain does not continue
//        # | 7                    is closed: it has no message after the first one.
//
// A message holds, per field, a header 3 n + form and the data; the shortest form is used:
//   form 0   n changes   position, value
//   form 1   n runs      position, 3 length + slope + 1, first value: values change by `slope` (-1,
//                        0 or 1) from cell to cell
//   form 2   n cells     the whole strip
// A message without changes is empty.
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
    return m_known.size() + m_known.size() / static_cast<std::size_t>(m_length);
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
      const int form = words[at] % 3, n = words[at] / 3;
      ++at;
      int* known = m_known.data() + f * static_cast<std::size_t>(m_length);
      const auto take = [&](int position, int value) {
        cells += 1;
        if (value < 0) return;
        if (known[position] < 0 || (value > 0 && improves(value, known[position])))
          known[position] = value;
        if (value > 0) waves[f].offer(value + 1, cell(position));
      };
      if (form == 0) {
        for (int k = 0; k < n; ++k, at += 2) take(words[at], words[at + 1]);
      } else if (form == 1) {
        for (int k = 0; k < n; ++k, at += 3) {
          const int length = words[at + 1] / 3, slope = words[at + 1] % 3 - 1;
          for (int m = 0; m < length; ++m) take(words[at] + m, words[at + 2] + m * slope);
        }
      } else {
        for (int k = 0; k < n; ++k, ++at) take(k, words[at]);
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
  struct Change {
    int position, value;
  };

  int cell(int position) const { return m_first + position * m_step; }

  template <class Wanted>
  std::int64_t write(const std::vector<PatchWave>& waves, std::vector<int>& words,
                     const Wanted& wanted) {
    words.clear();
    bool empty = true;
    for (std::size_t f = 0; f < waves.size(); ++f) {
      const int* d = waves[f].d();
      int* known = m_known.data() + f * static_cast<std::size_t>(m_length);
      m_changes.clear();
      for (int n = 0; n < m_length; ++n) {
        if (wanted(d[cell(n)], known[n])) m_changes.push_back({n, d[cell(n)]});
      }
      empty = empty && m_changes.empty();
      write_changes(d, words);
    }
    if (empty) words.clear();
    return static_cast<std::int64_t>(m_known.size());
  }

  void write_changes(const int* d, std::vector<int>& words) {
    const int changes = static_cast<int>(m_changes.size());
    const std::size_t start = words.size();
    words.push_back(0);
    int runs = 0;
    for (std::size_t n = 0, end; n < m_changes.size(); n = end, ++runs) {
      const auto follows = [&](std::size_t m) {
        return m < m_changes.size() && m_changes[m].position == m_changes[m - 1].position + 1;
      };
      int slope = 0;
      end = n + 1;
      if (follows(end) && std::abs(m_changes[end].value - m_changes[n].value) <= 1) {
        slope = m_changes[end].value - m_changes[n].value;
        while (follows(end) && m_changes[end].value == m_changes[end - 1].value + slope) ++end;
      }
      words.push_back(m_changes[n].position);
      words.push_back(3 * static_cast<int>(end - n) + slope + 1);
      words.push_back(m_changes[n].value);
    }
    words[start] = 3 * runs + 1;
    const int shorter = std::min(2 * changes, m_length);
    if (3 * runs <= shorter) return;
    words.resize(start);
    if (2 * changes <= m_length) {
      words.push_back(3 * changes);
      for (const Change& c : m_changes) words.insert(words.end(), {c.position, c.value});
    } else {
      words.push_back(3 * m_length + 2);
      for (int n = 0; n < m_length; ++n) words.push_back(d[cell(n)]);
    }
  }

  int m_rank, m_first, m_step, m_length;
  std::vector<int> m_known; // upper bound of the value on the other side; -1: outside the domain
  std::vector<Change> m_changes;
};

} // namespace nunatak
