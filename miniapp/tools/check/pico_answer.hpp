// PICO on the input of a file, optionally with the behaviours of PISM 2.3.2. Neighbours:
// pico_file.hpp (input), pism_geometry.hpp, nunatak_check.cpp (comparison), kernels/pico.
#pragma once

#include "kernels/pico/geometry.hpp"
#include "miniapp/tools/check/pico_file.hpp"

namespace nunatak::tools {

struct PicoAnswer {
  std::vector<PicoFields> fields; ///< per local rank
  int shelves = 0;
};

/// With water unless `source` is `none`. With box0 the water of a shelf is the coldest of its cells
/// in the file, where fewest cells are warmed to the melting point, not a basin's mean.
/// `behaviours`: bits of PismBehaviour. Collective.
PicoAnswer compute_pico(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                        const std::vector<PicoInput>& input, OceanSource source,
                        unsigned behaviours);

} // namespace nunatak::tools
