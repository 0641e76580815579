// Components labelled by loops with atomics: those of Labels, on any mask and decomposition.
#include "kernels/labels/device/labels.hpp"
#include "tests/kernels/global_grid.hpp"
#include "tests/kernels/label_codes.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;

namespace {

/// Two masks; of the second, components with an attaching cell are numbered or none.
std::vector<LabelMask> two_masks(bool numbers) {
  const auto flags = [](Code c) { return c & attaching ? attached : std::int64_t{0}; };
  return {{[](Code c) { return (c & in_mask) != 0; }, flags, numbers},
          {[](Code c) { return (c & in_other) != 0; }, flags, false, numbers ? attached : 0}};
}

/// The mask, another one, and marks.
Grid<Code> codes_of(const Grid<int>& mask) {
  const Grid<int> other = random_mask(mask.Mx, mask.My, 0.6, 99),
                  marks = random_mask(mask.Mx, mask.My, 0.02, 7);
  Grid<Code> codes(mask.Mx, mask.My);
  for (std::size_t n = 0; n < codes.values.size(); ++n) {
    codes.values[n] = static_cast<Code>(mask.values[n] * in_mask + other.values[n] * in_other +
                                        marks.values[n] * attaching);
  }
  return codes;
}

/// Cells whose component has another identity, area, flags or number than that of Labels.
int wrong_cells(const Ranks& ranks, const std::vector<Segments>& segments,
                const MaskLabels& expected, const DeviceMaskLabels& found) {
  int wrong = 0;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    for (int j = 1; j <= p.ym; ++j) {
      for (int n = segments[r].row[j], i = 1; n < segments[r].row[j + 1]; ++n) {
        const int c = expected.component[r][n];
        for (; i < segments[r].end(n); ++i) {
          const int d = found.component[r](j, i);
          const bool agree = c < 0 || d < 0 ? c == d
                                            : expected.fragments[r][c] == found.fragments[r][d] &&
                                                  expected.number[r][c] == found.number[r][d];
          wrong += agree ? 0 : 1;
        }
      }
    }
  }
  return wrong;
}

void check_against_labels(const std::string& name, const Grid<int>& mask) {
  const Grid<Code> grid = codes_of(mask);
  for (const auto& [px, py] : decompositions(mask.Mx, mask.My)) {
    INFO(name << " on " << px << " x " << py);
    VirtualRanks ranks(Decomposition::make(mask.Mx, mask.My, px, py));
    const auto codes = scatter(ranks, grid);
    std::vector<Segments> segments(codes.size());
    for (int r = 0; r < ranks.local_size(); ++r)
      find_segments(ranks.patch(r), codes[r], segments[r]);
    Labels labels(ranks);
    for (const bool numbers : {true, false}) {
      std::vector<std::vector<std::int64_t>> nothing(codes.size());
      const auto& expected = labels.update(segments, two_masks(numbers), nothing);
      DeviceLabels device(ranks, two_masks(numbers));
      const auto& found = device.update(codes, nothing);
      for (int m = 0; m < 2; ++m) {
        CHECK(wrong_cells(ranks, segments, expected[m], found[m]) == 0);
        CHECK(expected[m].numbered == found[m].numbered);
        CHECK(std::equal(expected[m].whole.begin(), expected[m].whole.end(), found[m].whole.begin(),
                         found[m].whole.end()));
      }
    }
  }
}

} // namespace

TEST_CASE("components are those of Labels, on any mask and decomposition") {
  for (const auto& [name, mask] : test_masks()) check_against_labels(name, mask);
}

TEST_CASE("rows of several blocks, and of a block and a bit") {
  for (const int Mx : {63, 64, 65, 200}) {
    for (const double p : {0.5, 0.6, 0.9})
      check_against_labels(std::to_string(Mx), random_mask(Mx, 40, p, 3));
    check_against_labels("comb of " + std::to_string(Mx), comb(Mx, 20));
    check_against_labels("serpentine of " + std::to_string(Mx), serpentine(Mx, 21));
  }
}

TEST_CASE("a run that touches several runs below joins them all; areas and identities by hand") {
  const Grid<Code> grid =
      draw({"1000001", "1011101", "1110111"}, [](char c) { return static_cast<Code>(c - '0'); });
  VirtualRanks ranks(Decomposition::make(7, 3, 2, 1));
  DeviceLabels labels(ranks, two_masks(true));
  std::vector<std::vector<std::int64_t>> maxima = {{3, -1}, {2, 0}};
  const auto& found = labels.update(scatter(ranks, grid), maxima);
  REQUIRE(found[0].whole.size() == 1);
  CHECK(found[0].whole[0] == Component{0, 13 << flag_bits | touches_edge});
  CHECK(found[1].whole.empty());
  for (const auto& values : maxima) CHECK(values == std::vector<std::int64_t>{3, 0});
  CHECK(ranks.traffic().exchanges == 1);
  CHECK(ranks.traffic().messages == 2);
  CHECK(ranks.traffic().bytes == 2 * 3 * 2 * 4); // both ways, three cells, two masks
  CHECK(ranks.traffic().collectives == 2);
}

TEST_CASE("labels on the execution space refuse a periodic grid, and a fourth mask") {
  Decomposition d = Decomposition::make(8, 8, 2);
  d.periodic_x = true;
  VirtualRanks ranks(d);
  CHECK_THROWS_WITH(DeviceLabels(ranks, two_masks(true)),
                    Catch::Matchers::ContainsSubstring("periodic"));
  VirtualRanks one(Decomposition::make(8, 8, 1));
  CHECK_THROWS_WITH(DeviceLabels(one, std::vector<LabelMask>(4, two_masks(true)[0])),
                    Catch::Matchers::ContainsSubstring("at most 3 masks, found 4"));
}
