// A format around one of MPI-IO, whose libraries do not learn that a call of the file system has
// failed on this rank (trace/shield.hpp): they go on, all ranks come to the end of the collective
// call, and there the failure is an error, as that of any other format.
#pragma once

#include "io/formats/format.hpp"

namespace nunatak::io {

/// Opens with `open`. Collective.
std::unique_ptr<Format> open_shielded(OpenFunction* open, MPI_Comm comm, const std::string& path,
                                      const Schema& schema, const Options& options);

} // namespace nunatak::io
