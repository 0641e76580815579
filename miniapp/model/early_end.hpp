// Early ends of a run: at -run_wall or on a signal of the batch system the step is completed, the
// state written, and the program exits with a status of its own.
//
//   io::remember_signals();                   // from now on they do not kill the program
//   EarlyEnd early(rank, options.run_wall);
//   while (!clock.finished() && !early) {
//     ...
//     early.agree(largest over ranks of early.request(seconds to save a state, servers));
//   }
//
// No communication: the maximum of the wishes is part of a reduction of summary.hpp.
#pragma once

#include "common/error.hpp"
#include "io/base/signals.hpp"
#include "io/base/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>

namespace nunatak {

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
  /// `to_save` (s) and a hundredth of the limit.
  double request(double to_save, io::Request of_servers) {
    io::Watchdog::of_process().advance();
    const double now = seconds();
    m_longest_step = std::max(m_longest_step, now - m_step_begin);
    m_step_begin = now;
    const io::Request signal = std::max(io::asked_to_end(), of_servers);
    if (signal != io::Request::none) return 1 + static_cast<int>(signal);
    if (m_rank != 0 || m_limit == 0.0) return 0;
    return m_limit - now < 2.0 * m_longest_step + to_save + 0.01 * m_limit ? 1 : 0;
  }
  /// Takes the largest request of all ranks.
  void agree(double largest) { m_reason = static_cast<int>(largest); }

  explicit operator bool() const { return m_reason != 0; }
  const char* reason() const {
    static const char* const names[] = {
        "", "the limit -run_wall", "SIGUSR1", "SIGUSR2", "SIGXCPU", "SIGTERM"};
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
