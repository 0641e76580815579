// nunatak::Error: the exception of io/ and of all layers above it.
#pragma once

#include "io/error.hpp"

namespace nunatak {

using Error = io::Error;

} // namespace nunatak
