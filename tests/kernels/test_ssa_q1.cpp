// One SSA element: extension at the margin, rigid motions, symmetry, the Jacobian against
// differences, grounded fractions, fronts.
#include "kernels/cases/noise.hpp"
#include "kernels/ssa/element_rows.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace nunatak;

namespace {
const double lx = 1000.0, ly = 1500.0;
const GlenLaw soft_ice{3.0, 1e-27};
const double BH[4] = {2e11, 3e11, 1.5e11, 2.5e11};

double at(const double (&f)[4][2], int ice, const Q1Element& q1, int c, int component) {
  double known[4];
  for (int d = 0; d < 4; ++d) known[d] = f[d][component];
  q1.extend(ice, known);
  return known[c];
}
} // namespace

TEST_CASE("the extension keeps icy values and follows its rules") {
  const Q1Element q1(lx, ly);
  const double plane[4][2] = {{1.0, 0.0}, {3.0, 0.0}, {6.0, 0.0}, {8.0, 0.0}}; // 1 + 2 x + 5 y
  for (int ice = 1; ice < 16; ++ice) {
    for (int c = 0; c < 4; ++c) {
      if ((ice >> c & 1) != 0) CHECK(at(plane, ice, q1, c, 0) == plane[c][0]);
      double sum = 0.0; // constants stay constants
      for (int d = 0; d < 4; ++d) sum += q1.E[ice][c][d];
      CHECK(sum == 1.0);
    }
  }
  CHECK(at(plane, 0b0111, q1, 3, 0) == 8.0); // three: the plane
  CHECK(at(plane, 0b0011, q1, 2, 0) == 1.0); // two along x: constant across
  CHECK(at(plane, 0b0011, q1, 3, 0) == 3.0);
  CHECK(at(plane, 0b1001, q1, 1, 0) == 4.5); // two on a diagonal: the mean
  CHECK(at(plane, 0b0010, q1, 2, 0) == 3.0); // one: constant
}

TEST_CASE("translations and rotations cost nothing; the matrix is symmetric") {
  const Q1Element q1(lx, ly);
  for (int ice = 1; ice < 16; ++ice) {
    double norm = 0.0;
    for (int a = 0; a < 8; ++a) {
      double along_x = 0.0, along_y = 0.0, rotation = 0.0;
      for (int c = 0; c < 4; ++c) {
        along_x += q1.K[ice][a][2 * c], along_y += q1.K[ice][a][2 * c + 1];
        rotation += -ly * (c >> 1) * q1.K[ice][a][2 * c] + lx * (c & 1) * q1.K[ice][a][2 * c + 1];
      }
      CHECK(std::abs(along_x) < 1e-14);
      CHECK(std::abs(along_y) < 1e-14);
      if (ice == 15) CHECK(std::abs(rotation) < 1e-11);
      for (int b = 0; b < 8; ++b) {
        CHECK(q1.K[ice][a][b] == q1.K[ice][b][a]);
        norm += std::abs(q1.K[ice][a][b]);
        if ((ice >> (a / 2) & 1) == 0) CHECK(q1.K[ice][a][b] == 0.0);
      }
    }
    CHECK((norm > 0.0) == ((ice & (ice - 1)) != 0)); // one icy corner: no strain
  }
}

TEST_CASE("a uniform strain rate is found exactly: 2 nu H and the nodal forces") {
  const Q1Element q1(lx, ly);
  const double u_x = 1e-10, u_y = 3e-10, v_x = -1e-10, v_y = 2e-10;
  double w[8];
  for (int c = 0; c < 4; ++c) {
    const double x = lx * (c & 1), y = ly * (c >> 1);
    w[2 * c] = 1e-5 + u_x * x + u_y * y, w[2 * c + 1] = v_x * x + v_y * y;
  }
  const SsaElement e(q1, soft_ice, 15, w, BH);
  const double e2 = u_x * u_x + v_y * v_y + u_x * v_y + 0.25 * (u_y + v_x) * (u_y + v_x);
  const double nuH2 = 2.25e11 * std::pow(e2 + 1e-27, -1.0 / 3.0);
  CHECK(std::abs(e.nuH2 / nuH2 - 1.0) < 1e-6); // rounding of w
  // corner 3: phi_x = 1/(2 lx) and phi_y = 1/(2 ly) on average
  const double force = nuH2 * lx * ly * ((2 * u_x + v_y) / (2 * lx) + 0.5 * (u_y + v_x) / (2 * ly));
  CHECK(std::abs(e.residual(6) / force - 1.0) < 1e-6);
}

