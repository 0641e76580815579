// Connected components: equal to a flood fill of the whole grid, on any decomposition.
#include "kernels/labels/device/labels.hpp"
#include "tests/kernels/global_grid.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr Code in_mask = 1, in_other = 2, attaching = 4; // bits of a code
constexpr std::int64_t attached = 2; // flag of components with an attaching cell

/// Components by flood fill, in raster order of their first cell: numbers 1..n, or 0.
struct Fill {
  Grid<int> number;
  std::vector<Component> components;
};

Fill fill_of(const Grid<int>& mask, const Grid<Code>& codes) {
  Fill fill{flood_fill(mask, [](int v) { return v != 0; }).number, {}};
  for (const auto& [j, i] : points_of(mask.Mx, mask.My)) {
    const int n = fill.number(j, i);
    if (n == 0) continue;
    if (n > static_cast<int>(fill.components.size()))
      fill.components.push_back({j * mask.Mx + i, 0});
    Component& c = fill.components[n - 1];
    c.add(1, 0);
    if (j == 0 || i == 0 || j == mask.My - 1 || i == mask.Mx - 1) c.add(0, touches_edge);
    if (codes(j, i) & attaching) c.add(0, attached);
  }
  return fill;
}

LabelMask mask_of(Code bit, bool all) {
  const auto flags = [](Code c) { return c & attaching ? attached : std::int64_t{0}; };
  if (bit == in_mask) return {[](Code c) { return (c & in_mask) != 0; }, flags, all};
  return {[](Code c) { return (c & in_other) != 0; }, flags, all};
}

/// The mask, another one, and marks on a fraction of the cells.
Grid<Code> codes_of(const Grid<int>& mask, double marked = 0.02) {
  const Grid<int> other = random_mask(mask.Mx, mask.My, 0.6, 99),
                  marks = random_mask(mask.Mx, mask.My, marked, 7);
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

/// Fails at the first cell whose component differs from the flood fill in number (if they are
/// numbered), identity, area or flags.
void compare(const Ranks& ranks, const std::vector<Segments>& segments, const MaskLabels& labels,
             const Fill& fill, bool all) {
  const auto words = [&](const Component* c, int number) {
    if (c == nullptr) return std::string("none");
    return "one of " + std::to_string(c->cells()) + " cells from cell (j " +
           std::to_string(c->identity / fill.number.Mx) + ", i " +
           std::to_string(c->identity % fill.number.Mx) + ") on, flags " +
           std::to_string(c->flags()) + (all ? ", number " + std::to_string(number) : "");
  };
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    for (int j = 1; j <= p.ym; ++j) {
      int i = 1;
      for (int n = segments[r].row[j]; n < segments[r].row[j + 1]; ++n) {
        for (; i < segments[r].end(n); ++i) {
          const int number = fill.number(p.global_j(j), p.global_i(i)),
                    fragment = labels.component[r][n];
          const Component *expected = number > 0 ? &fill.components[number - 1] : nullptr,
                          *found = fragment >= 0 ? &labels.fragments[r][fragment] : nullptr;
          const int found_number = found != nullptr && all ? labels.number[r][fragment] : number;
          if (expected == nullptr || found == nullptr
                  ? expected == found
                  : *expected == *found && found_number == number)
            continue;
          FAIL_CHECK("component of cell (j " << p.global_j(j) << ", i " << p.global_i(i)
                                             << ") on rank " << r << ": expected "
                                             << words(expected, number) << ", found "
                                             << words(found, found_number));
          return;
        }
      }
      CHECK(i == p.xm + 1);
    }
  }
}

/// The numbers as an array of the whole grid.
Grid<int> numbers_of(const Labelled& l, const MaskLabels& labels) {
  std::vector<Array2<int>> numbers;
  for (int r = 0; r < l.ranks.local_size(); ++r) {
    numbers.push_back(make_array<int>("numbers", l.ranks.patch(r)));
    write_numbers(l.ranks.patch(r), l.segments[r], labels, static_cast<std::size_t>(r),
                  numbers.back());
  }
  return gather(l.ranks, numbers);
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
  for (const auto& [name, mask] : test_masks()) {
    const Grid<Code> codes = codes_of(mask);
    const Fill fill = fill_of(mask, codes),
               fill_other = fill_of(random_mask(mask.Mx, mask.My, 0.6, 99), codes);
    Component largest{};
    for (const Component& c : fill.components) largest = c.cells() > largest.cells() ? c : largest;
    for (const auto& [px, py] : decompositions(mask.Mx, mask.My)) {
      Labelled l(codes, px, py);
      INFO(name << " on " << px << " x " << py);
      for (const bool all : {true, false}) {
        const auto& found = l.update({mask_of(in_mask, all), mask_of(in_other, false)});
        compare(l.ranks, l.segments, found[0], fill, all);
        compare(l.ranks, l.segments, found[1], fill_other, false);
        if (all) CHECK(found[0].whole.size() == fill.components.size());
        CHECK(found[0].largest() == largest);
      }
    }
  }
}

