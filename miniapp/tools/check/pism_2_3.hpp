// Two defects of PISM 2.3, made after their descriptions, so that a file that shows them can be
// told from one that is wrong in another way (docs/tools.md). Nothing here is code of PISM.
// Neighbour: pico_answer.hpp, which asks for them.
#pragma once

#include "kernels/pico/geometry.hpp"

namespace nunatak::tools {

/// Which of them.
struct PismDefects {
  bool labels = false, distances = false;
};

/// A LabelPatch (labels.hpp) that loses equivalences. Runs get provisional labels, each with an
/// entry that says which smaller label it is equal to. A run goes on with the label of the run
/// above it; where it touches another one, it writes the smaller of both labels into the entry of
/// the larger, over what was known of that one, and goes on with the other:
///
///   1000002     The first run of the last row notes that 3 is 1, the second one that 3 is 2. One
///   component becomes two: 1 is 1033302     alone. It happens within patches; seams are complete,
///   so that the answer depends on the ranks. What is known of 3330222     PISM is that it splits
///   this case in two and that its melt depends on the ranks, not where it cuts.
void label_as_pism_2_3(const Patch& p, const Segments& segments, const LabelMask& mask,
                       LargeList<int>& component, LargeList<Component>& fragments);

/// Distances that saturate: a neighbour counts for 2 max(Mx, My) at most, so that no distance is
/// larger than that and 1. The boxes follow: changes distances, boxes and d_max in `shelves` and
/// `out`. One collective.
void saturate_distances(Ranks& ranks, const PicoOptions& options, pico::Shelves& shelves,
                        std::vector<PicoFields>& out);

} // namespace nunatak::tools
