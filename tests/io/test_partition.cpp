// io/layouts/partition.hpp, box.hpp, auto.hpp, exchange.hpp: every element of every variable
// belongs to exactly one aggregator, whatever the lengths; Morton order against interleaved bits;
// how stripes are dealt; the messages of a thousand ranks, counted in one process.
#include "io/data/exchange.hpp"
#include "io/formats/runs.hpp"
#include "io/layouts/auto.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>

#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

using namespace nunatak::io;

namespace {

using BoxesBy = std::function<Boxes(const Schema&, std::size_t v, std::size_t aggregators)>;

const std::map<std::string, BoxesBy> layouts = {
    {"zslab", slab_boxes},
    {"box", [](const Schema& s, std::size_t v,
               std::size_t n) { return Rectangles(s, n).boxes(v, false); }},
    {"morton",
     [](const Schema& s, std::size_t v, std::size_t n) { return segment_boxes(s, v, n, 100); }},
    {"auto", [](const Schema& s, std::size_t v, std::size_t n) {
       return run_boxes(s, v, {n, 64}, 60);
     }}};

Schema ice(std::size_t rows, std::size_t columns) { return pattern::ice(rows, columns, 3); }

/// A staggered grid, and a variable whose dimensions would want the same axis.
Schema staggered() {
  Schema s;
  s.dimensions = {{"yt", 6, true},  {"xt", 10, true}, {"yu", 7, true},
                  {"xu", 11, true}, {"level", 2},     {"month", 3, true}};
  s.variables = {{"t", Type::float64, {"level", "yt", "xt"}, {}},
                 {"u", Type::float64, {"level", "yu", "xu"}, {}},
                 {"flux", Type::float64, {"yt", "xu"}, {}},
                 {"mixed", Type::int16, {"xt", "xu"}, {}},
                 {"xu", Type::float64, {"xu"}, {}},
                 {"season", Type::float64, {"month", "level"}, {}}};
  return s;
}

std::vector<Schema> schemas() {
  Schema none = ice(5, 4);
  for (Dimension& d : none.dimensions) d.distributed = false;
  Schema three = ice(4, 3);
  three.dimensions[3].distributed = true;
  return {
      ice(7, 11),  ice(1, 1), ice(1, 9), ice(16, 2), pattern::geodesic(12), pattern::geodesic(42),
      staggered(), none,      three};
}

/// How often each element of a variable is in a box.
std::vector<int> owners(const Box& whole, const Boxes& boxes) {
  std::vector<int> n(whole.elements(), 0);
  for (const auto& of_a : boxes) {
    for (const Box& box : of_a) {
      for (std::size_t e = 0; e < box.elements(); ++e) {
        std::size_t rest = e, at = 0, stride = 1;
        for (std::size_t d = whole.count.size(); d-- > 0; stride *= whole.count[d]) {
          at += (box.start[d] + rest % box.count[d]) * stride;
          rest /= box.count[d];
        }
        n.at(at) += 1;
      }
    }
  }
  return n;
}

std::size_t interleaved(const Indices& index) {
  std::size_t code = 0;
  for (std::size_t bit = 12; bit-- > 0;) {
    for (const std::size_t i : index) code = 2 * code + ((i >> bit) & 1);
  }
  return code;
}

Box box2(std::size_t j, std::size_t i, std::size_t nj, std::size_t ni) {
  return {{j, i}, {nj, ni}};
}

} // namespace

TEST_CASE("every element of every variable belongs to exactly one aggregator") {
  for (const Schema& schema : schemas()) {
    schema.validate();
    for (const auto& [name, layout] : layouts) {
      for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 12, 16, 100}) {
        for (std::size_t v = 0; v < schema.variables.size(); ++v) {
          INFO(name << ", " << n << " aggregators, " << schema.variables[v].name);
          const Box whole = whole_box(schema, v);
          const Boxes boxes = layout(schema, v, n);
          REQUIRE(boxes.size() == n);
          const std::vector<int> found = owners(whole, boxes);
          CHECK(std::count(found.begin(), found.end(), 1) ==
                static_cast<std::ptrdiff_t>(found.size()));
          for (const auto& of_a : boxes) {
            for (const Box& box : of_a) CHECK(box.elements() > 0);
          }
        }
      }
    }
  }
}