TEST_CASE("elements in a row, and rows of the Jacobian, have the bits of single elements") {
  const Q1Element q1(lx, ly);
  constexpr int n = 41; // two packs of sixteen and a rest
  std::vector<double> maps[10];
  for (int m = 0; m < 10; ++m) {
    for (int i = 0; i <= n; ++i)
      maps[m].push_back((m < 8 ? 1e-5 : 1e11) * (1.5 + noise(m, 700.0 * i, 0.0, 2000.0)));
  }
  const auto rows = [&](int m) { return ssa::CornerRows{maps[m].data(), maps[m + 1].data()}; };
  const auto values = [&](int u, int v, int k, double(&w)[8]) {
    for (int c = 0; c < 4; ++c)
      w[2 * c] = maps[u + c / 2][k + c % 2], w[2 * c + 1] = maps[v + c / 2][k + c % 2];
  };
  std::vector<SsaElement> found(n), expected;
  ssa::set_row(q1, soft_ice, n, rows(0), rows(2), rows(8), found.data());
  ssa::weigh_row(q1, soft_ice.eps2, n, rows(0), rows(2), rows(4), rows(6), found.data());
  for (int k = 0; k < n; ++k) {
    double w[8], before[8], change[8], Kw[8];
    values(0, 2, k, w), values(4, 6, k, before);
    for (int a = 0; a < 8; ++a) change[a] = w[a] - before[a];
    const double strength[4] = {maps[8][k], maps[8][k + 1], maps[9][k], maps[9][k + 1]};
    expected.emplace_back(q1, soft_ice, 15, w, strength);
    SsaElement& e = expected.back();
    e.weigh(newton_weight(SsaElement::strain2(q1, 15, change, Kw), e.e2 + soft_ice.eps2,
                          strain_caution));
    CHECK((found[k].nuH2 == e.nuH2 && found[k].slope == e.slope && found[k].e2 == e.e2));
    for (int a = 0; a < 8; ++a) CHECK(found[k].p[a] == e.p[a]);
  }
  constexpr unsigned all_but_two = 0x1dbu; // cells 2 and 5
  ssa::Stretch s{};
  for (int m = 0; m < 2 * (lanes_at_once + 1); ++m) {
    s.element[m % 2][m / 2] = &expected[m];
    s.ice[m % 2][m / 2] = m % 3 == 0 ? 7 + m % 2 * 7 : 15;
  }
  for (int k = 0; k < lanes_at_once; ++k) {
    for (int m = 0; m < 3; ++m) s.drag[k][m] = 1e9 * (k + 3 - 2 * m);
    s.into[k] = k % 2 == 0 ? all_but_two : 0x1ffu;
  }
  for (int cells = 1; cells <= lanes_at_once; ++cells) {
    s.cells = cells;
    std::vector<double> both(36 * lanes, -1.0);
    std::vector<float> single(36 * lanes, -1.0f);
    ssa::write_rows(q1, s, both.data());
    ssa::write_rows(q1, s, single.data());
    for (int k = 0; k < lanes; ++k) {
      double sum[36] = {};
      for (int m = 0; m < 4; ++m) sum[16 + m] = k < cells ? s.drag[k][(m + 1) / 2] : 0.0;
      for (int c = 3; c >= 0 && k < cells; --c) {
        const int x = k + 1 - c % 2, y = c / 2;
        for (int d = 0; d < 4; ++d) {
          const int slot = 3 * (d / 2 - c / 2 + 1) + d % 2 - c % 2 + 1;
          for (int m = 0; m < 4; ++m)
            sum[4 * slot + m] +=
                s.element[y][x]->jacobian(q1, s.ice[y][x], 2 * c + m / 2, 2 * d + m % 2);
        }
      }
      for (int m = 0; m < 36; ++m) {
        const bool unknown = k < cells && (s.into[k] >> m / 4 & 1u) != 0;
        const double entry = k >= cells ? -1.0 : unknown ? sum[m] : 0.0;
        CHECK(both[m * lanes + k] == entry);
        CHECK(single[m * lanes + k] == static_cast<float>(entry));
      }
    }
  }
}

