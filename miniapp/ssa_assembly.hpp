// The discrete SSA on one rank's patch: which cells are unknowns, the load, the residual and the Jacobian. Arrays and loops only;
// the equations are in kernels/ssa_q1.hpp, the solvers (PETSc) in ssa.cpp.
//
// Unknowns: two (u, v) per icy cell that is neither fixed (Dirichlet) nor excluded, numbered in raster order, rank after rank.
// Elements that touch an owned cell are computed by every rank that needs them, in raster order: nothing is summed across
// ranks, and residual and Jacobian are bitwise the same for every decomposition.
//
// Excluded: ice that nothing holds. A component (8 neighbours) of icy cells without a grounded cell of positive yield stress and
// without a fixed cell can drift freely, and its equations are singular; its velocity is set to 0, and its cells are counted.
//
// Cell by cell (lumped), which keeps the answer free of overshoots where drag changes by orders of magnitude between cells:
//   drag      tau_c times the grounded area of the cell (sub-grid grounding line)
//   driving   - rho g H h_x with the cell's own H; h_x from neighbours of the same kind, grounded or floating: one-sided at a
//             grounding line; half a cell of level surface at a front, where the face carries the pressure instead
//   front     pressure on each face towards a cell without ice (kernels/ssa_rheology.hpp)
//
// The edge of a domain that is not periodic: floating ice ends there as at an open ocean, grounded ice without any force.
#pragma once

#include "kernels/ssa_q1.hpp"
#include "miniapp/mpi_ranks.hpp"

#include <vector>

namespace nunatak {

/// What a solve needs besides the first guess; all with valid ghosts.
struct SsaInput {
  Array2<double> H;        ///< ice thickness, m
  Array2<double> h;        ///< surface elevation, m
  Array2<double> b;        ///< bed elevation, m
  Array2<double> tauc;     ///< yield stress of the till, Pa; weighted by the grounded part of a cell, so used
                           ///< in floating cells beside a grounding line, too
  Array2<double> hardness; ///< B, vertical mean, Pa s^(1/n)
  Array2<int> mask;        ///< cell types of kernels/geometry.hpp
  /// Optional: where `fixed` is not 0 and there is ice, the velocity stays (u_fixed, v_fixed), m s-1.
  Array2<int> fixed;
  Array2<double> u_fixed, v_fixed;
};

class SsaAssembly {
public:
  SsaAssembly(MpiRanks& ranks, double dx, double dy, const GlenLaw& glen, const TillLaw& till);

  /// Read the geometry: unknowns, load, coefficients. Collective; messages: a few rounds of ghosts (as many as a component
  /// of ice crosses ranks) with a reduction each, one more exchange, one more reduction, one gather.
  void set_input(const SsaInput& input);

  std::int64_t first() const { return m_first; }       ///< number of the first owned unknown cell
  std::int64_t unknowns() const { return m_unknowns; } ///< unknown cells on all ranks
  int local_unknowns() const { return static_cast<int>(m_nodes.size()); }
  std::int64_t excluded() const { return m_excluded; }       ///< cells on all ranks without anything that holds them
  const std::vector<double>& load() const { return m_load; } ///< N, (x, y) of each owned unknown cell

  /// Fixed values into fixed cells and 0 into cells without ice and excluded ones, in owned cells and ghosts.
  void impose(const Array2<double>& u, const Array2<double>& v) const;
  /// Owned unknowns (pairs u, v) from arrays / to arrays, whose ghosts are then updated (one message per neighbour).
  void pack(const Array2<double>& u, const Array2<double>& v, double* x) const;
  void unpack(const double* x, const Array2<double>& u, const Array2<double>& v) const;

  /// r = membrane stresses + drag - load (N), pairs of owned unknowns. Needs ghosts of u, v.
  void residual(const Array2<double>& u, const Array2<double>& v, double* r) const;

  /// Jacobian (newton = 1) or Picard operator (newton = 0): 9 blocks of 2 x 2 (row-major) per owned unknown cell; block
  /// (dj + 1) * 3 + di + 1 multiplies the velocity of the neighbour in direction (di, dj):
  ///
  ///      6 7 8
  ///      3 4 5      Neighbours that are no unknowns have blocks too, to be ignored: column() is negative there.
  ///      0 1 2
  void jacobian(const Array2<double>& u, const Array2<double>& v, double newton, double* blocks) const;

  /// Number of the unknown cell that is the neighbour in direction `slot` of owned unknown cell n, -1 if there is none.
  std::int64_t column(int n, int slot) const;

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
  double rise(int j, int i, int dj, int di) const;
  void compute_load(const SsaInput& input);
  SsaElement state(const Element& e, const Array2<double>& u, const Array2<double>& v) const;

  MpiRanks& m_ranks;
  Patch m_patch;
  double m_dx, m_dy;
  Q1Element m_q1;
  GlenLaw m_glen;
  TillLaw m_till;

  SsaInput m_input;
  Array2<int> m_ice;             // 1: icy, inside the domain, not excluded
  Array2<int> m_local;           // index into m_nodes of an owned unknown cell, else -1
  Array2<std::int64_t> m_global; // number of an unknown cell, else -1
  Array2<double> m_BH;           // B H, Pa s^(1/n) m
  std::vector<Node> m_nodes;
  std::vector<Element> m_elements;     // with at least one icy corner
  std::vector<double> m_load, m_yield; // m_yield: tau_c times grounded area, N
  std::int64_t m_first = 0, m_unknowns = 0, m_excluded = 0;
};

} // namespace nunatak