TEST_CASE("parts of a list of boxes cover it once") {
  const std::vector<std::vector<Box>> lists = {
      {box2(0, 0, 7, 5)}, {box2(0, 0, 1, 1)}, {box2(0, 0, 2, 2), box2(2, 0, 3, 2)}, {}};
  for (const auto& list : lists) {
    const std::size_t elements = elements_of(list);
    for (const std::size_t n : {1, 2, 3, 5, 7, 8, 50}) {
      Boxes parts;
      for (std::size_t part = 0; part < n; ++part) parts.push_back(part_of(list, part, n));
      const std::vector<int> found = owners({{0, 0}, {7, 5}}, parts);
      CHECK(std::count(found.begin(), found.end(), 1) == static_cast<std::ptrdiff_t>(elements));
      CHECK(*std::max_element(found.begin(), found.end()) <= 1);
    }
  }
  CHECK(part_of(lists[0], 3, 7).at(0).elements() == 5);
  const std::vector<Box> scalar(1);
  const auto n_in = [&](std::size_t part) { return part_of(scalar, part, 3).size(); };
  CHECK(n_in(0) + n_in(1) + n_in(2) == 1);
}

TEST_CASE("Morton order is that of interleaved bits") {
  for (const Indices& counts : {Indices{5, 7}, {1, 9}, {3, 4, 5}, {13}, {8, 8}}) {
    std::vector<Indices> places;
    Indices place(counts.size(), 0);
    do places.push_back(place);
    while (next_index(place, counts));
    auto expected = places;
    std::sort(expected.begin(), expected.end(),
              [](const auto& a, const auto& b) { return interleaved(a) < interleaved(b); });
    std::sort(places.begin(), places.end(), morton_less);
    CHECK(places == expected);
  }
}

TEST_CASE("slabs, tiles and rectangles are where the papers put them") {
  const Schema schema = ice(8, 16);
  const auto v = [&](const char* name) { return schema.variable(name); };
  CHECK(slab_boxes(schema, v("temp"), 3)[1] == std::vector<Box>{{{1, 0, 0}, {1, 8, 16}}});
  CHECK(slab_boxes(schema, v("uvel"), 4)[3] == std::vector<Box>{{{6, 0, 0}, {2, 16, 3}}});
  // the cut with the shortest boundaries: 8 x 16 in two squares, in four; in eight: 2 x 4 squares
  CHECK(Rectangles(schema, 2).boxes(v("cell"), false)[1] == std::vector<Box>{box2(0, 8, 8, 8)});
  CHECK(Rectangles(schema, 8).boxes(v("cell"), false)[5] == std::vector<Box>{box2(4, 4, 4, 4)});
  CHECK(Rectangles(schema, 8).boxes(v("temp"), false)[5] ==
        std::vector<Box>{{{0, 4, 4}, {3, 4, 4}}});              // all levels
  CHECK(Rectangles(schema, 8).boxes(v("x"), false)[5].empty()); // of 0 to 3
  CHECK(Rectangles(schema, 8).boxes(v("x"), true)[5] == std::vector<Box>{{{4}, {4}}});
  CHECK(Rectangles(schema, 8).boxes(v("mapping"), false)[1].empty());
  CHECK(Rectangles(schema, 8).boxes(v("mapping"), true)[1].size() == 1);
  // 128 bytes hold 16 doubles, 4 x 4; 8 tiles along the Z curve, 4 to each; 5 columns: 2 x 2
  const Boxes tiles = segment_boxes(schema, v("cell"), 2, 128);
  CHECK(tiles[0] ==
        std::vector<Box>{box2(0, 0, 4, 4), box2(0, 4, 4, 4), box2(4, 0, 4, 4), box2(4, 4, 4, 4)});
  CHECK(tiles[1].front() == box2(0, 8, 4, 4));
  CHECK(segment_boxes(schema, v("temp"), 1, 128)[0][1] == Box{{0, 0, 2}, {3, 2, 2}});
  CHECK(segment_boxes(schema, v("temp"), 1, 1)[0].size() == 128); // a column is more than a stripe
}

TEST_CASE("stripes of the file are owned in turn, and runs are counted") {
  const Schema schema = ice(20, 30);
  const std::size_t v = schema.variable("temp"), row = 30, level = 20 * row; // 3 levels
  constexpr std::uint64_t begin = 400; // 8 divides all: no element lies on a border
  for (const Deal& deal : {Deal{4, 1000}, Deal{4, 1000, 6}}) {
    const Boxes boxes = run_boxes(schema, v, deal, begin);
    std::vector<std::uint64_t> owners(3 * level, deal.aggregators);
    for (std::size_t a = 0; a < deal.aggregators; ++a) {
      for (const Box& box : boxes[a]) {
        CHECK(runs_in(box, whole_box(schema, v)) == 1);
        const std::size_t first = box.start[0] * level + box.start[1] * row + box.start[2];
        for (std::size_t n = first; n < first + box.elements(); ++n)
          CHECK(std::exchange(owners[n], a) == deal.aggregators);
      }
    }
    for (std::size_t n = 0; n < owners.size(); ++n) {
      const std::uint64_t stripe = (begin + 8 * n) / 1000;
      CHECK(owners[n] == (deal.servers == 0 ? stripe % 4 : stripe % 6 % 4));
    }
  }

  const Box whole = whole_box(schema, v);
  CHECK(runs_in(whole, whole) == 1);
  CHECK(runs_in({{0, 5, 0}, {3, 10, 30}}, whole) == 3);  // rows
  CHECK(runs_in({{0, 0, 5}, {3, 20, 10}}, whole) == 60); // columns
  CHECK(runs_in({{1, 0, 0}, {2, 20, 30}}, whole) == 1);  // levels
}

