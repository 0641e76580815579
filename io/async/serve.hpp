// A server takes values from the ranks that compute, and writes them with a Writer on its group.
//
//   actions of compute rank 0, in order            values of open batches, of any rank
//     open a.nc | begin 7 | end 7 | end of record    7: thk, 7: temp, ...
//                                                  number of messages to expect
//                                                    7: 12
//
// A batch is what is put into a file until its record ends or -io_buffer bytes have come to a
// server. Its values are put together in memory, in runs as long as the file has them, and written
// when it ends. Meanwhile the next one is taken: a thread makes the calls that wait for a disk
// (call_in_thread()). What belongs to later batches stays with the clients. After an error
// everything is taken and dropped, so that no client waits.
#pragma once

#include "io/async/servers.hpp"
#include "io/layouts/partition.hpp"
#include "io/options.hpp"

#include <functional>
#include <vector>

namespace nunatak::io {

/// What server `server` of `n` writes of variable v, by server. The same on clients and servers.
Boxes server_boxes(const Options& options, const Schema& schema, std::size_t v, std::size_t n);

/// Bytes of a variable that come to each server: those of its boxes.
std::vector<std::size_t> server_bytes(const Boxes& boxes, Type type);

/// A batch, of which each server gets `share` bytes, ends before a variable of which each gets
/// `more`: else one would get more than `buffer` (-io_buffer).
bool ends_before(const std::vector<std::size_t>& share, const std::vector<std::size_t>& more,
                 std::size_t buffer);

/// Make a call that waits for a disk in a thread, and take() until it is done; below 1 MiB a thread
/// costs more than it hides. Throws the errors of the call. take() returns false if it did nothing.
void call_in_thread(std::size_t bytes, const std::function<void()>& call,
                    const std::function<bool()>& take);

/// On a server of this group, until Action::stop; the exit status.
int serve(Servers& servers, int group);

} // namespace nunatak::io
