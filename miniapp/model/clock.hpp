// Model time: steps that end exactly at the instants of a run, which are the multiples of its
// intervals of output and its end.
//
//   RunTimes times;
//   times.maps = 0.3, times.years = 6.0;
//   Clock clock(times, start);
//   while (!clock.finished()) {
//     if (clock.is_due(clock.maps())) ...
//     const double dt = clock.longest_step(stable_dt);
//     clock.advance(dt);
//   }
//
// Instants are whole numbers of ticks, which are counted and not added up. So 10 x 0.3 years, 36
// months and 3 years are the same instant in every run, whatever its start and its other intervals,
// and a run that is cut at an instant makes the steps of one that is not. No communication.
#pragma once

#include "common/error.hpp"
#include "kernels/grid/constants.hpp"
#include "miniapp/base/printed.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace nunatak {

/// 900 million in a year: months, and decimals of a year down to 1e-8, are whole numbers of them.
using Ticks = std::int64_t;
constexpr Ticks ticks_per_year = 900000000;

/// Instants of one run that are no farther apart are one: half of the shortest interval, 1e-6 year.
constexpr Ticks one_instant = 450;

/// The time of an instant (s): the double next to it, without rounding on the way.
inline double seconds_at(Ticks t) {
  constexpr auto year = static_cast<Ticks>(seconds_per_year); // a whole number
  const Ticks years = t / ticks_per_year, scaled = t % ticks_per_year * year;
  return static_cast<double>(years * year + scaled / ticks_per_year) +
         static_cast<double>(scaled % ticks_per_year) / static_cast<double>(ticks_per_year);
}

/// The inverse, in ticks with a fraction.
inline double ticks_at(double seconds) {
  const double years = std::trunc(seconds / seconds_per_year);
  return years * static_cast<double>(ticks_per_year) + (seconds - years * seconds_per_year) /
                                                           seconds_per_year *
                                                           static_cast<double>(ticks_per_year);
}

/// Days of the files' 365-day calendar; a model year is one year of that calendar.
inline double calendar_days(double seconds) { return seconds / seconds_per_year * 365.0; }
/// Times (days) that differ by less than this, a tenth of a second, are equal.
constexpr double same_time = 1e-6;
/// The inverse of calendar_days(); instants come back exactly.
inline double seconds_of(double days) {
  const double seconds = days / 365.0 * seconds_per_year, ticks = ticks_at(seconds);
  const bool is_instant = std::fabs(ticks - std::round(ticks)) < 0.1;
  return is_instant ? seconds_at(std::llround(ticks)) : seconds;
}

/// Its instants are whole multiples of its length, counted from year 0. Length 0: it has none.
class Interval {
public:
  explicit Interval(double years) : m_length(years * static_cast<double>(ticks_per_year)) {}

  /// The first multiple that is later than `t`.
  std::optional<Ticks> after(Ticks t) const {
    if (m_length == 0.0) return std::nullopt;
    auto k = static_cast<std::int64_t>(std::floor(static_cast<double>(t) / m_length));
    while (multiple(k) <= t) ++k;
    while (multiple(k - 1) > t) --k;
    return multiple(k);
  }
  /// A multiple is at most `apart` away.
  bool has(Ticks t, Ticks apart) const {
    const std::optional<Ticks> first = after(t - apart - 1);
    return first && *first <= t + apart;
  }

private:
  Ticks multiple(std::int64_t k) const { return std::llround(static_cast<double>(k) * m_length); }

  double m_length; ///< ticks
};

/// The times that a run is asked for, in years.
struct RunTimes {
  double maps = 0.0, snapshots = 0.0; ///< intervals; 0: none
  double years = 0.0;                 ///< length; 0: not given
  std::optional<double> until = {};   ///< end, in place of the length
  std::int64_t steps = 0;             ///< their largest number; 0: no limit
};

