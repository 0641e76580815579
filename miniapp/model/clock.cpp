#include "miniapp/model/clock.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>

namespace nunatak {

namespace {

// By urgency: a batch system sends SIGTERM last.
enum Reason { none, wall, usr1, term };

volatile std::sig_atomic_t signalled = none;

void remember(int signal) {
  if (signal == SIGTERM || signalled == none) signalled = signal == SIGTERM ? term : usr1;
}

const auto program_begin = std::chrono::steady_clock::now(); // initialised before main()

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - program_begin).count();
}

} // namespace

void remember_signals() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART; // a write that a signal interrupts continues
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
}

EarlyEnd::EarlyEnd(int rank, double limit)
    : m_rank(rank), m_limit(limit), m_step_begin(seconds()) {}

double EarlyEnd::wish(double longest_output) {
  const double now = seconds();
  m_longest_step = std::max(m_longest_step, now - m_step_begin);
  m_step_begin = now;
  if (signalled != none) return static_cast<double>(signalled);
  if (m_rank != 0 || m_limit == 0.0) return none;
  return m_limit - now < 2.0 * m_longest_step + longest_output + 0.01 * m_limit ? wall : none;
}

std::string EarlyEnd::reason() const {
  static const char* const names[] = {"", "the limit -run_wall", "SIGUSR1", "SIGTERM"};
  return names[m_reason];
}

int EarlyEnd::tell(const std::string& where, const std::string& state) const {
  if (m_rank == 0) {
    const std::string next = state.empty() ? "no file to continue from (no -o, no -snapshot_file)"
                                           : "-i " + state + " continues";
    std::cerr << "nunatak: ended early at " + where + " (" + reason() + "): " + next + "\n"
              << std::flush;
  }
  return state.empty() ? exit_error : ended_early;
}

} // namespace nunatak
