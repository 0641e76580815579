// A Format whose values another one writes later, by a thread: what the ranks put waits in the ring of the thread.
//
//   File -> layout (moves values, here and now) -> Queued: put() packs into the ring -> thread: put() of the inner format -> disk
//
// wait() does not wait: it only says what has gone wrong so far. All other calls wait until what was put is written, and then are
// those of the inner format, made by the rank itself.
#pragma once

#include "io/formats/format.hpp"
#include "io/thread/write_thread.hpp"

namespace nunatak::io {

/// `inner`: its put() and wait() make no call of MPI. `schema` and `thread` must outlive it.
std::unique_ptr<Format> make_queued(WriteThread& thread, const Schema& schema, std::unique_ptr<Format> inner);

} // namespace nunatak::io
