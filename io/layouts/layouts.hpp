// The layouts by name: a format, wrapped so that values move to other ranks before they are written. Used by backends.cpp.
#pragma once

#include "io/formats/format.hpp"

namespace nunatak::io {

/// The layout that `options` name, around the format that `open` opens; native is that format itself.
OpenFormat in_layout(MPI_Comm comm, const Options& options, const Topology& topology, OpenOn* open);

} // namespace nunatak::io
