// Geometry of PICO on drawn ice sheets: masks, shelves, distances, boxes, and the corner cases.
#include "kernels/distance/distance.hpp"
#include "kernels/pico/shelves.hpp"
#include "tests/kernels/pico_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;

namespace {

/// A drawn result on every decomposition.
template <class Check> void on_all_decompositions(const PicoCase& c, Check check) {
  for (const auto& [px, py] : decompositions(c.mask.Mx, c.mask.My)) {
    INFO(px << " x " << py);
    check(run_pico(c, px, py));
  }
}

} // namespace

TEST_CASE("masks, distances and boxes of a drawn coast") {
  PicoCase c({"############", //
              "#f##fff#####", // (1,1) a lake
              "####f#f##~##", // (2,5) an ice rise, (2,9) a hole, part of a lake
              "####fff#####", //
              "::::fff:::::", //
              "~~~~~~~~~~~~", //
              "~~:~~~~~~^~~", // (6,2) shallow, but far from the continent; (6,9) an island
              "~~~~~~~~~~~~"});
  // the masks of ice rises, ocean, lakes, continental shelf
  const std::vector<Grid<int>> masks =
      draw_all({"222222222222  ............  ............  ............",
                "232233322222  ............  .1..........  ............",
                "222231322022  .........1..  .........1..  ............",
                "222233322222  ............  ............  ............",
                "000033300000  2222...22222  ............  2222...22222",
                "000000000000  222222222222  ............  ............",
                "000000000100  222222222.22  ............  ..1.........",
                "000000000000  222222222222  ............  ............"});
  // the mask of shelves, both distances, boxes
  const std::vector<Grid<int>> shelves =
      draw_all({"............  ------------  ------------  ............",
                "....111.....  -1--111-----  -.--444-----  ....111.....",
                "....1.1.....  ----121--1--  ----333--.--  ....1.1.....",
                "....111.....  ----121-----  ----222-----  ....121.....",
                "....111.....  ----121-----  ----111-----  ....121.....",
                "............  ------------  ------------  ............",
                "............  ---------.--  ---------1--  ............",
                "............  ------------  ------------  ............"});
  on_all_decompositions(c, [&](const PicoResult& r) {
    CHECK(r.ice_rise_mask == masks[0]);
    CHECK(r.ocean_mask == masks[1]);
    CHECK(r.lake_mask == masks[2]);
    CHECK(r.contshelf_mask == masks[3]);
    CHECK(r.shelf_mask == shelves[0]);
    CHECK(r.distance_gl == shelves[1]);
    CHECK(r.distance_cf == shelves[2]);
    CHECK(r.box_mask == shelves[3]);
    CHECK(r.report.shelves == 1);
    CHECK(r.report.d_max == 2);
    CHECK(r.report.shelf_cells == 11);
  });
}

TEST_CASE("without ice rises every grounded cell is continental") {
  PicoCase c({"~~~~~~", //
              "~f#ff~", //
              "~ffff~", //
              "~~~~~~"});
  CHECK(run_pico(c).distance_gl(1, 1) == 0); // an ice rise is not a grounding line
  CHECK(run_pico(c).ice_rise_mask(1, 2) == 1);
  c.options.exclude_ice_rises = false;
  on_all_decompositions(c, [](const PicoResult& r) {
    CHECK(r.ice_rise_mask(1, 2) == 2);
    CHECK(r.distance_gl == draw({"------", "-1-12-", "-1112-", "------"}));
    CHECK(r.report.d_max == 2);
  });
}

TEST_CASE("an ice rise joins two shelves, ocean does not") {
  PicoCase joined({"~~~~~~~", "~ff#ff~", "~~~~~~~"}), apart({"~~~~~~~", "~ff~ff~", "~~~~~~~"});
  on_all_decompositions(joined, [](const PicoResult& r) {
    CHECK(r.shelf_mask == draw({".......", ".11.11.", "......."}));
  });
  on_all_decompositions(apart, [](const PicoResult& r) {
    CHECK(r.shelf_mask == draw({".......", ".11.22.", "......."}));
  });
}

