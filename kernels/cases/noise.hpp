// Value noise from integer hashes: a smooth random function of the plane that depends only on a
// seed, so that any rank can evaluate it anywhere and every resolution samples the same function.
#pragma once

#include <cmath>
#include <cstdint>

namespace nunatak {

/// Every input bit changes about half of the output bits (SplitMix64, Steele et al. 2014).
inline std::uint64_t hash64(std::uint64_t n) {
  n += 0x9e3779b97f4a7c15ULL;
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9ULL;
  n = (n ^ (n >> 27)) * 0x94d049bb133111ebULL;
  return n ^ (n >> 31);
}

/// A number in [0, 1) from a seed and a key.
inline double random01(std::uint64_t seed, std::uint64_t key) {
  return static_cast<double>(hash64(hash64(seed) ^ key) >> 11) / 9007199254740992.0; // 2^53
}

/// Smooth noise in [-1, 1] with features of size `length` (m): random values on a square lattice,
/// interpolated by the quintic 6 t^5 - 15 t^4 + 10 t^3, whose ends are flat to second order.
inline double noise(std::uint64_t seed, double x, double y, double length) {
  const double gx = std::floor(x / length);
  const double gy = std::floor(y / length);
  const double tx = x / length - gx;
  const double ty = y / length - gy;
  const auto value = [&](double di, double dj) {
    const auto i = static_cast<std::uint64_t>(static_cast<std::int64_t>(gx + di));
    const auto j = static_cast<std::uint64_t>(static_cast<std::int64_t>(gy + dj));
    return 2.0 * random01(hash64(seed ^ hash64(i)), j) - 1.0;
  };
  const auto ease = [](double t) { return t * t * t * (t * (6.0 * t - 15.0) + 10.0); };
  const double sx = ease(tx), sy = ease(ty);
  const double lower = value(0, 0) + sx * (value(1, 0) - value(0, 0));
  const double upper = value(0, 1) + sx * (value(1, 1) - value(0, 1));
  return lower + sy * (upper - lower);
}

/// Three octaves of noise, each with half the length and half the amplitude of the previous one.
inline double rough_noise(std::uint64_t seed, double x, double y, double length) {
  return noise(seed, x, y, length) + 0.5 * noise(seed + 1, x, y, 0.5 * length) +
         0.25 * noise(seed + 2, x, y, 0.25 * length);
}

} // namespace nunatak
