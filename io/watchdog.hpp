// Ends a run that hangs in a collective call of the output.
//
// Some errors of one rank cannot be mended from outside: ROMIO and HDF5 then wait for each other for ever. Whatever takes longer
// than the patience of the user (-io_patience) is reported, file, phase and rank, by every rank that is in it, and ends the run.
// Whoever only waits for others (in agree(), or for a server) has half as much patience again: then who hangs is named by one
// message.
// One sleeping thread per process; it makes no call of MPI but MPI_Abort.
#pragma once

#include <mpi.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace nunatak::io {

class Watchdog {
public:
  /// `patience` in seconds; 0: for ever, no thread. `who` of this rank, in the message: "" is its number. `waits`: for others,
  /// who have the same patience, and come first with their message, which says more.
  Watchdog(MPI_Comm comm, int patience, std::string who = "", bool waits = false);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Run f, which is a phase of the output of a file. Within another one the inner one counts, and time begins again behind it.
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
  std::chrono::milliseconds limit() const;
  [[noreturn]] void end_run();

  std::chrono::seconds m_patience;
  std::string m_who;
  bool m_waits;
  std::mutex m_mutex; ///< of all that follows
  std::condition_variable m_end;
  bool m_ends = false;
  Watched m_watched;
  Clock::time_point m_since;
  std::thread m_thread;
};

} // namespace nunatak::io
