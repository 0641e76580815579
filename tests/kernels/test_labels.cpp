// Connected components: equal to a flood fill of the whole grid, on any decomposition.
#include "kernels/labels/labels.hpp"
#include "tests/kernels/global_grid.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr Code in_mask = 1, in_other = 2, attaching = 4; // bits of a code
constexpr std::int64_t attached = 2; // flag of components with an attaching cell

/// The component of a cell, {-1, 0} if it is in none, and its number (0: not numbered).
struct Found {
  Component component{-1, 0};
  int number = 0;
  bool operator==(const Found& o) const { return component == o.component && number == o.number; }
};

/// Components by flood fill, in raster order of their first cell: numbers 1..n, or 0.
struct Fill {
  Grid<int> number;
  std::vector<Component> components;
};

Fill fill_of(const Grid<Code>& codes, Code mask) {
  Fill fill{flood_fill(codes, [mask](Code c) { return (c & mask) != 0; }).number, {}};
  for (const auto& [j, i] : points_of(codes.Mx, codes.My)) {
    const int n = fill.number(j, i);
    if (n == 0) continue;
    if (n > static_cast<int>(fill.components.size()))
      fill.components.push_back({j * codes.Mx + i, 0});
    Component& c = fill.components[n - 1];
    c.add(1, 0);
    if (j == 0 || i == 0 || j == codes.My - 1 || i == codes.Mx - 1) c.add(0, touches_edge);
    if (codes(j, i) & attaching) c.add(0, attached);
  }
  return fill;
}

/// A mask whose components are all numbered, or those with a flag of `numbered`.
LabelMask mask_of(Code bit, bool all, std::int64_t numbered = 0) {
  const auto flags = [](Code c) { return c & attaching ? attached : std::int64_t{0}; };
  if (bit == in_mask) return {[](Code c) { return (c & in_mask) != 0; }, flags, all, numbered};
  return {[](Code c) { return (c & in_other) != 0; }, flags, all, numbered};
}

/// The mask, another one, and marks on a few cells.
Grid<Code> codes_of(const Grid<int>& mask) {
  const Grid<int> other = random_mask(mask.Mx, mask.My, 0.6, 99),
                  marks = random_mask(mask.Mx, mask.My, 0.05, 7);
  Grid<Code> codes(mask.Mx, mask.My);
  for (std::size_t n = 0; n < codes.values.size(); ++n) {
    codes.values[n] = static_cast<Code>(mask.values[n] * in_mask + other.values[n] * in_other +
                                        marks.values[n] * attaching);
  }
  return codes;
}
Grid<Code> drawn(const std::vector<std::string>& rows) {
  return draw(rows, [](char c) { return static_cast<Code>(c - '0'); });
}

/// A grid of codes on virtual ranks, its segments and its labels.
struct Labelled {
  VirtualRanks ranks;
  std::vector<Array2<Code>> codes;
  std::vector<Segments> segments;
  Labels labels;
  std::vector<std::vector<std::int64_t>> maxima; // none

  Labelled(const Grid<Code>& grid, int px, int py)
      : ranks(Decomposition::make(grid.Mx, grid.My, px, py)), codes(scatter(ranks, grid)),
        segments(codes.size()), labels(ranks), maxima(codes.size()) {
    set(grid);
  }
  void set(const Grid<Code>& grid) {
    codes = scatter(ranks, grid);
    for (int r = 0; r < ranks.local_size(); ++r)
      find_segments(ranks.patch(r), codes[r], segments[r]);
  }
  const auto& update(const std::vector<LabelMask>& masks) {
    return labels.update(segments, masks, maxima);
  }
};

/// What was found for each cell; numbers as write_numbers() puts them.
Grid<Found> found_by(const Labelled& l, const MaskLabels& labels) {
  Grid<Found> found(l.ranks.decomposition().Mx, l.ranks.decomposition().My);
  for (int r = 0; r < l.ranks.local_size(); ++r) {
    const Patch p = l.ranks.patch(r);
    const Segments& s = l.segments[r];
    const Array2<int> numbers = make_array<int>("numbers", p);
    write_numbers(p, s, labels, static_cast<std::size_t>(r), numbers);
    for (int j = 1; j <= p.ym; ++j) {
      int i = 1;
      for (int n = s.row[j]; n < s.row[j + 1]; ++n) {
        for (; i < s.end(n); ++i) {
          Found& f = found(p.global_j(j), p.global_i(i));
          if (labels.component[r][n] >= 0) f.component = labels.at(r, n);
          f.number = numbers(j, i);
        }
      }
      CHECK(i == p.xm + 1);
    }
  }
  return found;
}

/// Fails at the first cell whose component or number differs from the flood fill.
void check(const Labelled& l, const MaskLabels& labels, const Fill& fill, const LabelMask& mask) {
  std::vector<Found> expected(1); // by number of the fill
  Component largest{};
  int numbered = 0;
  for (const Component& c : fill.components) {
    const bool has_number = mask.all || (c.flags() & mask.numbered) != 0;
    expected.push_back({c, has_number ? ++numbered : 0});
    if (c.cells() > largest.cells()) largest = c;
  }
  CHECK(labels.numbered == numbered);
  CHECK(labels.largest() == largest);
  if (mask.all) CHECK(labels.whole == fill.components);
  const auto words = [&](const Found& f) {
    const std::int64_t first = f.component.identity;
    return std::to_string(f.component.cells()) + " cells from (j " +
           std::to_string(first / fill.number.Mx) + ", i " +
           std::to_string(first % fill.number.Mx) + ") on, flags " +
           std::to_string(f.component.flags()) + ", number " + std::to_string(f.number);
  };
  const Grid<Found> found = found_by(l, labels);
  for (const auto& [j, i] : points_of(found.Mx, found.My)) {
    const Found& wanted = expected[fill.number(j, i)];
    if (found(j, i) == wanted) continue;
    FAIL_CHECK("component of cell (j " << j << ", i " << i << "): expected " << words(wanted)
                                       << ", found " << words(found(j, i)));
    return;
  }
}

} // namespace

