// The synthetic continent of `-init marine`: about the size of Antarctica, different for every
// seed.
//
// A smooth surface h and a bed b define everything; flotation decides, so thickness is continuous:
//
//      grounded: H = h - b       |  floating: H = h/(1 - rho/rho_w)  |  no ice
//   ______                       |                                   |
//         \____  h = h_gl +      |  h = h_f + (h_gl - h_f) e^(d/l)   |
//              \  sqrt(h0^2+c d) |___________________________________
//               \_- h0           |                                   |  sea
//     b          \_______________|__________________________________/
//    ______/\____/      <- d > 0 | d < 0 ->                        continental shelf, then deep sea
//
// d: distance to the intended grounding line, positive inland: the smallest of the distance to the
// coast, R(angle) - r, and the distances to the bays, which are tapered capsules cut into the
// coast. Positions are first shifted by noise (noise.hpp), so that lines are rough. Ice rises are
// mounds of the bed below the shelves; holes are ice-free discs in shelves; lakes are pits in the
// bed of low ice plains behind some bays, deep enough for the ice to float.
#pragma once

#include "kernels/cases/angles.hpp"
#include "kernels/cases/noise.hpp"
#include "kernels/cases/synthetic.hpp"

#include <algorithm>
#include <vector>

namespace nunatak::synthetic {

class Continent {
public:
  static constexpr int basins = 18;

  explicit Continent(std::uint64_t seed) : m_seed(hash64(seed)) { cut_bays(); }

  /// The state at (x, y), m from the centre of the continent.
  Site at(double x, double y) const {
    const double X = x + 60e3 * rough_noise(m_seed + 10, x, y, 500e3);
    const double Y = y + 60e3 * rough_noise(m_seed + 20, x, y, 500e3);
    const double angle = synthetic::angle(X, Y), coast = coast_radius(angle) - length(X, Y);
    double d = coast, plain = 0.0, mound = 0.0, pit = 0.0;
    bool hole = false;
    for (const Bay& bay : m_bays) {
      d = smooth_min(d, bay.distance(X, Y), 60e3);
      if (bay.plain > 0.0)
        plain = std::max(
            plain, bump(std::max(length(X - bay.xa, Y - bay.ya) - bay.ra, 0.0), 0.0, bay.plain));
    }
    for (const Disc& rise : m_rises)
      mound = std::max(mound, bump(X - rise.x, Y - rise.y, rise.radius));
    for (const Disc& lake : m_lakes) pit = std::max(pit, bump(X - lake.x, Y - lake.y, lake.radius));
    for (const Disc& h : m_holes) hole = hole || length(X - h.x, Y - h.y) < h.radius;
    // the front is where `front` is 0: up to 40 km behind the coast, or over 30 km before it
    const double advance = 130e3 * (noise(m_seed + 30, X, Y, 400e3) - 0.3);
    const double front = coast + (advance > 30e3 ? advance : std::clamp(advance, -40e3, -15e3));

    const double h_front = 26.0;
    const double h_gl = 85.0 + 35.0 * noise(m_seed + 40, X, Y, 900e3);
    const double west = west_weight(X, Y);
    const double c =
        (10.5 + 2.0 * noise(m_seed + 50, X, Y, 900e3) - 3.5 * west) * (1.0 - plain) + 0.8 * plain;
    const double h0 = 250.0;
    const double h_sheet = h_gl + std::sqrt(h0 * h0 + c * std::max(d, 0.0)) - h0;
    const double h_shelf = h_front + (h_gl - h_front) * elementary::exp(std::min(d, 0.0) / 150e3);
    const double h = (d > 0.0 ? h_sheet : h_shelf) + 160.0 * mound;

    Site site;
    site.b = bed(X, Y, d, coast, d > 0.0 ? h_gl : h_shelf, west, plain);
    site.b += mound * std::max(-120.0 - site.b, 0.0);
    site.b -= pit * std::max(1.15 * float_depth * h + site.b, 0.0);
    const double resting = h - site.b, floating = h / (1.0 - rho_ice / rho_water);
    const bool ice = !hole && (d > 0.0 || front > 0.0);
    site.H = ice && resting > 30.0 ? std::min(resting, floating) : 0.0; // thinner: a nunatak

    const double elevation = std::max(site.H > 0.0 ? h : site.b, 0.0);
    const double r = length(x, y) / 2400e3;
    site.M = (0.03 + 0.5 * elementary::exp(-elevation / 800.0)) / seconds_per_year;
    site.T_s = 259.0 - 8.5e-3 * elevation - 8.0 * std::max(1.0 - r * r, 0.0);
    site.G = 0.055 + 0.01 * noise(m_seed + 60, X, Y, 700e3) + 0.02 * west;
    site.basin = basin_of(angle);
    const double warm = random01(m_seed + 70, static_cast<std::uint64_t>(site.basin));
    site.theta_ocean = 271.35 + 2.6 * warm * warm;
    site.salinity_ocean =
        34.35 + 0.4 * random01(m_seed + 80, static_cast<std::uint64_t>(site.basin));
    return site;
  }

private:
  static constexpr double pi = 3.14159265358979324;
  /// Ice of surface elevation h floats where the bed is lower than -float_depth * h.
  static constexpr double float_depth = (rho_ice / rho_water) / (1.0 - rho_ice / rho_water);

