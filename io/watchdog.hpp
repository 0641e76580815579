// Ends a run that hangs in a collective call of the output.
//
// Some errors of one rank cannot be handled from outside: ROMIO and HDF5 then deadlock. A call that
// takes longer than -io_patience is reported with file, phase and rank, and the run is aborted.
// Only the rank that knows most reports, because the limits of the others are longer (in units of
// the patience):
//
//   a rank that waits in agree() with an error, while the others do not arrive      7/8
//   rank 0 in a call that hangs, then the others, one after the other               1 to 5/4
//   a rank that only waits for others, in agree() or for a server                   1/2 more each
//
// One sleeping thread per process; its only MPI call is MPI_Abort.
#pragma once

#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace nunatak::io {

class Watchdog {
public:
  /// `patience` in seconds; 0: no limit, no thread. `who` names this rank in the message ("": its
  /// number). `waits`: it waits for servers, which report first.
  Watchdog(MPI_Comm comm, int patience, std::string who = "", bool waits = false);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Run f, a phase of the output of a file. An inner phase suspends and restarts the outer one.
  template <class F> void watch(const std::string& path, const char* phase, const F& f) {
    const Scope scope(*this, {&path, phase});
    f();
  }

private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    const std::string* path = nullptr; ///< nullptr: nothing to watch
    const char* phase = "";
  };
  struct Scope {
    Scope(Watchdog& dog, Watched watched) : m_dog(dog), m_outer(dog.set(watched)) {}
    ~Scope() { m_dog.set(m_outer); }
    Watchdog& m_dog;
    Watched m_outer;
  };
  Watched set(Watched watched); ///< returns what was watched
  void sleep_and_look();
  std::chrono::milliseconds limit(const std::optional<std::string>& error) const;
  [[noreturn]] void end_run(const std::string& error);

  std::chrono::milliseconds m_patience;
  int m_rank = 0;
  std::string m_who;
  bool m_waits;
  std::mutex m_mutex; ///< of all members below
  std::condition_variable m_end;
  bool m_ends = false;
  Watched m_watched;
  Clock::time_point m_since;
  std::thread m_thread;
};

} // namespace nunatak::io