class Clock {
public:
  /// `start`: initial model time, s. Without length, end and steps time stands still: the initial
  /// state is written. Throws Error if the end is past.
  Clock(const RunTimes& times, double start)
      : m_maps(times.maps), m_snapshots(times.snapshots), m_has_until(times.until.has_value()),
        m_zero_length(!times.until && times.years == 0.0 && times.steps == 0),
        m_max_steps(times.steps > 0 ? times.steps
                    : m_zero_length ? 1
                                    : INT64_MAX),
        m_start(start), m_time(start), m_step_begin(start),
        m_instant(std::llround(ticks_at(start))) {
    const double per_year = static_cast<double>(ticks_per_year);
    if (times.until) {
      m_end = std::llround(*times.until * per_year);
    } else if (times.years > 0.0) {
      m_end = std::llround(ticks_at(start) + times.years * per_year);
    }
    if (m_end && *m_end < *m_instant - of_start) {
      throw Error("option -run_until: expected a year of at least that in which the run starts, " +
                  printed("%.10g", start / seconds_per_year) + ", found " +
                  printed("%.10g", *times.until));
    }
  }

  double time() const { return m_time; }             ///< s
  double step_begin() const { return m_step_begin; } ///< start of the last step, s
  std::int64_t steps() const { return m_steps; }
  bool zero_length() const { return m_zero_length; }
  bool finished() const {
    if (m_steps >= m_max_steps) return true;
    // a length of less than one instant is one from there
    return m_end && m_instant &&
           *m_instant >= *m_end - (m_steps > 0 || m_has_until ? apart() : of_start);
  }

  const Interval& maps() const { return m_maps; }
  const Interval& snapshots() const { return m_snapshots; }
  /// The present time is one of its instants.
  bool is_due(const Interval& interval) const {
    return m_instant && interval.has(*m_instant, apart());
  }

  /// The longest next step (s), up to the next instant; if two steps reach it, they are equal.
  double longest_step(double wanted) const {
    if (m_zero_length) return 0.0;
    const double left = seconds_to_next();
    // a step of a month reaches the end of a month
    if (left - wanted <= std::fmin(0.1, 1e-3 * wanted)) return left;
    return wanted > 0.5 * left ? 0.5 * left : wanted;
  }

  /// Ends a step of dt seconds, of longest_step(). Throws Error if it is too short for the time.
  void advance(double dt) {
    m_steps += 1;
    m_step_begin = m_time;
    if (m_zero_length) return;
    const std::optional<Ticks> stop = next();
    const bool is_there = stop && (dt >= seconds_to_next() || m_time + dt >= seconds_at(*stop));
    m_instant = is_there ? stop : std::nullopt;
    m_time = is_there ? seconds_at(*stop) : m_time + dt;
    if (!(m_time > m_step_begin))
      throw Error("a step of " + printed("%.3g s in %s", dt, text().c_str()) +
                  ": expected a longer one, that the time can show");
  }

  /// "step 12, year 3.2"
  std::string text() const {
    return printed("step %lld, year %.8g", static_cast<long long>(m_steps),
                   m_time / seconds_per_year);
  }
  double years() const { return (m_time - m_start) / seconds_per_year; }

private:
  /// How far the start may lie from an instant: -run_years of earlier runs add up.
  static constexpr Ticks of_start = 4;
  /// How far from the present instant others are the same, which an earlier run may have ended at.
  Ticks apart() const {
    const bool is_one =
        m_steps > 0 || m_maps.has(*m_instant, of_start) || m_snapshots.has(*m_instant, of_start);
    return is_one ? one_instant : of_start;
  }

  /// The next instant. Of those that are one, that of the maps counts, then that of snapshots.
  std::optional<Ticks> next() const {
    const Ticks now =
        m_instant ? *m_instant + apart() : static_cast<Ticks>(std::floor(ticks_at(m_time)));
    const std::array candidates{m_maps.after(now), m_snapshots.after(now), m_end};
    Ticks first = INT64_MAX;
    for (const auto& t : candidates) first = t && *t < first ? *t : first;
    for (const auto& t : candidates) {
      if (t && *t - first <= one_instant) return t;
    }
    return std::nullopt;
  }
  double seconds_to_next() const {
    const std::optional<Ticks> stop = next();
    return stop ? seconds_at(*stop) - m_time : HUGE_VAL;
  }

  Interval m_maps, m_snapshots;
  bool m_has_until, m_zero_length;
  std::int64_t m_max_steps;
  double m_start;
  std::optional<Ticks> m_end;
  double m_time, m_step_begin;
  std::optional<Ticks> m_instant; ///< at which the last step ended; nullopt: between two
  std::int64_t m_steps = 0;
};

} // namespace nunatak
