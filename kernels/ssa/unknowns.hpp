// The unknowns and elements of the discrete SSA on one rank's patch: which cells of ice move, and
// what the loops need of them.
//
// Unknowns: two (u, v) per icy cell that is neither fixed (Dirichlet) nor excluded, numbered in
// raster order, rank after rank.
//
// Excluded: ice that nothing holds. A component (8 neighbours) of icy cells without a grounded cell
// of positive yield stress and without a fixed cell can drift freely, and its equations are
// singular; its velocity is set to 0, and its cells are counted.
//
// Neighbours: held.hpp finds what holds ice, load.hpp computes the driving forces, loops.hpp the
// residual and the Jacobian; assembly.hpp calls all of it.
#pragma once

#include "kernels/grid/forest.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/ssa/element.hpp"

#include <cstdint>

namespace nunatak {

/// What a solve needs besides the first guess, on one rank's patch; all with valid ghosts.
struct SsaInput {
  Array2<double> H;    ///< ice thickness, m
  Array2<double> h;    ///< surface elevation, m
  Array2<double> b;    ///< bed elevation, m
  Array2<double> tauc; ///< yield stress of the till, Pa; weighted by the grounded part of a cell,
                       ///< so used in floating cells beside a grounding line, too
  Array2<double> hardness; ///< B, vertical mean, Pa s^(1/n)
  Array2<int> mask;        ///< cell types of kernels/ice/geometry.hpp
  /// Optional: where `fixed` is not 0 and there is ice, the velocity stays (u_fixed, v_fixed), m
  /// s-1.
  Array2<int> fixed;
  Array2<double> u_fixed, v_fixed;
};

/// Arrays for all of it on a patch, filled with zeros.
inline SsaInput make_ssa_input(const Patch& patch) {
  const auto array = [&patch](const char* name) { return make_array<double>(name, patch); };
  return {array("thk"),
          array("usurf"),
          array("topg"),
          array("tauc"),
          array("hardav"),
          make_array<int>("mask", patch),
          make_array<int>("fixed", patch),
          array("u_fixed"),
          array("v_fixed")};
}

namespace ssa {

struct Cell {
  int j, i; ///< view indices
};
struct Element {
  int j, i; ///< view indices of its south-west corner
  int ice;  ///< which corners are icy: bit c, as in kernels/ssa/element.hpp
};

enum Held : int {
  no_ice = 0,
  held = 1,
  loose = 2
}; ///< legend of SsaPatch::ice; loose: held by other ice, if at all

/// What loops count in the owned cells of a patch.
struct Counts {
  std::int64_t loose = 0; ///< ice that nothing is known to hold
  std::int64_t unknowns = 0;
  std::int64_t changed =
      0; ///< unknown cells that were none in the last solve, and the other way round
  KOKKOS_INLINE_FUNCTION Counts& operator+=(const Counts& o) {
    loose += o.loose, unknowns += o.unknowns, changed += o.changed;
    return *this;
  }
};
struct Lengths {
  int unknowns = 0, elements = 0; ///< of the lists of a patch
  KOKKOS_INLINE_FUNCTION Lengths& operator+=(const Lengths& o) {
    unknowns += o.unknowns, elements += o.elements;
    return *this;
  }
};

/// A list for at least n things, not set; in new memory, with some to spare, if it had less.
template <class List> void make_room(List& list, int n) {
  const auto size = static_cast<std::size_t>(n);
  if (list.extent(0) < size)
    list = List(Kokkos::view_alloc(list.label(), Kokkos::WithoutInitializing), size + size / 16);
}

} // namespace ssa

/// What one rank knows of the discrete SSA. Lists of unknowns are in raster order; n is a position
/// in them. Lists may be longer than what they hold.
struct SsaPatch {
  Patch patch;
  double dx = 0.0, dy = 0.0; ///< m
  GlenLaw glen;
  TillLaw till;
  bool till_subgrid =
      true; ///< drag on the grounded part of a cell; false: on cells that are grounded by the mask
  Shared<Q1Element> q1;
  using Rise = Kokkos::View<double** [4], Kokkos::LayoutRight, Mem>;

