// Loops over cells of a row, for two, four and eight lanes: kernels/grid/widths.hpp.
#define NUNATAK_COMPILES_WIDE
#include "kernels/pico/last_input.hpp"