TEST_CASE("runs along the Morton curve are nearly equal") {
  const Schema schema = ice(61, 83);
  for (const std::size_t n : {2, 3, 8, 20}) {
    const std::size_t v = schema.variable("temp"), tile = 4 * 4 * 3; // 384 bytes
    for (const auto& of_a : segment_boxes(schema, v, n, 384)) {
      const std::size_t elements = elements_of(of_a), equal = whole_box(schema, v).elements() / n;
      CHECK((elements + tile >= equal && elements <= equal + tile));
    }
  }
}

TEST_CASE("dimensions that never meet are cut among all aggregators, staggered ones alike") {
  const Schema g = pattern::geodesic(42);
  const Rectangles cells(g, 5);
  for (const char* name : {"cells", "edges", "corners"}) {
    const std::size_t d = g.dimension(name), length = g.dimensions[d].length;
    CHECK(cells.range(d, 2).first == length * 2 / 5);
    CHECK(cells.range(d, 2).count == length * 3 / 5 - length * 2 / 5);
  }
  CHECK_FALSE(cells.is_cut(g.dimension("layers")));
  const Schema s = staggered();
  const Rectangles r(s, 6); // 2 x 3
  CHECK((r.range(s.dimension("yt"), 4).first == 3 && r.range(s.dimension("yu"), 4).first == 3));
  CHECK((r.range(s.dimension("xt"), 4).first == 3 && r.range(s.dimension("xt"), 4).count == 3));
  CHECK_FALSE(r.is_cut(s.dimension("xu"))); // because of (xt, xu)
}

TEST_CASE("the most aggregators that all have a cell") {
  CHECK(Rectangles::most(ice(7, 11), 6) == 6);
  CHECK(Rectangles::most(ice(3, 3), 8) == 6); // 2 x 3; 7 is 1 x 7
  CHECK(Rectangles::most(ice(1, 1), 8) == 1);
  CHECK(Rectangles::most(pattern::geodesic(12), 40) == 12);
  CHECK(Rectangles::most(schemas()[7], 8) == 0);
}

TEST_CASE("the length of a stripe: what is asked for, else the file system's") {
  constexpr std::size_t page = 4096, KiB = 1024, MiB = 1024 * KiB;
  CHECK(stripe_of(100, 8 * MiB) == 100);
  CHECK(stripe_of(0, page) == MiB); // ext4, xfs, overlay, tmpfs
  CHECK(stripe_of(0) == MiB);       // no answer
  CHECK(stripe_of(0, 64 * KiB - 1) == MiB);
  CHECK(stripe_of(0, 64 * KiB) == 64 * KiB);
  CHECK(stripe_of(0, 4 * MiB) == 4 * MiB);          // the emulated cluster
  CHECK(stripe_of(0, std::size_t{1} << 40) == MiB); // beyond what -io_stripe may be
}

TEST_CASE("auto: what costs least, by counts of all ranks") {
  constexpr std::int64_t KiB = 1 << 10, MiB = KiB * KiB;
  const Deal deal{8, MiB};
  const std::vector<std::int64_t> all = {8 * MiB}, equal(4, 2 * MiB), land = {6 * MiB, 2 * MiB, 0};
  CHECK_FALSE(should_move({1, 64 * MiB, 60 * MiB}, {64 * MiB}, deal, true)); // one long run
  CHECK(should_move({5000, 8 * MiB, 7 * MiB}, all, deal, true));             // short runs
  CHECK_FALSE(should_move({200, 8 * MiB, 7 * MiB}, all, deal, false));       // runs of 40 KiB
  CHECK_FALSE(should_move({200, 8 * MiB, 7 * MiB}, equal, deal, false));     // of several nodes
  CHECK(should_move({200, 8 * MiB, 7 * MiB}, land, deal, false));            // one has most
  CHECK(should_move({100, 8 * MiB, 7 * MiB}, equal, deal, true));            // a lock for each
  CHECK_FALSE(should_move({8, 64 * MiB, 56 * MiB}, {64 * MiB}, deal, true)); // few locks
  const std::vector<int> ranks = {0, 8, 16, 24, 32};
  CHECK(one_per_server(ranks, {MiB, true, 3}) == std::vector<int>{0, 8, 24});
  for (const std::size_t n : {9, 0})
    CHECK(one_per_server(ranks, {MiB, true, n}) == ranks); // 0: unknown
}

