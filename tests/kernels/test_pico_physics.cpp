// Physics of PICO: the formulas, the heat balances behind them, shelf inputs, fallbacks, warnings;
// the whole update against a plain evaluation cell by cell.
#include "kernels/pico/melt.hpp"
#include "tests/kernels/errors.hpp"
#include "tests/kernels/pico_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>

using namespace nunatak;
using namespace nunatak::pico;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;

TEST_CASE("freezing points, pressure, clip") {
  CHECK_THAT(base_pressure(1000.0), WithinRel(892.71, 1e-14));
  CHECK_THAT(T_pm(34.7, 500.0), WithinRel(270.85546, 1e-14));
  CHECK_THAT(T_in_situ(34.7, 500.0), WithinRel(270.86839, 1e-14));
  CHECK_THAT(lake_temperature(1000.0), WithinRel(273.15 - 0.7052409, 1e-14));
  CHECK(clip_T0(271.0, 34.7, 500.0) == 271.0);
  CHECK(clip_T0(270.0, 34.7, 500.0) == T_pm(34.7, 500.0) + 0.001);
}

TEST_CASE("box 1: heat brought by the overturning melts ice") {
  const double C = 1e6, g1 = 2e-5 * 1e10, T0 = 273.0, S0 = 34.5, p = 600.0;
  const BoxOne one = box_one(g1, C, T0, S0, p);
  CHECK(!one.warned);
  CHECK(one.x > 0.0);
  const double q = overturning(C, S0, one.x), S1 = box_one_S(S0, one.x), T1 = T0 - one.x;
  CHECK_THAT(q, WithinRel(C * rho_star * (beta * (S0 - S1) - alpha * (T0 - T1)), 1e-9));
  CHECK_THAT(q * one.x, WithinRel(g1 * (T1 - T_pm(S0, p)), 1e-9));
  CHECK_THAT(S0 - S1, WithinRel(S0 * one.x / (910.0 / 1028.0 * 3.34e5 / 3974.0), 1e-12));
  // a mixture so fresh that warm water would sink: no real root if the shelf is small enough
  const BoxOne fresh = box_one(1e3, C, T0, 1.0, p);
  CHECK(fresh.warned);
  CHECK(fresh.x > 0.0);
}

TEST_CASE("box k: what the overturning loses on its way melts ice") {
  const double q = 1.5e5, g1 = 3e5, T = 272.0, S = 34.2, p = 400.0;
  const NextBox box = next_box(g1, q, T, S);
  const double T_k = box.T_k(p), S_k = box.S_k(T_k);
  CHECK(T_k < T);
  CHECK_THAT(q * (T - T_k), WithinRel(g1 * (T_k - T_pm(S_k, p)), 1e-9));
  CHECK_THAT(0.5 * (box.T_k(300.0) + box.T_k(500.0)), WithinRel(T_k, 1e-14)); // affine in p
}

TEST_CASE("melt: units and signs") {
  const double T = T_pm(34.5, 500.0);
  CHECK(melt_rate(2e-5, T, 34.5, 500.0) == 0.0);
  CHECK_THAT(melt_rate(2e-5, T + 1.0, 34.5, 500.0) * seconds_per_year,
             WithinRel(8.48309, 1e-5)); // m a-1
  CHECK(melt_rate(2e-5, T - 0.1, 34.5, 500.0) < 0.0);
  CHECK_THAT(fallback_melt_rate(2e-5, T + 1.0, 34.5, 500.0) * seconds_per_year,
             WithinRel(0.0424155, 1e-5));
}

