// The one error of io/ and of all above it, under a short name.
#pragma once

#include "io/error.hpp"

namespace nunatak {

using Error = io::Error;

} // namespace nunatak