TEST_CASE("shelves are numbered 1, 2, ..., passing over ice rises and lakes") {
  PicoCase c({"~^~~~~~~~~", //
              "~~~f~~####", //
              "~~~~~~#f##", // a lake
              "~ff~~~####", //
              "~~~~~f~~~f"});
  on_all_decompositions(c, [](const PicoResult& r) {
    CHECK(r.shelf_mask ==
          draw({"..........", "...1......", "..........", ".22.......", ".....3...4"}));
    CHECK(r.lake_mask(2, 7) == 1);
    CHECK(r.report.shelves == 4);
  });
}

TEST_CASE("a shelf is split where a basin is not adjacent to its main basin and has a front") {
  struct Split {
    std::string basins, shelves, ocean = "~~~~~~~~~";
  };
  for (const Split& split :
       {Split{"111122333", "111111222"},
        {"222111333",
         "111111111"}, // of equal areas the first is the main basin; both others touch it
        {"111100333", "111111222"}, // basin 0 is no basin: it stays with its shelf
        {"333322444", "111111222"}, // the new shelf's number comes after the old ones
        {"111122333", "111111111", "~~~~~~###"}}) {
    PicoCase c({"#########", "fffffffff", split.ocean});
    c.basins = draw({split.basins, split.basins, split.basins});
    on_all_decompositions(c, [&](const PicoResult& r) {
      CHECK(r.shelf_mask == draw({".........", split.shelves, "........."}));
    });
  }
}

TEST_CASE("basins are adjacent in the ocean next to ice, not further out") {
  PicoCase c({"#########", "fffffffff", "~~~~~~~~~", "~~~~~~~~~"});
  c.basins = draw(
      {"111122333", "111122333", "111122333", "111113333"}); // 1 and 3 meet in the last row only
  on_all_decompositions(c, [](const PicoResult& r) { CHECK(r.shelf_mask(1, 8) == 2); });
  c.basins = draw({"111122333", "111122333", "111113333", "111113333"}); // and here next to the ice
  on_all_decompositions(c, [](const PicoResult& r) { CHECK(r.shelf_mask(1, 8) == 1); });
}

TEST_CASE("no shelves at all") {
  for (const std::string row : {"######", "~~~~~~", "^^^^^^", "###~~~"}) {
    on_all_decompositions(PicoCase({row, row, row}), [](const PicoResult& r) {
      CHECK(r.report.shelves == 0);
      CHECK(r.report.total_melt == 0.0);
      CHECK(*std::max_element(r.box_mask.values.begin(), r.box_mask.values.end()) == 0);
      CHECK(*std::min_element(r.base_temperature.values.begin(), r.base_temperature.values.end()) ==
            T_melting);
    });
  }
}

TEST_CASE("all floating: a shelf that touches the edge, without grounding line and front") {
  on_all_decompositions(PicoCase({"fff", "fff", "fff"}), [](const PicoResult& r) {
    CHECK(r.report.shelves == 1);
    CHECK(r.report.d_max == 0);
    CHECK(r.lake_mask == Grid<int>(3, 3, 0));
    CHECK(r.distance_gl == Grid<int>(3, 3, 0));
    CHECK(r.distance_cf == Grid<int>(3, 3, 0));
    CHECK(r.box_mask == Grid<int>(3, 3, 0));
    CHECK(r.report.fallback_cells == 9);
  });
}

TEST_CASE("no continental ice: no grounding line, no box, no division by a largest distance of 0") {
  on_all_decompositions(PicoCase({"~~~~~~", "~f##f~", "~ffff~", "~~~~~~"}),
                        [](const PicoResult& r) {
                          CHECK(r.report.d_max == 0);
                          CHECK(r.distance_gl == draw({"------", "-....-", "-....-", "------"}));
                          CHECK(r.distance_cf == draw({"------", "-1111-", "-1111-", "------"}));
                          CHECK(r.report.fallback_cells == 6);
                        });
}

TEST_CASE("a shelf at the edge without a front is not a lake; behind ice it is") {
  on_all_decompositions(
      PicoCase({"#####", "ff###", "#####", "##f##", "#####"}), [](const PicoResult& r) {
        CHECK(r.shelf_mask == draw({".....", "11...", ".....", ".....", "....."}));
        CHECK(r.lake_mask == draw({".....", ".....", ".....", "..1..", "....."}));
        CHECK(r.distance_cf(1, 0) == 0);
        CHECK(r.box_mask(1, 0) == 0);
      });
}

