// Temperature of columns: no new extremes, melting, margins, start, hardness. Robin's solution and
// conservation of heat: tests/verification/test_columns.cpp.
#include "one_column.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

constexpr double year = seconds_per_year;

/// One column, with nothing moving horizontally.
struct OneColumn {
  Levels levels;
  std::vector<double> w, T;
  double H, T_s, G;
  bool floating = false;

  OneColumn(Levels l, double H_, double T_s_, double G_)
      : levels(std::move(l)), H(H_), T_s(T_s_), G(G_) {
    w.assign(levels.z_host.size(), 0.0);
    T.assign(levels.z_host.size(), T_s);
  }
  int n() const { return levels_in_ice(levels.z, H); }
  void step(double dt) { solve_column(levels, n(), H, dt, T_s, floating, G, w.data(), T.data()); }
};

/// 1000 m of ice at 240 K.
struct ColdColumns : Columns {
  ColdColumns(int Mx, int My)
      : Columns(Decomposition::make(Mx, My, 1, 1), make_levels(2000.0, 11, LevelSpacing::equal),
                1e3) {
    Kokkos::deep_copy(H, 1000.0);
    Kokkos::deep_copy(T_s, 240.0);
    Kokkos::deep_copy(T, 240.0);
  }
};

} // namespace

TEST_CASE("closed: no flux, one temperature, nothing happens") {
  OneColumn c(make_levels(2000.0, 15, LevelSpacing::quadratic), 1234.5, 250.0, 0.0);
  for (std::size_t k = 0; k < c.w.size(); ++k) c.w[k] = 1e-7 * (static_cast<double>(k) - 4.0);
  for (int step = 0; step < 50; ++step) c.step(10.0 * year);
  for (int k = 0; k < c.n(); ++k) CHECK(std::abs(c.T[k] - 250.0) <= 1e-11);
}

TEST_CASE("a column without ice has the temperature of the surface, in both arrays") {
  ColdColumns c(2, 1);
  const auto bare_is = [&](double expected) {
    bool both = true;
    for (int k = 0; k < c.levels.size(); ++k)
      both = both && c.T(1, 2, k) == expected && c.T_new(1, 2, k) == expected;
    return both;
  };
  c.step(year);
  std::swap(c.T, c.T_new);
  c.mask(1, 2) = ice_free_land, c.H(1, 2) = 0.0;
  c.step(year);
  CHECK(bare_is(240.0));
  c.T_s(1, 2) = 245.0;
  for (int k = 0; k < 3; ++k) {
    c.step(year);
    std::swap(c.T, c.T_new);
    CHECK(bare_is(245.0));
  }
  CHECK(c.melted(1, 2) == 0.0);
  c.mask(1, 2) = grounded_ice, c.H(1, 2) = 1000.0; // ice again, then none
  Kokkos::deep_copy(c.T, 271.0);
  c.step(year);
  c.mask(1, 2) = ice_free_land, c.H(1, 2) = 0.0;
  c.step(year);
  CHECK(bare_is(245.0));
}

TEST_CASE("strong advection makes no new extremes") {
  for (const double speed : {-30.0 / year, 30.0 / year}) {
    OneColumn c(make_levels(2000.0, 21, LevelSpacing::quadratic), 1990.0, 230.0, 0.0);
    for (std::size_t k = 0; k < c.w.size(); ++k) c.w[k] = speed;
    for (std::size_t k = 0; k < c.T.size(); ++k) c.T[k] = k < 10 ? 270.0 : 230.0;
    for (int step = 0; step < 10; ++step) {
      c.step(5.0 * year);
      for (int k = 0; k < c.n(); ++k) {
        CHECK(c.T[k] <= 270.0 + 1e-10);
        CHECK(c.T[k] >= 230.0 - 1e-10);
      }
    }
  }
}

TEST_CASE("ice is set back to its melting point, and the heat is counted") {
  ColdColumns c(1, 1);
  Kokkos::deep_copy(c.T, 273.0);
  Kokkos::deep_copy(c.T_s, 280.0); // the surface cannot be warmer than 273.15 K
  // 200 m: from the highest level in the ice to the surface
  Kokkos::deep_copy(c.heating, 1e-3 / std::pow(200.0, 4));
  const MeltedInside melted = c.step(10.0 * year);
  double heat = 0.0, heating = 0.0; // J m-2 gained by the ice, and from strain
  const int n = levels_in_ice(c.levels.z, 1000.0);
  REQUIRE(n == 5);
  for (int k = 0; k < n; ++k) {
    CHECK(c.T_new(1, 1, k) == pressure_melting(1000.0 - c.levels.z_host[k]));
    const double volume = control_volume(c.levels.z, n, 1000.0, k);
    heat += rho_ice * ice_c * (c.T_new(1, 1, k) - 273.0) * volume;
    heating += 1e-3 * std::pow((1000.0 - c.levels.z_host[k]) / 200.0, 4) * 10.0 * year * volume;
  }
  CHECK(c.T_new(1, 1, 6) == T_melting);
  CHECK(melted.points == 5);
  // the heating of the volumes, plus what came from the surface, is in the ice or has melted it
  const double conduction = 2.0 * ice_k / 200.0 * 10.0 * year;
  const double melting = melted.ice.value() * rho_ice * latent_heat;
  CHECK(std::abs(heat + melting - heating) <= conduction);
  CHECK(std::abs(melted.ice.value() - c.melted(1, 1)) <= 1e-12);
}

