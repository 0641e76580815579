#include "miniapp/tools/io/geodesic.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace nunatak::tools {

namespace {

/// The bits of i at the even places, those of j at the odd ones.
std::int64_t interleave(std::int64_t i, std::int64_t j) {
  std::int64_t code = 0;
  for (int bit = 0; bit < 31; ++bit)
    code |= (i >> bit & 1) << (2 * bit) | (j >> bit & 1) << (2 * bit + 1);
  return code;
}

std::array<std::int64_t, 2> separate(std::int64_t code) {
  std::int64_t i = 0, j = 0;
  for (int bit = 0; bit < 31; ++bit) {
    i |= (code >> (2 * bit) & 1) << bit;
    j |= (code >> (2 * bit + 1) & 1) << bit;
  }
  return {i, j};
}

} // namespace

/// The cell at (i,j) of a rhombus, -1 <= i,j <= n, across its sides; not (-1,-1) at its origin, nor
/// (-1,n) or (n,-1).
std::int64_t Geodesic::cell_at(std::int64_t rhombus, std::int64_t i, std::int64_t j) const {
  const std::int64_t n = m_n, k = rhombus % 5, next = (k + 1) % 5, before = (k + 4) % 5;
  if (rhombus < 5) {
    if (j == n) return i == 0 ? north() : cell_at(next, 0, n - i);
    if (i == n) return cell_at(5 + k, 0, j);
    if (i < 0) return cell_at(before, n - 1 - j, n - 1);
    if (j < 0) return cell_at(5 + before, i, n - 1);
  } else {
    if (i == n) return j == 0 ? south() : cell_at(5 + next, n - j, 0);
    if (j == n) return cell_at(next, i, 0);
    if (i < 0) return cell_at(k, n - 1, j);
    if (j < 0) return cell_at(5 + before, n - 1, n - 1 - i);
  }
  return rhombus * m_rhombus + interleave(i, j);
}

std::array<std::int64_t, 3> Geodesic::rhombus_i_j(std::int64_t cell) const {
  const auto [i, j] = separate(cell % m_rhombus);
  return {cell / m_rhombus, i, j};
}

std::array<std::int64_t, 3> Geodesic::owned_neighbors(std::int64_t cell) const {
  const auto [d, i, j] = rhombus_i_j(cell);
  return {cell_at(d, i + 1, j), cell_at(d, i + 1, j + 1), cell_at(d, i, j + 1)};
}

std::array<std::int64_t, 6> Geodesic::cell_neighbors(std::int64_t cell) const {
  std::array<std::int64_t, 6> found{};
  if (cell == north() || cell == south()) {
    for (std::int64_t k = 0; k < 5; ++k) { // seen from outside, against the clock at either pole
      found[static_cast<std::size_t>(k)] =
          cell == north() ? cell_at(k, 0, m_n - 1) : cell_at(5 + (5 - k) % 5, m_n - 1, 0);
    }
    found[5] = found[0];
    return found;
  }
  const auto [d, i, j] = rhombus_i_j(cell);
  found = {
      cell_at(d, i + 1, j), cell_at(d, i + 1, j + 1), cell_at(d, i, j + 1), cell_at(d, i - 1, j), 0,
      cell_at(d, i, j - 1)};
  if (i == 0 && j == 0) {
    found[4] = found[5];
    found[5] = found[0];
  } else {
    found[4] = cell_at(d, i - 1, j - 1);
  }
  return found;
}

/// The triangle of three neighbours: one of them owns it.
std::int64_t Geodesic::corner_of(std::int64_t a, std::int64_t b, std::int64_t c) const {
  std::array<std::int64_t, 3> wanted{a, b, c};
  std::sort(wanted.begin(), wanted.end());
  for (const std::int64_t owner : {a, b, c}) {
    if (owner >= north()) continue;
    const auto own = owned_neighbors(owner);
    for (const std::int64_t which : {0, 1}) {
      const auto w = static_cast<std::size_t>(which);
      std::array<std::int64_t, 3> triangle{owner, own[w], own[w + 1]};
      std::sort(triangle.begin(), triangle.end());
      if (triangle == wanted) return 2 * owner + which;
    }
  }
  throw std::logic_error("geodesic grid: no triangle of cells " + std::to_string(a) + ", " +
                         std::to_string(b) + ", " + std::to_string(c));
}

std::int64_t Geodesic::edge_of(std::int64_t a, std::int64_t b) const {
  for (const auto& [owner, other] :
       {std::array<std::int64_t, 2>{a, b}, std::array<std::int64_t, 2>{b, a}}) {
    if (owner >= north()) continue;
    const auto own = owned_neighbors(owner);
    for (std::int64_t which = 0; which < 3; ++which) {
      if (own[static_cast<std::size_t>(which)] == other) return 3 * owner + which;
    }
  }
  throw std::logic_error("geodesic grid: no edge of cells " + std::to_string(a) + ", " +
                         std::to_string(b));
}

std::array<std::int64_t, 6> Geodesic::cell_corners(std::int64_t cell) const {
  const auto around = cell_neighbors(cell);
  const std::size_t sides = around[5] == around[0] ? 5 : 6;
  std::array<std::int64_t, 6> found{};
  for (std::size_t k = 0; k < sides; ++k)
    found[k] = corner_of(cell, around[k], around[(k + 1) % sides]);
  if (sides == 5) found[5] = found[0];
  return found;
}

std::array<std::int64_t, 6> Geodesic::cell_edges(std::int64_t cell) const {
  const auto around = cell_neighbors(cell);
  std::array<std::int64_t, 6> found{};
  for (std::size_t k = 0; k < 6; ++k) found[k] = edge_of(cell, around[k]);
  return found;
}

std::array<std::int64_t, 2> Geodesic::edge_corners(std::int64_t edge) const {
  const std::int64_t cell = edge / 3,
                     other = owned_neighbors(cell)[static_cast<std::size_t>(edge % 3)];
  const auto around = cell_neighbors(cell);
  const std::size_t sides = around[5] == around[0] ? 5 : 6;
  const auto k =
      static_cast<std::size_t>(std::find(around.begin(), around.end(), other) - around.begin());
  return {corner_of(cell, around[(k + sides - 1) % sides], other),
          corner_of(cell, other, around[(k + 1) % sides])};
}

} // namespace nunatak::tools
