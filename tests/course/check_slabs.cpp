// Lab 8: slab_boxes gives each element of every variable to exactly one aggregator.
// tests/io/test_partition.cpp asks all layouts.
#include "io/layouts/partition.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>

using namespace nunatak::io;

namespace {

Schema ice(std::size_t My, std::size_t Mx) {
  Schema s;
  s.dimensions = {{"time", unlimited}, {"y", My, true}, {"x", Mx, true}, {"z", 3}};
  s.variables = {{"time", Type::float64, {"time"}, {}},
                 {"mapping", Type::int32, {}, {}},
                 {"lat", Type::float64, {"y", "x"}, {}},
                 {"mask", Type::int8, {"time", "y", "x"}, {}},
                 {"temp", Type::float64, {"time", "z", "y", "x"}, {}},
                 {"uvel", Type::float32, {"time", "y", "x", "z"}, {}}};
  return s;
}

} // namespace

TEST_CASE("lab 8: each element belongs to one aggregator, and slabs follow each other") {
  for (const auto& [My, Mx] :
       {std::pair<std::size_t, std::size_t>{7, 11}, {1, 1}, {1, 9}, {16, 2}, {61, 83}}) {
    const Schema schema = ice(My, Mx);
    for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 12, 16, 100}) {
      for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        INFO(My << " x " << Mx << ", " << n << " aggregators, " << schema.variables[v].name);
        const Box whole = whole_box(schema, v);
        const Boxes boxes = slab_boxes(schema, v, n);
        REQUIRE(boxes.size() == n);
        std::size_t next = 0, elements = 0; // along the slowest dimension
        for (std::size_t a = 0; a < n; ++a) {
          INFO("aggregator " << a);
          CHECK(boxes[a].size() <= 1);
          for (const Box& box : boxes[a]) {
            REQUIRE(box.count.size() == whole.count.size());
            if (box.elements() == 0)
              FAIL_CHECK("expected no box, or one with elements, found one without");
            elements += box.elements();
            if (box.count.empty()) continue;
            CHECK(box.start[0] == next);
            next += box.count[0];
            for (std::size_t d = 1; d < whole.count.size(); ++d)
              CHECK((box.start[d] == 0 && box.count[d] == whole.count[d]));
          }
        }
        CHECK(elements == whole.elements());
      }
    }
  }
}

TEST_CASE("lab 8: slabs are nearly equal, and where they should be") {
  const Schema schema = ice(8, 16);
  CHECK(slab_boxes(schema, schema.variable("temp"), 3)[1] ==
        std::vector<Box>{{{1, 0, 0}, {1, 8, 16}}}); // a level each
  CHECK(slab_boxes(schema, schema.variable("uvel"), 4)[3] ==
        std::vector<Box>{{{6, 0, 0}, {2, 16, 3}}});
  for (const auto& of_a : slab_boxes(schema, schema.variable("lat"), 3)) {
    REQUIRE(of_a.size() == 1);
    CHECK((of_a[0].count[0] == 2 || of_a[0].count[0] == 3));
  }
}
