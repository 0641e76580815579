// No direction is special: a mirrored, rotated or transposed ice sheet gives the mirrored, rotated
// or transposed answer, to the bit. Shearing, sliding, transport, velocities of the column and
// temperature, on a coast drawn by lot. The whole program with PICO and the SSA:
// tests/program/test_symmetry.py.
#include "kernels/ice/columns.hpp"
#include "kernels/ice/velocity3d.hpp"
#include "kernels/moving_ice.hpp"

#include <catch2/catch_test_macros.hpp>

#include <tuple>

using namespace nunatak;

namespace {

/// One of the eight ways to lay an Mx x My grid on itself: flips first, then the exchange of x and
/// y.
struct Way {
  bool flip_x, flip_y, transpose;

  int Mx(int Mx0, int My0) const { return transpose ? My0 : Mx0; }
  int My(int Mx0, int My0) const { return transpose ? Mx0 : My0; }
  /// Indices in the original grid, Mx0 x My0, of the cell (j, i) of the transformed one.
  std::pair<int, int> original(int j, int i, int Mx0, int My0) const {
    const int j0 = transpose ? i : j, i0 = transpose ? j : i;
    return {flip_y ? My0 - 1 - j0 : j0, flip_x ? Mx0 - 1 - i0 : i0};
  }
  /// The components of a vector after the transformation.
  std::pair<double, double> vector(double u, double v) const {
    const double fu = flip_x ? -u : u, fv = flip_y ? -v : v;
    return transpose ? std::pair{fv, fu} : std::pair{fu, fv};
  }
};

constexpr int Mx0 = 26, My0 = 21;
constexpr double dx0 = 5000.0, dy0 = 4000.0;

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (int n = 0; n < 8; ++n) ways.push_back({(n & 1) != 0, (n & 2) != 0, (n & 4) != 0});
  return ways;
}

/// Grounded, floating, bare and open cells side by side, with slopes in all directions.
Cell coast(int j, int i) {
  const unsigned n =
      (static_cast<unsigned>(j) * 7919u + static_cast<unsigned>(i) * 104729u + 11u) * 2654435761u;
  const auto random = [&](int k) { return static_cast<double>((n >> (4 * k)) % 1000u) / 1000.0; };
  Cell c;
  c.b = -900.0 + 1200.0 * random(0);
  c.H = random(1) < 0.25 ? 0.0 : 1500.0 * random(2);
  c.u = 4e-5 * (random(3) - 0.5), c.v = 4e-5 * (random(4) - 0.5);
  c.M = 1e-7 * (random(5) - 0.6), c.m = 2e-7 * random(2);
  c.A = ice_softness * (1.0 + random(3));
  return c;
}

Cell transformed(const Way& way, int j, int i) {
  const auto [j0, i0] = way.original(j, i, Mx0, My0);
  Cell c = coast(j0, i0);
  std::tie(c.u, c.v) = way.vector(c.u, c.v);
  return c;
}

MovingIce make_ice(const Way& way) {
  return MovingIce(Decomposition::make(way.Mx(Mx0, My0), way.My(Mx0, My0), 3, 2),
                   way.transpose ? dy0 : dx0, way.transpose ? dx0 : dy0,
                   [&](int j, int i) { return transformed(way, j, i); });
}

/// Thickness after 40 steps as long as diffusion and sliding allow, back in the original
/// orientation; then the budget.
std::vector<double> forty_steps(const Way& way) {
  MovingIce ice = make_ice(way);
  for (int n = 0; n < 40; ++n) {
    const double D_max = ice.shear();
    ice.move(time_step(ice.dx, ice.dy, D_max, 1e-8, 1e9).dt);
  }
  std::vector<double> result(static_cast<std::size_t>(Mx0) * My0);
  ice.for_each([&](MovingIce::Local& s, int j, int i, int gj, int gi) {
    const auto [j0, i0] = way.original(gj, gi, Mx0, My0);
    result[static_cast<std::size_t>(j0 * Mx0 + i0)] = s.H(j, i);
  });
  for (const FixedSum& term : {ice.budget.surface, ice.budget.basal, ice.budget.calved,
                               ice.budget.edge, ice.budget.clipped}) {
    result.push_back(term.value());
  }
  return result;
}

