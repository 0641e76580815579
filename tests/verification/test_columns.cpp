// Temperature of columns: Robin's solution with its order in levels, and where every joule goes.
//
// The heat of a column is that of the control volumes of its levels, sum of rho c T_k V_k; the half
// interval below the surface belongs to the surface, whose temperature is given. In one step,
// exactly except for rounding, with T* before ice above its melting point is set back:
//
//   heat after - heat before = dt [ G + k (T_s - T*_{n-1})/(H - z_{n-1}) + sum V Sigma ]      base
//   (grounded), surface, strain
//                              - dt rho c [ sum V (u T_x + v T_y) + sum V w T*_z ] advection
//                              - rho L (ice melted inside)
//
// A floating base is held at its melting point: the sum then starts at level 1, with k (T*_0 -
// T*_1)/(z_1 - z_0) from below. Advection is not in flux form: the scheme makes or loses some heat
// where it moves ice, less with finer grids (last table).
#include "kernels/errors.hpp"
#include "kernels/one_column.hpp"
#include "verification/table.hpp"

#include <catch2/catch_test_macros.hpp>

#include <random>

using namespace nunatak;

namespace {

constexpr double rho_c = rho_ice * ice_c;

/// Largest error (K) of a steady column of thickness H under accumulation of 0.1 m/a on Mz levels.
double robin_error(LevelSpacing spacing, double H, int Mz) {
  const double a = 0.1 / seconds_per_year, G = 0.042, T_s = 223.15;
  const Levels levels = make_levels(4000.0, Mz, spacing);
  const int n = levels_in_ice(levels.z, H);
  std::vector<double> T(levels.z_host.size(), T_s), w;
  for (const double z : levels.z_host) w.push_back(-a * z / H);
  for (int step = 0; step < 400; ++step)
    solve_column(levels, n, H, 5000.0 * seconds_per_year, T_s, false, G, w.data(), T.data());
  double error = 0.0;
  for (int k = 0; k < n; ++k) {
    const auto index = static_cast<std::size_t>(k);
    error = larger_error(error, T[index] - exact::robin(levels.z_host[index], H, a, T_s, G));
  }
  return error;
}

/// The derivative of T along z at level k >= 1 as the scheme takes it; `above` is T_{k+1} or T_s.
double blended_slope(double T_below, double T, double above, double dz_below, double dz_above,
                     double w) {
  const double speed = std::abs(w) * std::max(dz_below, dz_above) * rho_c,
               lambda = std::min(1.0, 2.0 * ice_k / speed);
  const double upwind = w > 0.0 ? (T - T_below) / dz_below : (above - T) / dz_above;
  return lambda * (above - T_below) / (dz_below + dz_above) + (1.0 - lambda) * upwind;
}

} // namespace

TEST_CASE("Robin's column: second order in levels, wherever the surface lies") {
  struct Case {
    const char* title;
    LevelSpacing spacing;
    double H, bound[4];
  };
  const Case cases[] = {{"Robin: equal levels, H = 3000 m",
                         LevelSpacing::equal,
                         3000.0,
                         {0.0700, 0.0175, 0.00440, 0.00110}},
                        {"Robin: finer at the base, H = 2950 m",
                         LevelSpacing::quadratic,
                         2950.0,
                         {0.0395, 0.0100, 0.00257, 0.00065}}};
  for (const Case& c : cases) {
    Table table(c.title, "largest error, K");
    int Mz = 21;
    for (const double bound : c.bound) {
      table.add(Mz, 4.0 / (Mz - 1), robin_error(c.spacing, c.H, Mz),
                bound); // the mean distance of levels
      Mz = 2 * Mz - 1;
    }
    table.check(0, 1.95);
  }
}