TEST_CASE("floating: the base is at its melting point; ice-free: all is at the surface's") {
  ColdColumns c(2, 1);
  c.mask(1, 1) = floating_ice;
  c.mask(1, 2) = ice_free_land;
  c.H(1, 2) = 0.0;
  Kokkos::deep_copy(c.T, 200.0);
  for (int step = 0; step < 300; ++step) {
    c.step(1000.0 * year);
    std::swap(c.T, c.T_new);
  }
  CHECK(c.T(1, 1, 0) == pressure_melting(1000.0));
  CHECK(std::abs(c.T(1, 1, 2) - (240.0 + 0.6 * (pressure_melting(1000.0) - 240.0))) <=
        1e-9); // steady: a straight line
  for (int k = 0; k < c.levels.size(); ++k) CHECK(c.T(1, 2, k) == 240.0);
}

TEST_CASE("horizontal advection is upwind and takes nothing from ice-free neighbours") {
  ColdColumns c(3, 1);
  for (int k = 0; k < c.levels.size(); ++k)
    c.T(1, 1, k) = 230.0, c.T(1, 2, k) = 240.0, c.T(1, 3, k) = 250.0;
  const double dt = 1e-3; // so short that conduction does not show
  const auto rate = [&](int i) { return (c.T_new(1, i, 2) - c.T(1, i, 2)) / dt; };
  Kokkos::deep_copy(c.u, 1.0);
  c.step(dt);
  CHECK(std::abs(rate(2) + 0.01) <= 1e-8); // -u (240 - 230)/dx
  Kokkos::deep_copy(c.u, -1.0);
  c.step(dt);
  CHECK(std::abs(rate(2) - 0.01) <= 1e-8);
  c.mask(1, 3) = ice_free_land;
  c.step(dt);
  CHECK(std::abs(rate(2)) <= 1e-8);
}

TEST_CASE("initial temperature: Robin where grounded, a sinking column where floating") {
  CHECK(initial_temperature(500.0, 2000.0, false, 0.1 / year, 230.0, 0.04) ==
        exact::robin(500.0, 2000.0, 0.1 / year, 230.0, 0.04));
  CHECK(initial_temperature(500.0, 2000.0, false, -1.0, 230.0, 0.014) ==
        230.0 + 0.014 / ice_k * 1500.0);
  CHECK(initial_temperature(0.0, 3000.0, false, -1.0, 250.0, 0.06) == pressure_melting(3000.0));
  CHECK(initial_temperature(0.0, 500.0, true, 0.1, 250.0, 0.06) == pressure_melting(500.0));
  CHECK(initial_temperature(500.0, 500.0, true, 0.1, 280.0, 0.06) == T_melting);
  // little accumulation joins no accumulation
  CHECK(std::abs(exact::robin(100.0, 1000.0, 1e-16, 250.0, 0.05) -
                 exact::robin(100.0, 1000.0, 0.0, 250.0, 0.05)) <= 1e-6);
}

TEST_CASE("hardness: Paterson and Budd, averaged over depth") {
  const auto A = [](double T) { return std::pow(paterson_budd_hardness(T), -3.0); };
  CHECK(std::abs(A(253.15) / (3.61e-13 * std::exp(-6.0e4 / (8.314 * 253.15))) - 1.0) <= 1e-12);
  CHECK(std::abs(A(268.15) / (1.73e3 * std::exp(-13.9e4 / (8.314 * 268.15))) - 1.0) <= 1e-12);
  CHECK(std::abs(A(263.15) / A(263.1499) - 1.0) <= 0.02); // the two branches meet
  // ice 10 K below its melting point at every depth has one hardness
  const Levels levels = make_levels(2000.0, 21, LevelSpacing::quadratic);
  const std::vector<double>& z = levels.z_host;
  const Patch patch = Decomposition::make(11, 1, 1, 1).patch(0); // more than a pack
  const auto H = make_array<double>("H", patch), T_s = make_array<double>("T_s", patch),
             B = make_array<double>("B", patch);
  const auto T = make_columns<double>("T", patch, levels.size());
  Kokkos::deep_copy(T_s, 260.0);
  for (const double thickness : {0.0, 30.0, 1234.5}) {
    Kokkos::deep_copy(H, thickness);
    for (int i = 1; i <= patch.xm; ++i) {
      for (int k = 0; k < levels.size(); ++k)
        T(1, i, k) = pressure_melting(thickness - z[k]) - 13.15;
    }
    update_hardness(patch, levels, H, T_s, T, B);
    for (int i = 1; i <= patch.xm; ++i)
      CHECK(std::abs(B(1, i) / paterson_budd_hardness(260.0) - 1.0) <= 1e-12);
  }
  // columns of any thickness side by side: each has the bits of a loop over its levels
  for (int i = 1; i <= patch.xm; ++i) {
    H(1, i) = 170.0 * (i - 1);
    for (int k = 0; k < levels.size(); ++k) T(1, i, k) = 272.0 - 1.3 * k - 0.1 * i;
  }
  update_hardness(patch, levels, H, T_s, T, B);
  for (int i = 1; i <= patch.xm; ++i) {
    const double thickness = H(1, i);
    const int n = i > 1 ? levels_in_ice(levels.z, thickness) : 0;
    const auto hardness = [&](int k) {
      return paterson_budd_hardness(k < n ? relative_to_melting(T(1, i, k), thickness - z[k])
                                          : 260.0);
    };
    double sum = 0.0;
    for (int k = 0; k < n; ++k)
      sum += 0.5 * (hardness(k) + hardness(k + 1)) * ((k + 1 < n ? z[k + 1] : thickness) - z[k]);
    CHECK(B(1, i) == (n > 0 ? sum / thickness : hardness(0)));
  }
}