namespace {

/// Box means, box after box, from the cells themselves; T0, S0 and the boxes are taken as given by
/// `r`.
void check_cell_by_cell(const PicoCase& c, const PicoResult& r,
                        const std::vector<ShelfWater>& water) {
  const int n_max = c.options.boxes;
  const double gamma = c.options.gamma_T, C = c.options.overturning_coefficient;
  double total = 0.0;
  double worst = 0.0; // of T, S, melt, q relative to their size
  const auto differ = [&](double found, double expected, double size) {
    worst = larger_error(worst, (found - expected) / size);
  };
  for (int s = 1; s <= r.report.shelves; ++s) {
    const ShelfWater& w = water[s];
    std::vector<std::vector<std::size_t>> cells(static_cast<std::size_t>(n_max) + 1);
    for (std::size_t n = 0; n < r.shelf_mask.values.size(); ++n) {
      if (r.shelf_mask.values[n] == s) cells[r.box_mask.values[n]].push_back(n);
    }
    double q_mean = 0.0, T_mean = 0.0, S_mean = 0.0;
    for (int k = 0; k <= n_max; ++k) {
      const double area = static_cast<double>(cells[k].size()) * c.dx * c.dx, g1 = area * gamma;
      const bool fallback = k == 0 || (k > 1 && (cells[k - 1].empty() || cells[1].empty()));
      double T_sum = 0.0, S_sum = 0.0, q_sum = 0.0;
      for (const std::size_t n : cells[k]) {
        const double p = base_pressure(c.H.values[n]), T0 = clip_T0(w.T0, w.S0, p);
        double T = T0, S = w.S0, q = 0.0, melt = fallback_melt_rate(gamma, T0, w.S0, p);
        if (!fallback && k == 1) {
          const double x = box_one(g1, C, T0, w.S0, p).x;
          T = T0 - x, S = box_one_S(w.S0, x), q = overturning(C, w.S0, x);
        } else if (!fallback) {
          const NextBox box = next_box(g1, q_mean, T_mean, S_mean);
          T = box.T_k(p), S = box.S_k(T);
        }
        if (!fallback) melt = melt_rate(gamma, T, S, p);
        differ(r.temperature.values[n], T, 270.0);
        differ(r.salinity.values[n], S, 35.0);
        differ(r.overturning.values[n], q, 1e5);
        differ(r.melt.values[n], melt, 1e-6);
        differ(r.temperature_box0.values[n], T0, 270.0);
        differ(r.salinity_box0.values[n], w.S0, 35.0);
        differ(r.base_temperature.values[n], T_in_situ(S, p), 270.0);
        T_sum += T, S_sum += S, q_sum += q, total += melt * c.dx * c.dx * rho_ice;
      }
      const auto count = static_cast<double>(cells[k].size());
      if (!cells[k].empty()) T_mean = T_sum / count, S_mean = S_sum / count;
      if (k == 1 && !cells[k].empty()) q_mean = q_sum / count;
    }
  }
  CHECK(worst < 1e-9);
  CHECK_THAT(r.report.total_melt, WithinRel(total, 1e-9));
}

} // namespace

TEST_CASE("the update equals an evaluation cell by cell") {
  std::int64_t fallbacks = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    PicoCase c = random_coast(33, 28, seed);
    c.dx = seed % 2 == 0 ? 2e4 : 5e3;
    VirtualRanks ranks(Decomposition::make(33, 28, 3, 2));
    std::vector<PicoFields> fields = pico_fields(ranks);
    c.options.continental_ice_area = 3.5 * c.dx * c.dx;
    Pico pico(ranks, c.dx, c.dx, c.options);
    const PicoReport report = pico.update(pico_input(ranks, c), fields);
    const PicoResult result = pico_result(ranks, report, fields);
    INFO("seed " << seed);
    check_cell_by_cell(c, result, pico.water());
    fallbacks += report.fallback_cells;
    CHECK(report.total_melt != 0.0);
  }
  CHECK(fallbacks > 0);
}

TEST_CASE("shelf input: means over the continental shelf, weighted by shelf cells") {
  PicoCase c({"########", //
              "ffffffff", //
              "~~~~::::", //
              "::::::::"});
  c.basins = draw({"11122233", "11122233", "11122233", "11122233"});
  for (int i = 0; i < 8; ++i)
    c.T(3, i) = 272.0 + i, c.S(3, i) = 34.0 + 0.1 * i; // deep water above must not matter
  for (int i = 4; i < 8; ++i) c.T(2, i) = 272.0 + i, c.S(2, i) = 34.0 + 0.1 * i;
  // continental shelf: connected to the continent? Shallow cells touch ice that floats only: none
  // is attached
  CHECK(run_pico(c).contshelf_mask(3, 0) == 1);
  CHECK(run_pico(c).temperature_box0(1, 0) == default_T0);
  CHECK(run_pico(c).salinity_box0(1, 0) == default_S0);

  PicoCase d({"#########", //
              "ffffffff#", //
              "::~~::::#", //
              "::::::::#"});
  d.basins = draw({"111222333", "111222333", "111222333", "111222333"});
  for (const auto& [j, i] : points_of(9, 4)) d.T(j, i) = 272.0 + i, d.S(j, i) = 34.0 + 0.1 * i;
  // basin 1 (3 shelf cells): cells 0 1 and 0 1 2; basin 2 (3): 4 5 and 3 4 5; basin 3 (2): 6 7
  // twice. Split: 1 and 3 not adjacent
  const double T1 = 272.0 + 4.0 / 5.0, T2 = 272.0 + 21.0 / 5.0, T3 = 272.0 + 6.5;
  const PicoResult r = run_pico(d, 2, 2);
  CHECK(r.shelf_mask == draw({".........", "11111122.", ".........", "........."}));
  CHECK_THAT(r.temperature_box0(1, 0), WithinRel((3 * T1 + 3 * T2) / 6.0, 1e-14));
  CHECK_THAT(r.salinity_box0(1, 5), WithinRel(34.0 + 0.1 * (3 * 0.8 + 3 * 4.2) / 6.0, 1e-13));
  CHECK_THAT(r.temperature_box0(1, 7), WithinRel(T3, 1e-14));
}

