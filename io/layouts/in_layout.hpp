// Opens files in a layout that moves values: the format in a Remap (remap.hpp), an Auto (auto.hpp)
// or, a file for each aggregator, in split files (split_files.hpp). What a run with the layout
// native never calls. Used by registry.cpp.
#pragma once

#include "io/formats/format.hpp"
#include "io/layouts/topology.hpp"

namespace nunatak::io {

/// The layout and the format that `options` name. `comm` must outlive what it returns.
OpenFormat open_in_layout(MPI_Comm comm, const Options& options, const Topology& topology);

} // namespace nunatak::io
