#include "io/base/signals.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <unistd.h>

namespace nunatak::io {

namespace {

// what a handler may use: lock-free numbers
std::atomic<Request> request{Request::none};
std::atomic<std::int64_t> requested_at{0}, first_term{0}; ///< ns of the steady clock

std::int64_t now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}

void record(Request asked) {
  if (asked <= request) return;
  request = asked;
  requested_at = now();
}

void on_term(int) {
  constexpr std::int64_t apart = 2000000000; // mpiexec and a batch system may both send it at once
  static const char text[] = "nunatak: a second SIGTERM ends the run at once\n";
  if (first_term == 0) first_term = now();
  record(Request::term);
  if (now() - first_term < apart) return;
  const ssize_t written = ::write(STDERR_FILENO, text, sizeof text - 1);
  static_cast<void>(written);
  _exit(128 + SIGTERM);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_flags = SA_RESTART; // a write that a signal interrupts continues
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

} // namespace

void remember_signals() {
  handle(SIGTERM, on_term);
  handle(SIGUSR1, [](int) { record(Request::usr1); });
  handle(SIGUSR2, [](int) { record(Request::usr2); });
  handle(SIGXCPU, [](int) { record(Request::xcpu); });
}

Request asked_to_end() { return request; }

std::chrono::steady_clock::time_point time_of_request() {
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(requested_at));
}

} // namespace nunatak::io
