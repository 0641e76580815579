// The fluxes of course/tiny on a map of n x n cells, twice: as one writes them first, and fast.
//
//   H(j, i) = H[j n + i] in m, i is fastest. Faces of the inner cells j, i = 1..n-2, in m2 s-1:
//   q_x[j n + i] between (j, i) and (j, i + 1), q_y[j n + i] between (j, i) and (j + 1, i)
#pragma once

#include <cmath>
#include <cstddef>

namespace speed {

constexpr double Gamma = 2.0 * 3.1689e-24 * (910.0 * 9.81) * (910.0 * 9.81) * (910.0 * 9.81) / 5.0;

/// Correct, and slow for three reasons: find them before you write the other.
inline void plain_fluxes(std::size_t n, double dx, const double* H, double* q_x, double* q_y) {
  const auto at = [&](std::size_t j, std::size_t i) { return H[j * n + i]; };
  for (std::size_t i = 1; i < n - 1; ++i) {
    for (std::size_t j = 1; j < n - 1; ++j) {
      const double s_x = (at(j, i + 1) - at(j, i)) / dx, s_y = (at(j + 1, i) - at(j, i)) / dx;
      const double t_x =
          (at(j + 1, i) - at(j - 1, i) + at(j + 1, i + 1) - at(j - 1, i + 1)) / (4.0 * dx);
      const double t_y =
          (at(j, i + 1) - at(j, i - 1) + at(j + 1, i + 1) - at(j + 1, i - 1)) / (4.0 * dx);
      const double H_x = 0.5 * (at(j, i) + at(j, i + 1)), H_y = 0.5 * (at(j, i) + at(j + 1, i));
      q_x[j * n + i] =
          -Gamma * std::pow(H_x, 5.0) * (std::pow(s_x, 2.0) + std::pow(t_x, 2.0)) * s_x;
      q_y[j * n + i] =
          -Gamma * std::pow(H_y, 5.0) * (std::pow(s_y, 2.0) + std::pow(t_y, 2.0)) * s_y;
    }
  }
}

/// The same to round-off, at least three times as fast on one core.
inline void fast_fluxes(std::size_t n, double dx, const double* H, double* q_x, double* q_y) {
  // lab 12 begin: the same loops, fast | stub: throw "lab 12: not written yet";
  const double per_dx = 1.0 / dx, per_4dx = 0.25 / dx;
  for (std::size_t j = 1; j < n - 1; ++j) {
    const double *below = H + (j - 1) * n, *row = H + j * n, *above = H + (j + 1) * n;
    double *x = q_x + j * n, *y = q_y + j * n;
    for (std::size_t i = 1; i < n - 1; ++i) {
      const double s_x = (row[i + 1] - row[i]) * per_dx, s_y = (above[i] - row[i]) * per_dx;
      const double t_x = (above[i] - below[i] + above[i + 1] - below[i + 1]) * per_4dx;
      const double t_y = (row[i + 1] - row[i - 1] + above[i + 1] - above[i - 1]) * per_4dx;
      const double H_x = 0.5 * (row[i] + row[i + 1]), H_y = 0.5 * (row[i] + above[i]);
      const double H_x2 = H_x * H_x, H_y2 = H_y * H_y;
      x[i] = -Gamma * (H_x2 * H_x2 * H_x) * (s_x * s_x + t_x * t_x) * s_x;
      y[i] = -Gamma * (H_y2 * H_y2 * H_y) * (s_y * s_y + t_y * t_y) * s_y;
    }
  }
  // lab 12 end
}

} // namespace speed