TEST_CASE("number of boxes and box of a cell") {
  using namespace nunatak::pico;
  CHECK(number_of_boxes(0, 0, 5) == 1);
  CHECK(number_of_boxes(0, 10, 5) == 1);
  CHECK(number_of_boxes(10, 10, 5) == 5);
  CHECK(number_of_boxes(1, 10, 5) == 2); // 1 + round(1.26)
  CHECK(number_of_boxes(1, 64, 5) == 2); // 1 + round(0.5): half upwards
  CHECK(box_of(0, 3, 5) == 0);
  CHECK(box_of(3, 0, 5) == 0);
  CHECK(box_of(1, 1000, 5) == 1);
  CHECK(box_of(1000, 1, 5) == 5);
  CHECK(box_of(1000, 1, 1) == 1);
  CHECK(box_of(1, 1000, 2) == 1);
  CHECK(box_of(7, 7, 4) == 4);   // (1 - r)^2 = 1/4 lies on the border of boxes 3 and 4: the larger
  CHECK(box_of(2, 1, 9) == 2);   // (1 - r)^2 = 1/9, on the border of 8 and 9; at most d_gl
  CHECK(box_of(20, 10, 9) == 9); // the same with room for it
  CHECK(box_of(10, 20, 9) == 6); // 4/9, on the border of 5 and 6
  for (int n = 1; n <= 6; ++n) {
    for (int d_gl = 1; d_gl < 40; ++d_gl) {
      for (int d_cf = 1; d_cf < 40; ++d_cf) {
        int expected =
            0; // by the definition, in integers: (n - k) w^2 <= n d_cf^2 <= (n - k + 1) w^2
        const int w2 = (d_gl + d_cf) * (d_gl + d_cf), part = n * d_cf * d_cf;
        for (int k = 1; k <= n; ++k)
          expected = (n - k) * w2 <= part && part <= (n - k + 1) * w2 ? k : expected;
        if (box_of(d_gl, d_cf, n) != std::min(expected, d_gl))
          FAIL(n << " " << d_gl << " " << d_cf);
      }
    }
  }
}

TEST_CASE("random coasts: the same bits on any decomposition, by all solvers, once more") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    PicoCase c = random_coast(40, 31, seed);
    const PicoCase other = random_coast(40, 31, seed + 100);
    c.options.exclude_ice_rises = seed % 3 != 0;
    const PicoResult serial = run_pico(c);
    REQUIRE(serial.report.shelves > 2);
    for (const auto& [px, py] : decompositions(40, 31)) {
      INFO("seed " << seed << " on " << px << " x " << py);
      CHECK(run_pico(c, px, py) == serial);
      for (const DistanceSolver& solver : distance_solvers()) {
        if (!solver.counts_steps) continue;
        INFO(solver.name);
        PicoCase solved_by = c;
        solved_by.options.solver = solver.name;
        CHECK(run_pico(solved_by, px, py) == serial);
      }
      VirtualRanks ranks(Decomposition::make(40, 31, px, py));
      Pico pico(ranks, c.dx, c.dx, c.options);
      std::vector<PicoFields> fields = pico_fields(ranks);
      pico.update(pico_input(ranks, other), fields);
      const PicoReport report = pico.update(pico_input(ranks, c), fields);
      CHECK(pico_result(ranks, report, fields) == serial);
      CHECK(report.collectives == (px * py == 1 ? 5 : 9)); // on one rank labels are not gathered
    }
  }
}

TEST_CASE("what makes no sense is refused with its name") {
  using Catch::Matchers::ContainsSubstring;
  PicoCase c({"####", "ffff", "~~~~"});
  c.mask(1, 2) = 7;
  CHECK_THROWS_WITH(run_pico(c, 2, 2), ContainsSubstring("mask"));
  c.mask(1, 2) = floating_ice, c.basins(0, 3) = -4;
  CHECK_THROWS_WITH(run_pico(c, 2, 2), ContainsSubstring("basins") && ContainsSubstring("-4"));
  c.basins(0, 3) = 123456789;
  CHECK_THROWS_WITH(run_pico(c, 2, 2),
                    ContainsSubstring("basins") && ContainsSubstring("123456789"));
  VirtualRanks ranks(Decomposition::make(4, 3, 2, 1));
  std::vector<PicoFields> none;
  CHECK_THROWS_WITH(Pico(ranks, 1e3, 1e3).update({}, none), ContainsSubstring("2 local ranks"));
  CHECK_THROWS_WITH(Pico(ranks, 0.0, 1e3), ContainsSubstring("dx"));
}
