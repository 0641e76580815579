#include "miniapp/model/generate.hpp"

#include "kernels/cases/continent.hpp"
#include "kernels/cases/exact_ssa.hpp"
#include "kernels/cases/synthetic.hpp"
#include "kernels/grid/constants.hpp"

#include <functional>

namespace nunatak {

namespace {

Axis centred(double half_width, int points) { return {-half_width, 2.0 * half_width / (points - 1), points}; }

void fix(Forcing& forcing, int j, int i, double u) {
  forcing.fixed(j, i) = 1;
  forcing.u_fixed(j, i) = u;
}

/// Exact velocities on all edges of the domain (test I).
void complete_stream(const Grid& grid, const Patch& patch, Forcing& forcing) {
  forcing.has_tauc = forcing.has_hardav = true;
  Kokkos::deep_copy(forcing.hardav, exact::TestI::B);
  for (int j = 1; j <= patch.ym; ++j) {
    for (int i = 1; i <= patch.xm; ++i) {
      const int gj = patch.global_j(j), gi = patch.global_i(i);
      const double y = grid.y(gj);
      forcing.tauc(j, i) = synthetic::stream_yield_stress(y);
      if (gj == 0 || gj == grid.My() - 1 || gi == 0 || gi == grid.Mx() - 1) fix(forcing, j, i, exact::TestI::u(y));
    }
  }
}

/// Ice enters at x = 0.
void complete_shelf(const Patch& patch, Forcing& forcing) {
  forcing.has_hardav = true;
  Kokkos::deep_copy(forcing.hardav, exact::VanDerVeen::B);
  for (int j = 1; j <= patch.ym; ++j) {
    for (int i = 1; i <= patch.xm; ++i) {
      if (patch.global_i(i) == 0) fix(forcing, j, i, exact::VanDerVeen::u0);
    }
  }
}

} // namespace

GeneratedGrid generated_grid(const Options& options) {
  using namespace synthetic;
  if (options.init == "dome") return {centred(dome_half_width, 61), centred(dome_half_width, 61), true};
  if (options.init == "stream") return {centred(stream_half_width, 5), centred(stream_half_width, 61)};
  if (options.init == "shelf") return {{0.0, shelf_length / 200, 201}, {0.0, shelf_length / 200, 11}, false, true};
  return {centred(marine_half_width, 381), centred(marine_half_width, 381), true, false, true};
}

void generate(const Options& options, const Grid& grid, const Patch& patch, State& state, Forcing& forcing) {
  std::function<synthetic::Site(double, double)> site = synthetic::dome;
  if (options.init == "shelf") site = synthetic::shelf;
  if (options.init == "stream") site = synthetic::stream;
  if (options.init == "marine") {
    site = [continent = synthetic::Continent(static_cast<std::uint64_t>(options.seed))](double x, double y) {
      return continent.at(x, y);
    };
  }
  for (int j = 1; j <= patch.ym; ++j) {
    for (int i = 1; i <= patch.xm; ++i) {
      const synthetic::Site s = site(grid.x(patch.global_i(i)), grid.y(patch.global_j(j)));
      state.thk(j, i) = s.H;
      state.topg(j, i) = s.b;
      forcing.climatic_mass_balance(j, i) = s.M * rho_ice;
      forcing.ice_surface_temp(j, i) = s.T_s;
      forcing.bheatflx(j, i) = s.G;
      forcing.basins(j, i) = s.basin;
      forcing.theta_ocean(j, i) = s.theta_ocean;
      forcing.salinity_ocean(j, i) = s.salinity_ocean;
    }
  }
  if (options.init == "shelf" || options.init == "stream") {
    forcing.fixed = make_array<int>("fixed", patch);
    forcing.u_fixed = make_array<double>("u_fixed", patch);
    forcing.v_fixed = make_array<double>("v_fixed", patch);
  }
  if (options.init == "stream") complete_stream(grid, patch, forcing);
  if (options.init == "shelf") complete_shelf(patch, forcing);
}

} // namespace nunatak
