#include "miniapp/model/generate.hpp"

#include "kernels/cases/continent.hpp"
#include "kernels/cases/exact_ssa.hpp"
#include "kernels/cases/synthetic.hpp"
#include "kernels/grid/constants.hpp"

#include <functional>

namespace nunatak {

namespace {

Axis centred(double half_width, int points) {
  return {-half_width, 2.0 * half_width / (points - 1), points};
}

/// The edges whose velocity is given.
struct Fixed {
  explicit Fixed(Forcing& f) : forcing(f), fixed(on_host(f.fixed)), u(on_host(f.u_fixed)) {}
  ~Fixed() { to_loops(forcing.fixed, fixed), to_loops(forcing.u_fixed, u); }
  Fixed(const Fixed&) = delete;
  Fixed& operator=(const Fixed&) = delete;
  void fix(int j, int i, double speed) { fixed(j, i) = 1, u(j, i) = speed; }
  Forcing& forcing;
  SharedArray2<int> fixed;
  SharedArray2<double> u;
};

/// Exact velocities on all edges of the domain (test I).
void complete_stream(const Grid& grid, const Patch& patch, Forcing& forcing) {
  forcing.has_tauc = forcing.has_hardav = true;
  Kokkos::deep_copy(forcing.hardav, exact::TestI::B);
  Fixed edges(forcing);
  const auto tauc = on_host(forcing.tauc);
  for (int j = 1; j <= patch.ym; ++j) {
    for (int i = 1; i <= patch.xm; ++i) {
      const int gj = patch.global_j(j), gi = patch.global_i(i);
      const double y = grid.y(gj);
      tauc(j, i) = synthetic::stream_yield_stress(y);
      if (gj == 0 || gj == grid.My() - 1 || gi == 0 || gi == grid.Mx() - 1)
        edges.fix(j, i, exact::TestI::u(y));
    }
  }
  to_loops(forcing.tauc, tauc);
}

/// Ice enters at x = 0.
void complete_shelf(const Patch& patch, Forcing& forcing) {
  forcing.has_hardav = true;
  Kokkos::deep_copy(forcing.hardav, exact::VanDerVeen::B);
  Fixed edges(forcing);
  for (int j = 1; j <= patch.ym; ++j) {
    for (int i = 1; i <= patch.xm; ++i) {
      if (patch.global_i(i) == 0) edges.fix(j, i, exact::VanDerVeen::u0);
    }
  }
}

} // namespace

GeneratedGrid generated_grid(const Options& options) {
  using namespace synthetic;
  if (options.init == "dome")
    return {centred(dome_half_width, 61), centred(dome_half_width, 61), true};
  if (options.init == "stream")
    return {centred(stream_half_width, 5), centred(stream_half_width, 61)};
  if (options.init == "shelf")
    return {{0.0, shelf_length / 200, 201}, {0.0, shelf_length / 200, 11}, false, true};
  return {centred(marine_half_width, 381), centred(marine_half_width, 381), true, false, true};
}

void generate(const Options& options, const Grid& grid, const Patch& patch, State& state,
              Forcing& forcing) {
  std::function<synthetic::Site(double, double)> site = synthetic::dome;
  if (options.init == "shelf") site = synthetic::shelf;
  if (options.init == "stream") site = synthetic::stream;
  if (options.init == "marine") {
    site = [continent = synthetic::Continent(static_cast<std::uint64_t>(options.seed))](
               double x, double y) { return continent.at(x, y); };
  }
  const auto thk = on_host(state.thk), topg = on_host(state.topg),
             M = on_host(forcing.climatic_mass_balance), T_s = on_host(forcing.ice_surface_temp),
             G = on_host(forcing.bheatflx), theta = on_host(forcing.theta_ocean),
             salinity = on_host(forcing.salinity_ocean);
  const auto basins = on_host(forcing.basins);
  for (int j = 1; j <= patch.ym; ++j) {
    for (int i = 1; i <= patch.xm; ++i) {
      const synthetic::Site s = site(grid.x(patch.global_i(i)), grid.y(patch.global_j(j)));
      thk(j, i) = s.H;
      topg(j, i) = s.b;
      M(j, i) = s.M * rho_ice;
      T_s(j, i) = s.T_s;
      G(j, i) = s.G;
      basins(j, i) = s.basin;
      theta(j, i) = s.theta_ocean;
      salinity(j, i) = s.salinity_ocean;
    }
  }
  to_loops(state.thk, thk), to_loops(state.topg, topg), to_loops(forcing.climatic_mass_balance, M);
  to_loops(forcing.ice_surface_temp, T_s), to_loops(forcing.bheatflx, G);
  to_loops(forcing.theta_ocean, theta), to_loops(forcing.salinity_ocean, salinity);
  to_loops(forcing.basins, basins);
  if (options.init == "shelf" || options.init == "stream") {
    forcing.fixed = make_array<int>("fixed", patch);
    forcing.u_fixed = make_array<double>("u_fixed", patch);
    forcing.v_fixed = make_array<double>("v_fixed", patch);
  }
  if (options.init == "stream") complete_stream(grid, patch, forcing);
  if (options.init == "shelf") complete_shelf(patch, forcing);
}

} // namespace nunatak
