// The unknowns and elements of the discrete SSA on the patch of a rank, and their arrays.
//
// Unknowns: (u, v) per icy cell that is neither fixed (Dirichlet) nor excluded, in raster order.
//
// Excluded: ice that nothing holds. An 8-connected component of icy cells without a grounded cell
// of positive yield stress and without a fixed cell can drift freely, and its equations are
// singular; its velocity is set to 0, and its cells are counted.
//
// Driving forces: load.hpp; residual and Jacobian: loops.hpp; assembly.hpp calls all of them.
#pragma once

#include "kernels/grid/atomics.hpp"
#include "kernels/grid/list.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/ssa/element.hpp"

#include <cstdint>

namespace nunatak {

/// Input of a solve, except the first guess, on one rank's patch; all with valid ghosts.
struct SsaInput {
  Array2<double> H; ///< ice thickness, m
  Array2<double> h; ///< surface elevation, m
  Array2<double> b; ///< bed elevation, m
  /// Yield stress of the till, Pa; also used in partly grounded cells that float.
  Array2<double> tauc;
  Array2<double> hardness; ///< B, depth average, Pa s^(1/n)
  Array2<int> mask;        ///< cell types of kernels/ice/geometry.hpp
  /// Optional: in icy cells where `fixed` is nonzero the velocity is (u_fixed, v_fixed), m s-1.
  Array2<int> fixed;
  Array2<double> u_fixed, v_fixed;
};

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

/// Values of SsaPatch::ice; loose: held by other ice, if at all.
enum Held : int { no_ice = 0, held = 1, loose = 2 };

/// Counts over the owned cells of a patch.
struct Counts {
  std::int64_t loose = 0; ///< ice that nothing is known to hold
  std::int64_t unknowns = 0;
  std::int64_t changed = 0; ///< cells that are unknowns in only one of this solve and the last
  KOKKOS_INLINE_FUNCTION Counts& operator+=(const Counts& o) {
    return add_each(*this, o, &Counts::loose, &Counts::unknowns, &Counts::changed);
  }
};
struct Lengths {
  int unknowns = 0, elements = 0; ///< of the lists of a patch
  KOKKOS_INLINE_FUNCTION Lengths& operator+=(const Lengths& o) {
    return add_each(*this, o, &Lengths::unknowns, &Lengths::elements);
  }
};

/// Unknown cells of a patch, and the elements that touch them (choose in loops.hpp).
struct Chosen {
  bool alone = false;                         ///< true: the loops of loops.hpp visit only these
  Array2<int> cells;                          ///< 1: chosen; owned cells
  Later<Lengths> found;                       ///< of the last loops that made the lists
  Lengths lengths;                            ///< their copy on the host
  Kokkos::View<int*, Mem> unknowns, elements; ///< positions in the lists of all, ascending
};

/// Disjoint sets of integers, joined by loops with atomics: the same in any order. The root of a
/// set is its smallest member; parents are smaller.
struct Forest {
  Kokkos::View<int*, WorkMem> parents;

  KOKKOS_INLINE_FUNCTION int& parent(int c) const { return parents(c); }
  /// The root of the set of c. Parents are replaced by grandparents; other threads may do the same.
  KOKKOS_INLINE_FUNCTION int root(int c) const {
    int up = atomic_load(&parent(c));
    while (up != c) {
      const int further = atomic_load(&parent(up));
      if (further != up) atomic_store(&parent(c), further);
      c = up;
      up = further;
    }
    return c;
  }
  /// Only a current root gets a new parent; otherwise the join is retried from its root.
  KOKKOS_INLINE_FUNCTION void join(int a, int b) const {
    a = root(a);
    b = root(b);
    while (a != b) {
      const int larger = Kokkos::max(a, b), smaller = Kokkos::min(a, b);
      const int found = Kokkos::atomic_compare_exchange(&parent(larger), larger, smaller);
      if (found == larger) return;
      a = root(found);
      b = smaller;
    }
  }
};

/// Reallocates a list, with some reserve, if it has less than n elements; uninitialised.
template <class List> void ensure_size(List& list, int n) {
  const auto size = static_cast<std::size_t>(n);
  if (list.extent(0) < size)
    list = List(Kokkos::view_alloc(list.label(), Kokkos::WithoutInitializing), size + size / 16);
}

} // namespace ssa

/// The discrete SSA on one rank. Lists are in raster order, and may be longer than their contents.
struct SsaPatch {
  Patch patch;
  double dx = 0.0, dy = 0.0; ///< m
  GlenLaw glen;
  TillLaw till;
  bool till_subgrid = true; ///< drag by sub-grid grounded area; false: by the mask
  Shared<Q1Element> q1;
  using Rise = Kokkos::View<double** [4], Kokkos::LayoutRight, Mem>;

