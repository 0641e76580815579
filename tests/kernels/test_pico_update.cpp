// An update of PICO as a whole: geometry that is kept while its input does not change, what is
// communicated, the loads of ranks, and what the geometry by segments and that by loops hand on to
// the physics. Neighbours: test_pico_geometry.cpp, test_pico_physics.cpp.
#include "kernels/pico/geometry.hpp"
#include "tests/kernels/pico_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <random>

using namespace nunatak;
using namespace nunatak::pico;
using Catch::Matchers::ContainsSubstring;

namespace {

/// PICO on virtual ranks, updated again and again.
struct Session {
  Session(const PicoCase& c, int px, int py)
      : ranks(Decomposition::make(c.mask.Mx, c.mask.My, px, py)),
        pico(ranks, c.dx, c.dx, c.options), fields(pico_fields(ranks)) {}

  PicoResult update(const PicoCase& c) {
    const std::vector<PicoInput> in = pico_input(ranks, c);
    before = ranks.traffic();
    const PicoReport report = pico.update(in, fields);
    return pico_result(ranks, report, fields);
  }
  std::int64_t messages() const {
    return ranks.traffic().messages - before.messages;
  } ///< of the last update

  VirtualRanks ranks;
  Pico pico;
  std::vector<PicoFields> fields;
  Traffic before;
};

PicoCase coast(unsigned seed) {
  PicoCase c = random_coast(40, 31, seed);
  c.options.exclude_ice_rises = seed % 2 == 0;
  return c;
}

/// The first cell of a type, from the end of the grid.
std::size_t last_cell(const PicoCase& c, int type) {
  std::size_t n = c.mask.values.size() - 1;
  while (c.mask.values[n] != type) --n;
  return n;
}

/// Floating ice where the mask is 1, else ice, land and ocean.
PicoCase coast_of(const Grid<int>& mask, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::string> rows;
  for (int j = 0; j < mask.My; ++j) {
    rows.emplace_back();
    for (int i = 0; i < mask.Mx; ++i)
      rows.back() += mask(j, i) == 1 ? 'f' : "####^~~:"[random() % 8];
  }
  PicoCase c(rows);
  for (std::size_t n = 0; n < c.basins.values.size(); ++n)
    c.basins.values[n] = static_cast<int>(n) % mask.Mx * 4 / mask.Mx;
  return c;
}

} // namespace

TEST_CASE("the geometry is kept while its input does not change; the melt follows") {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    PicoCase c = coast(seed);
    for (const auto& [px, py] : decompositions(40, 31)) {
      INFO("seed " << seed << " on " << px << " x " << py);
      Session session(c, px, py);
      const PicoResult first = session.update(c);
      CHECK(!first.report.geometry_kept); // a new object has nothing to keep
      const PicoResult again = session.update(c);
      CHECK(again == first);
      CHECK(again.report.geometry_kept);
      CHECK(again.report.collectives == 2);
      CHECK(again.report.exchanges == 0);
      CHECK(session.messages() == 0);

      PicoCase warmer = c; // thinner ice of the same type, other water, deeper where it was deep
      for (double& T : warmer.T.values) T += 0.5;
      for (std::size_t n = 0; n < c.H.values.size(); ++n) {
        warmer.H.values[n] *= 0.9;
        if (c.b.values[n] < -1000.0) warmer.b.values[n] -= 100.0;
      }
      const PicoResult melted = session.update(warmer);
      CHECK(melted.report.geometry_kept);
      CHECK(melted == run_pico(warmer));
      CHECK(melted.report.total_melt > first.report.total_melt);
    }
  }
}

TEST_CASE("a change on one rank of many is a new geometry on all") {
  for (unsigned seed = 5; seed <= 8; ++seed) {
    PicoCase c = coast(seed);
    PicoCase type = c, bed = c, basin = c;
    type.mask.values[last_cell(c, floating_ice)] = ice_free_ocean;
    double& b = bed.b.values[last_cell(c, ice_free_ocean)];
    b = b > -800.0 ? -800.0 : -799.0; // the depth itself is not continental shelf
    basin.basins.values[last_cell(c, floating_ice)] += 1;
    for (const auto& [px, py] : decompositions(40, 31)) {
      Session session(c, px, py);
      const std::int64_t whole = session.update(c).report.collectives;
      for (const PicoCase* other : {&type, &bed, &basin}) {
        INFO("seed " << seed << " on " << px << " x " << py << ", case "
                     << (other == &type  ? 0
                         : other == &bed ? 1
                                         : 2));
        const PicoResult changed = session.update(*other);
        CHECK(!changed.report.geometry_kept);
        CHECK(changed == run_pico(*other));
        const PicoResult back = session.update(c);
        CHECK(!back.report.geometry_kept); // it is compared with the last input, not with the first
        CHECK(back == run_pico(c));
        CHECK(back.report.collectives == whole + 1);
        CHECK(session.update(c).report.geometry_kept);
      }
    }
  }
}

