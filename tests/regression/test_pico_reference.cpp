// PICO on Antarctica: temperatures that enter three shelves as in PISM, and the total melt with
// default parameters, the same on any number of ranks. The fields of PISM, cell by cell:
// tests/program/test_check.py.
#include "kernels/grid/sums.hpp"
#include "kernels/pico/pico.hpp"
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
  explicit Case(const std::string& file) : FileOnRanks(shared + "/" + file) {}

  /// The input of PICO: cell types follow from thickness and bed; the file has degrees Celsius.
  PicoInput input() const {
    PicoInput input{array<double>("thk"),         array<double>("topg"),
                    make_array<int>("mask", p),   array<int>("basins"),
                    array<double>("theta_ocean"), array<double>("salinity_ocean")};
    for (const auto& [j, i] : cells_of(p)) {
      input.mask(j, i) = cell_type(input.b(j, i), input.H(j, i));
      input.theta(j, i) += T_melting;
    }
    ranks->update_ghosts({input.basins});
    return input;
  }
};

} // namespace

TEST_CASE("shelf input temperatures of three shelves") {
  const std::string file = "data/bedmap2_schmidtko14_50km.nc";
  if (!present(file)) SKIP("no " + file + " in " + shared);
  Case c(file);
  PicoFields f(c.p);
  PicoOptions options;
  options.gamma_T = 1e-5;
  options.overturning_coefficient = 0.8e6;
  options.continental_shelf_depth = -2500.0;
  Pico(*c.ranks, c.dx, c.dy, options).update(c.input(), f);
  const std::map<std::pair<int, int>, double> expected = {
      {{59, 37}, 271.553311083714}, {{41, 34}, 272.781500154734}, {{28, 49}, 273.596660429239}};
  for (const auto& [j, i] : cells_of(c.p)) {
    const auto found = expected.find({c.p.global_i(i), c.p.global_j(j)});
    if (found != expected.end()) CHECK(std::fabs(f.temperature_box0(j, i) - found->second) <= 1e-9);
  }
}

TEST_CASE("total melt with default parameters") {
  const std::map<std::string, double> expected = {
      {"data/bedmap2_schmidtko14_50km.nc", 1953.77}, // Gt a-1
      {"data/antarctica_32km.nc", 1975.38}};
  for (const auto& [file, total] : expected) {
    if (!present(file)) SKIP("no " + file + " in " + shared);
    Case c(file);
    PicoFields f(c.p);
    const PicoReport report = Pico(*c.ranks, c.dx, c.dy).update(c.input(), f);
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
