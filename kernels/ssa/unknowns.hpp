// The unknowns and elements of the discrete SSA on one rank's patch: which cells of ice move, and what the loops need of them.
//
// Unknowns: two (u, v) per icy cell that is neither fixed (Dirichlet) nor excluded, numbered in raster order, rank after rank.
//
// Excluded: ice that nothing holds. A component (8 neighbours) of icy cells without a grounded cell of positive yield stress and
// without a fixed cell can drift freely, and its equations are singular; its velocity is set to 0, and its cells are counted.
//
// Neighbours: load.hpp computes the driving forces, loops.hpp the residual and the Jacobian; assembly.hpp calls all of it.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/ssa/element.hpp"

#include <algorithm>
#include <vector>

namespace nunatak {

/// What a solve needs besides the first guess, on one rank's patch; all with valid ghosts.
struct SsaInput {
  Array2<double> H;        ///< ice thickness, m
  Array2<double> h;        ///< surface elevation, m
  Array2<double> b;        ///< bed elevation, m
  Array2<double> tauc;     ///< yield stress of the till, Pa; weighted by the grounded part of a cell, so used
                           ///< in floating cells beside a grounding line, too
  Array2<double> hardness; ///< B, vertical mean, Pa s^(1/n)
  Array2<int> mask;        ///< cell types of kernels/ice/geometry.hpp
  /// Optional: where `fixed` is not 0 and there is ice, the velocity stays (u_fixed, v_fixed), m s-1.
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

} // namespace ssa

/// What one rank knows of the discrete SSA. Lists of unknowns are in raster order; n is a position in them.
struct SsaPatch {
  Patch patch;
  double dx = 0.0, dy = 0.0; ///< m
  GlenLaw glen;
  TillLaw till;
  bool till_subgrid = true; ///< drag on the grounded part of a cell; false: on cells that are grounded by the mask
  Shared<Q1Element> q1;

  SsaInput input;
  SharedArray2<int> mask, fixed;               ///< of the input, for the host
  SharedArray2<double> tauc;                   ///< of the input, for the host
  std::int64_t first = 0;                      ///< number of the first owned unknown cell
  SharedArray2<int> ice;                       ///< 1: icy, inside the domain, not excluded; owned cells and ghosts
  SharedArray2<int> unknown;                   ///< 1: unknown cell; owned cells and ghosts
  SharedArray2<std::int64_t> number;           ///< of an unknown cell, else -1; owned cells and ghosts
  Shared<int*> places;                         ///< of owned unknowns in the arrays: j (xm + 2) + i
  Shared<ssa::Element*> elements;              ///< with an icy corner, all that touch an owned cell
  SharedArray2<int> element_at;                ///< the element whose south-west corner is (j, i), else -1
  SharedArray2<double> BH;                     ///< B H, Pa s^(1/n) m; owned cells and ghosts
  Shared<double** [4]> rise;                   ///< of the surface to the neighbours east, west, north, south, m
  Shared<double*> yield;                       ///< tau_c times the grounded area of an unknown cell, N
  Shared<double*> load;                        ///< driving force on the unknown cells, N: pairs (x, y)
  Kokkos::View<SsaElement*, Mem> coefficients; ///< of the elements, for the last residual or Jacobian
  Kokkos::View<SsaElement*, Mem> kept;         ///< the same for the Jacobian that multiply() applies
  Kokkos::View<double* [3], Mem> drag;         ///< uu, uv, vv of the last Jacobian
  Kokkos::View<double* [2], Mem> direction;    ///< of sliding, for the next one (follow_direction)
  Array2<double> u_before, v_before;           ///< where the last Jacobian was formed

  SsaPatch(const Patch& p, double dx_, double dy_, const GlenLaw& glen_, const TillLaw& till_, bool till_subgrid_)
      : patch(p), dx(dx_), dy(dy_), glen(glen_), till(till_), till_subgrid(till_subgrid_),
        q1(Kokkos::view_alloc(shared_label("ssa_q1"), Kokkos::WithoutInitializing)), ice(shared_array<int>("ssa_ice", p)),
        unknown(shared_array<int>("ssa_unknown", p)), number(shared_array<std::int64_t>("ssa_number", p)),
        element_at(shared_array<int>("ssa_element", p)), BH(shared_array<double>("ssa_BH", p)),
        rise(make_shared<double** [4]>("ssa_rise", p.ym + 2, p.xm + 2)), u_before(make_array<double>("ssa_u_before", p)),
        v_before(make_array<double>("ssa_v_before", p)) {
    q1() = Q1Element(dx, dy);
  }