  SsaInput input;
  Array2<int> ice;     ///< nonzero: icy, inside the domain, not excluded; owned cells and ghosts
  Array2<int> unknown; ///< 1: unknown cell; owned cells and ghosts
  ssa::Forest sets;    ///< 0: held; n + 1: cell n = j (xm + 2) + i; parent -1: no ice
  Later<ssa::Counts> counts;      ///< of the last counting loop
  Later<ssa::Lengths> found;      ///< of the last loop that makes the lists
  ssa::Lengths lengths;           ///< their copy on the host, set by SsaAssembly
  Kokkos::View<int*, Mem> places; ///< positions of owned unknowns in the arrays: j (xm + 2) + i
  Kokkos::View<ssa::Element*, Mem> elements; ///< all with an icy corner that touch an owned cell
  Array2<int> element_at;                    ///< the element with south-west corner (j, i), else -1
  Array2<double> BH;                         ///< B H, Pa s^(1/n) m; owned cells and ghosts
  Rise rise; ///< surface difference to the neighbours east, west, north, south, m
  Kokkos::View<double* [4], Mem> grounded; ///< area in the corners of the elements, m2
  Kokkos::View<double*, Mem> yield;        ///< tau_c times the grounded area of an unknown cell, N
  Kokkos::View<double*, Mem> load;         ///< driving force on the unknown cells, N: pairs (x, y)
  Kokkos::View<SsaElement*, Mem> coefficients; ///< of elements, at the last residual or Jacobian
  /// sliding direction for the next Jacobian (follow_direction)
  Kokkos::View<double* [2], Mem> direction;
  Array2<double> u_before, v_before; ///< velocity at the last Jacobian
  ssa::Chosen chosen;                ///< cells of a local solve

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
        coefficients("ssa_coefficients", 0), direction("ssa_direction", 0),
        u_before(make_array<double>("ssa_u_before", p)),
        v_before(make_array<double>("ssa_v_before", p)),
        chosen{false,
               make_array<int>("ssa_chosen", p),
               make_later<ssa::Lengths>("ssa_chosen"),
               {},
               Kokkos::View<int*, Mem>("ssa_chosen", 0),
               Kokkos::View<int*, Mem>("ssa_chosen", 0)} {
    q1() = Q1Element(dx, dy);
    sets.parents = Kokkos::View<int*, WorkMem>("ssa_sets", ice.size() + 1);
    ssa::ensure_size(places, p.xm * p.ym); // the maximum
    ssa::ensure_size(elements, (p.xm + 1) * (p.ym + 1));
  }

  int unknowns() const { return lengths.unknowns; }
  ssa::Cell cell(int n) const { return {places(n) / (patch.xm + 2), places(n) % (patch.xm + 2)}; }
};

namespace ssa {

struct Fixed {
  Array2<int> cells;
  bool some;
  explicit Fixed(const SsaPatch& p) : cells(p.input.fixed), some(cells.size() > 0) {}
  KOKKOS_INLINE_FUNCTION bool operator()(int j, int i) const { return some && cells(j, i) != 0; }
};

/// Lists unknowns and elements of ice that is not excluded; lengths go to p.found.
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

/// Allocates the lists for p.lengths, and marks the unknowns.
inline void mark_unknowns(SsaPatch& p) {
  const auto [unknowns, elements] = p.lengths;
  ensure_size(p.coefficients, elements);
  ensure_size(p.grounded, elements);
  ensure_size(p.yield, unknowns);
  ensure_size(p.load, 2 * unknowns);
  ensure_size(p.direction, unknowns);
  ensure_size(p.chosen.unknowns, unknowns);
  ensure_size(p.chosen.elements, elements);
  const auto ice = p.ice, unknown = p.unknown, chosen = p.chosen.cells;
  const Fixed fixed(p);
  for_each_cell_and_ghost(
      "ssa: unknowns", p.patch, KOKKOS_LAMBDA(int j, int i) {
        unknown(j, i) = ice(j, i) != no_ice && !fixed(j, i) ? 1 : 0;
        chosen(j, i) = 0;
      });
}

// --- Which ice is held, by a union-find of the ice that does not hold itself; set 0 is held. Most
// solves find that all ice is held, as the loops that run meanwhile assume. No communication;
// assembly.hpp exchanges ghosts of the marks where other ranks hold ice.

/// Marks the ice inside the domain, in owned cells and ghosts.
inline void mark_ice(const SsaPatch& p, const Decomposition& d) {
  const auto ice = p.ice, mask = p.input.mask;
  const auto tauc = p.input.tauc;
  const Fixed fixed(p);
  const Patch patch = p.patch;
  const bool periodic_x = d.periodic_x, periodic_y = d.periodic_y;
  for_each_cell_and_ghost(
      "ssa: ice", patch, KOKKOS_LAMBDA(int j, int i) {
        const int gi = patch.global_i(i), gj = patch.global_j(j), type = mask(j, i);
        const bool inside = (periodic_x || (gi >= 0 && gi < patch.Mx)) &&
                            (periodic_y || (gj >= 0 && gj < patch.My));
        const bool holds = fixed(j, i) || (type == grounded_ice && tauc(j, i) > 0.0);
        ice(j, i) = !inside || !icy(type) ? no_ice : holds ? held : loose;
      });
}

struct Sets {
  Forest sets;
  Array2<int> ice;
  int rows, columns;
  explicit Sets(const SsaPatch& p)
      : sets(p.sets), ice(p.ice), rows(p.patch.ym + 2), columns(p.patch.xm + 2) {}

