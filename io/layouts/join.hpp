// One file of the subfiles that the layout file-per-aggregator has written (split_files.hpp).
#pragma once

#include "io/options.hpp"

#include <mpi.h>

#include <cstddef>
#include <string>

namespace nunatak::io {

struct Joined {
  std::size_t subfiles = 0, records = 0;
};

/// Join path.0000, path.0001, ... to `output`, written as `options` say and durable like any file.
/// Values, types and attributes are those of the subfiles; the attributes of the decomposition are
/// gone. Written with the same options, the file has the bytes of one that was never in subfiles.
///
/// Collective. Every rank reads its share of the subfiles, record by record, at most
/// Options::buffer bytes at a time. Errors: see SubfileSet (subfile_set.hpp) and File (writer.hpp).
Joined join(MPI_Comm comm, const std::string& path, const std::string& output,
            const Options& options);

} // namespace nunatak::io
