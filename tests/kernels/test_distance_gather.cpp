// Distances gathered to one rank per field: equal to a search of the whole grid, bit for bit; the
// messages are small.
#include "kernels/distance/gather.hpp"
#include "tests/kernels/distance_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>

using namespace nunatak;

namespace {

/// Ranks that own cells of the domain of any field.
std::vector<int> members_of(const Ranks& ranks, const DistanceFields& fields) {
  std::vector<int> members;
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    bool any = false;
    for (const auto& field : fields) {
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) any = any || field[r](j, i) >= 0;
      }
    }
    if (any) members.push_back(r);
  }
  return members;
}

DistanceFields cut(const Ranks& ranks, const std::vector<Grid<int>>& grids) {
  DistanceFields fields;
  for (const auto& grid : grids) fields.push_back(scatter(ranks, grid));
  return fields;
}

/// Fields that differ from those expected.
int wrong(int px, int py, const std::vector<Grid<int>>& start,
          const std::vector<Grid<int>>& expected) {
  VirtualRanks ranks(Decomposition::make(start[0].Mx, start[0].My, px, py));
  const DistanceFields fields = cut(ranks, start);
  const auto group = ranks.group(members_of(ranks, fields));
  const DistanceReport report = gather_distances(ranks, *group, {fields});
  int differ = report.rounds;
  for (std::size_t f = 0; f < fields.size(); ++f)
    differ += gather(ranks, fields[f]) == expected[f] ? 0 : 1;
  return differ;
}

std::size_t words_of(const std::vector<int>& numbers) {
  RunWriter writer;
  for (const int number : numbers) writer.put(number);
  std::vector<int> words{7};
  writer.append_to(words);
  words.push_back(42);
  RunReader reader(words.data() + 1);
  int wrong = 0;
  for (const int number : numbers) wrong += reader.get() == number ? 0 : 1;
  CHECK(wrong == 0);
  CHECK(reader.end() == &words.back());
  return words.size() - 2;
}

} // namespace

TEST_CASE("run lengths: a byte for a run of up to 42 numbers") {
  CHECK(words_of({}) == 1);
  CHECK(words_of({1}) == 2);
  CHECK(words_of({-1, 0, 1, -1}) == 2);             // four runs of one byte
  CHECK(words_of({-1, 0, 1, -1, 0}) == 3);          // and one more
  CHECK(words_of(std::vector<int>(1000, -1)) == 2); // one run
  std::vector<int> runs(42, 1);
  for (const int value : {0, -1, 1}) runs.insert(runs.end(), 42, value);
  CHECK(words_of(runs) == 2);
  runs.push_back(1); // 43 numbers: two bytes
  CHECK(words_of(runs) == 3);
  std::vector<int> noise;
  std::mt19937 random(5);
  std::size_t changes = 1;
  for (int n = 0; n < 4001; ++n) {
    noise.push_back(static_cast<int>(random() % 3) - 1);
    if (n > 0) changes += noise[n] != noise[n - 1];
  }
  CHECK(words_of(noise) == 1 + (changes + 3) / 4); // a byte for each
}

TEST_CASE("gathered distances equal a search of the whole grid, on any domain and decomposition") {
  for (const auto& [name, mask] : test_masks()) {
    const std::vector<Grid<int>> start = {with_seeds(mask, 50, 1), with_seeds(mask, 5, 2),
                                          with_seeds(mask, 0, 3)};
    std::vector<Grid<int>> expected;
    for (const auto& s : start) expected.push_back(search(s));
    for (const auto& [px, py] : decompositions(mask.Mx, mask.My)) {
      INFO(name << " on " << px << " x " << py);
      CHECK(wrong(px, py, start, expected) == 0);
    }
  }
}

TEST_CASE("fields of different domains; patches of one cell; a serpentine through 32 x 32 ranks") {
  const std::vector<Grid<int>> start = {with_seeds(random_mask(67, 75, 0.62, 1), 400, 1),
                                        with_seeds(random_mask(67, 75, 0.1, 2), 30, 2)};
  const std::vector<Grid<int>> expected = {search(start[0]), search(start[1])};
  CHECK(wrong(32, 32, start, expected) == 0);
  CHECK(wrong(67, 75, start, expected) == 0);

  const Grid<int> path = with_seed_at_corner(serpentine(101, 101));
  const Grid<int> solved = search(path);
  CHECK(solved(100, 100) == 51 * 101 + 50);
  CHECK(wrong(32, 32, {path}, {solved}) == 0);
}

