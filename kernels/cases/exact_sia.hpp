// Exact solutions of the shallow ice equation, for verification (tests/verification/test_sia.cpp)
// and initial states (kernels/cases/synthetic.hpp). Bueler et al. 2005, J. Glaciol. 51(173),
// 291-306: tests A, B, C; Bodvardsson (1955): N.
//
// All take SI units and a flat bed: h = H. Glen's n = 3; Gamma = 2 A (rho g)^n / (n + 2).
#pragma once

#include "kernels/grid/constants.hpp"

#include <cmath>

namespace nunatak::exact {

inline double gamma_sia() {
  const double rho_g = rho_ice * gravity;
  return 2.0 * ice_softness * rho_g * rho_g * rho_g / (glen_n + 2);
}

/// Test A: steady, constant accumulation M0 on a disk of radius L, no ice outside (Bueler et al.
/// 2005, section 3).
///   H = (2^(n-1) M0/Gamma)^(1/(2n+2)) (L^(1+1/n) - r^(1+1/n))^(n/(2n+2))
struct TestA {
  double M0 = 0.3 / seconds_per_year; ///< m s-1
  double L = 750e3;                   ///< m

  double H(double r) const {
    if (r >= L) return 0.0;
    return std::pow(4.0 * M0 / gamma_sia(), 1.0 / 8.0) *
           std::pow(std::pow(L, 4.0 / 3.0) - std::pow(r, 4.0 / 3.0), 3.0 / 8.0);
  }
  /// The balance outside is strongly negative: it removes all ice that arrives.
  double M(double r) const { return r < L ? M0 : -100.0 * M0; }
};

/// Tests B (lambda = 0; Halfar 1983) and C (lambda = 5): similarity solutions with M = lambda H /
/// t.
///   H = H0 s^-alpha [1 - (s^-beta r/R0)^((n+1)/n)]^(n/(2n+1)),  s = t/t0,
///   alpha = (2 - (n+1) lambda)/(5n+3), beta = (1 + (2n+1) lambda)/(5n+3),
///   t0 = (beta/Gamma) ((2n+1)/(n+1))^n R0^(n+1)/H0^(2n+1)
struct Similarity {
  double lambda = 0.0; ///< 0: test B, 5: test C
  double H0 = 3600.0;  ///< thickness of the dome at t0, m
  double R0 = 750e3;   ///< radius of the margin at t0, m

  double alpha() const { return (2.0 - 4.0 * lambda) / 18.0; }
  double beta() const { return (1.0 + 7.0 * lambda) / 18.0; }
  double t0() const {
    return beta() / gamma_sia() * std::pow(7.0 / 4.0, 3) * std::pow(R0, 4) / std::pow(H0, 7);
  }

  /// Thickness (m) at radius r (m) and time t (s since the creation of the ice, not since t0).
  double H(double t, double r) const {
    if (t <= 0.0) return 0.0;
    const double s = t / t0(), x = std::pow(s, -beta()) * r / R0;
    return x >= 1.0
               ? 0.0
               : H0 * std::pow(s, -alpha()) * std::pow(1.0 - std::pow(x, 4.0 / 3.0), 3.0 / 7.0);
  }
  double M(double t, double r) const { return t > 0.0 ? lambda * H(t, r) / t : 0.0; }
};

/// Test N: a steady marine flowline in which sliding carries all of the flux, u = -(rho g H/beta)
/// h_x (Bodvardsson 1955).
///   H = H0 (1 - (x/L0)^2), u = 2 H0 x/(k L0^2), M = a (H - H_ela), k = 9 H_ela/(a L0^2), front at
///   x_c = 0.9 L0
/// It is a balance of sliding and accumulation: d(u H)/dx = M.
struct TestN {
  double H0 = 3000.0, L0 = 500e3, H_ela = 2000.0; ///< m
  double a = 0.003 / seconds_per_year;            ///< slope of the balance with thickness, s-1

  double k() const { return 9.0 * H_ela / (a * L0 * L0); }
  double front() const { return 0.9 * L0; }
  double H(double x) const { return H0 * (1.0 - (x / L0) * (x / L0)); }
  double u(double x) const { return 2.0 * H0 * x / (k() * L0 * L0); }
  double M(double x) const { return a * (H(x) - H_ela); }
  /// Linear drag coefficient beta = k rho g H, Pa s m-1.
  double drag(double x) const { return k() * rho_ice * gravity * H(x); }
};

} // namespace nunatak::exact
