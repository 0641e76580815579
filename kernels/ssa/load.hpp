// The forces on the unknown cells that do not depend on the velocity, and the yield stress of their bed, on one rank's patch.
//
// Cell by cell (lumped), which keeps the answer free of overshoots where drag changes by orders of magnitude between cells:
//   drag      tau_c times the grounded area of the cell (sub-grid grounding line), or times its whole area where the mask says
//             grounded (till_subgrid = false)
//   driving   - rho g H h_x with the cell's own H; h_x from neighbours of the same kind, grounded or floating: at a grounding
//             line the slope of each kind on its part of the cell, the part that drag has; half a cell of level surface at a
//             front, where the face carries the pressure instead
//   front     pressure on each face towards a cell without ice (kernels/ssa/rheology.hpp)
//
// The edge of a domain that is not periodic: floating ice ends there as at an open ocean, grounded ice without any force.
//
// These functions run on the host. Nothing is communicated. Neighbours: unknowns.hpp (what they read), assembly.hpp (calls them).
#pragma once

#include "kernels/ssa/unknowns.hpp"

namespace nunatak::ssa {

enum Side { east, west, north, south }; // side ^ 1 is the opposite one
constexpr int neighbour_j[4] = {0, 0, 1, -1}, neighbour_i[4] = {1, -1, 0, 0};

/// Two grounded cells, the bed of one above the surface of the other: a wall of rock under a little ice.
inline bool wall(const SsaInput& in, Cell a, Cell c) {
  return in.b(c.j, c.i) > in.h(a.j, a.i) || in.b(a.j, a.i) > in.h(c.j, c.i);
}

/// Ice of one kind, grounded or floating, in neighbouring cells: the surface may be differenced.
inline bool same_kind(const SsaPatch& p, Cell a, Cell c) {
  return p.ice(a.j, a.i) != 0 && p.ice(c.j, c.i) != 0 && p.input.mask(a.j, a.i) == p.input.mask(c.j, c.i) && !wall(p.input, a, c);
}

inline Cell neighbour(Cell at, int side) { return {at.j + neighbour_j[side], at.i + neighbour_i[side]}; }

/// Height above flotation (m): positive where ice is grounded.
inline double above_flotation(const SsaInput& in, Cell at) { return in.b(at.j, at.i) + rho_ice / rho_water * in.H(at.j, at.i); }

/// B H of all cells; the rise of the surface (m) from each owned cell to each neighbour of the same kind, 0 where there is none.
inline void set_coefficients(const SsaPatch& p) {
  const SsaInput& in = p.input;
  for (int j = 0; j <= p.patch.ym + 1; ++j) {
    for (int i = 0; i <= p.patch.xm + 1; ++i) p.BH(j, i) = p.ice(j, i) != 0 ? in.hardness(j, i) * in.H(j, i) : 0.0;
  }
  for (int j = 1; j <= p.patch.ym; ++j) {
    for (int i = 1; i <= p.patch.xm; ++i) {
      for (int side = 0; side < 4; ++side) {
        const Cell at{j, i}, next = neighbour(at, side);
        p.rise(j, i, side) = same_kind(p, at, next) ? in.h(next.j, next.i) - in.h(j, i) : 0.0;
      }
    }
  }
}

/// Across a grounding line: the part of the half cell that is of the cell's own kind, by linear height above flotation F.
///
///      cell (F > 0)                   neighbour (G < 0)          The surface has a kink at the grounding line. Where drag ends
///   |-------+-------:---x---|-------+-------|                    the steep slope that it balances must end, too: the drag of the
///           |<- half cell ->|       x: F = 0                     cell is that of the same part.
inline double own_part(const SsaPatch& p, Cell at, Cell next) {
  const SsaInput& in = p.input;
  if (!p.till_subgrid) return 1.0;
  if (in.mask(at.j, at.i) == floating_ice && !(in.tauc(at.j, at.i) > 0.0)) return 1.0; // no drag to balance the slope on land
  const double F = above_flotation(in, at), G = above_flotation(in, next);
  return (F > 0.0) == (G > 0.0) ? 1.0 : std::min(1.0, 2.0 * F / (F - G));
}

/// Rise of the surface (m) from a cell to its neighbour on one side, as the half cell on that side feels it. Needs ghosts of
/// `rise`.
inline double half_cell_rise(const SsaPatch& p, Cell at, int side) {
  const Array2<double>& h = p.input.h;
  const Cell next = neighbour(at, side);
  // a front, a cliff or rock: the face carries the pressure; a wall: no part of the surface of the ice
  if (p.ice(next.j, next.i) == 0 || wall(p.input, at, next)) return 0.0;
  if (!same_kind(p, at, next)) { // a grounding line: the slope of each kind, on its part of the half cell
    const double part = own_part(p, at, next), own = -p.rise(at.j, at.i, side ^ 1), other = p.rise(next.j, next.i, side);
    return part * own + (1.0 - part) * other;
  }
  constexpr double share = 0.125; // the mean of a bilinear surface over half a cell
  const double own = h(next.j, next.i) - h(at.j, at.i);
  double sum = (1.0 - 2.0 * share) * own;
  for (const int across : {side ^ 3, side ^ 2}) {
    const Cell beside = neighbour(at, across), beside_next = neighbour(next, across);
    const bool known = same_kind(p, at, beside) && same_kind(p, at, beside_next);
    sum += share * (known ? h(beside_next.j, beside_next.i) - h(beside.j, beside.i) : own);
  }
  return sum;
}

/// Pressure (N m-1) on the face of an icy cell on one side; 0 towards ice.
inline double face_pressure(const SsaPatch& p, Cell at, int side) {
  const SsaInput& in = p.input;
  const Cell next = neighbour(at, side);
  if (p.ice(next.j, next.i) != 0) return 0.0;
  const bool floats = in.mask(at.j, at.i) == floating_ice;
  const double H = in.H(at.j, at.i), b = in.b(at.j, at.i);
  const int type = in.mask(next.j, next.i);
  if (icy(type)) return floats ? front_pressure(H, b, true) : 0.0; // the edge of the domain
  return type == ice_free_ocean ? front_pressure(H, b, floats) : cliff_pressure(H, in.h(at.j, at.i), in.b(next.j, next.i));
}

/// Grounded area of the cells (m2), from the elements around them: valid in owned cells.
inline SharedArray2<double> grounded_area(const SsaPatch& p) {
  const auto area = shared_array<double>("ssa_grounded_area", p.patch);
  for (std::size_t k = 0; k < p.elements.extent(0); ++k) {
    const Element e = p.elements(k);
    double F[4], fraction[4];
    for (int c = 0; c < 4; ++c) F[c] = above_flotation(p.input, {e.j + (c >> 1), e.i + (c & 1)});
    ssa_element_grounded(p.q1(), e.ice, F, fraction);
    for (int c = 0; c < 4; ++c) {
      const int j = e.j + (c >> 1), i = e.i + (c & 1);
      if (!p.till_subgrid) fraction[c] = p.input.mask(j, i) == grounded_ice ? 1.0 : 0.0;
      area(j, i) += fraction[c] * p.q1().weight;
    }
  }
  return area;
}

/// `yield` and `load` of the owned unknowns. Needs ghosts of `rise`.
inline void compute_load(SsaPatch& p) {
  const auto size = static_cast<std::size_t>(p.unknowns());
  const SharedArray2<double> area = grounded_area(p);
  p.yield = make_shared<double*>("ssa_yield", size);
  p.load = make_shared<double*>("ssa_load", 2 * size);
  for (int n = 0; n < p.unknowns(); ++n) {
    const Cell at = p.cell(n);
    const double weight = -0.5 * rho_ice * gravity * p.input.H(at.j, at.i); // thin ice is not pushed by its neighbours' thickness
    p.yield(n) = area(at.j, at.i) * p.input.tauc(at.j, at.i);
    p.load(2 * n) = weight * p.dy * (half_cell_rise(p, at, east) - half_cell_rise(p, at, west));
    p.load(2 * n + 1) = weight * p.dx * (half_cell_rise(p, at, north) - half_cell_rise(p, at, south));
    p.load(2 * n) += p.dy * (face_pressure(p, at, east) - face_pressure(p, at, west));
    p.load(2 * n + 1) += p.dx * (face_pressure(p, at, north) - face_pressure(p, at, south));
  }
}

} // namespace nunatak::ssa
