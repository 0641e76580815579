// Velocity-independent forces on the unknown cells of a patch, and the yield stress of their bed.
//
// Lumped, cell by cell, which avoids overshoots where drag changes by orders of magnitude between
// cells:
//   drag      tau_c times the grounded area of the cell (sub-grid grounding line), or times its
//             whole area where the mask is grounded (till_subgrid = false)
//   driving   - rho g H h_x with the cell's own H; h_x from neighbours of the same kind, grounded
//             or floating. At a grounding line each kind has its own slope on its part of the cell,
//             the part that has the drag. At a front half a cell has a level surface, and the face
//             carries the pressure instead.
//   front     pressure on each face towards an ice-free cell (rheology.hpp)
//
// Non-periodic edges are an open ocean for floating ice, free of force for grounded ice.
#pragma once

#include "kernels/ssa/loops.hpp"

namespace nunatak::ssa {

enum Side { east, west, north, south }; // side ^ 1 is the opposite side
KOKKOS_INLINE_FUNCTION Cell neighbour(Cell at, int side) {
  const int step = 1 - 2 * (side & 1);
  return side < 2 ? Cell{at.j, at.i + step} : Cell{at.j + step, at.i};
}

/// A cell and those around it: numbers `cell` and cell + offset(side).
struct Around {
  static constexpr int cell = 4;
  double h[9], b[9];
  int kind[9]; ///< mask of ice, -1 elsewhere
  static KOKKOS_INLINE_FUNCTION int offset(int side) {
    return (side < 2 ? 1 : 3) * (1 - 2 * (side & 1));
  }
  /// True for two grounded cells, the bed of one above the surface of the other: a rock wall.
  KOKKOS_INLINE_FUNCTION bool wall(int a, int c) const { return b[c] > h[a] || b[a] > h[c]; }
  /// True for neighbouring ice of one kind, grounded or floating: the surface may be differenced.
  KOKKOS_INLINE_FUNCTION bool same_kind(int a, int c) const {
    return kind[a] >= 0 && kind[a] == kind[c] && !wall(a, c);
  }
};

struct Ice {
  Array2<double> H, h, b, tauc; ///< see SsaInput
  Array2<int> mask;
  Array2<int> ice; ///< see SsaPatch
  SsaPatch::Rise rise;
  bool till_subgrid;
  explicit Ice(const SsaPatch& p)
      : H(p.input.H), h(p.input.h), b(p.input.b), tauc(p.input.tauc), mask(p.input.mask),
        ice(p.ice), rise(p.rise), till_subgrid(p.till_subgrid) {}