  SsaInput input;
  Array2<int> ice;     ///< not 0: icy, inside the domain, not excluded; owned cells and ghosts
  Array2<int> unknown; ///< 1: unknown cell; owned cells and ghosts
  Forest sets;         ///< 0: held; n + 1: cell n = j (xm + 2) + i; parent -1: no ice
  Later<ssa::Counts> counts;                 ///< of the last loop that counts
  Later<ssa::Lengths> found;                 ///< of the last one that makes the lists ...
  ssa::Lengths lengths;                      ///< ... and what the host knows of it: SsaAssembly
  Kokkos::View<int*, Mem> places;            ///< of owned unknowns in the arrays: j (xm + 2) + i
  Kokkos::View<ssa::Element*, Mem> elements; ///< with an icy corner, all that touch an owned cell
  Array2<int> element_at; ///< the element whose south-west corner is (j, i), else -1
  Array2<double> BH;      ///< B H, Pa s^(1/n) m; owned cells and ghosts
  Rise rise;              ///< of the surface to the neighbours east, west, north, south, m
  Kokkos::View<double* [4], Mem> grounded; ///< area in the corners of the elements, m2
  Kokkos::View<double*, Mem> yield;        ///< tau_c times the grounded area of an unknown cell, N
  Kokkos::View<double*, Mem> load;         ///< driving force on the unknown cells, N: pairs (x, y)
  Kokkos::View<SsaElement*, Mem>
      coefficients;                         ///< of the elements, for the last residual or Jacobian
  Kokkos::View<SsaElement*, Mem> kept;      ///< the same for the Jacobian that multiply() applies
  Kokkos::View<double* [3], Mem> drag;      ///< uu, uv, vv of the last Jacobian
  Kokkos::View<double* [2], Mem> direction; ///< of sliding, for the next one (follow_direction)
  Array2<double> u_before, v_before;        ///< where the last Jacobian was formed
  std::int64_t first = 0; ///< number of the first owned unknown cell (SsaAssembly::number_unknowns)
  Array2<std::int64_t> number; ///< of an unknown cell, else -1; owned cells and ghosts

  SsaPatch(const Patch& p, double dx_, double dy_, const GlenLaw& glen_, const TillLaw& till_,
           bool till_subgrid_)
      : patch(p), dx(dx_), dy(dy_), glen(glen_), till(till_), till_subgrid(till_subgrid_),
        q1(Kokkos::view_alloc(shared_label("ssa_q1"), Kokkos::WithoutInitializing)),
        ice(make_array<int>("ssa_ice", p)), unknown(make_array<int>("ssa_unknown", p)),
        counts(make_later<ssa::Counts>("ssa_counts")),
        found(make_later<ssa::Lengths>("ssa_lengths")), places("ssa_places", 0),
        elements("ssa_elements", 0), element_at(make_array<int>("ssa_element", p)),
        BH(make_array<double>("ssa_BH", p)), rise("ssa_rise", p.ym + 2, p.xm + 2),
        grounded("ssa_grounded_area", 0), yield("ssa_yield", 0), load("ssa_load", 0),
        coefficients("ssa_coefficients", 0), kept("ssa_kept", 0), drag("ssa_drag", 0),
        direction("ssa_direction", 0), u_before(make_array<double>("ssa_u_before", p)),
        v_before(make_array<double>("ssa_v_before", p)) {
    q1() = Q1Element(dx, dy);
    sets.parents = Kokkos::View<int*, WorkMem>("ssa_sets", ice.size() + 1);
    ssa::make_room(places, p.xm * p.ym),
        ssa::make_room(elements, (p.xm + 1) * (p.ym + 1)); // whatever the ice
  }