  struct Disc {
    double x, y, radius;
  };

  /// A capsule from its inland end a (half-width ra) to its sea end b (half-width rb).
  struct Bay {
    double xa, ya, xb, yb, ra, rb;
    double plain; ///< reach of low ice behind it; 0: none

    /// Distance to the rim, positive outside.
    double distance(double x, double y) const {
      const double ux = xb - xa, uy = yb - ya;
      const double t = std::clamp(((x - xa) * ux + (y - ya) * uy) / (ux * ux + uy * uy), 0.0, 1.0);
      return length(x - xa - t * ux, y - ya - t * uy) - (ra + t * (rb - ra));
    }
    /// A disc inside: t from the inland to the sea end, s from the left rim (-1) to the right (1).
    Disc place(double t, double s, double radius) const {
      const double ux = xb - xa;
      const double uy = yb - ya;
      const double off = s * (ra + t * (rb - ra)) / length(ux, uy);
      return {xa + t * ux - off * uy, ya + t * uy + off * ux, radius};
    }
  };

  /// 1 in the middle of a disc, falling smoothly to 0 at its rim.
  static double bump(double dx, double dy, double radius) {
    const double s = 1.0 - (dx * dx + dy * dy) / (radius * radius);
    return s > 0.0 ? s * s : 0.0;
  }
  static double smooth_min(double a, double b, double width) {
    const double t = std::max(width - std::fabs(a - b), 0.0) / width;
    return std::min(a, b) - 0.25 * width * t * t;
  }
  static double step(double t) {
    t = std::clamp(t, 0.0, 1.0);
    return t * t * (3.0 - 2.0 * t);
  }
  double random(std::uint64_t key) const { return random01(m_seed, key); }

  double coast_radius(double angle) const {
    double R = 2000e3;
    for (int k = 2; k <= 5; ++k)
      R += 400e3 / k * (2.0 * random(k) - 1.0) * cosine(k * angle + 2.0 * pi * random(100 + k));
    return R;
  }

  /// 1 in the west, where the bed is below sea level, 0 in the east.
  double west_weight(double x, double y) const {
    const double direction = 2.0 * pi * random(200);
    return step(0.5 + (x * cosine(direction) + y * sine(direction) - 500e3) / 1000e3);
  }

  int basin_of(double angle) const {
    const double fraction = (angle + pi) / (2.0 * pi); // of the circle
    return 1 + std::min(static_cast<int>(fraction * basins), basins - 1);
  }

