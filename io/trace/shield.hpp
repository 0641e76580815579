// Keeps a library from learning that a call of the file system has failed.
//
// Libraries that write together do not survive a write that fails on one rank: ROMIO leaves a
// collective call there, and the other ranks wait for it for ever; HDF5 1.10 can neither close the
// file nor end. So they are told that it has succeeded, and who called the library looks here
// afterwards (formats/shielded.cpp):
//
//     {
//       const Shield shield;
//       ncmpi_wait_all(...);                 // a failed pwrite() in it is a success for ROMIO, on
//       this rank if (!shield.error().empty()) ...     // what failed, and why: the file is worth
//       nothing
//     }
//
// Works where the program has the functions of trace/interpose.cpp before those of the C library
// (trace_available()); elsewhere the library learns of the failure. Calls: write, pwrite, writev,
// pwritev, fsync, fdatasync, close, of regular files.
#pragma once

#include <string>

namespace nunatak::io {

class Shield {
public:
  Shield() noexcept;
  ~Shield();
  Shield(const Shield&) = delete;
  Shield& operator=(const Shield&) = delete;

  /// "" or the first failure of a call of this thread since the shield is up: "expected to write 80
  /// bytes; found: No space ...".
  std::string error() const;

  /// For trace/interpose.cpp. Is a shield up, on this thread, that takes failures of this
  /// descriptor?
  static bool covers(int fd) noexcept;
  /// It has failed, with errno, when so many bytes were to be written (-1: none; it was an fsync or
  /// close).
  static void take(long long bytes) noexcept;

private:
  Shield* m_outer;
  int m_error = 0;
  long long m_bytes = 0;
};

} // namespace nunatak::io