  int unknowns() const { return lengths.unknowns; }
  ssa::Cell cell(int n) const { return {places(n) / (patch.xm + 2), places(n) % (patch.xm + 2)}; }
  /// Number of the unknown cell that is the neighbour of unknown n in direction `slot`
  /// (kernels/multigrid/nine_point.hpp), or -1.
  std::int64_t column(int n, int slot) const {
    return number(cell(n).j + slot / 3 - 1, cell(n).i + slot % 3 - 1);
  }
};

namespace ssa {

/// The fixed cells of an input, for a loop.
struct Fixed {
  Array2<int> cells;
  bool some;
  explicit Fixed(const SsaPatch& p) : cells(p.input.fixed), some(cells.size() > 0) {}
  KOKKOS_INLINE_FUNCTION bool operator()(int j, int i) const { return some && cells(j, i) != 0; }
};

/// Lists of unknowns and elements, in raster order, of the ice that is not excluded; their lengths
/// into p.found.
inline void list_unknowns(const SsaPatch& p) {
  const auto ice = p.ice, element_at = p.element_at;
  const auto places = p.places;
  const auto elements = p.elements;
  const Fixed fixed(p);
  const int stride = p.patch.xm + 2;
  scan_over<Lengths>(
      "ssa: lists", cells_with_faces(p.patch), p.found,
      KOKKOS_LAMBDA(int j, int i, Lengths& before, bool last) {
        const int corners = (ice(j, i) != 0 ? 1 : 0) | (ice(j, i + 1) != 0 ? 2 : 0) |
                            (ice(j + 1, i) != 0 ? 4 : 0) | (ice(j + 1, i + 1) != 0 ? 8 : 0);
        const bool is_unknown = j >= 1 && i >= 1 && (corners & 1) != 0 && !fixed(j, i);
        if (last) {
          element_at(j, i) = corners != 0 ? before.elements : -1;
          if (corners != 0) elements(before.elements) = {j, i, corners};
          if (is_unknown) places(before.unknowns) = j * stride + i;
        }
        before.elements += corners != 0 ? 1 : 0;
        before.unknowns += is_unknown ? 1 : 0;
      });
}

/// Room for the lists that are as long as p.lengths says, and the marks of the unknowns.
inline void mark_unknowns(SsaPatch& p) {
  const auto [unknowns, elements] = p.lengths;
  make_room(p.coefficients, elements), make_room(p.grounded, elements);
  make_room(p.yield, unknowns), make_room(p.load, 2 * unknowns);
  make_room(p.drag, unknowns), make_room(p.direction, unknowns);
  const auto ice = p.ice, unknown = p.unknown;
  const Fixed fixed(p);
  for_each_cell_and_ghost(
      "ssa: unknowns", p.patch,
      KOKKOS_LAMBDA(int j, int i) { unknown(j, i) = ice(j, i) != no_ice && !fixed(j, i) ? 1 : 0; });
}

/// The numbers of owned unknown cells; -1 elsewhere.
inline void number_unknowns(SsaPatch& p) {
  if (p.number.size() == 0) p.number = make_array<std::int64_t>("ssa_number", p.patch);
  Kokkos::deep_copy(p.number, -1);
  const auto number = p.number;
  const auto places = p.places;
  const std::int64_t first = p.first;
  Kokkos::parallel_for(
      "ssa: numbers", Kokkos::RangePolicy<Exec>(0, p.unknowns()),
      KOKKOS_LAMBDA(int n) { number.data()[places(n)] = first + n; });
}

/// After an exchange of ghosts: beyond the edge of the domain there are no unknowns.
inline void clear_numbers_of_others(const SsaPatch& p) {
  const auto number = p.number;
  const auto unknown = p.unknown;
  for_each_cell_and_ghost(
      "ssa: numbers of others", p.patch, KOKKOS_LAMBDA(int j, int i) {
        if (unknown(j, i) == 0) number(j, i) = -1;
      });
}

} // namespace ssa
} // namespace nunatak