TEST_CASE("nothing is kept without the option, for other fields, or after an error") {
  PicoCase c = coast(7);
  Session session(c, 3, 2);
  session.update(c);
  std::vector<PicoFields> others = pico_fields(session.ranks);
  std::swap(others[4], session.fields[4]); // on one rank
  const PicoResult written = session.update(c);
  CHECK(!written.report.geometry_kept);
  CHECK(written == run_pico(c));
  CHECK(session.update(c).report.geometry_kept);

  const int good = c.mask(15, 20);
  c.mask(15, 20) = 9;
  CHECK_THROWS_WITH(session.update(c), ContainsSubstring("mask"));
  CHECK_THROWS_WITH(session.update(c), ContainsSubstring("mask")); // not taken for what is known
  c.mask(15, 20) = good;
  CHECK(!session.update(c).report.geometry_kept);
  CHECK(session.update(c).report.geometry_kept);
  PicoCase cold = c;
  cold.H.values[last_cell(c, floating_ice)] =
      std::numeric_limits<double>::infinity(); // its geometry is good
  CHECK_THROWS_WITH(session.update(cold), ContainsSubstring("thk"));
  CHECK(session.update(c) == run_pico(c));
  PicoCase warm = coast(17); // the same with a new geometry
  warm.options = c.options;
  cold = warm;
  cold.H.values[last_cell(cold, floating_ice)] = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(session.update(cold), ContainsSubstring("thk"));
  const PicoResult recovered = session.update(warm);
  CHECK(recovered.report.geometry_kept);
  CHECK(recovered == run_pico(warm));
  CHECK(session.update(c) == run_pico(c));

  c.options.skip_unchanged = false;
  Session plain(c, 3, 2);
  const std::int64_t whole = plain.update(c).report.collectives;
  const PicoResult again = plain.update(c);
  CHECK(!again.report.geometry_kept);
  CHECK(again.report.collectives == whole);
}

TEST_CASE("at most ten collectives, for any number of boxes and ranks") {
  for (const int boxes : {1, 5, 20}) {
    for (const int n : {1, 2, 4, 8}) {
      PicoCase c = random_coast(80, 80, 3), other = random_coast(80, 80, 4);
      c.options.boxes = boxes;
      Session session(c, n, n);
      for (const PicoCase* next : {&c, &other, &c}) {
        INFO(boxes << " boxes, " << n << " x " << n << " ranks");
        CHECK(session.update(*next).report.collectives <= 10);
      }
      CHECK(session.update(c).report.collectives == 2);
    }
  }
}

TEST_CASE("one after another: the same bits, in as many collectives as PISM has") {
  for (const char* solver : {"sweep", "bfs"}) {
    for (unsigned seed = 1; seed <= 4; ++seed) {
      PicoCase c = coast(seed), batch = c;
      c.options.batch = c.options.skip_unchanged = false;
      c.options.solver = solver;
      for (const auto& [px, py] : decompositions(40, 31)) {
        INFO(solver << ", seed " << seed << " on " << px << " x " << py);
        const bool one = px * py == 1;
        Session session(c, px, py);
        const PicoResult found = session.update(c);
        CHECK(found == run_pico(batch));
        const int rounds = one && c.options.solver == "bfs" ? 2 : found.report.rounds;
        CHECK(found.report.collectives == (one ? 0 : 10) + 12 + 8 + 28 + rounds);
      }
    }
  }
}

TEST_CASE("ranks that own cells of the domain of the distances, and the loads of ranks") {
  PicoCase c({"###########################", //
              "ff#########################", //
              "~~~~~~~~~~~~~~~~~~~~~~~~f~~"});
  VirtualRanks ranks(Decomposition::make(27, 3, 27, 3)); // 81 ranks, of one cell each
  std::vector<PicoFields> fields = pico_fields(ranks);
  ShelfGeometry geometry(ranks, c.dx, c.dx, c.options);
  const Shelves& shelves = geometry.update(pico_input(ranks, c), fields);
  std::vector<char> expected(81, 0);
  expected[27] = expected[28] = 1;
  std::fill(expected.end() - 3, expected.end(), 1); // ice and a hole
  CHECK(geometry.members() == expected);
  CHECK(shelves.shelf.largest == 1);
  CHECK(shelves.shelf.total == 3);
  CHECK(shelves.shelf.imbalance() == 27.0);

  PicoCase d({"####", "f#^f", "~~~f"}); // an ice rise is in the domain, not on the shelf
  d.options.continental_ice_area = 0.0;
  CHECK(run_pico(d, 2, 1).report.domain_imbalance == 2 * 2.0 / 3.0);
  d.options.continental_ice_area = 6e10;
  CHECK(run_pico(d, 2, 1).report.domain_imbalance == 2 * 5.0 / 9.0);
  CHECK(run_pico(d, 2, 1).report.shelf_imbalance == 2 * 2.0 / 3.0);
  CHECK(run_pico(PicoCase({"##", "##"}), 2, 1).report.shelf_imbalance == 1.0);
}

TEST_CASE("awkward coasts: the same bits on any decomposition") {
  std::vector<PicoCase> cases;
  for (const auto& [name, mask] : test_masks())
    cases.push_back(coast_of(mask, 1)), cases.push_back(coast_of(mask, 2));
  for (std::size_t n = 0; n < cases.size(); ++n) {
    const PicoResult serial = run_pico(cases[n]);
    for (const auto& [px, py] : decompositions(cases[n].mask.Mx, cases[n].mask.My)) {
      INFO("case " << n << " on " << px << " x " << py);
      CHECK(run_pico(cases[n], px, py) == serial);
    }
  }
}
