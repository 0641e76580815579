// Lab 8: slab_boxes gives each element of every variable to exactly one aggregator.
// tests/io/test_partition.cpp asks all layouts.
#include "io/layouts/partition.hpp"

#include <catch2/catch_test_macros.hpp>

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

TEST_CASE("lab 8: nearly equal slabs that follow each other have each element once") {
  for (const auto& [My, Mx] :
       {std::pair<std::size_t, std::size_t>{7, 11}, {1, 1}, {1, 9}, {16, 2}, {61, 83}}) {
    const Schema schema = ice(My, Mx);
    for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 12, 16, 100}) {
      for (std::size_t v = 0; v < schema.variables.size(); ++v) {
        const Box whole = whole_box(schema, v);
        INFO("variable '" << schema.variables[v].name << "' of " << whole.elements()
                          << " elements on " << n << " aggregators");
        const Boxes boxes = slab_boxes(schema, v, n);
        if (boxes.size() != n) FAIL("lists of boxes: expected " << n << ", found " << boxes.size());
        std::size_t next = 0, elements = 0; // along the slowest dimension
        for (std::size_t a = 0; a < n; ++a) {
          INFO("aggregator " << a);
          if (boxes[a].size() > 1) FAIL("boxes: expected 1 at most, found " << boxes[a].size());
          const bool may_be_empty = whole.count.empty() || whole.count[0] < n;
          const bool has_scalar = whole.count.empty() && a == 0;
          if (boxes[a].empty() && (has_scalar || !may_be_empty))
            FAIL("boxes: expected 1, found none");
          if (boxes[a].empty()) continue;
          const Box& box = boxes[a][0];
          if (box.count.size() != whole.count.size() || box.start.size() != box.count.size())
            FAIL("dimensions: expected " << whole.count.size() << ", found " << box.count.size());
          if (box.elements() == 0) FAIL("expected no box, or one with elements, found one without");
          elements += box.elements();
          for (std::size_t d = 0; d < box.count.size(); ++d) {
            const std::size_t start = d == 0 ? next : 0,
                              count = d == 0 ? whole.count[0] / n : whole.count[d];
            if (box.start[d] != start)
              FAIL("start in dimension " << d << ": expected " << start << ", found "
                                         << box.start[d]);
            if (box.count[d] != count && (d > 0 || box.count[0] != count + 1))
              FAIL("count in dimension " << d << ": expected " << count
                                         << (d == 0 ? " or one more" : "") << ", found "
                                         << box.count[d]);
          }
          if (!box.count.empty()) next += box.count[0];
        }
        if (elements != whole.elements())
          FAIL("elements in all boxes: expected " << whole.elements() << ", found " << elements);
      }
    }
  }
}