TEST_CASE("a basin without continental shelf gets the default; basin 0 is no basin") {
  PicoCase c({"######", //
              "#ffff#", //
              ":~~~~#", //
              ":~~~~#"});
  c.T(2, 0) = c.T(3, 0) = 275.0, c.S(2, 0) = c.S(3, 0) = 35.0;
  CHECK(run_pico(c).temperature_box0(1, 1) == 275.0);
  CHECK(run_pico(c).salinity_box0(1, 1) == 35.0);
  c.basins = draw({"111222", "111222", "122222",
                   "122222"}); // 2 of 4 cells in basin 2, which has no continental shelf
  CHECK_THAT(run_pico(c).temperature_box0(1, 1), WithinRel(0.5 * (275.0 + default_T0), 1e-14));
  c.basins = draw({"111000", "111000", "100000", "100000"}); // the cells in basin 0 have no weight
  CHECK(run_pico(c).temperature_box0(1, 4) == 275.0);
  c.basins = Grid<int>(6, 4, 0);
  CHECK(run_pico(c).temperature_box0(1, 1) == default_T0);
  CHECK(run_pico(c).salinity_box0(1, 1) == default_S0);
}

TEST_CASE("a front on a hole counts for the shelf input") {
  PicoCase c({"######~", //
              "#fff##~", //
              "#f~f##~", //
              "#fff##~", //
              "fff###:"});
  c.T(4, 6) = 274.0; // the hole touches the edge's component through the shelf: not a lake
  const PicoResult r = run_pico(c);
  CHECK(r.ocean_mask(2, 2) == 1);
  CHECK(r.distance_cf(1, 1) == 0);
  CHECK(r.temperature_box0(1, 1) == 274.0);
}

TEST_CASE("water colder than freezing is warmed to just above it, cell by cell") {
  PicoCase c({"#####", "#fff#", "#fff#", ":::::"});
  c.T = Grid<double>(5, 4, 270.0);
  c.H(1, 2) = 3000.0; // freezing point far lower here: 270 K is warm
  for (const auto& [px, py] : decompositions(5, 4)) {
    const PicoResult r = run_pico(c, px, py);
    CHECK(r.temperature_box0(1, 2) == 270.0);
    CHECK(r.temperature_box0(1, 1) == T_pm(34.5, base_pressure(500.0)) + 0.001);
    CHECK(r == run_pico(c));
  }
}

namespace {

/// One shelf of given boxes, straight into the physics.
struct OneShelf {
  explicit OneShelf(const std::vector<int>& boxes)
      : ranks(Decomposition::make(static_cast<int>(boxes.size()), 1, 1)),
        c({std::string(boxes.size(), 'f')}) {
    shelves.local.resize(1);
    for (std::size_t n = 0; n < boxes.size(); ++n) {
      c.H.values[n] = 400.0 + 10.0 * static_cast<double>(n);
      shelves.local[0].cell.push_back(static_cast<int>(boxes.size()) + 2 + 1 + static_cast<int>(n));
      shelves.local[0].shelf.push_back(1);
      shelves.local[0].box.push_back(boxes[n]);
    }
    shelves.table.reset(1, 1);
    fields = pico_fields(ranks);
    c.dx = 1e4;
  }
  void run() {
    ShelfMelt melt(ranks, c.dx, c.dx, c.options);
    melt.update(shelves, pico_input(ranks, c), fields, report);
    water = melt.water()[1];
  }
  bool fallback(int n) const { // the first cell is cell 1
    const double p = base_pressure(c.H(0, n - 1));
    return fields[0].melt(1, n) ==
               fallback_melt_rate(c.options.gamma_T, default_T0, default_S0, p) &&
           fields[0].temperature(1, n) == default_T0 && fields[0].salinity(1, n) == default_S0;
  }

