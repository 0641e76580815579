// Vertical levels of the columns: heights above the base of the ice, z_0 = 0 < z_1 < ... < z_{Mz-1}
// = L_z, the same in every column (used by velocity3d.hpp and columns.hpp).
//
//        surface z = H  ~~~~~~~~~~~~   A column of thickness H holds ice at its first n =
//   z_3  ------o-------                levels_in_ice(z, H) levels, those with z_k < H; the surface
//   z_2  ------o-------  n = 4         is one more point, usually between two levels. Levels at and
//   z_1  ------o-------                above the surface hold surface values (each kernel says
//   z_0  ======o=======  base          which). Level 0 counts as ice even where H = 0: n >= 1.
#pragma once

#include "kernels/grid/array.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace nunatak {

using Column = Kokkos::View<double*, Mem>;

enum class LevelSpacing {
  equal,    ///< z_k = L_z zeta, zeta = k/(Mz - 1)
  quadratic ///< z_k = L_z (zeta/4) (1 + 3 zeta): four times finer at the base than on average
};

struct Levels {
  Column z;                   ///< heights above the base, m, in memory of the loops
  std::vector<double> z_host; ///< the same, for files and tests

  int size() const { return static_cast<int>(z_host.size()); }
  double Lz() const { return z_host.back(); }
};

inline Levels levels_at(const std::vector<double>& z) {
  const Levels levels{Column("z", z.size()), z};
  const auto to = on_host(levels.z);
  std::copy(z.begin(), z.end(), to.data());
  to_loops(levels.z, to);
  return levels;
}

/// The largest number of levels that the temperature solver accepts.
constexpr int max_levels = 512;

/// Mz levels (2 to max_levels) up to the height Lz (m).
inline Levels make_levels(double Lz, int Mz, LevelSpacing spacing) {
  if (!(Lz > 0.0) || Mz < 2 || Mz > max_levels) {
    throw std::invalid_argument(
        "vertical levels: expected Lz > 0 and 2 to " + std::to_string(max_levels) +
        " levels, found Lz = " + std::to_string(Lz) + " m and Mz = " + std::to_string(Mz));
  }
  std::vector<double> z;
  for (int k = 0; k < Mz; ++k) {
    const double zeta = static_cast<double>(k) / (Mz - 1);
    z.push_back(spacing == LevelSpacing::equal ? Lz * zeta
                                               : Lz * (zeta / 4.0) * (1.0 + 3.0 * zeta));
  }
  return levels_at(z);
}

/// Height of levels that lets ice grow, m: 1.25 times the thickest, in full 100 m, 1000 or more.
inline double height_of_levels(double thickest) {
  return std::fmax(1000.0, 100.0 * std::ceil(thickest * 1.25 / 100.0));
}

/// Number of levels with z_k < H, at least 1. `guess`, 1..Mz: where the search begins.
KOKKOS_INLINE_FUNCTION int levels_in_ice(const Column& z, double H, int guess = 1) {
  int n = guess;
  for (const int Mz = static_cast<int>(z.extent(0)); n < Mz && z(n) < H;) ++n;
  while (n > 1 && !(z(n - 1) < H)) --n;
  return n;
}

} // namespace nunatak