  /// Height above flotation (m): positive where ice is grounded.
  KOKKOS_INLINE_FUNCTION double above_flotation(Cell at) const {
    return b(at.j, at.i) + rho_ice / rho_water * H(at.j, at.i);
  }
  KOKKOS_INLINE_FUNCTION Around around(Cell at) const {
    Around o{};
    for (int n = 0; n < 9; ++n) {
      const int j = at.j + n / 3 - 1, i = at.i + n % 3 - 1;
      o.h[n] = h(j, i);
      o.b[n] = b(j, i);
      o.kind[n] = ice(j, i) != 0 ? mask(j, i) : -1;
    }
    return o;
  }
  KOKKOS_INLINE_FUNCTION double own_part(Cell at, Cell next) const;
  KOKKOS_FORCEINLINE_FUNCTION double half_cell_rise(Cell at, int side, const Around& around) const;
  KOKKOS_INLINE_FUNCTION double face_pressure(Cell at, int side) const;
};

/// B H of all cells; surface differences (m) to each neighbour of the same kind, else 0.
inline void set_coefficients(const SsaPatch& p) {
  const Ice in(p);
  const auto BH = p.BH;
  const auto hardness = p.input.hardness;
  for_each_cell_and_ghost(
      "ssa: B H", p.patch, KOKKOS_LAMBDA(int j, int i) {
        BH(j, i) = in.ice(j, i) != 0 ? hardness(j, i) * in.H(j, i) : 0.0;
      });
  for_each_cell(
      "ssa: rise", p.patch, KOKKOS_LAMBDA(int j, int i) {
        const Around o = in.around({j, i});
        for (int side = 0; side < 4; ++side) {
          const int next = o.cell + o.offset(side);
          in.rise(j, i, side) = o.same_kind(o.cell, next) ? o.h[next] - o.h[o.cell] : 0.0;
        }
      });
}

/// Across a grounding line: the part of the half cell of the cell's kind, by linear flotation F.
///
///      cell (F > 0)                   neighbour (G < 0)
///   |-------+-------:---x---|-------+-------|
///           |<- half cell ->|       x: F = 0
///
/// The surface has a kink at the grounding line. The steep slope must end with the drag that
/// balances it: the drag of the cell acts on the same part.
KOKKOS_INLINE_FUNCTION double Ice::own_part(Cell at, Cell next) const {
  if (!till_subgrid) return 1.0;
  if (mask(at.j, at.i) == floating_ice && !(tauc(at.j, at.i) > 0.0))
    return 1.0; // no drag to balance the slope on land
  const double F = above_flotation(at), G = above_flotation(next);
  return (F > 0.0) == (G > 0.0) ? 1.0 : Kokkos::min(1.0, 2.0 * F / (F - G));
}

/// Surface difference (m) to a neighbour, as it acts on the half cell. Needs ghosts of `rise`.
KOKKOS_FORCEINLINE_FUNCTION double Ice::half_cell_rise(Cell at, int side, const Around& o) const {
  const int cell = Around::cell, next = cell + o.offset(side);
  // front, cliff or rock: the face carries the pressure; a wall is not part of the surface
  if (o.kind[next] < 0 || o.wall(cell, next)) return 0.0;
  if (!o.same_kind(cell, next)) { // grounding line: the slope of each kind, on its part
    const Cell there = neighbour(at, side);
    const double part = own_part(at, there);
    const double own = -rise(at.j, at.i, side ^ 1);
    const double other = rise(there.j, there.i, side);
    return part * own + (1.0 - part) * other;
  }
  constexpr double weight = 0.125; // mean of a bilinear surface over half a cell
  const double own = o.h[next] - o.h[cell];
  double sum = (1.0 - 2.0 * weight) * own;
  for (int k = 3; k >= 2; --k) {
    const int across = o.offset(side ^ k), there = cell + across, there_next = next + across;
    const bool known = o.same_kind(cell, there) && o.same_kind(cell, there_next);
    sum += weight * (known ? o.h[there_next] - o.h[there] : own);
  }
  return sum;
}

/// Pressure (N m-1) on the face of an icy cell on one side; 0 towards ice.
KOKKOS_INLINE_FUNCTION double Ice::face_pressure(Cell at, int side) const {
  const Cell next = neighbour(at, side);
  if (ice(next.j, next.i) != 0) return 0.0;
  const bool floats = mask(at.j, at.i) == floating_ice;
  const double thickness = H(at.j, at.i), bed = b(at.j, at.i);
  const int type = mask(next.j, next.i);
  if (icy(type))
    return floats ? front_pressure(thickness, bed, true) : 0.0; // the edge of the domain
  return type == ice_free_ocean ? front_pressure(thickness, bed, floats)
                                : cliff_pressure(thickness, h(at.j, at.i), b(next.j, next.i));
}

/// `grounded`: area (m2) in each corner of each element.
inline void find_grounded(const SsaPatch& p) {
  const auto area = p.grounded;
  const Ice in(p);
  const auto q1 = p.q1;
  for_each_element(
      "ssa: grounded area", p, KOKKOS_LAMBDA(int k, const Element& e) {
        double F[4], fraction[4];
        for (int c = 0; c < 4; ++c) F[c] = in.above_flotation({e.j + (c >> 1), e.i + (c & 1)});
        ssa_element_grounded(q1(), e.ice, F, fraction);
        for (int c = 0; c < 4; ++c) {
          if (!in.till_subgrid)
            fraction[c] = in.mask(e.j + (c >> 1), e.i + (c & 1)) == grounded_ice ? 1.0 : 0.0;
          area(k, c) = fraction[c] * q1().weight;
        }
      });
}

/// `yield` and `load` of the owned unknowns; `direction` is 0. Needs ghosts of `rise`.
inline void compute_load(const SsaPatch& p) {
  find_grounded(p);
  const auto area = p.grounded;
  const auto yield = p.yield, load = p.load;
  const auto direction = p.direction;
  const auto element_at = p.element_at;
  const double dx = p.dx, dy = p.dy;
  const Ice in(p);
  for_each_unknown(
      "ssa: load", p, KOKKOS_LAMBDA(int n, int j, int i) {
        const Cell at{j, i};
        double grounded = 0.0; // over the four elements around the cell, in raster order
        for (int c = 3; c >= 0; --c) grounded += area(element_at(j - (c >> 1), i - (c & 1)), c);
        yield(n) = grounded * in.tauc(j, i);
        const double weight =
            -0.5 * rho_ice * gravity * in.H(j, i); // limits the force on thin ice next to thick ice
        const Around around = in.around(at);
        const double to_east = in.half_cell_rise(at, east, around);
        const double to_north = in.half_cell_rise(at, north, around);
        double x = weight * dy * (to_east - in.half_cell_rise(at, west, around));
        double y = weight * dx * (to_north - in.half_cell_rise(at, south, around));
        x += dy * (in.face_pressure(at, east) - in.face_pressure(at, west));
        y += dx * (in.face_pressure(at, north) - in.face_pressure(at, south));
        load(2 * n) = x;
        load(2 * n + 1) = y;
        for (int m = 0; m < 2; ++m) direction(n, m) = 0.0;
      });
}

} // namespace nunatak::ssa