  void set_input(const SsaInput& in) { input = in, mask = on_host(in.mask), fixed = on_host(in.fixed), tauc = on_host(in.tauc); }
  bool is_fixed(int j, int i) const { return fixed.size() > 0 && fixed(j, i) != 0; }
  int unknowns() const { return static_cast<int>(places.extent(0)); }
  ssa::Cell cell(int n) const { return {places(n) / (patch.xm + 2), places(n) % (patch.xm + 2)}; }
  /// Number of the unknown cell that is the neighbour of unknown n in direction `slot` (kernels/multigrid/nine_point.hpp), or -1.
  std::int64_t column(int n, int slot) const { return number(cell(n).j + slot / 3 - 1, cell(n).i + slot % 3 - 1); }
};

namespace ssa {

/// A list in memory that loops reach.
template <class T> Shared<T*> list(const char* name, const std::vector<T>& values) {
  const Shared<T*> view(Kokkos::view_alloc(shared_label(name), Kokkos::WithoutInitializing), values.size());
  std::copy(values.begin(), values.end(), view.data());
  return view;
}

enum Held : int { no_ice = 0, held = 1, loose = 2 }; ///< legend of SsaPatch::ice while components are followed

/// Marks the ice inside the domain, in owned cells and ghosts. Returns the cells that hold their component.
inline std::vector<Cell> mark_ice(const SsaPatch& p, const Decomposition& d) {
  std::vector<Cell> front;
  for (int j = 0; j <= p.patch.ym + 1; ++j) {
    for (int i = 0; i <= p.patch.xm + 1; ++i) {
      const int gi = p.patch.global_i(i), gj = p.patch.global_j(j), type = p.mask(j, i);
      const bool inside = (d.periodic_x || (gi >= 0 && gi < d.Mx)) && (d.periodic_y || (gj >= 0 && gj < d.My));
      p.ice(j, i) = inside && icy(type) ? loose : no_ice;
      if (p.ice(j, i) == no_ice) continue;
      if (p.is_fixed(j, i) || (type == grounded_ice && p.tauc(j, i) > 0.0)) p.ice(j, i) = held, front.push_back({j, i});
    }
  }
  return front;
}

/// Loose ice that touches the cells of `front`, directly or through others, is held. Leaves `front` empty.
inline void flood(const SsaPatch& p, std::vector<Cell>& front) {
  while (!front.empty()) {
    const Cell at = front.back();
    front.pop_back();
    for (int j = std::max(at.j - 1, 0); j <= std::min(at.j + 1, p.patch.ym + 1); ++j) {
      for (int i = std::max(at.i - 1, 0); i <= std::min(at.i + 1, p.patch.xm + 1); ++i) {
        if (p.ice(j, i) == loose) p.ice(j, i) = held, front.push_back({j, i});
      }
    }
  }
}

/// After an exchange of ghosts: takes over what other ranks hold, and undoes the rest (a ghost beyond the edge of the domain has
/// become a copy of an owned cell). `before`: the marks before the exchange. Returns the cells that have become held.
inline std::vector<Cell> newly_held(const SsaPatch& p, const SharedArray2<int>& before) {
  std::vector<Cell> front;
  for (int j = 0; j <= p.patch.ym + 1; ++j) {
    for (int i = 0; i <= p.patch.xm + 1; ++i) {
      if (before(j, i) != loose) {
        p.ice(j, i) = before(j, i);
      } else if (p.ice(j, i) == held) {
        front.push_back({j, i});
      }
    }
  }
  return front;
}

/// Ice that is still loose is excluded. Returns the number of owned cells of it.
inline std::int64_t exclude_loose(const SsaPatch& p) {
  std::int64_t cells = 0;
  for (int j = 0; j <= p.patch.ym + 1; ++j) {
    for (int i = 0; i <= p.patch.xm + 1; ++i) {
      if (p.ice(j, i) != loose) continue;
      p.ice(j, i) = no_ice;
      cells += j >= 1 && j <= p.patch.ym && i >= 1 && i <= p.patch.xm ? 1 : 0;
    }
  }
  return cells;
}

/// Elements with an icy corner, in raster order.
inline void find_elements(SsaPatch& p) {
  std::vector<Element> elements;
  for (int j = 0; j <= p.patch.ym; ++j) {
    for (int i = 0; i <= p.patch.xm; ++i) {
      const int ice = p.ice(j, i) | p.ice(j, i + 1) << 1 | p.ice(j + 1, i) << 2 | p.ice(j + 1, i + 1) << 3;
      p.element_at(j, i) = ice != 0 ? static_cast<int>(elements.size()) : -1;
      if (ice != 0) elements.push_back({j, i, ice});
    }
  }
  p.elements = list("ssa_elements", elements);
  p.coefficients = Kokkos::View<SsaElement*, Mem>("ssa_coefficients", elements.size());
}

/// Unknown cells. Are the owned ones others than before?
inline bool find_unknowns(SsaPatch& p) {
  bool changed = false;
  std::vector<int> places;
  for (int j = 0; j <= p.patch.ym + 1; ++j) {
    for (int i = 0; i <= p.patch.xm + 1; ++i) {
      const bool owned = j >= 1 && j <= p.patch.ym && i >= 1 && i <= p.patch.xm;
      const int unknown = p.ice(j, i) != 0 && !p.is_fixed(j, i) ? 1 : 0;
      if (owned && unknown != p.unknown(j, i)) changed = true;
      if (owned && unknown != 0) places.push_back(j * (p.patch.xm + 2) + i);
      p.unknown(j, i) = unknown;
    }
  }
  p.places = list("ssa_places", places);
  p.drag = Kokkos::View<double* [3], Mem>("ssa_drag", places.size());
  p.direction = Kokkos::View<double* [2], Mem>("ssa_direction", places.size());
  return changed;
}

/// The numbers of owned unknown cells; -1 elsewhere.
inline void number_unknowns(const SsaPatch& p) {
  Kokkos::deep_copy(p.number, -1);
  for (int n = 0; n < p.unknowns(); ++n) p.number.data()[p.places(n)] = p.first + n;
}

/// After an exchange of ghosts: beyond the edge of the domain there are no unknowns.
inline void clear_numbers_of_others(const SsaPatch& p) {
  for (int j = 0; j <= p.patch.ym + 1; ++j) {
    for (int i = 0; i <= p.patch.xm + 1; ++i) p.number(j, i) = p.unknown(j, i) != 0 ? p.number(j, i) : -1;
  }
}

} // namespace ssa
} // namespace nunatak
