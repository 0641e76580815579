// What the programs test_ssa_*.cpp and test_marine.cpp share: one SSA problem on the ranks of
// MPI_COMM_WORLD, filled by functions of the cell, solved, and looked at by maxima over the ranks.
#pragma once

#include "io/base/agree.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/model/petsc/ssa.hpp"
#include "tests/kernels/cells.hpp"
#include "tests/kernels/errors.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace nunatak {

constexpr double year = seconds_per_year;

inline int mpi_size() { return io::size_of(MPI_COMM_WORLD); }
inline int mpi_rank() { return io::rank_in(MPI_COMM_WORLD); }

/// A grid of M points in the refined direction, and the bound of its error.
struct Row {
  int M;
  double bound;
};

/// Grids of a table: all on one and two ranks; on more, for the same answer, the first two.
template <class Grid> std::vector<Grid> grids(std::vector<Grid> all) {
  if (mpi_size() > 2 && all.size() > 2) all.resize(2);
  return all;
}

/// One SSA problem on an Mx x My grid; grounded ice everywhere until filled.
struct SsaProblem {
  SsaProblem(int Mx, int My, double spacing_x, double spacing_y, bool periodic_x, bool periodic_y)
      : dx(spacing_x), dy(spacing_y),
        ranks(MPI_COMM_WORLD, decomposition(Mx, My, periodic_x, periodic_y)), patch(ranks.patch()) {
    in = make_ssa_input(patch);
    u = array("u"), v = array("v");
    Kokkos::deep_copy(in.mask, static_cast<int>(grounded_ice));
  }

  static Decomposition decomposition(int Mx, int My, bool periodic_x, bool periodic_y) {
    Decomposition d = Decomposition::make(Mx, My, mpi_size());
    d.periodic_x = periodic_x, d.periodic_y = periodic_y;
    return d;
  }
  Array2<double> array(const char* name) const { return make_array<double>(name, patch); }

  /// f(j, i, gj, gi): view and global indices of each owned cell.
  template <class F> void fill(const F& f) const {
    for (const auto& [j, i] : cells_of(patch)) f(j, i, patch.global_j(j), patch.global_i(i));
  }
  /// Bed b and thickness H (m) of a cell; surface and mask follow.
  void set(int j, int i, double b, double H) const {
    in.b(j, i) = b, in.H(j, i) = H;
    in.h(j, i) = surface(b, H), in.mask(j, i) = cell_type(b, H);
  }
  /// The velocity of a cell stays (u_exact, v_exact), m s-1.
  void fix(int j, int i, double u_exact, double v_exact) const {
    in.fixed(j, i) = 1, in.u_fixed(j, i) = u_exact, in.v_fixed(j, i) = v_exact;
  }
  bool on_edge(int gj, int gi) const {
    return gi == 0 || gi == patch.Mx - 1 || gj == 0 || gj == patch.My - 1;
  }

  const SsaReport& solve(const SsaOptions& options) {
    ranks.update_ghosts(
        {in.H, in.h, in.b, in.tauc, in.hardness, in.mask, in.fixed, in.u_fixed, in.v_fixed});
    report = make_ssa_solver(ranks, dx, dy, options)->solve(in, u, v);
    return report;
  }

  /// Maximum of |f(j, i, gj, gi)| over all cells of all ranks.
  template <class F> double maximum(const F& f) const {
    double m = 0.0;
    fill([&](int j, int i, int gj, int gi) { m = larger_error(m, f(j, i, gj, gi)); });
    MPI_Allreduce(MPI_IN_PLACE, &m, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return m;
  }
  /// Sum of |f(j, i, gj, gi)| over all cells of all ranks.
  template <class F> double sum(const F& f) const {
    double s = 0.0;
    fill([&](int j, int i, int gj, int gi) { s += std::abs(f(j, i, gj, gi)); });
    MPI_Allreduce(MPI_IN_PLACE, &s, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return s;
  }
  /// The whole field on every rank, in raster order.
  std::vector<double> gather(const Array2<double>& f) const {
    std::vector<double> all(static_cast<std::size_t>(patch.Mx) * static_cast<std::size_t>(patch.My),
                            0.0);
    fill(
        [&](int j, int i, int, int) { all[static_cast<std::size_t>(patch.cell(j, i))] = f(j, i); });
    MPI_Allreduce(MPI_IN_PLACE, all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    return all;
  }

  double dx, dy;
  MpiRanks ranks;
  Patch patch;
  SsaInput in;
  Array2<double> u, v;
  SsaReport report;
};

} // namespace nunatak
