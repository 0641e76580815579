// A Format whose values another one writes later, by a thread: what the ranks put waits in the ring
// of the thread.
//
//   File -> layout (moves values, here and now) -> Queued: put() packs into the ring -> thread:
//   put() of the inner format -> disk
//
// All calls but put() and wait() wait until what was put is written, and then are those of the
// inner format, made by the rank itself.
#pragma once

#include "io/formats/format.hpp"
#include "io/thread/write_thread.hpp"

namespace nunatak::io {

/// `inner`: its put() and wait() make no call of MPI. `schema` and `thread` must outlive it. wait()
/// does not wait: it only says what has gone wrong so far.
std::unique_ptr<Format> make_queued(WriteThread& thread, const Schema& schema,
                                    std::unique_ptr<Format> inner);

/// The same with a thread of its own; wait() waits. For a layout, which moves values while those
/// before are written.
std::unique_ptr<Format> make_overlapped(std::size_t ring_bytes, const Schema& schema,
                                        std::unique_ptr<Format> inner);

} // namespace nunatak::io
