// Ice that shears and slides with a given velocity, on virtual ranks: the kernels of one mass step
// in the order of the model, without stress balance, ocean and temperature.
#pragma once

#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "kernels/ice/sia.hpp"
#include "kernels/ice/time_step.hpp"
#include "kernels/ice/transport.hpp"
#include "tests/kernels/cells.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace nunatak {

/// What a cell holds: bed b and thickness H (m), sliding velocity u, v (m s-1), surface balance M
/// and basal melt m of floating ice (m s-1), rate factor A (Pa-3 s-1; 0: the ice does not shear).
struct Cell {
  double b = 1.0, H = 0.0, u = 0.0, v = 0.0, M = 0.0, m = 0.0, A = 0.0;
};

struct MovingIce {
  struct Local {
    Array2<double> b, H, H_new, h, u, v, q_x, q_y, f, M, m, A;
    Array2<int> mask;
    Edges edges;
    explicit Local(const Patch& p) : mask(make_array<int>("mask", p)), edges(p) {
      for (auto* a : {&b, &H, &H_new, &h, &u, &v, &q_x, &q_y, &f, &M, &m, &A})
        *a = make_array<double>("a", p);
    }
    /// Surface, cell types and edges from bed and thickness, ghosts included.
    void update(const Patch& p) const {
      update_geometry(p, b, H, h, mask);
      update_edges(p, h, mask, edges);
    }
    /// The flux of shearing; returns the largest diffusivity (m2 s-1).
    double shear(const Patch& p, double dx, double dy) const {
      return sia_fluxes(p, dx, dy, edges, H, mask, A, q_x, q_y);
    }
  };

  VirtualRanks ranks;
  double dx, dy;
  std::vector<Local> local;
  MassBudget budget; ///< of all steps

  /// `at`: what the cell of global indices (j, i) holds.
  MovingIce(Decomposition d, double dx_, double dy_, const std::function<Cell(int, int)>& at)
      : ranks(std::move(d)), dx(dx_), dy(dy_) {
    for (int r = 0; r < ranks.local_size(); ++r) {
      local.emplace_back(ranks.patch(r));
    }
    for_each([&](Local& s, int j, int i, int gj, int gi) {
      const Cell c = at(gj, gi);
      s.b(j, i) = c.b, s.H(j, i) = c.H, s.u(j, i) = c.u, s.v(j, i) = c.v, s.M(j, i) = c.M,
             s.m(j, i) = c.m, s.A(j, i) = c.A;
    });
  }

  /// f(local, j, i, gj, gi) for all cells: view and global indices.
  template <class F> void for_each(const F& f) {
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Patch p = ranks.patch(r);
      for (const auto& [j, i] : cells_of(p)) f(local[r], j, i, p.global_j(j), p.global_i(i));
    }
  }

  /// Ghosts, geometry and the flux of shearing; returns the largest diffusivity (m2 s-1).
  double shear() {
    std::vector<std::vector<Ghosted>> state;
    for (const Local& s : local) state.push_back({s.b, s.H, s.u, s.v, s.A});
    ranks.update_ghosts(state);
    std::vector<std::vector<double>> D_max;
    for (int r = 0; r < ranks.local_size(); ++r) {
      local[r].update(ranks.patch(r));
      D_max.push_back({local[r].shear(ranks.patch(r), dx, dy)});
    }
    max_over_ranks(ranks, D_max);
    return D_max[0][0];
  }

  /// Adds sliding to the fluxes of shear() and moves the ice for dt seconds.
  MassBudget move(double dt) {
    std::vector<std::vector<Ghosted>> factor;
    for (int r = 0; r < ranks.local_size(); ++r) {
      const Local& s = local[r];
      total_flux(ranks.patch(r), s.edges, s.H, s.mask, s.u, s.v, s.q_x, s.q_y, s.q_x, s.q_y);
      outflow_factor(ranks.patch(r), dx, dy, dt, s.H, s.q_x, s.q_y, s.f);
      factor.push_back({s.f});
    }
    ranks.update_ghosts(factor);
    std::vector<MassBudget> parts;
    for (int r = 0; r < ranks.local_size(); ++r) {
      Local& s = local[r];
      parts.push_back(update_thickness(ranks.patch(r), dx, dy, dt, s.H, s.mask, s.q_x, s.q_y, s.f,
                                       s.M, s.m, s.H_new));
      std::swap(s.H, s.H_new);
    }
    const MassBudget total = sum_over_ranks(ranks, parts);
    budget += total;
    return total;
  }

  MassBudget step(double dt) {
    shear();
    return move(dt);
  }

  /// Sum of the thickness over all cells (m).
  double volume() {
    std::vector<FixedSum> parts;
    for (int r = 0; r < ranks.local_size(); ++r) {
      parts.push_back(sum_thickness(ranks.patch(r), local[r].H));
    }
    return sum_over_ranks(ranks, parts).value();
  }

  /// Thickness of all cells in raster order (m).
  std::vector<double> thickness() {
    const int Mx = ranks.decomposition().Mx;
    std::vector<double> all(static_cast<std::size_t>(Mx) *
                            static_cast<std::size_t>(ranks.decomposition().My));
    for_each([&](Local& s, int j, int i, int gj, int gi) { all[gj * Mx + gi] = s.H(j, i); });
    return all;
  }
};

} // namespace nunatak
