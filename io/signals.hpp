// Signals that ask a run to end in order: SIGUSR1 and SIGTERM, which a batch system sends.
//
// They are recorded here. A rank that computes acts on them where a step ends
// (model/early_end.hpp); an output server passes them on to compute rank 0 (async/serve.cpp). A
// second SIGTERM, two seconds or more after the first, ends the process at once with status 143,
// and mpiexec the others.
//
// Open MPI's mpiexec answers SIGTERM with SIGCONT to its ranks; it sends SIGTERM after
// odls_base_sigkill_timeout, and SIGKILL after the same time again. So a SIGCONT from it, to a
// process that was not stopped, counts as SIGTERM.
#pragma once

#include <chrono>

namespace nunatak::io {

/// By urgency: a batch system sends SIGTERM last.
enum class Request { none, usr1, term };

/// From now on these signals are recorded and do not end the process.
void remember_signals();

Request asked_to_end();
/// When the signal that decides came.
std::chrono::steady_clock::time_point time_of_request();

} // namespace nunatak::io