TEST_CASE("consecutive numbers of the components that are asked for") {
  const std::int64_t flags[2] = {touches_edge, attached};
  std::vector<std::pair<std::string, Grid<int>>> masks = test_masks();
  masks.emplace_back("large", random_mask(97, 71, 0.5, 5));
  for (const auto& [name, mask] : masks) {
    const Grid<Code> codes = codes_of(mask, 0.1);
    const Fill fill = fill_of(mask, codes);
    Grid<int> expected[2] = {fill.number, fill.number};
    int count[2] = {0, 0};
    for (const int k : {0, 1}) {
      std::vector<int> number(1, 0);
      for (const Component& c : fill.components)
        number.push_back((c.flags() & flags[k]) != 0 ? ++count[k] : 0);
      for (int& value : expected[k].values) value = number[value];
    }
    std::vector<std::pair<int, int>> cuts = decompositions(mask.Mx, mask.My);
    if (mask.Mx >= 32 && mask.My >= 32) cuts.emplace_back(32, 32);
    for (const auto& [px, py] : cuts) {
      Labelled l(codes, px, py);
      LabelMask first = mask_of(in_mask, false), second = first;
      first.numbered = flags[0];
      second.numbered = flags[1];
      const auto& found = l.update({first, second, mask_of(in_mask, true)});
      INFO(name << " on " << px << " x " << py);
      for (const int k : {0, 1}) {
        CHECK(numbers_of(l, found[k]) == expected[k]);
        CHECK(found[k].numbered == count[k]);
      }
      CHECK(numbers_of(l, found[2]) == fill.number);
      CHECK(found[2].numbered == static_cast<int>(fill.components.size()));
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

// --- components labelled by loops with atomics: those of Labels, on any mask and decomposition

namespace {

/// Two masks; of the second, components with an attaching cell are numbered or none.
std::vector<LabelMask> two_masks(bool numbers) {
  const auto flags = [](Code c) { return c & attaching ? attached : std::int64_t{0}; };
  return {{[](Code c) { return (c & in_mask) != 0; }, flags, numbers},
          {[](Code c) { return (c & in_other) != 0; }, flags, false, numbers ? attached : 0}};
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
  for (const auto& [px, py] : decompositions(mask.Mx, mask.My)) {
    INFO(name << " on " << px << " x " << py);
    Labelled l(codes_of(mask), px, py);
    for (const bool numbers : {true, false}) {
      const auto& expected = l.update(two_masks(numbers));
      DeviceLabels device(l.ranks, two_masks(numbers));
      device.find(l.codes);
      Kokkos::fence();
      const auto& found = device.join(l.maxima);
      for (int m = 0; m < 2; ++m) {
        CHECK(wrong_cells(l.ranks, l.segments, expected[m], found[m]) == 0);
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
  const Grid<Code> grid = drawn({"1000001", "1011101", "1110111"});
  const Component whole{0, 13 << flag_bits | touches_edge};
  for (const auto& [px, py] : decompositions(7, 3)) {
    INFO(px << " x " << py);
    Labelled l(grid, px, py);
    const MaskLabels& found = l.update({mask_of(in_mask, true)})[0];
    REQUIRE(found.whole.size() == 1);
    CHECK(found.whole[0] == whole);

    Labelled other(grid, px, py);
    const Traffic& sent = other.ranks.traffic();
    DeviceLabels labels(other.ranks, two_masks(true));
    std::vector<std::vector<std::int64_t>> maxima;
    for (int r = 0; r < px * py; ++r) maxima.push_back({3 - r, r - 1});
    labels.find(other.codes);
    Kokkos::fence();
    const auto& on_device = labels.join(maxima);
    REQUIRE(on_device[0].whole.size() == 1);
    CHECK(on_device[0].whole[0] == whole);
    CHECK(on_device[1].whole.empty());
    for (const auto& values : maxima) CHECK(values == std::vector<std::int64_t>{3, px * py - 2});
    if (px * py != 2 || px != 2) continue;
    CHECK(sent.exchanges == 1);
    CHECK(sent.messages == 2);
    CHECK(sent.bytes == 2 * 3 * 2 * 4); // both ways, three cells, two masks
    CHECK(sent.collectives == 2);
  }
}

TEST_CASE("a periodic grid is refused, and on the execution space a fourth mask") {
  Decomposition d = Decomposition::make(8, 8, 2);
  d.periodic_x = true;
  VirtualRanks ranks(d), one(Decomposition::make(8, 8, 1));
  CHECK_THROWS_WITH(Labels(ranks), ContainsSubstring("periodic"));
  CHECK_THROWS_WITH(DeviceLabels(ranks, two_masks(true)), ContainsSubstring("periodic"));
  CHECK_THROWS_WITH(DeviceLabels(one, std::vector<LabelMask>(4, two_masks(true)[0])),
                    ContainsSubstring("at most 3 masks, found 4"));
}
