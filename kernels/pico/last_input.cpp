// Loops over cells of a row, compiled for several widths: kernels/grid/widths.hpp.
#define NUNATAK_COMPILES_WIDE
#include "kernels/pico/last_input.hpp"