  VirtualRanks ranks;
  PicoCase c;
  Shelves shelves;
  std::vector<PicoFields> fields;
  PicoReport report;
  ShelfWater water;
};

} // namespace

TEST_CASE("an empty box: the next one falls back, and the one after that follows from it") {
  OneShelf s({1, 1, 3, 3, 4, 0});
  s.run();
  CHECK(!s.fallback(1));
  CHECK(s.fallback(3));
  CHECK(s.fallback(4));
  CHECK(!s.fallback(5));
  CHECK(s.fallback(6));
  CHECK(s.report.fallback_cells == 3);
  const NextBox box = next_box(1e8 * 2e-5, s.water.q, default_T0, default_S0);
  CHECK_THAT(s.fields[0].temperature(1, 5), WithinRel(box.T_k(base_pressure(440.0)), 1e-13));
}

TEST_CASE("without box 1 there is no overturning: all boxes fall back") {
  OneShelf s({2, 2, 3, 4, 5});
  s.run();
  for (int n = 1; n <= 5; ++n) CHECK(s.fallback(n));
  CHECK(s.water.q == 0.0);
}

TEST_CASE("negative discriminants are counted, on every decomposition alike") {
  PicoCase c({"######", "#ffff#", "#ffff#", "::::::"});
  c.S = Grid<double>(6, 4, 1.0);
  c.T = Grid<double>(6, 4, 275.0);
  c.dx = 1e3; // a small box, water so fresh that it sinks when it cools
  c.options.continental_ice_area = 3e6;
  for (const auto& [px, py] : decompositions(6, 4)) {
    const PicoResult r = run_pico(c, px, py);
    CHECK(r.report.warnings == std::count(r.box_mask.values.begin(), r.box_mask.values.end(), 1));
    CHECK(r.report.warnings > 0);
    CHECK(r == run_pico(c));
    for (const double m : r.melt.values) CHECK(std::isfinite(m));
  }
}

TEST_CASE("lakes do not melt; their base is at the pressure-melting point of fresh ice") {
  PicoCase c({"#####~", "#f###~", "####f~"});
  c.H(1, 1) = 1000.0;
  const PicoResult r = run_pico(c);
  CHECK(r.melt(1, 1) == 0.0);
  CHECK(r.temperature(1, 1) == 0.0);
  CHECK(r.base_temperature(1, 1) == lake_temperature(1000.0));
  CHECK(r.base_temperature(0, 0) == T_melting);
  CHECK(r.shelf_mask(2, 4) == 1);
}

TEST_CASE("options and values that cannot be used are refused with their name") {
  VirtualRanks ranks(Decomposition::make(4, 4, 1));
  const std::pair<const char*, void (*)(PicoOptions&)> wrong[] = {
      {"gamma_T is -1e-05", [](PicoOptions& o) { o.gamma_T = -1e-5; }},
      {"gamma_T", [](PicoOptions& o) { o.gamma_T = NAN; }},
      {"overturning_coefficient", [](PicoOptions& o) { o.overturning_coefficient = 0.0; }},
      {"continental_shelf_depth", [](PicoOptions& o) { o.continental_shelf_depth = 800.0; }},
      {"continental_ice_area", [](PicoOptions& o) { o.continental_ice_area = -1.0; }},
      {"boxes", [](PicoOptions& o) { o.boxes = 0; }}};
  for (const auto& [words, change] : wrong) {
    PicoOptions options;
    change(options);
    CHECK_THROWS_WITH(Pico(ranks, 1e4, 1e4, options), ContainsSubstring(words));
  }
  PicoCase c({"####", "ffff", "::::", ":::#"});
  c.options.exclude_ice_rises = false;
  c.T(3, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(run_pico(c, 2, 2),
                    ContainsSubstring("theta_ocean") && ContainsSubstring("1 values"));
  c.T(3, 1) = 273.0, c.H(1, 0) = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(run_pico(c, 2, 2), ContainsSubstring("thk"));
}
