// Between the functions that stand before the C library (trace/interpose.cpp) and the memory of a
// trace (trace.cpp): what they call.
//
// These functions are called from any thread, inside any library, before MPI starts and after it
// has ended: they do not throw, keep errno, and take a lock only for watched files (and for opens
// while a trace runs).
#pragma once

#include "io/trace/csv.hpp"

#include <atomic>

namespace nunatak::io::trace {

inline std::atomic<bool> recording{false}; ///< all that a call looks at while no trace runs
inline std::atomic<bool> is_interposed{
    false}; ///< set by trace/interpose.cpp when it is part of the program

/// Seconds of a clock that only goes forwards.
double now() noexcept;

/// The number of the watched file that `path` names, relative to the open folder `folder`
/// (AT_FDCWD: the current one); -1: none.
int find(int folder, const char* path) noexcept;

/// The watched file behind a descriptor, or -1.
int file_of(int fd) noexcept;
/// `fd` is open on the watched file `file` (-1: on none) from now on; returns what it was.
int set_file_of(int fd, int file) noexcept;

void record(TraceOperation operation, int file, std::int64_t offset, std::int64_t bytes,
            double start, double end) noexcept;

} // namespace nunatak::io::trace
