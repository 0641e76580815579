// Joins the files of the layout file-per-aggregator (layouts/split_files.hpp).
#pragma once

#include "io/formats/options.hpp"

#include <mpi.h>

#include <cstddef>
#include <string>

namespace nunatak::io {

struct Joined {
  std::size_t subfiles = 0, records = 0;
};

/// Join path.0000, path.0001, ... to `output`, written as in `options` and durable like any file.
/// It is bitwise the file that is written with the same options and no subfiles.
///
/// Collective. Every rank reads its part of the subfiles, record by record, at most Options::buffer
/// bytes at a time. Error on every rank, before `output` is created, if a subfile is missing or
/// differs from the first in anything but its place, or if subfiles overlap or leave gaps.
Joined join(MPI_Comm comm, const std::string& path, const std::string& output,
            const Options& options);

} // namespace nunatak::io
