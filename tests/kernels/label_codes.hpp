// The codes of cells and the flag of components that the tests of labels use.
#pragma once

#include "kernels/labels/labels.hpp"

namespace nunatak {

constexpr Code in_mask = 1, in_other = 2, attaching = 4; // bits of a code
constexpr std::int64_t attached = 2; // flag of components with an attaching cell

} // namespace nunatak
