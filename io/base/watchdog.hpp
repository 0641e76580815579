// Ends a run that hangs: in a call on a file, or after a signal that asked it to end.
//
// Files are used inside watched(): opened, locked, read, written, flushed, renamed, removed. ROMIO
// and HDF5 deadlock after some errors of one rank, and file systems may stop answering. A phase in
// which nothing advances for -io_patience is reported with file, phase and rank, and the run is
// aborted. It advances while calls of this rank on files return (/proc) or the file changes (stat):
// a slow disk is not a hanging one.
//
// Only the rank that knows most reports, as the others have longer limits (in patiences):
//
//   a rank that waits in agree() with an error, while the others do not arrive      7/8
//   rank 0 in a call that hangs, then the others, one after the other               1 to 5/4
//   a rank that only waits for others, in agree() or for a server                   1/2 more each
//
// A process has one watchdog: a sleeping thread, whose only MPI call is MPI_Abort.
#pragma once

#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace nunatak::io {

class Watchdog {
public:
  static Watchdog& of_process();

  /// `patience` in seconds (default 600); 0: no limit. `who` names this rank in the message ("":
  /// its number in `comm`). `waits`: it waits for servers, which report first.
  void set(MPI_Comm comm, double patience, const std::string& who = "", bool waits = false);

  /// This rank waits for others in agree(): its own error, "" if it has none; nullopt: no more.
  void wait_with(const std::optional<std::string>& error);

  /// " in phase 'post' of file 'x.nc'", or "". Also for handlers of signals.
  static const char* what_now();

  /// Something other than a call on a file has advanced: a time step, a message to a server.
  void advance();

  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Watches while it lives. An inner scope suspends the outer one, whose time then starts again.
  class Scope {
  public:
    Scope(const std::string& path, const char* phase);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

  private:
    std::optional<std::pair<std::string, const char*>> m_outer;
  };

private:
  using Clock = std::chrono::steady_clock;
  using Watched = std::optional<std::pair<std::string, const char*>>; ///< path and phase

  Watchdog() = default;
  void begin();                      ///< its thread, if there is none
  Watched exchange(Watched watched); ///< returns what was watched
  void sleep_and_look();
  void look_for_progress(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds longest);
  std::chrono::milliseconds limit() const;
  [[noreturn]] void end_run();

  std::mutex m_mutex; ///< of all members below
  std::condition_variable m_change;
  bool m_ends = false;
  std::chrono::milliseconds m_patience{600000};
  int m_rank = 0;
  std::string m_who = "rank 0";
  bool m_waits = false;
  Watched m_watched;
  std::optional<std::string> m_waits_with;
  Clock::time_point m_since = Clock::now();
  std::string m_progress;    ///< at the last look in this scope; "": not looked yet
  std::int64_t m_scopes = 0; ///< so far
  std::thread m_thread;
};

/// From now on a line on standard error where a library ends the process without one that names a
/// file: by abort() where memory fails, or since a call of MPI has failed. After MPI_Init, before
/// communicators are duplicated.
void give_last_words();

/// Run f, a phase of the use of a file, under the watchdog.
template <class F> auto watched(const std::string& path, const char* phase, const F& f) {
  const Watchdog::Scope scope(path, phase);
  return f();
}

} // namespace nunatak::io
