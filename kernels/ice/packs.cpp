// Loops over columns, faces and cells, compiled for several widths: kernels/grid/widths.hpp.
#define NUNATAK_COMPILES_WIDE
#include "kernels/ice/columns.hpp"
#include "kernels/ice/sia.hpp"
#include "kernels/ice/till.hpp"
#include "kernels/ice/transport.hpp"