TEST_CASE("heat: what a column gains came in, or by advection, or has melted ice") {
  std::mt19937 generator(7);
  const auto random = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(generator()) / 4294967296.0;
  };
  const int M = 7;
  Columns c(Decomposition::make(M, M, 1, 1), make_levels(2000.0, 15, LevelSpacing::quadratic),
            10e3);
  const auto& z = c.levels.z_host;
  double worst = 0.0;
  int melting = 0, frozen = 0, floating = 0, upwinded = 0;
  for (int round = 0; round < 20; ++round) {
    const double warmth = round < 10 ? 240.0 : 268.0; // the second half melts
    for (int j = 1; j <= M; ++j) {
      for (int i = 1; i <= M; ++i) {
        c.H(j, i) = random(0.5, 1999.0),
               c.heating(j, i) = random(0.0, 2e-3) / std::pow(c.H(j, i), 4),
               c.T_s(j, i) = random(warmth - 10.0, warmth), c.G(j, i) = random(0.0, 0.1);
        const double kind = random(0.0, 1.0);
        c.mask(j, i) = kind < 0.1 ? ice_free_land : kind < 0.3 ? floating_ice : grounded_ice;
        const double speed =
            std::pow(10.0, random(-1.0, 2.0)) / seconds_per_year; // 0.1 to 100 m/a up or down
        for (std::size_t k = 0; k < z.size(); ++k) {
          c.u(j, i, k) = random(-100.0, 100.0) / seconds_per_year,
                    c.v(j, i, k) = random(-100.0, 100.0) / seconds_per_year;
          c.w(j, i, k) = speed * random(-1.0, 1.0);
          c.T(j, i, k) = random(warmth - 10.0, warmth + 10.0);
        }
      }
    }
    const double dt = random(0.1, 20.0) * seconds_per_year;
    c.step(dt);
    for (int j = 1; j <= M; ++j) {
      for (int i = 1; i <= M; ++i) {
        if (!icy(c.mask(j, i))) continue;
        const int n = c.n(j, i);
        const bool floats = c.mask(j, i) == floating_ice;
        const double H = c.H(j, i), top = c.T_s(j, i);
        // the explicit half of the step, then the implicit one by itself: T*, before melting
        std::vector<double> explicit_terms, T_star;
        for (int k = 0; k < n; ++k) {
          const double u = c.u(j, i, k), v = c.v(j, i, k);
          const auto difference =
              [&](int J, int I,
                  bool from_below) { // along one axis, upwind; none from an ice-free cell
                const int s = from_below ? -1 : 1;
                return icy(c.mask(j + s * J, i + s * I))
                           ? s * (c.T(j + s * J, i + s * I, k) - c.T(j, i, k))
                           : 0.0;
              };
          explicit_terms.push_back(
              c.heating(j, i) * std::pow(H - z[static_cast<std::size_t>(k)], 4) -
              rho_c * (u * difference(0, 1, u > 0.0) + v * difference(1, 0, v > 0.0)) / c.dx);
          T_star.push_back(c.T(j, i, k) + dt * explicit_terms.back() / rho_c);
        }
        solve_column(c.levels, n, H, dt, top, floats, c.G(j, i), &c.w(j, i, 0), T_star.data());
        double gained = 0.0, given = 0.0, set_back = 0.0, scale = 0.0;
        for (int k = 0; k < n; ++k) {
          const std::size_t at = static_cast<std::size_t>(k);
          const double excess = T_star[at] - pressure_melting(H - z[at]);
          if (excess > 0.0) set_back += rho_c * excess * c.volume(j, i, k);
          CHECK(std::abs(c.T_new(j, i, k) -
                         (excess > 0.0 ? pressure_melting(H - z[at]) : T_star[at])) <= 1e-9);
          scale += rho_c * 273.0 * c.volume(j, i, k);
          if (floats && k == 0) continue; // the ocean gives the base what it needs
          gained += rho_c * (T_star[at] - c.T(j, i, k)) * c.volume(j, i, k);
          given += dt * explicit_terms[at] * c.volume(j, i, k);
          if (k == 0) continue;
          const double above = k + 1 < n ? T_star[at + 1] : top,
                       z_above = k + 1 < n ? z[at + 1] : H;
          const double slope = blended_slope(T_star[at - 1], T_star[at], above, z[at] - z[at - 1],
                                             z_above - z[at], c.w(j, i, k));
          given -= dt * rho_c * c.w(j, i, k) * slope * c.volume(j, i, k);
          upwinded += std::abs(c.w(j, i, k)) * (z_above - z[at]) * rho_c > 2.0 * ice_k ? 1 : 0;
        }
        const auto last = static_cast<std::size_t>(n - 1);
        if (floats && n == 1) continue; // nothing but a base
        given += dt * ice_k * (top - T_star[last]) / (H - z[last]);
        given += dt * (floats ? ice_k * (T_star[0] - T_star[1]) / (z[1] - z[0]) : c.G(j, i));
        // the last digits of a temperature next to a short interval below the surface
        const double tolerance = 1e-13 * scale + dt * ice_k * 1e-13 / (H - z[last]);
        worst = larger_error(worst, (gained - given) / tolerance);
        CHECK(std::abs(c.melted(j, i) * rho_ice * latent_heat - set_back) <= 1e-12 * scale);
        (set_back > 0.0 ? melting : frozen) += 1;
        floating += floats ? 1 : 0;
      }
    }
  }
  CAPTURE(worst);
  CHECK(worst <= 1.0);
  CHECK(melting > 200);
  CHECK(frozen > 200);
  CHECK(floating > 100);
  CHECK(upwinded > 200);
}