TEST_CASE("segments cover a row, each of one code") {
  const Segments s =
      Labelled(drawn({"111111111111111112222222223441", "777777777777777777777777777777"}), 1, 1)
          .segments[0];
  REQUIRE(s.size() == 6);
  CHECK((s.row[1] == 0 && s.row[2] == 5 && s.row[3] == 6));
  const std::vector<std::pair<int, Code>> expected = {{18, 1}, {27, 2}, {28, 3},
                                                      {30, 4}, {31, 1}, {31, 7}}; // end, code
  for (int n = 0; n < 6; ++n) {
    CHECK(s.end(n) == expected[n].first);
    CHECK(s.list[n].code() == expected[n].second);
  }
}

TEST_CASE("components equal a flood fill: numbers, areas, flags, on any decomposition") {
  std::vector<std::pair<std::string, Grid<int>>> masks = test_masks();
  masks.emplace_back("large", random_mask(97, 71, 0.5, 5));
  for (const int Mx : {63, 64, 65, 200}) {
    for (const double p : {0.5, 0.6, 0.9})
      masks.emplace_back("row of " + std::to_string(Mx), random_mask(Mx, 40, p, 3));
    masks.emplace_back("comb of " + std::to_string(Mx), comb(Mx, 20));
    masks.emplace_back("serpentine of " + std::to_string(Mx), serpentine(Mx, 21));
  }
  for (const auto& [name, mask] : masks) {
    const Grid<Code> codes = codes_of(mask);
    const Fill fill = fill_of(codes, in_mask), other = fill_of(codes, in_other);
    std::vector<std::pair<int, int>> cuts = decompositions(mask.Mx, mask.My);
    if (mask.Mx >= 32 && mask.My > 40) cuts.emplace_back(32, 32);
    for (const auto& [px, py] : cuts) {
      Labelled l(codes, px, py);
      for (const std::vector<LabelMask>& batch :
           {std::vector{mask_of(in_mask, true), mask_of(in_other, false)},
            {mask_of(in_mask, false), mask_of(in_other, false, attached)},
            {mask_of(in_mask, false, touches_edge), mask_of(in_other, true),
             mask_of(in_mask, false, attached)}}) {
        const auto& found = l.update(batch);
        for (std::size_t m = 0; m < batch.size(); ++m) {
          INFO(name << " on " << px << " x " << py << ", mask " << m << " of " << batch.size());
          check(l, found[m], m == 1 ? other : fill, batch[m]);
        }
      }
    }
  }
}

TEST_CASE("a batch of labels is one exchange and one gather, and carries maxima along") {
  Grid<Code> codes(16, 16, in_mask | in_other);
  Labelled l(codes, 4, 2);
  for (int r = 0; r < 8; ++r) l.maxima[r] = {r, -r};
  const auto& found = l.update({mask_of(in_mask, false), mask_of(in_other, false)});
  CHECK(l.ranks.traffic().exchanges == 1);
  CHECK(l.ranks.traffic().collectives == 2);
  for (const auto& values : l.maxima) CHECK(values == std::vector<std::int64_t>{7, 0});
  CHECK(found[1].fragments[5][0].cells() == 256);
  // a second update with the same object does not remember the first
  for (Code& c : codes.values) c = 0;
  codes(3, 9) = in_mask;
  l.set(codes);
  const auto& again = l.update({mask_of(in_mask, true), mask_of(in_other, true)});
  REQUIRE(again[0].whole.size() == 1);
  CHECK(again[0].whole[0].identity == 3 * 16 + 9);
  CHECK(again[1].whole.empty());
}

TEST_CASE("a run that touches several runs below joins them all; areas and identities by hand") {
  const Grid<Code> grid = drawn({"1000001", "1011101", "1110111"});
  const Component whole{0, 13 << flag_bits | touches_edge};
  for (const auto& [px, py] : decompositions(7, 3)) {
    INFO(px << " x " << py);
    Labelled l(grid, px, py);
    const auto& found = l.update({mask_of(in_mask, true), mask_of(in_other, false)});
    REQUIRE(found[0].whole.size() == 1);
    CHECK(found[0].whole[0] == whole);
    CHECK(found[1].whole.empty());
    const Traffic& sent = l.ranks.traffic();
    if (px * py != 2 || px != 2) continue;
    CHECK(sent.exchanges == 1);
    CHECK(sent.messages == 2);
    CHECK(sent.bytes == 2 * 3 * 2 * 4); // both ways, three cells, two masks
    CHECK(sent.collectives == 2);
  }
}

TEST_CASE("a periodic grid is refused") {
  Decomposition d = Decomposition::make(8, 8, 2);
  d.periodic_x = true;
  VirtualRanks ranks(d);
  CHECK_THROWS_WITH(Labels(ranks), ContainsSubstring("periodic"));
}
