// The geodesic grid of GCRM: an icosahedron whose triangles are halved R times; cells are around
// the points, corners are the triangles, edges are the lines. 10 4^R + 2 cells, 20 4^R corners, 30
// 4^R edges.
//
// Ten rhombi of n x n cells, n = 2^R, and the two poles. U_k and L_k are the ten points of the
// icosahedron between the poles.
//
//        N       N                northern rhombus k: (0,0) = U_k, i towards L_k, j towards N,
//        opposite U_k+1
//       / \     / \               southern rhombus k: (0,0) = L_k, i towards S,   j towards U_k+1,
//       opposite L_k+1
//     U_k--U_k+1--U_k+2           (rhombi 0..4 are northern, 5..9 southern; k is modulo 5)
//       \ /  \   / \ ...          A cell has the neighbours (i+1,j) (i+1,j+1) (i,j+1) (i-1,j)
//       (i-1,j-1) (i,j-1), in this turn; the L_k--L_k+1                ten points with (0,0) and
//       the poles have five: the first stands again in sixth place.
//         \ /   \ ...
//          S     S                Each cell owns the triangles to (i+1,j), (i+1,j+1) and to
//          (i+1,j+1), (i,j+1), and the edges to
//                                 (i+1,j), (i+1,j+1), (i,j+1).
//
// Cells are numbered rhombus by rhombus, in Morton order within (bits of j and i in turns), then N
// and S; the corners of cell c are 2c and 2c + 1, its edges 3c to 3c + 2. So neighbours in numbers
// are neighbours on the sphere. Used by workloads.cpp.
#pragma once

#include <array>
#include <cstdint>

namespace nunatak::tools {

class Geodesic {
public:
  explicit Geodesic(int R) : m_n(std::int64_t{1} << R), m_rhombus(m_n * m_n) {}

  std::int64_t cells() const { return 10 * m_rhombus + 2; }
  std::int64_t corners() const { return 20 * m_rhombus; }
  std::int64_t edges() const { return 30 * m_rhombus; }

  /// Around the cell, in turn; a point with five has the first again.
  std::array<std::int64_t, 6> cell_neighbors(std::int64_t cell) const;
  /// Corner k lies between neighbours k and k + 1 (with five: the last is the first again).
  std::array<std::int64_t, 6> cell_corners(std::int64_t cell) const;
  /// Edge k is the line to neighbour k.
  std::array<std::int64_t, 6> cell_edges(std::int64_t cell) const;
  std::array<std::int64_t, 2> edge_corners(std::int64_t edge) const;

private:
  std::int64_t north() const { return 10 * m_rhombus; }
  std::int64_t south() const { return north() + 1; }
  std::int64_t cell_at(std::int64_t rhombus, std::int64_t i, std::int64_t j) const;
  std::array<std::int64_t, 3> rhombus_i_j(std::int64_t cell) const;
  std::array<std::int64_t, 3>
  owned_neighbors(std::int64_t cell) const; ///< (i+1,j), (i+1,j+1), (i,j+1)
  std::int64_t corner_of(std::int64_t a, std::int64_t b, std::int64_t c) const;
  std::int64_t edge_of(std::int64_t a, std::int64_t b) const;

  std::int64_t m_n, m_rhombus;
};

} // namespace nunatak::tools
