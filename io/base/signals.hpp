// Signals that ask a run to end in order, which batch systems send: SIGUSR1, SIGUSR2, SIGXCPU and
// SIGTERM.
//
// They are recorded here. A rank that computes acts on them where a step ends
// (model/early_end.hpp); an output server passes them on to compute rank 0 (write/serve.cpp). A
// second SIGTERM, two seconds or more after the first, ends the process at once with status 143,
// and mpiexec the others.
#pragma once

#include <chrono>

namespace nunatak::io {

/// By urgency: a batch system sends SIGTERM last.
enum class Request { none, usr1, usr2, xcpu, term };

/// From now on these signals are recorded and do not end the process.
void remember_signals();

Request asked_to_end();
/// When the signal that decides came.
std::chrono::steady_clock::time_point time_of_request();

} // namespace nunatak::io
