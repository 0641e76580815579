// How far the run has come, how long the next step may be, and why a run ends early: the limit
// -run_wall, or a signal of the batch system. The step that is being computed ends; then the state
// is written, all files are closed, and the program ends with a status of its own.
//
//   remember_signals();                       // from now on they do not kill the program
//   EarlyEnd early(rank, options.run_wall);
//   while (!clock.finished() && !early) {
//     ...
//     early.agree(largest over ranks of early.wish(seconds of the longest output));
//   }
//
// Nothing here communicates: the wishes travel with a reduction of summary.hpp.
#pragma once

#include "kernels/grid/constants.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/model/options.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace nunatak {

class Clock {
public:
  /// `start`: model time at the start, s. Without -run_years, -run_until and -run_steps time does
  /// not advance: every part of the model is computed once for the initial state, which is then
  /// written. Throws Error if -run_until is in the past.
  Clock(const Options& options, double start)
      : m_start(start), m_end(end_of_run(options, start)),
        m_zero_length(m_end == HUGE_VAL && options.run_steps == 0),
        m_max_steps(options.run_steps > 0 ? options.run_steps
                    : m_zero_length       ? 1
                                          : INT64_MAX),
        m_time(start), m_step_begin(start) {
    if (m_zero_length) m_end = start;
    if (m_end < start) {
      throw Error("option -run_until: expected a year of at least that in which the run starts, " +
                  std::to_string(start / seconds_per_year) + ", found " +
                  std::to_string(options.run_until));
    }
  }

  double time() const { return m_time; }             ///< s
  double step_begin() const { return m_step_begin; } ///< where the last step began, s
  std::int64_t steps() const { return m_steps; }
  bool zero_length() const { return m_zero_length; }
  bool finished() const { return m_steps >= m_max_steps || (!m_zero_length && m_time >= m_end); }

  /// The longest next step (s) that ends no later than the run and `next_stop`. If two steps will
  /// do, they are made equal.
  double longest_step(double wanted, double next_stop = HUGE_VAL) const {
    if (m_zero_length) return 0.0;
    const double left = std::fmin(m_end, next_stop) - m_time;
    return wanted >= left ? left : wanted > 0.5 * left ? 0.5 * left : wanted;
  }

  /// End of a step of dt seconds that was asked to go as far as `next_stop` at most: lands on it
  /// exactly.
  void advance(double dt, double next_stop = HUGE_VAL) {
    const double stop = std::fmin(m_end, next_stop);
    m_step_begin = m_time;
    m_time = m_time + dt >= stop * (1.0 - 1e-15) ? stop : m_time + dt;
    m_steps += 1;
  }

  /// "step 12, year 3.2"
  std::string text() const {
    char words[80];
    std::snprintf(words, sizeof words, "step %lld, year %.3g", static_cast<long long>(m_steps),
                  m_time / seconds_per_year);
    return words;
  }
  double years() const { return (m_time - m_start) / seconds_per_year; }

private:
  static double end_of_run(const Options& options, double start) {
    if (options.given.count("run_until") > 0) return options.run_until * seconds_per_year;
    return options.run_years > 0.0 ? start + options.run_years * seconds_per_year : HUGE_VAL;
  }

  double m_start, m_end;
  bool m_zero_length;
  std::int64_t m_max_steps;
  double m_time, m_step_begin;
  std::int64_t m_steps = 0;
};

/// Exit status of a run that ended early and left a state to continue from.
constexpr int ended_early = 85;

/// From now on SIGTERM and SIGUSR1 are remembered for EarlyEnd::wish, instead of ending the
/// program.
void remember_signals();

class EarlyEnd {
public:
  /// `limit`: seconds since the program began, 0 for none. Steps are timed from here on.
  EarlyEnd(int rank, double limit);

  /// At the end of a step: what this rank wants, the more urgent the larger, 0 for nothing. Any
  /// rank's signal counts; rank 0 looks at the clock, and wants to end if what is left of the limit
  /// is less than two of the longest steps so far (one more, and the diagnosis of the last state),
  /// the longest output so far (`longest_output`, s) and a hundredth of the limit.
  double wish(double longest_output);
  /// The largest wish of all ranks: the same on all.
  void agree(double wish) { m_reason = static_cast<int>(wish); }

  explicit operator bool() const { return m_reason != 0; }
  std::string reason() const; ///< "SIGTERM", "SIGUSR1", "the limit -run_wall", ""

  /// Says on standard error (of rank 0) that the run ended at `where` and can be continued from the
  /// file `state`. Returns the exit status: ended_early, or 1 if there is no such file ("").
  int tell(const std::string& where, const std::string& state) const;

private:
  int m_rank;
  double m_limit, m_step_begin, m_longest_step = 0.0;
  int m_reason = 0;
};

} // namespace nunatak