  /// Bed without mounds and pits. h_sea: shelf surface here (on land: at the grounding line).
  double bed(double x, double y, double d, double coast, double h_sea, double west,
             double plain) const {
    const double cavity = 60.0 + 260.0 * (1.0 - elementary::exp(std::min(d, 0.0) / 80e3)) *
                                     (1.0 + 0.25 * noise(m_seed + 91, x, y, 120e3));
    const double sea = -float_depth * h_sea - cavity;
    const double break_at =
        170e3 + 60e3 * noise(m_seed + 92, x, y, 600e3); // width of the continental shelf
    const double outside = sea + (-3600.0 + 300.0 * noise(m_seed + 93, x, y, 500e3) - sea) *
                                     step((-coast - break_at) / 150e3);
    const double inland =
        350.0 + 500.0 * rough_noise(m_seed + 94, x, y, 700e3) +
        220.0 * rough_noise(m_seed + 97, x, y, 180e3) - 1050.0 * west +
        1600.0 * step((noise(m_seed + 100, x, y, 170e3) - 0.5) / 0.45) * (1.0 - west);
    const double stream = inland + (-550.0 - inland) * std::min(1.5 * plain, 1.0);
    return outside + (stream - outside) * step(d / 120e3);
  }

  void cut_bays() {
    struct Kind {
      double coast, half_width, depth,
          plain; // m: length of coast, half-width at the sea, length, reach of the plain behind it
    };
    const Kind giant{900e3, 290e3, 640e3, 400e3};
    const Kind valley{420e3, 75e3, 560e3, 250e3};
    const Kind wide{420e3, 115e3, 250e3, 0.0};
    const Kind small{290e3, 55e3, 110e3, 0.0};
    const Kind narrow{210e3, 24e3, 240e3, 0.0};
    const Kind* const order[] = {
        &giant, &narrow, &wide,  &small, &small,  &wide,   &narrow, &valley, &small,  &wide,
        &small, &narrow, &giant, &small, &wide,   &narrow, &small,  &wide,   &narrow, &small,
        &wide,  &valley, &small, &wide,  &narrow, &small,  &wide,   &narrow, &small};
    double total = 0.0, along = 0.0;
    for (const Kind* kind : order) total += kind->coast;
    std::uint64_t n = 1000;
    int wide_bays = 0;
    for (const Kind* kind : order) {
      n += 100;
      const double size = 0.85 + 0.3 * random(n);
      const double middle = (along + (0.5 + 0.2 * (random(n + 1) - 0.5)) * kind->coast) / total;
      along += kind->coast;
      const double angle = 2.0 * pi * (middle + random(300));
      const double R = coast_radius(angle);
      const double lean = angle + 0.5 * (random(n + 2) - 0.5);
      const double xb = (R + 60e3) * cosine(angle);
      const double yb = (R + 60e3) * sine(angle);
      const double length = size * kind->depth + 60e3;
      const double rb = size * kind->half_width, ra = rb * (0.5 + 0.3 * random(n + 3));
      const Bay bay{
          xb - length * cosine(lean), yb - length * sine(lean), xb, yb, ra, rb, kind->plain};
      m_bays.push_back(bay);
      if (kind == &giant) {
        for (int k = 0; k < 4; ++k)
          m_rises.push_back(bay.place(0.1 + 0.23 * k, 0.6 * (random(n + 10 + k) - 0.5), 60e3));
        m_holes.push_back(bay.place(0.45, random(n + 5) < 0.5 ? -0.6 : 0.6, 27e3));
      } else if (kind == &wide && ++wide_bays % 3 == 0) {
        m_holes.push_back(bay.place(0.45, 0.0, 25e3));
      } else if (kind == &wide) {
        m_rises.push_back(bay.place(0.4, 0.4 * (random(n + 6) - 0.5), 50e3));
      }
      if (kind->plain > 0.0) {
        for (const double side : {-1.0, 1.0}) { // behind the inland end, left and right of the axis
          const double direction = lean + pi + side * (0.35 + 0.25 * random(n + 7));
          const double far = ra + 55e3;
          m_lakes.push_back(
              {bay.xa + far * cosine(direction), bay.ya + far * sine(direction), 55e3});
        }
      }
    }
  }

  std::uint64_t m_seed;
  std::vector<Bay> m_bays;
  std::vector<Disc> m_rises, m_lakes, m_holes;
};

} // namespace nunatak::synthetic
