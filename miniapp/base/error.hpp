// The one error of all rooms above the kernels, under a short name.
#pragma once

#include "io/error.hpp"

namespace nunatak {

using Error = io::Error;

} // namespace nunatak
