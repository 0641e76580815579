// io/layouts/exchange.hpp: messages of a thousand ranks counted in one process; pieces that
// leave gaps. No MPI.
#include "io/box.hpp"
#include "io/layouts/exchange.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

using namespace nunatak::io;

TEST_CASE("the plans of 1024 ranks fit together, and every message is counted") {
  // 32 x 32 ranks with 8 x 8 cells each; the first of each row of ranks aggregates
  constexpr std::size_t P = 32, n = 8;
  Schema schema;
  schema.dimensions = {{"y", P * n, true}, {"x", P * n, true}};
  schema.variables = {{"v", Type::float64, {"y", "x"}, {}}};
  std::vector<int> aggregators;
  Round round;
  round.groups = {0};
  round.types = {Type::float64};
  for (std::size_t r = 0; r < P * P; ++r) {
    if (r % P == 0) aggregators.push_back(static_cast<int>(r));
    round.given.push_back({Box{{r / P * n, r % P * n}, {n, n}}});
  }
  const auto count = [&](const Boxes& boxes) { // messages; checks that both sides agree
    round.boxes = {boxes};
    std::map<std::pair<int, int>, std::size_t> bytes;
    std::size_t elements = 0;
    for (int rank = 0; rank < static_cast<int>(P * P); ++rank) {
      const Plan plan = make_plan(rank, aggregators, round);
      for (const Channel& c : plan.sends) bytes[{rank, c.rank}] += c.bytes;
      for (const Channel& c : plan.receives) {
        if (c.rank != rank) bytes[{c.rank, rank}] -= c.bytes;
      }
      for (const Target& t : plan.targets) elements += t.box.elements();
    }
    CHECK(std::all_of(bytes.begin(), bytes.end(), [](const auto& b) { return b.second == 0; }));
    CHECK(elements == P * n * P * n);
    return bytes.size();
  };
  CHECK(count(slab_boxes(schema, 0, P)) == P * P - P); // a slab is a row of ranks
  // every rank lies in one rectangle: a message, unless it is the rank's own
  const Boxes rectangles = Rectangles(schema, P).boxes(0, false);
  std::size_t own = 0;
  for (std::size_t a = 0; a < P; ++a)
    own += meet(rectangles[a].at(0), *round.given[a * P][0]).elements() > 0;
  CHECK(count(rectangles) == P * P - own);
}

TEST_CASE("boxes that pieces leave gaps in are written piece by piece") {
  Round round;
  round.groups = {0, 0};
  round.types = {Type::int8};
  round.boxes = {{{Box{{0, 0}, {2, 4}}, Box{{2, 0}, {2, 4}}}}};
  round.given = {{Box{{0, 0}, {2, 2}}, std::nullopt}, {Box{{0, 2}, {2, 2}}, Box{{3, 1}, {1, 3}}}};
  const Plan plan = make_plan(0, {0}, round);
  REQUIRE(plan.targets.size() == 2);
  CHECK(plan.targets[0].box == Box{{0, 0}, {2, 4}});
  CHECK(plan.targets[1].box == Box{{3, 1}, {1, 3}});
  CHECK((plan.receives.size() == 2 && plan.receives[1].bytes == 8 + 8));
}
