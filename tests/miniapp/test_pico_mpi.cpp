// PICO through MPI: all fields of PICO equal, bit for bit, to those of one
// virtual rank.
#include "io/agree.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "tests/kernels/pico_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using io::size_of;

namespace {

PicoInput input_of(MpiRanks& ranks, const PicoCase& c) {
  PicoInput in{scatter(ranks, c.H)[0],      scatter(ranks, c.b)[0], scatter(ranks, c.mask)[0],
               scatter(ranks, c.basins)[0], scatter(ranks, c.T)[0], scatter(ranks, c.S)[0]};
  ranks.update_ghosts({in.basins});
  return in;
}

/// Whether the owned cells of all fields are those of one rank.
bool same(const Ranks& ranks, const PicoFields& f, const PicoResult& serial) {
  using F = PicoFields;
  const auto is = [&](auto member, const auto& expected) {
    return same_where_owned(ranks, std::vector{f.*member}, expected);
  };
  return is(&F::ice_rise_mask, serial.ice_rise_mask) && is(&F::ocean_mask, serial.ocean_mask) &&
         is(&F::lake_mask, serial.lake_mask) && is(&F::contshelf_mask, serial.contshelf_mask) &&
         is(&F::shelf_mask, serial.shelf_mask) && is(&F::distance_gl, serial.distance_gl) &&
         is(&F::distance_cf, serial.distance_cf) && is(&F::box_mask, serial.box_mask) &&
         is(&F::temperature, serial.temperature) && is(&F::salinity, serial.salinity) &&
         is(&F::temperature_box0, serial.temperature_box0) &&
         is(&F::salinity_box0, serial.salinity_box0) && is(&F::overturning, serial.overturning) &&
         is(&F::melt, serial.melt) && is(&F::base_temperature, serial.base_temperature);
}

} // namespace

TEST_CASE("random coasts: the same bits as on one rank") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    PicoCase c = random_coast(37, 29, seed);
    if (seed == 4) c.options.solver = "sweep";
    const PicoResult serial = run_pico(c);
    MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(37, 29, size_of(MPI_COMM_WORLD)));
    PicoFields f(ranks.patch());
    const PicoReport report = Pico(ranks, c.dx, c.dx, c.options).update(input_of(ranks, c), f);
    INFO("seed " << seed);
    CHECK(same(ranks, f, serial));
    CHECK(report.total_melt == serial.report.total_melt);
    CHECK(report.shelves == serial.report.shelves);
    if (seed != 4) CHECK(report.collectives <= 10);
  }
}

TEST_CASE("the geometry is kept until something changes on one rank") {
  PicoCase c = random_coast(37, 29, 6);
  PicoCase other = c;
  std::size_t n = c.mask.values.size() - 1;
  while (c.mask.values[n] != floating_ice) --n;
  other.mask.values[n] = ice_free_ocean;
  MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(37, 29, size_of(MPI_COMM_WORLD)));
  Pico pico(ranks, c.dx, c.dx, c.options);
  PicoFields f(ranks.patch());
  const PicoResult expected[] = {run_pico(c), run_pico(other)};
  int before = -1;
  for (const int changed : {0, 0, 1, 1, 1, 0}) {
    const PicoReport report = pico.update(input_of(ranks, changed == 1 ? other : c), f);
    INFO(before << " then " << changed);
    CHECK(report.geometry_kept == (changed == before));
    if (changed == before) CHECK(report.collectives == 2);
    CHECK(same(ranks, f, expected[changed]));
    CHECK(report.total_melt == expected[changed].report.total_melt);
    before = changed;
  }
}

TEST_CASE("a value that one rank cannot use is an error on all") {
  PicoCase c({"######", "ffffff", "~~~~~~"});
  c.mask(1, 5) = 9;
  MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(6, 3, size_of(MPI_COMM_WORLD)));
  PicoFields f(ranks.patch());
  Pico pico(ranks, c.dx, c.dx, c.options);
  CHECK_THROWS_WITH(pico.update(input_of(ranks, c), f), ContainsSubstring("mask"));
  c.mask(1, 5) = floating_ice;
  c.H(1, 4) = 1e9; // found in the physics, after the geometry has been written
  CHECK_THROWS_WITH(pico.update(input_of(ranks, c), f), ContainsSubstring("thk"));
  c.H(1, 4) = 500.0;
  c.mask(1, 5) = ice_free_ocean;
  pico.update(input_of(ranks, c), f);
  CHECK(same(ranks, f, run_pico(c)));
}
