// The discrete SSA on one rank's patch: which cells are unknowns, the load, the residual and the Jacobian. Arrays and loops only;
// the equations are in kernels/ssa/element.hpp, the solvers (PETSc) in ssa.cpp.
//
// Unknowns: two (u, v) per icy cell that is neither fixed (Dirichlet) nor excluded, numbered in raster order, rank after rank.
// Elements that touch an owned cell are computed by every rank that needs them, in raster order: nothing is summed across
// ranks, and residual and Jacobian are bitwise the same for every decomposition.
//
// Excluded: ice that nothing holds. A component (8 neighbours) of icy cells without a grounded cell of positive yield stress and
// without a fixed cell can drift freely, and its equations are singular; its velocity is set to 0, and its cells are counted.
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
#pragma once

#include "kernels/multigrid/nine_point.hpp"
#include "kernels/ssa/element.hpp"
#include "miniapp/base/mpi_ranks.hpp"

#include <vector>

namespace nunatak {

constexpr double strain_rate_at_rest = 0.01 / seconds_per_year; ///< s-1, of ice streams and shelves: 1e-4 to 1e-1 a-1

/// What a solve needs besides the first guess; all with valid ghosts.
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

class SsaAssembly {
public:
  SsaAssembly(MpiRanks& ranks, double dx, double dy, const GlenLaw& glen, const TillLaw& till, bool till_subgrid = true);

  /// Read the geometry: unknowns, load, coefficients. Collective; messages: a few rounds of ghosts (as many as a component
  /// of ice crosses ranks) with a reduction each, two more exchanges, one more reduction, one gather.
  void set_input(const SsaInput& input);

  std::int64_t first() const { return m_first; }       ///< number of the first owned unknown cell
  std::int64_t unknowns() const { return m_unknowns; } ///< unknown cells on all ranks
  int local_unknowns() const { return static_cast<int>(m_nodes.size()); }
  /// Are the unknowns others than before the last set_input?
  bool unknowns_changed() const { return m_changed; }
  std::int64_t excluded() const { return m_excluded; }       ///< cells on all ranks without anything that holds them
  const std::vector<double>& load() const { return m_load; } ///< N, (x, y) of each owned unknown cell

  /// Fixed values into fixed cells and 0 into cells without ice and excluded ones, in owned cells and ghosts.
  void impose(const Array2<double>& u, const Array2<double>& v) const;
  /// Owned unknowns (pairs u, v) from arrays / to arrays, whose ghosts are then updated (one message per neighbour).
  void pack(const Array2<double>& u, const Array2<double>& v, double* x) const;
  void unpack(const double* x, const Array2<double>& u, const Array2<double>& v) const;

  /// r = membrane stresses + drag - load (N), pairs of owned unknowns. Needs ghosts of u, v.
  void residual(const Array2<double>& u, const Array2<double>& v, double* r) const;

  /// The matrix of a step from (u, v): the rows of owned unknowns, as in kernels/multigrid/nine_point.hpp; 0 towards cells that
  /// are no unknowns. Symmetric positive definite. Needs ghosts of u, v.
  ///   at_rest    viscosity of a strain rate typical of ice streams and shelves: (u, v) is 0 and says nothing about it
  ///   picard     viscosity and drag of (u, v), frozen
  ///   weighted   Newton's derivative, weighted by newton_weight with the change since the last call; that of the drag with the
  ///              direction of follow_direction
  enum class Linearisation { at_rest, picard, weighted };
  void jacobian(const Array2<double>& u, const Array2<double>& v, Linearisation how, const Rows<double>& A) const;
  /// y = the last matrix times x, element by element; call keep_elements() when it is new. Needs ghosts of x, which is 0 in cells
  /// that are no unknowns.
  void keep_elements() const;
  void jacobian_product(const Rows<double>& x, double* y) const;

  /// Number of the unknown cell that is the neighbour in direction `slot` of owned unknown cell n, -1 if there is none.
  std::int64_t column(int n, int slot) const;

  /// 1 in unknown cells, owned ones and ghosts.
  Array2<int> unknown_mask() const;
  /// Places of owned unknowns in the arrays, in their order: j (xm + 2) + i.
  const Kokkos::View<int*, Mem>& places() const { return m_places; }

private:
  struct Node {
    int j, i; ///< view indices of an owned unknown cell
  };
  struct Element {
    int j, i; ///< view indices of its south-west corner
    int ice;  ///< which corners are icy
  };

  void find_ice(const SsaInput& input);
  void find_elements();
  void number_unknowns();
  bool wall(int j, int i, int other_j, int other_i) const;
  bool same_kind(int j, int i, int other_j, int other_i) const;
  void difference_surface();
  double own_part(int j, int i, int nj, int ni) const;
  double rise(int j, int i, int towards) const;
  void compute_load(const SsaInput& input);
  void copy_to_device();
  void set_state(const Array2<double>& u, const Array2<double>& v, const GlenLaw& glen) const;
  void weigh(const Array2<double>& u, const Array2<double>& v, Linearisation how) const;

  MpiRanks& m_ranks;
  Patch m_patch;
  double m_dx, m_dy;
  Q1Element m_q1;
  GlenLaw m_glen;
  TillLaw m_till;
  bool m_till_subgrid;

  SsaInput m_input;
  Array2<int> m_ice;             // 1: icy, inside the domain, not excluded
  Array2<int> m_local;           // index into m_nodes of an owned unknown cell, else -1
  Array2<std::int64_t> m_global; // number of an unknown cell, else -1
  Array2<double> m_BH;           // B H, Pa s^(1/n) m
  Array3<double> m_rise;         // of the surface to the neighbours east, west, north, south, m
  std::vector<Node> m_nodes;
  std::vector<Element> m_elements;     // with at least one icy corner
  std::vector<double> m_load, m_yield; // m_yield: tau_c times grounded area, N
  std::int64_t m_first = 0, m_unknowns = 0, m_excluded = 0;
  bool m_changed = true;

  // the same for the loops of ssa_loops.cpp
  Kokkos::View<Q1Element, Mem> m_shape;
  Kokkos::View<int*, Mem> m_places; // of owned unknowns in the arrays: j (xm + 2) + i
  Kokkos::View<Element*, Mem> m_element_list;
  Kokkos::View<SsaElement*, Mem> m_state;
  mutable Kokkos::View<SsaElement*, Mem> m_linear; // of keep_elements()
  Kokkos::View<double*, Mem> m_yield_list, m_load_list;
  Kokkos::View<double* [3], Mem> m_drag;      // uu, uv, vv of the last matrix
  Kokkos::View<double* [2], Mem> m_direction; // of sliding, for the next one (follow_direction)
  Array2<int> m_element_at;                   // number of the element whose south-west corner is (j, i), else -1
  Array2<double> m_u_before, m_v_before;      // where the last matrix was formed
};

} // namespace nunatak