TEST_CASE("the Jacobian is the derivative of the residual and positive, in all elements") {
  const Q1Element q1(lx, ly);
  const double w0[8] = {1e-6, 3e-6, -2e-6, 4e-6, 5e-6, -1e-6, 2.5e-6, -3e-6}, step = 1e-10;
  for (int ice = 1; ice < 16; ++ice) {
    const SsaElement e(q1, soft_ice, ice, w0, BH);
    SsaElement frozen = e;
    frozen.weigh(0.0);
    double scale = 1.0;
    for (int a = 0; a < 8; ++a) scale = std::max(scale, e.jacobian(q1, ice, a, a));
    for (int b = 0; b < 8; ++b) {
      double up[8], down[8];
      for (int a = 0; a < 8; ++a) up[a] = down[a] = w0[a];
      up[b] += step, down[b] -= step;
      const SsaElement plus(q1, soft_ice, ice, up, BH), minus(q1, soft_ice, ice, down, BH);
      for (int a = 0; a < 8; ++a) {
        const double difference = (plus.residual(a) - minus.residual(a)) / (2.0 * step);
        CHECK(std::abs(e.jacobian(q1, ice, a, b) - difference) <= 1e-6 * scale);
      }
    }
    double newton = 0.0, picard = 0.0; // along w0, where the Newton term takes the most
    for (int a = 0; a < 8; ++a) {
      for (int b = 0; b < 8; ++b) {
        newton += w0[a] * e.jacobian(q1, ice, a, b) * w0[b];
        picard += w0[a] * frozen.jacobian(q1, ice, a, b) * w0[b];
      }
    }
    CHECK(newton >= 0.333 * picard);
    CHECK((picard > 0.0) == ((ice & (ice - 1)) != 0));
  }
}

TEST_CASE("the grounded fraction") {
  CHECK(positive_fraction(1.0, 2.0, 3.0) == 1.0);
  CHECK(positive_fraction(-1.0, -2.0, 0.0) == 0.0);
  CHECK(positive_fraction(1.0, -1.0, -1.0) == 0.25);
  CHECK(positive_fraction(-1.0, 1.0, 1.0) == 0.75);
  CHECK(positive_fraction(-1.0, 3.0, 1.0) == 0.875);
  const Q1Element q1(lx, ly);
  double F[4] = {1.0, -3.0, 1.0, -3.0}, fraction[4]; // the line x = lx/4
  ssa_element_grounded(q1, 15, F, fraction);
  CHECK(fraction[0] == 0.5);
  CHECK(fraction[2] == 0.5);
  CHECK(fraction[1] == 0.0);
  double alone[4] = {1.0, -3.0, 0.0, 0.0}; // ice in corner 0 only
  ssa_element_grounded(q1, 1, alone, fraction);
  CHECK(fraction[0] == 1.0);
}

TEST_CASE("till: limits and slope") {
  const TillLaw plastic{0.0, 1e-18, 1e-6}, linear{1.0, 1e-18, 1e-6}, pseudo{0.25, 1e-18, 1e-6};
  CHECK(std::abs(plastic.drag(1e-8) * 1e-4 - 1.0) < 1e-9); // |drag| = tau_c
  CHECK(linear.drag(1e-8) == 1e6);                         // tau_c / u_th
  CHECK(linear.log_slope(1e-8) == 0.0);
  const double s = 1e-10, h = 1e-16; // d beta / d(|u|^2/2)
  const double slope = (pseudo.drag(s + h) - pseudo.drag(s - h)) / h;
  CHECK(std::abs(pseudo.log_slope(s) * pseudo.drag(s) / slope - 1.0) < 1e-5);
}

TEST_CASE("pressure on fronts and cliffs") {
  const double g = gravity;
  const double shelf = 0.5 * rho_ice * g * (1.0 - rho_ice / rho_water) * 300.0 * 300.0;
  CHECK(std::abs(front_pressure(300.0, -1000.0, true) / shelf - 1.0) < 1e-14);
  CHECK(front_pressure(300.0, 10.0, false) == 0.5 * rho_ice * g * 300.0 * 300.0); // above the sea
  CHECK(std::abs(front_pressure(300.0, -100.0, false) /
                     (0.5 * g * (rho_ice * 9e4 - rho_water * 1e4)) -
                 1.0) < 1e-14);
  CHECK(cliff_pressure(300.0, 500.0, 200.0) ==
        0.5 * rho_ice * g * 300.0 * 300.0); // flat land: the whole face
  CHECK(cliff_pressure(300.0, 500.0, 400.0) == 0.5 * rho_ice * g * 100.0 * 100.0);
  CHECK(cliff_pressure(300.0, 500.0, 600.0) == 0.0); // a nunatak
  CHECK(cliff_pressure(300.0, 500.0, -50.0) == 0.5 * rho_ice * g * 300.0 * 300.0);
}
