#include "io/last_words.hpp"

#include "io/watchdog.hpp"

#include <mpi.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <unistd.h>

namespace nunatak::io {

namespace {

std::atomic<bool> is_said{false};
int own_rank = 0;

/// Once. May be called by a handler of a signal.
void say(const char* why) {
  if (is_said.exchange(true)) return;
  char line[1024];
  const int n = std::snprintf(line, sizeof line, "error: rank %d: a library ends the run%s%s%s\n",
                              own_rank, Watchdog::what_now(), why[0] != '\0' ? ": " : "", why);
  const ssize_t written = ::write(STDERR_FILENO, line, static_cast<std::size_t>(n));
  static_cast<void>(written);
}

void on_abort(int) {
  say("");
  std::signal(SIGABRT, SIG_DFL);
  std::raise(SIGABRT); // a signal from outside, too, ends the process
}

void on_error(MPI_Comm*, int* code, ...) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(*code, text, &length);
  say(text);
  MPI_Abort(MPI_COMM_WORLD, 2); // the status of errors
}

} // namespace

void give_last_words() {
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  std::signal(SIGABRT, on_abort);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Errhandler_free(&handler);
}

} // namespace nunatak::io
