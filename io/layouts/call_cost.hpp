// What a short write costs, in bytes that could be sent in its time, if -io_call is not given:
// measured where the file will be.
//
// One rank of each of at most eight nodes writes short runs into one file, as ranks do that keep
// what they have: each its own, side by side with those of the others, over stripes that lie on
// several servers. A client that waits for the server, or for the lock of another client, shows it
// there; one that writes behind does not. Then they send around a ring.
//
//   stripe   |            0            |            1            | ...
//   ranks    |0 1 2 0 1 2 ...          |0 1 2 0 1 2 ...          |        at a time each in another
//   stripe
//
//   bytes  =  seconds of a call (the mean over ranks of their medians)  x  bytes sent in a second
//   by a node / its ranks
//
// at least 1 KiB: that a call which is over at once makes work for a server later is not seen. At
// most 64 KiB. Where it cannot be measured (one node; a folder that cannot be written) it is 8 KiB.
#pragma once

#include "io/layouts/topology.hpp"
#include "io/options.hpp"

#include <cstddef>
#include <string>

namespace nunatak::io {

struct CallCost {
  static constexpr double least = 1 << 10, most = 64 << 10; ///< of what is measured
  std::size_t bytes = 8 << 10;
  std::string from = "the default";
  std::string text() const {
    return "a call like " + std::to_string(bytes) + " bytes sent (" + from + ")";
  } ///< for the log
};

/// Of seconds of a call and bytes sent per second by a rank, within the bounds above.
CallCost call_cost_of(double seconds, double rate);

/// Options::call, if it is given; else measured in the file `path`, which is removed ("": not
/// measured; a run that is killed meanwhile leaves it). Collective; no error.
CallCost call_cost_at(MPI_Comm comm, const Topology& topology, const std::string& path,
                      const Options& options, std::size_t stripe);

} // namespace nunatak::io
