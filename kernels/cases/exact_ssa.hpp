// Exact solutions of the shallow shelf approximation. SI units; x, y from the centre of the domain.
//
//   Test I        Schoof (2006): an ice stream whose till strengthens to both sides; plastic, n = 3
//   Test J        Bueler: a doubly periodic floating shelf with nu H constant (linear)
//   van der Veen  (2013, section 5.4): an unconfined shelf of steady thickness with a calving
//                 front, n = 3
//   plug flow     an ice stream without drag between two walls, n = 3
//   linear drag   a shelf of constant nu H over linear till, pushed at one end
// Required accuracy: tests/verification/test_ssa_exact.cpp, test_ssa_shelf.cpp.
#pragma once

#include "kernels/grid/constants.hpp"

#include <cmath>

namespace nunatak::exact {

/// Test I (Schoof 2006, eqs 4.3 and 5.5): f = rho g h0 1e-3, tau_c = f |y/L|^m; u = 0 beyond W.
struct TestI {
  static constexpr double h0 = 2000.0, slope = 1e-3, L = 40e3, m = 10.0, B = 3.7e8;
  static constexpr double f = rho_ice * gravity * h0 * slope;

  static double width() { return std::pow(m + 1.0, 1.0 / m) * L; }
  static double tauc(double y) { return f * std::pow(std::abs(y / L), m); }
  static double u(double y) {
    const double s = std::abs(y) / L;
    if (std::abs(y) > width()) return 0.0;
    double sum = 0.0;
    const double sign[4] = {1.0, -3.0, 3.0, -1.0};
    for (int k = 1; k <= 4; ++k) {
      const double power = (k - 1) * m + 4.0, C = std::pow(m + 1.0, 4.0 / m + k - 1.0);
      sum += sign[k - 1] * (std::pow(s, power) - C) / (std::pow(m + 1.0, k - 1.0) * power);
    }
    const double ratio = f / (B * h0);
    return -2.0 * ratio * ratio * ratio * std::pow(L, 4.0) * sum;
  }
};

/// Test J: a shelf on [-L, L)^2, periodic; 2 nu H = 2 nu0 H0.
struct TestJ {
  static constexpr double L = 300e3, H0 = 500.0, nu0 = 30e6 * seconds_per_year; // Pa s
  static constexpr double pi = 3.14159265358979323846;

  static double H(double x, double y) {
    return H0 * (1.0 + 0.4 * std::cos(pi * x / L)) * (1.0 + 0.1 * std::cos(pi * y / L));
  }
  static void velocity(double x, double y, double& u, double& v) {
    const double g[3][3] = {{1.0854, 0.108, 0.0027}, {0.402, 0.04, 0.001}, {0.0402, 0.004, 0.0001}};
    const double C = rho_ice * gravity * (1.0 - rho_ice / rho_water) * H0 / (2.0 * nu0);
    u = v = 0.0;
    for (int k = -2; k <= 2; ++k) {
      for (int l = -2; l <= 2; ++l) {
        if (k == 0 && l == 0) continue;
        const double a = L / (4.0 * pi) * C * g[std::abs(k)][std::abs(l)] / (k * k + l * l) *
                         std::sin(pi * (k * x + l * y) / L);
        u += k * a;
        v += l * a;
      }
    }
  }
};

/// Van der Veen's shelf, x >= 0 from the grounding line: flux Q0 = u0 H0, stretching C H^3 (s-1).
struct VanDerVeen {
  static constexpr double H0 = 600.0, u0 = 300.0 / seconds_per_year, B = 1.9e8;

  static double C() {
    return std::pow(rho_ice * gravity * (1.0 - rho_ice / rho_water) / (4.0 * B), 3.0);
  }
  static double H(double x) {
    return std::pow(4.0 * C() * x / (u0 * H0) + std::pow(H0, -4.0), -0.25);
  }
  static double u(double x) { return u0 * H0 / H(x); }
};

/// Plug flow between walls at y = +-L: u = 1/2 f^3 L^4/(B h0)^3 (1 - (y/L)^4).
struct PlugFlow {
  static constexpr double h0 = 2000.0, slope = 1e-3, L = 50e3, B = 3.7e8;
  static constexpr double f = rho_ice * gravity * h0 * slope;

  static double u(double y) {
    const double ratio = f / (B * h0), s = y / L;
    return 0.5 * ratio * ratio * ratio * std::pow(L, 4.0) * (1.0 - s * s * s * s);
  }
};

/// Linear drag: u = u0 exp(-a (x - L)) on [-L, L], a^2 = (tau_c/u_th)/(4 nu0 H0); max. 5929 m/a.
struct LinearDrag {
  static constexpr double L = 50e3;
  static constexpr double H0 = 500.0;
  static constexpr double nu0 = 30e6 * seconds_per_year;
  static constexpr double u0 = 100.0 / seconds_per_year;
  static constexpr double tauc = 1e4;
  static constexpr double u_threshold = 100.0 / seconds_per_year;

  static double u(double x) {
    return u0 * std::exp(-std::sqrt(tauc / u_threshold / (4.0 * nu0 * H0)) * (x - L));
  }
};

} // namespace nunatak::exact
