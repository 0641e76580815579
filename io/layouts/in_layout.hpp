// Opens files in a layout that moves values: the format inside a Remap (remap.hpp), an Auto
// (auto.hpp) or split files (split_files.hpp). Used by registry.cpp.
#pragma once

#include "io/formats/format.hpp"
#include "io/topology.hpp"

namespace nunatak::io {

/// The layout and format in `options`. `comm` must outlive the result.
OpenFormat open_in_layout(MPI_Comm comm, const Options& options, const Topology& topology);

} // namespace nunatak::io
