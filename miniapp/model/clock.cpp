#include "miniapp/model/clock.hpp"

#include "io/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

namespace nunatak {

namespace {

constexpr int none = 0, wall = 1; // of the signals, which are more urgent: 1 + io::Request

const auto program_begin = std::chrono::steady_clock::now(); // initialised before main()

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - program_begin).count();
}

} // namespace

EarlyEnd::EarlyEnd(int rank, double limit)
    : m_rank(rank), m_limit(limit), m_step_begin(seconds()) {}

double EarlyEnd::request(double longest_output, io::Request of_servers) {
  io::Watchdog::of_process().advance();
  const double now = seconds();
  m_longest_step = std::max(m_longest_step, now - m_step_begin);
  m_step_begin = now;
  const io::Request signal = std::max(io::asked_to_end(), of_servers);
  if (signal != io::Request::none) return 1 + static_cast<int>(signal);
  if (m_rank != 0 || m_limit == 0.0) return none;
  return m_limit - now < 2.0 * m_longest_step + longest_output + 0.01 * m_limit ? wall : none;
}

std::string EarlyEnd::reason() const {
  static const char* const names[] = {"", "the limit -run_wall", "SIGUSR1", "SIGTERM"};
  return names[m_reason];
}

int EarlyEnd::report(const std::string& where, const std::string& state) const {
  if (m_rank == 0) {
    const std::string next = state.empty() ? "no file to continue from (no -o, no -snapshot_file)"
                                           : "-i " + state + " continues";
    std::cerr << "nunatak: ended early at " + where + " (" + reason() + "): " + next + "\n"
              << std::flush;
  }
  return state.empty() ? exit_error : ended_early;
}

} // namespace nunatak
