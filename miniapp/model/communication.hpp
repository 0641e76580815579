// Time of this process in MPI, by any caller: kernels, PETSc, PnetCDF.
//
// communication.cpp defines the functions of MPI that send or wait for others, in front of those of
// the library, and calls these by the order of lookup (RTLD_NEXT), so that a tool that is preloaded
// still sees every call. A measured call takes 0.4 us longer. MPI-IO is not measured.
#pragma once

#include <ctime>

namespace nunatak {

/// Seconds that have passed, and those of them in which a processor ran the calling thread.
struct Seconds {
  double wall = 0.0, processor = 0.0;

  Seconds operator-(const Seconds& o) const { return {wall - o.wall, processor - o.processor}; }
  Seconds& operator+=(const Seconds& o) {
    wall += o.wall;
    processor += o.processor;
    return *this;
  }
  static Seconds now() { return {wall_now(), of(CLOCK_THREAD_CPUTIME_ID)}; }
  static double wall_now() { return of(CLOCK_MONOTONIC); }

private:
  static double of(clockid_t clock) {
    std::timespec t{};
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
};

/// What the thread of main() has spent in MPI since the program began.
Seconds seconds_in_mpi();

} // namespace nunatak
