// PICO on the input of a file, optionally with two defects of PISM 2.3. Neighbours: pico_file.hpp
// (input), differences.hpp (comparison), kernels/pico.
#pragma once

#include "kernels/pico/geometry.hpp"
#include "miniapp/tools/check/pico_file.hpp"

namespace nunatak::tools {

/// Two defects of PISM 2.3, reproduced from their descriptions, to distinguish a file with these
/// defects from one that is wrong otherwise. Contains no code of PISM.
///
/// labels: equivalences are lost. A label's entry is a smaller label that it equals. A run takes
/// the label of the run above it; at another one it writes the smaller label into the entry of the
/// larger, over the previous entry, and continues with the other:
///
///   1000002     The first run of the last row records that 3 is 1, the second one that 3 is 2. One
///   1033302     component becomes two: 1 is alone. This happens within patches, not across their
///   3330222     boundaries, so that the result depends on the ranks. PISM is known to split this
///               case in two and to melt by the number of ranks; where it splits is unknown.
///
/// distances: they saturate. A neighbour counts for 2 max(Mx, My) at most; no distance exceeds that
/// + 1.
struct PismDefects {
  bool labels = false, distances = false;
};

struct PicoAnswer {
  std::vector<PicoFields> fields; ///< per local rank
  int shelves = 0;
};

/// With water unless `source` is `none`. With box0 the water of a shelf is the coldest of its cells
/// in the file, where fewest cells are warmed to the melting point, not a basin's mean. Collective.
PicoAnswer compute_pico(Ranks& ranks, const PicoFile& file, const PicoOptions& options,
                        const std::vector<PicoInput>& input, OceanSource source,
                        PismDefects defects);

} // namespace nunatak::tools