TEST_CASE("auto: the aggregators of a rank's node, on one node the rank itself") {
  const std::vector<int> ranks = {0, 2, 4};
  CHECK(near_aggregators(runs_of_nodes(6, 2), ranks, 3) == std::vector<std::size_t>{1});
  CHECK(near_aggregators(runs_of_nodes(6, 6), ranks, 3).empty());
  CHECK(near_aggregators(runs_of_nodes(6, 6), ranks, 4) == std::vector<std::size_t>{2});
}

TEST_CASE("auto: the first bytes of a value across a border of stripes are written last") {
  Schema schema; // stripes of 20 bytes: value 2, at bytes 16 to 23, belongs to the second
  schema.dimensions = {{"x", 10, true}};
  schema.variables = {{"v", Type::float64, {"x"}, {}}};
  const std::vector<double> values = {0.1, 0.2, 0.3};
  std::vector<std::byte> buffer(PendingRuns::most), file(80);
  PendingRuns pending;
  pending.use_stripe(20);
  const auto pack = [&](const Hyperslab&, std::size_t at) {
    std::memcpy(buffer.data() + at, values.data(), 24);
    return buffer.data() + at;
  };
  pending.put(schema, packed_layout(schema), 0, no_record,
              row_major({{2}, {3}}, nullptr, Type::float64), pack, [] {});
  using Places = std::vector<std::pair<std::uint64_t, std::size_t>>;
  Places places;
  const auto write_all = [&](const std::vector<Run>& runs, std::size_t) {
    for (const Run& run : runs) {
      places.emplace_back(run.begin, run.size);
      std::memcpy(file.data() + run.begin, run.data, run.size);
    }
  };
  pending.flush(0, write_all);
  CHECK(places == Places{{20, 20}});
  std::fill(buffer.begin(), buffer.end(), std::byte{0}); // used again
  pending.flush_edges(write_all);
  pending.flush_edges(write_all);
  CHECK(places == Places{{20, 20}, {16, 4}});
  CHECK(std::memcmp(file.data() + 16, values.data(), 24) == 0);
}

TEST_CASE("the plans of 1024 ranks fit together, and every message is counted") {
  // 32 x 32 ranks with 8 x 8 cells each; the first of each row of ranks aggregates
  constexpr std::size_t P = 32, n = 8;
  Schema schema;
  schema.dimensions = {{"y", P * n, true}, {"x", P * n, true}};
  schema.variables = {{"v", Type::float64, {"y", "x"}, {}}};
  std::vector<int> aggregators;
  std::vector<Box> mine; // of each rank
  for (std::size_t r = 0; r < P * P; ++r) {
    if (r % P == 0) aggregators.push_back(static_cast<int>(r));
    mine.push_back({{r / P * n, r % P * n}, {n, n}});
  }
  const auto count = [&](const Boxes& boxes) { // messages; checks what arrives
    std::map<int, std::vector<Channel>> receives;
    std::size_t messages = 0, elements = 0;
    for (int rank = 0; rank < static_cast<int>(P * P); ++rank) {
      const OwnBoxes own{{{mine[static_cast<std::size_t>(rank)]}}, {0}};
      const Round round{{Type::float64}, std::make_shared<const OwnBoxes>(own), {&boxes}};
      for (Channel& c : make_sends(aggregators, round)) {
        messages += c.rank != rank;
        receives[std::exchange(c.rank, rank)].push_back(c);
      }
    }
    for (std::size_t a = 0; a < P; ++a) {
      const Plan plan = make_plan(aggregators[a], aggregators, {{Type::float64}, {}, {&boxes}}, {},
                                  receives[aggregators[a]]);
      CHECK(plan.targets.at(0).size() == 1);
      CHECK(plan.target_bytes == 8 * P * n * n);
      for (const Target& t : plan.targets[0]) elements += t.elements;
    }
    CHECK(elements == P * n * P * n);
    return messages;
  };
  CHECK(count(slab_boxes(schema, 0, P)) == P * P - P); // a slab is a row of ranks
  // every rank lies in one rectangle: a message, unless it is the rank's own
  const Boxes rectangles = Rectangles(schema, P).boxes(0, false);
  std::size_t own = 0;
  for (std::size_t a = 0; a < P; ++a) own += meet(rectangles[a].at(0), mine[a * P]).elements() > 0;
  CHECK(count(rectangles) == P * P - own);
}
