// Lab 3: a property that every labelling has, on masks that no one has drawn. It must hold for the
// labelling of the project, and must not hold for those that are nearly right (the mutants of
// tests/course/labs.json): this is a test of the test.
#include "kernels/labels/labels.hpp"
#include "tests/kernels/global_grid.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace nunatak;

namespace {

/// The components of a mask of 0 and 1, as the labelling finds them on px x py patches: first cell,
/// number of cells.
std::vector<std::pair<std::int64_t, std::int64_t>> components(const Grid<int>& mask, int px,
                                                              int py) {
  VirtualRanks ranks(Decomposition::make(mask.Mx, mask.My, px, py));
  Grid<Code> codes(mask.Mx, mask.My);
  for (std::size_t n = 0; n < mask.values.size(); ++n)
    codes.values[n] = static_cast<Code>(mask.values[n]);
  const auto local = scatter(ranks, codes);
  std::vector<Segments> segments(local.size());
  for (int r = 0; r < ranks.local_size(); ++r) find_segments(ranks.patch(r), local[r], segments[r]);
  LabelMask wanted;
  wanted.contains = [](Code code) { return code == 1; };
  wanted.all = true;
  std::vector<std::vector<std::int64_t>> nothing(local.size());
  Labels labels(ranks);
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const Component& c : labels.update(segments, {wanted}, nothing)[0].whole)
    found.emplace_back(c.identity, c.cells());
  return found;
}

} // namespace

TEST_CASE("lab 3: the components of any mask are the same on all decompositions") {
  // lab 3 begin: components of two cuts of random masks | stub: FAIL("lab 3: not written yet");
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Grid<int> mask = random_mask(23, 17, 0.45 + 0.01 * seed, seed);
    const auto finest =
        components(mask, 23, 17); // patches of one cell: all is joined at subdomain boundaries
    for (const auto& [px, py] : decompositions(23, 17)) {
      CAPTURE(seed, px, py);
      CHECK(components(mask, px, py) == finest);
    }
  }
  // lab 3 end
}
