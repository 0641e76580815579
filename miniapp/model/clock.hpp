// Model time, the length of the next step, and early ends: at -run_wall or on a signal of the batch
// system the step is completed, the state written, and the program exits with a status of its own.
//
//   io::remember_signals();                   // from now on they do not kill the program
//   EarlyEnd early(rank, options.run_wall);
//   while (!clock.finished() && !early) {
//     ...
//     early.agree(largest over ranks of early.request(seconds of the longest output, servers));
//   }
//
// No communication: the maximum of the wishes is part of a reduction of summary.hpp.
#pragma once

#include "io/signals.hpp"
#include "io/watchdog.hpp"
#include "kernels/grid/constants.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/log.hpp"
#include "miniapp/model/options.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>

namespace nunatak {

class Clock {
public:
  /// `start`: initial model time, s. Without -run_years, -run_until and -run_steps time stands
  /// still: the initial state is written. Throws Error if -run_until is past.
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
  double step_begin() const { return m_step_begin; } ///< start of the last step, s
  std::int64_t steps() const { return m_steps; }
  bool zero_length() const { return m_zero_length; }
  bool finished() const { return m_steps >= m_max_steps || (!m_zero_length && m_time >= m_end); }

  /// The longest next step (s) up to the end or `next_stop`; if two steps reach it, they are equal.
  double longest_step(double wanted, double next_stop = HUGE_VAL) const {
    if (m_zero_length) return 0.0;
    const double left = std::fmin(m_end, next_stop) - m_time;
    return wanted >= left ? left : wanted > 0.5 * left ? 0.5 * left : wanted;
  }

  /// Ends a step of dt seconds; a step that was limited by `next_stop` lands on it exactly.
  void advance(double dt, double next_stop = HUGE_VAL) {
    const double stop = std::fmin(m_end, next_stop);
    m_step_begin = m_time;
    m_time = m_time + dt >= stop - 1e-15 * std::fabs(stop) ? stop : m_time + dt;
    m_steps += 1;
  }

  /// "step 12, year 3.2"
  std::string text() const {
    return printed("step %lld, year %.3g", static_cast<long long>(m_steps),
                   m_time / seconds_per_year);
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

/// Initialised before main().
inline const auto program_begin = std::chrono::steady_clock::now();

class EarlyEnd {
public:
  /// `limit`: seconds since program start, 0 for none. Step times are measured from here on.
  EarlyEnd(int rank, double limit) : m_rank(rank), m_limit(limit), m_step_begin(seconds()) {}

  /// This rank's request at the end of a step: larger if more urgent, 0 for none. Signals count on
  /// any rank, and those of output servers (`of_servers`, on rank 0). Rank 0 requests the end if
  /// the time left is less than two of the longest steps (one more, and the final diagnosis),
  /// `longest_output` (s) and a hundredth of the limit.
  double request(double longest_output, io::Request of_servers) {
    io::Watchdog::of_process().advance();
    const double now = seconds();
    m_longest_step = std::max(m_longest_step, now - m_step_begin);
    m_step_begin = now;
    const io::Request signal = std::max(io::asked_to_end(), of_servers);
    if (signal != io::Request::none) return 1 + static_cast<int>(signal);
    if (m_rank != 0 || m_limit == 0.0) return 0;
    return m_limit - now < 2.0 * m_longest_step + longest_output + 0.01 * m_limit ? 1 : 0;
  }
  /// Takes the largest request of all ranks.
  void agree(double largest) { m_reason = static_cast<int>(largest); }

  explicit operator bool() const { return m_reason != 0; }
  const char* reason() const {
    static const char* const names[] = {"", "the limit -run_wall", "SIGUSR1", "SIGTERM"};
    return names[m_reason];
  }

  /// Prints on standard error (rank 0) that the run ended at `where` and continues from the file
  /// `state`. Returns ended_early, or exit_error if `state` is empty.
  int report(const std::string& where, const std::string& state) const {
    if (m_rank == 0) {
      const std::string next = state.empty() ? "no file to continue from (no -o, no -snapshot_file)"
                                             : "-i " + state + " continues";
      std::cerr << "nunatak: ended early at " + where + " (" + reason() + "): " + next + "\n"
                << std::flush;
    }
    return state.empty() ? exit_error : ended_early;
  }

private:
  static double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - program_begin).count();
  }

  int m_rank;
  double m_limit, m_step_begin, m_longest_step = 0.0;
  int m_reason = 0;
};

} // namespace nunatak
