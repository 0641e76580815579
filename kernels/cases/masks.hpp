// Masks given by formulas: each is a function of the global cell (j, i), so that no rank needs the
// whole grid and any decomposition has the same mask. For tests of labels and distances, and for
// the tools that demonstrate them (docs/reference/tools.md). '#' is 1, '.' is 0; row 0 is at the
// top.
//
//   serpentine        spiral            comb              checkerboard
//   # # # # # # #     # # # # # # #     # . # . # . #     . # . # . # .
//   . . . . . . #     . . . . . . #     # . # . # . #     # . # . # . #
//   # # # # # # #     # # # # # . #     # . # . # . #     . # . # . # .
//   # . . . . . .     # . . . # . #     # . # . # . #     # . # . # . #
//   # # # # # # #     # . # # # . #     # . # . # . #     . # . # . # .
//   . . . . . . #     # . . . . . #     # . # . # . #     # . # . # . #
//   # # # # # # #     # # # # # # #     # # # # # # #     . # . # . # .
//   one path          one path          teeth joined in   no two cells joined
//                                       the last row
//
// percolation: each cell at random; components of all sizes at p = 0.593 (site percolation on the
// square lattice). shelves: grounded and floating ice, ocean, ice rises and islands, from
// noise.hpp.
#pragma once

#include "kernels/cases/noise.hpp"

#include <algorithm>

namespace nunatak::masks {

/// Rows 0, 2, 4, ... joined at alternating ends: one path of about Mx My / 2 cells.
inline bool serpentine(int Mx, int j, int i) {
  return j % 2 == 0 || i == (j % 4 == 1 ? Mx - 1 : 0);
}

/// One path from the corner (0, 0) to the middle, one cell wide, with one cell between its arms.
///
///   r = distance to the edge of the grid numbers the rings. Even rings are path, odd rings are
///   wall, except for two cells: the cell below the start of an even ring is wall (a), the cell
///   before the start of the next one is path (b).
///
///        # # # # # # #      Ring r is Mx - 2 r cells wide and My - 2 r cells high. Rings of 1 or 2
///        a . . . . . #      cells hold an upper row and a right column only.
///        # b # # # . #
///        # . a . # . #
inline bool spiral(int Mx, int My, int j, int i) {
  const int r = std::min(std::min(j, My - 1 - j), std::min(i, Mx - 1 - i));
  const bool thin = std::min(Mx, My) - 2 * r < 3;
  if (r % 2 == 0 && thin) return j == r || i == Mx - 1 - r;
  const bool below_start = !thin && j == r + 1 && i == r;
  return (r % 2 == 0) != below_start;
}

/// Columns 0, 2, 4, ..., joined in the last row.
inline bool comb(int My, int j, int i) { return i % 2 == 0 || j == My - 1; }

/// No cell has a 4-neighbour.
inline bool checkerboard(int j, int i) { return (j + i) % 2 != 0; }

/// A number in [0, 1) for each cell of an infinite plane.
inline double random_of_cell(std::uint64_t seed, int j, int i) {
  return random01(seed, static_cast<std::uint64_t>(static_cast<std::uint32_t>(j)) << 32 |
                            static_cast<std::uint32_t>(i));
}

/// 1 with probability p, independently for each cell.
inline bool percolation(double p, std::uint64_t seed, int j, int i) {
  return random_of_cell(seed, j, i) < p;
}

/// A continent with ice shelves (legend: kernels/ice/geometry.hpp): 2 grounded, 3 floating, 4
/// ocean.
///
///     4 4 4 4 4 4 4 4 4
///     4 4 3 3 3 4 4 2 4     land     s > 0     s = 0.3 - distance + noise
///     4 3 3 2 3 3 4 4 4     shelf    s > -w    w: its width, of smooth noise, 0 on some coasts
///     4 3 2 2 2 3 3 4 4     rises and islands: where finer noise peaks, within reach of the coast
///     4 2 2 2 2 2 2 4 4
///
/// Distances are in units of the longer side of the grid, from its middle. `roughness`, 0 (round)
/// to 1 (torn), is the strength of the noise. Every resolution samples the same continent.
class Shelves {
public:
  static constexpr int grounded = 2, floating = 3, ocean = 4;

  Shelves(int Mx, int My, std::uint64_t seed, double roughness)
      : m_seed(hash64(seed)), m_roughness(roughness), m_i0(0.5 * (Mx - 1)), m_j0(0.5 * (My - 1)),
        m_step(1.0 / std::max(Mx, My)) {}

  int operator()(int j, int i) const {
    const double x = (i - m_i0) * m_step, y = (j - m_j0) * m_step;
    const double s =
        0.3 - std::sqrt(x * x + y * y) + 0.2 * m_roughness * rough_noise(m_seed, x, y, 0.22);
    if (s > 0.0) return grounded;
    if (s < -reach) return ocean;
    if (noise(m_seed + 10, x, y, 0.035) > 0.8) return grounded; // a peak of the bed
    const double width = 0.04 + 0.08 * noise(m_seed + 20, x, y, 0.3) +
                         0.03 * m_roughness * noise(m_seed + 30, x, y, 0.05);
    return s > -width ? floating : ocean;
  }

private:
  static constexpr double reach = 0.15; // maximum width of a shelf
  std::uint64_t m_seed;
  double m_roughness, m_i0, m_j0, m_step;
};

} // namespace nunatak::masks
