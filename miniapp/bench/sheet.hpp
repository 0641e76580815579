// The synthetic continent as state and forcing on any ranks, for steps without files (nunatak-step,
// bench_kernels), and a fingerprint of the fields. Filled and read on the host.
#pragma once

#include "kernels/cases/continent.hpp"
#include "kernels/cases/sites.hpp"
#include "kernels/ice/columns.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/step/hybrid.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace nunatak::synthetic {

/// Points along x (and y) of the continent with cells of dx metres: as many as fit, as in nunatak.
inline int marine_points(double dx) { return points_that_fit(2.0 * marine_half_width, dx); }

/// The first of so many points, which lie in its middle.
inline double marine_first(int points, double dx) {
  return (2.0 * marine_half_width - (points - 1) * dx) / 2.0 - marine_half_width;
}

struct Sheet {
  Levels levels; ///< as in nunatak
  std::vector<State> states;
  std::vector<Forcing> forcings;
  std::vector<std::int64_t> icy_cells; ///< per local rank
};

/// State with valid ghosts; the sliding velocity is 0.
inline Sheet make_sheet(Ranks& ranks, double dx, int Mz, std::uint64_t seed) {
  Sheet sheet;
  const Continent continent(seed);
  std::vector<std::vector<double>> largest; // thickness
  for (int n = 0; n < ranks.local_size(); ++n) {
    const Patch p = ranks.patch(n);
    State s(p);
    Forcing f(p);
    const double first = marine_first(p.Mx, dx);
    const auto at = [&](int k) { return first + k * dx; };
    double thickest = 0.0;
    std::int64_t icy_cells = 0;
    set_sites(p, s, f, [&](int gj, int gi) {
      const Site site = continent.at(at(gi), at(gj));
      thickest = std::fmax(thickest, site.H);
      icy_cells += site.H > ice_free_thickness ? 1 : 0;
      return site;
    });
    largest.push_back({thickest});
    sheet.icy_cells.push_back(icy_cells);
    sheet.states.push_back(s);
    sheet.forcings.push_back(f);
  }
  max_over_ranks(ranks, largest);
  sheet.levels = make_levels(height_of_levels(largest[0][0]), Mz, LevelSpacing::quadratic);
  launch_ghosts(ranks, [&](std::size_t n) -> std::vector<Ghosted> {
    return ghosts_of(given_fields(sheet.states[n], sheet.forcings[n]));
  });
  for (int n = 0; n < ranks.local_size(); ++n) {
    const Patch p = ranks.patch(n);
    State& s = sheet.states[static_cast<std::size_t>(n)];
    const Forcing& f = sheet.forcings[static_cast<std::size_t>(n)];
    s.update_surface();
    const auto accumulation = make_array<double>("accumulation", p);
    in_metres_of_ice(p, f.climatic_mass_balance, accumulation);
    s.temp = make_columns<double>("temp", p, Mz);
    initial_temperature(p, sheet.levels, s.thk, s.mask, f.ice_surface_temp, accumulation,
                        f.bheatflx, s.temp);
  }
  launch_ghosts(ranks,
                [&](std::size_t n) -> std::vector<Ghosted> { return {sheet.states[n].temp}; });
  return sheet;
}

/// A hash of every bit of the owned cells and their positions, independent of the decomposition.
template <class A> std::uint64_t fingerprint(const Patch& p, const A& field) {
  const auto a = on_host(field);
  const std::size_t width = a.extent(2);
  std::uint64_t sum = 0;
  for_each_owned(p, [&](int j, int i) {
    for (std::size_t k = 0; k < width; ++k) {
      const auto x = static_cast<double>(a.access(j, i, k));
      const auto bits = Kokkos::bit_cast<std::uint64_t>(x == 0.0 ? 0.0 : x);
      sum += hash64(bits ^ hash64(static_cast<std::uint64_t>(p.cell(j, i)) * width + k));
    }
  });
  return sum;
}

/// Sum over local ranks; add the values of all processes.
inline std::uint64_t fingerprint(const Ranks& ranks, const Hybrid& hybrid) {
  Kokkos::fence();
  std::uint64_t sum = 0;
  for (int n = 0; n < ranks.local_size(); ++n) {
    const Patch p = ranks.patch(n);
    const State& s = hybrid.state(n);
    sum += fingerprint(p, s.thk) + 3 * fingerprint(p, s.temp) + 5 * fingerprint(p, s.u_ssa) +
           7 * fingerprint(p, s.v_ssa) + 9 * fingerprint(p, s.mask) +
           11 * fingerprint(p, hybrid.flow(n).w) + 13 * fingerprint(p, hybrid.ocean(n).melt) +
           15 * fingerprint(p, hybrid.ocean(n).box_mask);
  }
  return sum;
}

} // namespace nunatak::synthetic