/// w, T and melted ice after one step of temperature, back in the original orientation.
std::vector<double> warm(const Way& way) {
  const Levels levels = make_levels(2000.0, 9, LevelSpacing::quadratic);
  const int Mz = levels.size();
  MovingIce ice = make_ice(way);
  ice.shear(); // ghosts and geometry
  std::vector<HorizontalVelocity> velocity;
  std::vector<Array3<double>> w, T, T_new;
  std::vector<Array2<double>> T_s, G, melted;
  std::vector<std::vector<Ghosted>> exchanged;
  for (int r = 0; r < ice.ranks.local_size(); ++r) {
    const Patch p = ice.ranks.patch(r);
    const MovingIce::Local& s = ice.local[static_cast<std::size_t>(r)];
    velocity.push_back(HorizontalVelocity::make(p, Mz));
    for (auto* list : {&w, &T, &T_new}) list->push_back(make_columns<double>("column", p, Mz));
    for (auto* list : {&T_s, &G, &melted}) list->push_back(make_array<double>("a", p));
    Kokkos::deep_copy(G.back(), 0.06);
    horizontal_velocity(p, ice.dx, ice.dy, {}, levels, s.edges, s.H, s.mask, s.A, s.u, s.v,
                        velocity.back());
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) {
        T_s.back()(j, i) = 250.0 + 0.005 * s.H(j, i);
        for (int k = 0; k < Mz; ++k) T.back()(j, i, k) = 255.0 + 0.01 * s.H(j, i) - k;
      }
    }
    exchanged.push_back({velocity.back().u, velocity.back().v, T.back()});
  }
  ice.ranks.update_ghosts(exchanged);
  std::vector<double> result(static_cast<std::size_t>(Mx0) * My0 * (2 * Mz + 1));
  for (std::size_t r = 0; r < ice.local.size(); ++r) {
    const Patch p = ice.ranks.patch(static_cast<int>(r));
    const MovingIce::Local& s = ice.local[r];
    const HorizontalVelocity& o = velocity[r];
    vertical_velocity(p, ice.dx, ice.dy, levels, s.H, s.mask, s.m, o, w[r]);
    temperature_step(p, ice.dx, ice.dy, 1e8, levels, s.H, s.mask, T_s[r], G[r], o.u, o.v, w[r],
                     o.heating, T[r], T_new[r], melted[r], make_array<double>("held", p));
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) {
        const auto [j0, i0] = way.original(p.global_j(j), p.global_i(i), Mx0, My0);
        double* at = &result[static_cast<std::size_t>((j0 * Mx0 + i0) * (2 * Mz + 1))];
        for (int k = 0; k < Mz; ++k) at[2 * k] = w[r](j, i, k), at[2 * k + 1] = T_new[r](j, i, k);
        at[2 * Mz] = melted[r](j, i);
      }
    }
  }
  return result;
}

/// Values that differ, bit for bit (0 and -0 are equal).
int differing(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  int count = 0;
  for (std::size_t n = 0; n < a.size(); ++n) count += a[n] == b[n] ? 0 : 1;
  return count;
}

} // namespace

TEST_CASE(
    "shearing, sliding, balance and melt: forty steps have no preferred direction, to the bit") {
  const std::vector<double> straight = forty_steps({false, false, false});
  for (std::size_t n = straight.size() - 5; n < straight.size(); ++n)
    CHECK(straight[n] != 0.0); // every term took part
  for (const Way& way : all_ways()) {
    CAPTURE(way.flip_x, way.flip_y, way.transpose);
    CHECK(differing(straight, forty_steps(way)) == 0);
  }
}

TEST_CASE("velocity of the column and temperature have no preferred direction, to the bit") {
  const std::vector<double> straight = warm({false, false, false});
  int sinking = 0, rising = 0;
  for (std::size_t n = 0; n < straight.size(); n += 19)
    (straight[n + 14] < 0.0 ? sinking : rising) += straight[n + 14] != 0.0;
  CHECK(sinking > 50);
  CHECK(rising > 50);
  for (const Way& way : all_ways()) {
    CAPTURE(way.flip_x, way.flip_y, way.transpose);
    CHECK(differing(straight, warm(way)) == 0);
  }
}
