// Loops over the elements of a row, for two, four and eight lanes: kernels/grid/widths.hpp.
#define NUNATAK_COMPILES_WIDE
#include "kernels/ssa/element_rows.hpp"
