// Ends a run that hangs in a collective call of the output.
//
// Some errors of one rank cannot be mended from outside: ROMIO and HDF5 then wait for each other for ever. Whatever takes longer
// than the patience of the user (-io_patience) is reported, file, phase and rank, by every rank that is in it, and ends the run.
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
  /// `patience` in seconds; 0: for ever, no thread. `comm` must outlive it.
  Watchdog(MPI_Comm comm, int patience);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Run f, which is a phase of the output of a file. Does not nest.
  template <class F> void watch(const std::string& path, const char* phase, const F& f) {
    const Scope scope(*this, path, phase);
    f();
  }

private:
  using Clock = std::chrono::steady_clock;
  struct Scope {
    Scope(Watchdog& dog, const std::string& path, const char* phase) : m_dog(dog) { m_dog.set(&path, phase); }
    ~Scope() { m_dog.set(nullptr, ""); }
    Watchdog& m_dog;
  };
  void set(const std::string* path, const char* phase);
  void sleep_and_look();
  [[noreturn]] void end_run();

  MPI_Comm m_comm;
  int m_rank = 0;
  std::chrono::seconds m_patience;
  std::mutex m_mutex; ///< of all that follows
  std::condition_variable m_end;
  bool m_ends = false;
  const std::string* m_path = nullptr; ///< nullptr: nothing to watch
  const char* m_phase = "";
  Clock::time_point m_since;
  std::thread m_thread;
};

} // namespace nunatak::io