  KOKKOS_INLINE_FUNCTION int of(int j, int i) const { return j * columns + i + 1; }
  KOKKOS_INLINE_FUNCTION bool is(int what, int j, int i) const {
    return j >= 0 && i >= 0 && j < rows && i < columns && ice(j, i) == what;
  }
  KOKKOS_INLINE_FUNCTION bool next_to_held(int j, int i) const {
    for (int n = 0; n < 9; ++n) {
      if (is(held, j + n / 3 - 1, i + n % 3 - 1)) return true;
    }
    return false;
  }
  /// The initial set of a cell: what holds it, or the loose cell to the left or below.
  KOKKOS_INLINE_FUNCTION void begin(int j, int i) const {
    int parent = of(j, i);
    if (ice(j, i) != loose) {
      parent = ice(j, i) == held ? 0 : -1;
    } else if (next_to_held(j, i)) {
      parent = 0;
    } else if (is(loose, j, i - 1)) {
      parent = of(j, i - 1);
    } else if (is(loose, j - 1, i)) {
      parent = of(j - 1, i);
    }
    sets.parent(of(j, i)) = parent;
  }
  /// Joins a loose cell with those to the left and below that are not joined otherwise.
  KOKKOS_INLINE_FUNCTION void join(int j, int i) const {
    const bool left = is(loose, j, i - 1), below = is(loose, j - 1, i);
    if (left) sets.join(of(j, i), of(j, i - 1));
    if (below && !left) sets.join(of(j, i), of(j - 1, i));
    if (!below && !left && is(loose, j - 1, i - 1)) sets.join(of(j, i), of(j - 1, i - 1));
    if (!below && is(loose, j - 1, i + 1)) sets.join(of(j, i), of(j - 1, i + 1));
  }
  KOKKOS_INLINE_FUNCTION bool is_held(int j, int i) const { return sets.root(of(j, i)) == 0; }
};

/// f(n) for each owned cell and ghost, n = j (xm + 2) + i, which may depend on each other.
template <class F> void for_each_place(const char* label, const SsaPatch& p, const F& f) {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(0, static_cast<int>(p.ice.size())), f);
}

/// Joins the loose ice, in owned cells and ghosts.
inline void join_loose(const SsaPatch& p) {
  const Sets sets(p);
  for_each_cell_and_ghost(
      "ssa: sets of ice", p.patch, KOKKOS_LAMBDA(int j, int i) { sets.begin(j, i); });
  for_each_place(
      "ssa: join ice", p, KOKKOS_LAMBDA(int n) {
        if (sets.ice.data()[n] == loose) sets.join(n / sets.columns, n % sets.columns);
      });
}

/// Counts into p.counts. `all_held`: counts unknowns as if all ice were held.
inline void count(const SsaPatch& p, bool all_held) {
  const Sets sets(p);
  const auto ice = p.ice, unknown = p.unknown;
  const Fixed fixed(p);
  reduce_over<Counts>(
      "ssa: count", owned_cells(p.patch), p.counts, KOKKOS_LAMBDA(int j, int i, Counts& counts) {
        const bool is_loose = ice(j, i) == loose && !sets.is_held(j, i);
        const int is_unknown =
            ice(j, i) != no_ice && (all_held || !is_loose) && !fixed(j, i) ? 1 : 0;
        counts.loose += is_loose ? 1 : 0;
        counts.unknowns += is_unknown;
        counts.changed += is_unknown != unknown(j, i) ? 1 : 0;
      });
}

/// Marks loose ice of held sets as held; with `exclude` the rest becomes ice-free.
inline void settle(const SsaPatch& p, bool exclude) {
  const Sets sets(p);
  for_each_place(
      "ssa: held ice", p, KOKKOS_LAMBDA(int n) {
        int& ice = sets.ice.data()[n];
        if (ice != loose) return;
        if (sets.sets.root(n + 1) == 0)
          ice = held;
        else if (exclude)
          ice = no_ice;
      });
}

/// After a ghost exchange: takes over marks of ice that other ranks hold and undoes the rest (a
/// ghost beyond the domain edge has become a copy of an owned cell).
inline void take_ghosts(const SsaPatch& p) {
  const Sets sets(p);
  for_each_place(
      "ssa: ice of other ranks", p, KOKKOS_LAMBDA(int n) {
        int& ice = sets.ice.data()[n];
        if (atomic_load(&sets.sets.parent(n + 1)) < 0)
          ice = no_ice;
        else if (ice == held)
          sets.sets.join(n + 1, 0);
      });
}

} // namespace ssa
} // namespace nunatak