// Ice that circulates in a closed, periodic slab: u = U cos(pi z/H) sin(2 pi x/L), with
// w from incompressibility, zero at base and surface. Nothing carries heat in or out but conduction
// at the surface; the rest is an error of the advection.
TEST_CASE("heat made or lost by advection vanishes with the grid") {
  constexpr double pi = 3.14159265358979323846, H = 1000.0, L = 100e3, U = 100.0 / seconds_per_year,
                   T_top = 250.0, dT = 10.0;
  constexpr double surplus =
      rho_c * dT * 2.0 / pi * H * L; // heat above T_top at the start, J per metre of slab
  Table table("Closed circulation, a fifth of the way round: heat made or lost by advection",
              "share of all heat, %");
  for (const auto& [cells, bound] :
       {std::pair{16, 5.9}, std::pair{32, 1.51}, std::pair{64, 0.46}, std::pair{128, 0.235}}) {
    const int M = cells; // lambdas of C++17 hold no name of a structured binding
    Decomposition d = Decomposition::make(M, 1, 1, 1);
    d.periodic_x = d.periodic_y = true;
    Columns c(d, make_levels(H, M / 2 + 1, LevelSpacing::equal), L / M);
    const int Mz = c.levels.size();
    Kokkos::deep_copy(c.H, H);
    Kokkos::deep_copy(c.T_s, T_top);
    const auto z = [&](int k) { return c.levels.z_host[static_cast<std::size_t>(k)]; };
    for (int i = 1; i <= M; ++i) {
      const double phase = 2.0 * pi * (i - 1) / M;
      for (int k = 0; k < Mz; ++k) {
        c.u(1, i, k) = U * std::cos(pi * z(k) / H) * std::sin(phase);
        c.w(1, i, k) = -U * H * 2.0 / L * std::sin(pi * z(k) / H) * std::cos(phase);
        c.T(1, i, k) = T_top + dT * std::sin(pi * z(k) / H) * (1.0 + std::cos(phase));
      }
    }
    const auto heat = [&] {
      double sum = 0.0;
      for (int i = 1; i <= M; ++i) {
        for (int k = 0; k < c.n(1, i); ++k) sum += rho_c * c.T(1, i, k) * c.volume(1, i, k) * c.dx;
      }
      return sum;
    };
    const double before = heat(), dt = 0.2 * c.dx / U;
    double conducted = 0.0;
    for (int step = 0; step < M; ++step) {
      c.step(dt);
      std::swap(c.T, c.T_new);
      for (int i = 1; i <= M; ++i) {
        conducted += dt * ice_k * (T_top - c.T(1, i, Mz - 2)) / (H - z(Mz - 2)) * c.dx;
        CHECK(c.melted(1, i) == 0.0);
      }
    }
    table.add(M, c.dx / 1e3, 100.0 * std::abs(heat() - before - conducted) / surplus, bound);
  }
  table.check(0, 0.95);
}
