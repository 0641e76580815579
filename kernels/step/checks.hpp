// Checks after a step, on a patch: ice volume, extreme values, NaN and infinity.
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/ice/columns.hpp"
#include "kernels/ice/transport.hpp"
#include "kernels/step/state.hpp"

#include <cmath>

namespace nunatak {

/// m s-1; the fastest glaciers move 20 km/a.
constexpr double believed_speed = 100e3 / seconds_per_year;

/// Counts and maxima of one loop over the cells.
struct Seen {
  std::int64_t grounded = 0, floating = 0;
  std::int64_t broken = 0;   ///< cells with an infinite or NaN thickness or temperature
  std::int64_t racing = 0;   ///< cells whose surface is faster than believed_speed
  Largest thickness, speed2; ///< m; of the base, m2 s-2
  FixedSum volume;           ///< sum of the thickness, m; times dx dy it is m3
  KOKKOS_INLINE_FUNCTION Seen& operator+=(const Seen& o) {
    return add_each(*this, o, &Seen::grounded, &Seen::floating, &Seen::broken, &Seen::racing,
                    &Seen::thickness, &Seen::speed2, &Seen::volume);
  }
};

/// All checks on the owned cells of a state, in one loop. `flow`: optional.
inline Seen look_over(const Patch& patch, const State& state, const Flow* flow) {
  const auto H = state.thk, u = state.u_ssa, v = state.v_ssa;
  const auto mask = state.mask;
  const auto T = state.temp;
  const bool known = flow != nullptr;
  const auto u_surface = known ? flow->velocity.u_surface : u;
  const auto v_surface = known ? flow->velocity.v_surface : v;
  const int Mz = static_cast<int>(T.extent(2));
  const auto look = KOKKOS_LAMBDA(int j, int first, int cells, Seen& so_far) {
    const bool unbroken =
        !levels_apart && all_finite(&T(j, first, 0), cells * Mz) && all_finite(&H(j, first), cells);
    for (int i = first; i < first + cells; ++i) {
      const auto column = levels_of_cell(T, j, i);
      double zero = 0.0 * H(j, i); // 0 for finite values, else NaN
      for (int k = 0; k < Mz && !unbroken; ++k) zero += 0.0 * column[k];
      so_far.broken += zero == 0.0 ? 0 : 1;
      so_far.grounded += mask(j, i) == grounded_ice ? 1 : 0;
      so_far.floating += mask(j, i) == floating_ice ? 1 : 0;
      so_far.thickness.see(H(j, i));
      so_far.speed2.see(u(j, i) * u(j, i) + v(j, i) * v(j, i));
      const double surface2 = u_surface(j, i) * u_surface(j, i) + v_surface(j, i) * v_surface(j, i);
      so_far.racing += known && surface2 > believed_speed * believed_speed ? 1 : 0;
    }
    so_far.volume.add(&H(j, first), cells);
  };
  return reduce_over_packs<Seen>("areas and maxima", owned_cells(patch), {}, look);
}

/// Residual of a mass budget between two sums of the thickness, relative to its largest term.
inline double closure(const FixedSum& thickness_before, const FixedSum& thickness_now,
                      const MassBudget& budget) {
  const double start = thickness_before.value(), end = thickness_now.value();
  double scale = std::fmax(start, end);
  for (const FixedSum* term :
       {&budget.surface, &budget.basal, &budget.calved, &budget.edge, &budget.clipped}) {
    scale = std::fmax(scale, std::fabs(term->value()));
  }
  return scale > 0.0 ? (end - start - budget.change()) / scale : 0.0;
}

} // namespace nunatak
