// Distances on one patch by a monotone bucket queue: bucket v holds the cells of distance v. A step
// costs 1, so bucket v fills only bucket v + 1, and two buckets suffice for cells found here.
// Offers from other patches are sorted by value and wait for their bucket. (Dial 1969, Algorithm
// 360, Communications of the ACM 12, 632.)
//
//   bucket 4: 3 cells, one of them an offer         Each cell of the bucket looks at its 4
//      ->  bucket 5: their free neighbours          neighbours: those without a distance, or with a
//                                                   larger one, get v + 1 and the next bucket.
//
// Values never fall during a wave: a cell enters a bucket once per wave.
#pragma once

#include "kernels/distance/types.hpp"

#include <algorithm>

namespace nunatak {

/// True if `value` improves the distance `d` (-1: outside the domain, 0: none yet).
inline bool improves(int value, int d) { return d == 0 || d > value; }

class PatchWave {
public:
  /// d: one field of a patch, flat, with ghosts, which become -1.
  PatchWave(const Patch& patch, int* d) : m_patch(patch), m_row(patch.xm + 2), m_d(d) {
    close_ghosts();
  }

  void close_ghosts() {
    for (int i = 0; i < m_row; ++i) m_d[i] = m_d[(m_patch.ym + 1) * m_row + i] = -1;
    for (int j = 1; j <= m_patch.ym; ++j) m_d[j * m_row] = m_d[j * m_row + m_patch.xm + 1] = -1;
  }

  const int* d() const { return m_d; }

  /// For the next wave: offers `value` from another patch to `cell`; ignored unless it is better.
  void offer(int value, int cell) {
    if (improves(value, m_d[cell])) m_offers.push_back({value, cell});
  }
  bool has_offers() const { return !m_offers.empty(); }

  /// Runs from cells of value 1. Returns the number of cells that were in a bucket.
  std::int64_t from_seeds(const std::vector<int>& seeds) {
    m_bucket.assign(seeds.begin(), seeds.end());
    return run(1, seeds.size());
  }

  std::int64_t from_offers() {
    std::sort(m_offers.begin(), m_offers.end());
    return run(0, 0);
  }

private:
  struct Offer {
    int value, cell;
    bool operator<(const Offer& o) const {
      return value != o.value ? value < o.value : cell < o.cell;
    }
  };

  /// Runs from bucket `value`, which holds `filled` cells.
  std::int64_t run(int value, std::size_t filled) {
    std::int64_t visits = 0;
    for (std::size_t next = 0; filled > 0 || next < m_offers.size(); ++value) {
      if (filled == 0) value = m_offers[next].value;
      for (; next < m_offers.size() && m_offers[next].value == value; ++next) {
        const int cell = m_offers[next].cell;
        if (!improves(value, m_d[cell])) continue;
        m_d[cell] = value;
        if (m_bucket.size() == filled) m_bucket.resize(2 * filled + 16);
        m_bucket[filled++] = cell;
      }
      visits += static_cast<std::int64_t>(filled);
      filled = spread(value + 1, filled);
      m_bucket.swap(m_next);
    }
    m_offers.clear();
    return visits;
  }

  std::size_t spread(int value, std::size_t filled) {
    if (m_next.size() < 4 * filled) m_next.resize(8 * filled + 16);
    const int* in = m_bucket.data();
    int *out = m_next.data(), *d = m_d;
    const int row = m_row;
    const auto look_at = [&](int cell) {
      if (!improves(value, d[cell])) return;
      d[cell] = value;
      *out++ = cell;
    };
    for (std::size_t n = 0; n < filled; ++n) {
      const int cell = in[n];
      look_at(cell - 1);
      look_at(cell + 1);
      look_at(cell - row);
      look_at(cell + row);
    }
    return static_cast<std::size_t>(out - m_next.data());
  }

  Patch m_patch;
  int m_row;
  int* m_d;
  std::vector<int> m_bucket, m_next;
  std::vector<Offer> m_offers;
};

} // namespace nunatak