TEST_CASE("only members take part: their messages, their work") {
  // one shelf in the lower left of 4 x 4 ranks: on ranks 0, 1, 4, 5
  Grid<int> start(32, 32, -1);
  for (int j = 2; j < 14; ++j) {
    for (int i = 3; i < 12; ++i) start(j, i) = i == 3 ? 1 : 0;
  }
  VirtualRanks ranks(Decomposition::make(32, 32, 4, 4));
  const DistanceFields fields = cut(ranks, {start, start});
  const std::vector<int> members = members_of(ranks, fields);
  REQUIRE(members == std::vector<int>{0, 1, 4, 5});
  const auto group = ranks.group(members);
  gather_distances(ranks, *group, {fields});
  CHECK(ranks.traffic().collectives == 8); // two fields, there and back, lengths and contents
  CHECK(ranks.traffic().messages == 0);
  for (int r = 0; r < 16; ++r) {
    const bool member = std::find(members.begin(), members.end(), r) != members.end();
    const int root_of = r == 0 || r == 4 ? 1 : 0; // fields: positions 0 and 2
    CHECK(ranks.work_of_ranks()[r] == (member ? 2 * 2 * 64 : 0) + root_of * 9 * 12);
  }
  CHECK(gather(ranks, fields[1])(13, 11) == 9);

  // members that the caller did not need; one member; none
  const DistanceFields again = cut(ranks, {start});
  gather_distances(ranks, *ranks.group({0, 1, 2, 4, 5, 15}), {again});
  CHECK(gather(ranks, again[0]) == search(start));
  Grid<int> small(32, 32, -1);
  small(31, 31) = 1, small(30, 31) = 0;
  const DistanceFields one = cut(ranks, {small});
  gather_distances(ranks, *ranks.group({15}), {one});
  CHECK(gather(ranks, one[0]) == search(small));
  const std::int64_t before = ranks.traffic().collectives;
  gather_distances(ranks, *ranks.group({}), {one});
  CHECK(ranks.traffic().collectives == before);
}

TEST_CASE("bits per cell of a shelf: runs of the domain, steps of the distances") {
  // a disc of 2809 cells on 4 ranks; seeds along its left half
  Grid<int> start(64, 64, -1);
  const auto inside = [](int j, int i) {
    return (j - 32) * (j - 32) + (i - 32) * (i - 32) < 30 * 30;
  };
  for (int j = 0; j < 64; ++j) {
    for (int i = 0; i < 64; ++i) {
      if (inside(j, i)) start(j, i) = i < 32 && !inside(j, i - 1) ? 1 : 0;
    }
  }
  VirtualRanks ranks(Decomposition::make(64, 64, 2, 2));
  const DistanceFields fields = cut(ranks, {start});
  std::size_t domain_words = 0, distance_words = 0, cells = 0;
  for (const auto& a : fields[0])
    domain_words += FlatField{a.data(), 34, 32, 32}.encode_domain().size();
  gather_distances(ranks, *ranks.group({0, 1, 2, 3}), {fields});
  for (const auto& a : fields[0]) {
    distance_words += FlatField{a.data(), 34, 32, 32}.encode_distances().size();
    FlatField{a.data(), 34, 32, 32}.for_each_domain_cell(
        [&](std::ptrdiff_t, std::ptrdiff_t) { cells += 1; });
  }
  CHECK(cells == 2809);
  CHECK(domain_words == 80);    // 0.63 bits per cell of the grid
  CHECK(distance_words == 104); // 1.18 bits per cell of the domain
}

TEST_CASE("more cells than an int can count are refused") {
  CHECK_THROWS_WITH(GatheredField(Decomposition::make(50000, 50000, 2, 1), {0, 1}),
                    Catch::Matchers::ContainsSubstring("2^31"));
}
