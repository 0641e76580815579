// Loops over the elements of a row, compiled for several widths: kernels/grid/widths.hpp.
#define NUNATAK_COMPILES_WIDE
#include "kernels/ssa/element_rows.hpp"
