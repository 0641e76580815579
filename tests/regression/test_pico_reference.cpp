// PICO on Antarctica: masks, distances and boxes equal to PISM's, temperatures, salinities,
// overturning and melt to 1e-9; golden values; total melt with default parameters. The same on any
// number of ranks.
#include "kernels/grid/sums.hpp"
#include "kernels/pico/pico.hpp"
#include "miniapp/tools/check/differences.hpp"
#include "tests/regression/file_on_ranks.hpp"

#include <catch2/catch_test_macros.hpp>
#include <shared_data.hpp>

#include <cmath>
#include <filesystem>
#include <map>

using namespace nunatak;

namespace {

const std::string shared = NUNATAK_SHARED_DATA;

bool present(const std::string& file) { return std::filesystem::exists(shared + "/" + file); }

struct Case : FileOnRanks {
  explicit Case(const std::string& file) : FileOnRanks(shared + "/" + file, MPI_COMM_WORLD) {}

  /// The input of PICO; cell types from thickness and bed. `offset`: 273.15 if the file has degrees
  /// Celsius.
  PicoInput input(double offset) const {
    PicoInput input{array<double>("thk"),         array<double>("topg"),
                    make_array<int>("mask", p),   array<int>("basins"),
                    array<double>("theta_ocean"), array<double>("salinity_ocean")};
    for (const auto& [j, i] : cells_of(p)) {
      input.mask(j, i) = cell_type(input.b(j, i), input.H(j, i));
      input.theta(j, i) += offset;
    }
    ranks->update_ghosts({input.basins});
    return input;
  }

  std::int64_t sum(std::int64_t value) {
    std::vector<std::vector<std::int64_t>> values{{value}};
    ranks->sum(values);
    return values[0][0];
  }

  /// Number of owned cells, on all ranks, for which f(j, i, n) holds; n: position in a block.
  template <class F> std::int64_t count(F f) {
    std::int64_t cells = 0;
    for (const auto& [j, i] : cells_of(p)) {
      if (f(j, i, static_cast<std::size_t>((j - 1) * p.xm + i - 1))) cells += 1;
    }
    return sum(cells);
  }
};

PicoOptions reference_options() {
  PicoOptions options;
  options.gamma_T = 1e-5;
  options.overturning_coefficient = 0.8e6;
  options.continental_shelf_depth = -2500.0;
  return options;
}

void check_against_pism(const std::string& file, const std::string& solver) {
  if (!present(file)) SKIP("no " + file + " in " + shared);
  const tools::PicoFile in(shared + "/" + file);
  const Case c(file);
  const std::vector<PicoInput> input = in.input(*c.ranks);
  std::vector<PicoFields> fields(1, PicoFields(c.p));
  PicoOptions options = reference_options();
  options.solver = solver;
  Pico pico(*c.ranks, in.dx, in.dy, options);
  const PicoReport report = pico.update(input, fields);
  INFO(file);
  CHECK(report.warnings == 0);
  if (solver == "auto") CHECK(report.collectives <= 10);

  tools::GridValues marks(in.x.size() * in.y.size(), 0.0);
  CHECK(tools::compare_types(*c.ranks, in, input, marks).different == 0);
  for (const tools::PicoField& field : tools::pico_fields()) {
    const tools::FieldDifference result =
        tools::compare_field(*c.ranks, in, field, fields, 1e-9, marks);
    INFO(field.name << " at j = " << result.j << ", i = " << result.i << ": " << result.expected
                    << ", in the file " << result.found);
    CHECK(result.compared > 0);
    CHECK(result.different == 0);
  }
}

} // namespace

TEST_CASE("Antarctica at 50 km is PISM's") {
  check_against_pism("reference/pico_antarctica_50km.nc", "auto");
}

TEST_CASE("Antarctica at 50 km, one shelf over two basins, is PISM's") {
  check_against_pism("reference/pico_antarctica_50km_merged.nc", "auto");
  check_against_pism("reference/pico_antarctica_50km_merged.nc", "sweep");
}

TEST_CASE("Antarctica at 16 km is PISM's") {
  check_against_pism("reference/pico_antarctica_16km.nc", "auto");
}

TEST_CASE("shelf input temperatures of three shelves") {
  const std::string file = "data/bedmap2_schmidtko14_50km.nc";
  if (!present(file)) SKIP("no " + file + " in " + shared);
  Case c(file);
  PicoFields f(c.p);
  Pico(*c.ranks, c.dx, c.dy, reference_options()).update(c.input(T_melting), f);
  const auto wrong = [&](int x, int y, double expected) {
    return c.count([&](int j, int i, std::size_t) {
      return c.p.global_j(j) == y && c.p.global_i(i) == x &&
             !(std::fabs(f.temperature_box0(j, i) - expected) <= 1e-9);
    });
  };
  CHECK(wrong(59, 37, 271.553311083714) == 0);
  CHECK(wrong(41, 34, 272.781500154734) == 0);
  CHECK(wrong(28, 49, 273.596660429239) == 0);
}

TEST_CASE("total melt with default parameters") {
  const std::map<std::string, double> expected = {
      {"data/bedmap2_schmidtko14_50km.nc", 1953.77}, // Gt a-1
      {"data/antarctica_32km.nc", 1975.38}};
  for (const auto& [file, total] : expected) {
    if (!present(file)) SKIP("no " + file + " in " + shared);
    Case c(file);
    PicoFields f(c.p);
    const PicoReport report = Pico(*c.ranks, c.dx, c.dy).update(c.input(T_melting), f);
    FixedSum melt; // m a-1
    for (const auto& [j, i] : cells_of(c.p)) melt.add(f.melt(j, i) * seconds_per_year);
    std::vector<std::vector<std::int64_t>> words{{melt.hi, melt.lo}};
    c.ranks->sum(words);
    const double by_cells =
        FixedSum{words[0][0], words[0][1]}.value() * c.dx * c.dy * rho_ice * 1e-12;
    const double reported = report.total_melt * seconds_per_year * 1e-12;
    INFO(file << ": total melt " << reported << " Gt/a, summed over cells " << by_cells);
    CHECK(std::fabs(reported / total - 1.0) < 0.01);
    CHECK(std::fabs(reported / by_cells - 1.0) < 1e-11);
  }
}
