// PICO through MPI: labels, distances and all fields of PICO equal, bit for bit, to those of one
// virtual rank.
#include "kernels/distance/distance.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "tests/kernels/pico_case.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;

namespace {

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Owned cells that differ from the global array.
template <class T>
int differences(const Patch& p, const Array2<T>& found, const Grid<T>& expected) {
  int n = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i)
      n += found(j, i) == expected(p.global_j(j), p.global_i(i)) ? 0 : 1;
  }
  return n;
}

PicoInput input_of(MpiRanks& ranks, const PicoCase& c) {
  PicoInput in{scatter(ranks, c.H)[0],      scatter(ranks, c.b)[0], scatter(ranks, c.mask)[0],
               scatter(ranks, c.basins)[0], scatter(ranks, c.T)[0], scatter(ranks, c.S)[0]};
  ranks.update_ghosts({in.basins});
  return in;
}

/// Owned cells of all fields that differ from those of one rank.
int differences(const Patch& p, const PicoFields& f, const PicoResult& serial) {
  return differences(p, f.ice_rise_mask, serial.ice_rise_mask) +
         differences(p, f.ocean_mask, serial.ocean_mask) +
         differences(p, f.lake_mask, serial.lake_mask) +
         differences(p, f.contshelf_mask, serial.contshelf_mask) +
         differences(p, f.shelf_mask, serial.shelf_mask) +
         differences(p, f.distance_gl, serial.distance_gl) +
         differences(p, f.distance_cf, serial.distance_cf) +
         differences(p, f.box_mask, serial.box_mask) +
         differences(p, f.temperature, serial.temperature) +
         differences(p, f.salinity, serial.salinity) +
         differences(p, f.temperature_box0, serial.temperature_box0) +
         differences(p, f.salinity_box0, serial.salinity_box0) +
         differences(p, f.overturning, serial.overturning) + differences(p, f.melt, serial.melt) +
         differences(p, f.base_temperature, serial.base_temperature);
}

} // namespace

TEST_CASE("random coasts: the same bits as on one rank") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    PicoCase c = random_coast(37, 29, seed);
    if (seed == 4) c.options.solver = "sweep";
    const PicoResult serial = run_pico(c);
    MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(37, 29, world_size()));
    PicoFields f(ranks.patch());
    const PicoReport report = Pico(ranks, c.dx, c.dx, c.options).update(input_of(ranks, c), f);
    INFO("seed " << seed);
    CHECK(differences(ranks.patch(), f, serial) == 0);
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
  MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(37, 29, world_size()));
  Pico pico(ranks, c.dx, c.dx, c.options);
  PicoFields f(ranks.patch());
  const PicoResult expected[] = {run_pico(c), run_pico(other)};
  int before = -1;
  for (const int changed : {0, 0, 1, 1, 1, 0}) {
    const PicoReport report = pico.update(input_of(ranks, changed == 1 ? other : c), f);
    INFO(before << " then " << changed);
    CHECK(report.geometry_kept == (changed == before));
    if (changed == before) CHECK(report.collectives == 2);
    CHECK(differences(ranks.patch(), f, expected[changed]) == 0);
    CHECK(report.total_melt == expected[changed].report.total_melt);
    before = changed;
  }
}

TEST_CASE("a serpentine across the ranks is 881 long") {
  MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(41, 41, world_size()));
  Grid<int> start(41, 41, -1);
  const Grid<int> path = serpentine(41, 41);
  for (std::size_t n = 0; n < path.values.size(); ++n) start.values[n] = path.values[n] - 1;
  start(0, 0) = 1;
  for (const char* solver : {"sweep", "bfs"}) {
    const DistanceFields fields{scatter(ranks, start)};
    const auto farthest = [&](int) {
      std::int64_t d = 0;
      for (int j = 1; j <= ranks.patch().ym; ++j) {
        for (int i = 1; i <= ranks.patch().xm; ++i)
          d = std::max<std::int64_t>(d, fields[0][0](j, i));
      }
      return std::vector<std::int64_t>{d};
    };
    CHECK(Distances(ranks, solver).solve({fields, {}, farthest}).maxima[0] == 881);
  }
}

TEST_CASE("a value that one rank cannot use is an error on all") {
  PicoCase c({"######", "ffffff", "~~~~~~"});
  c.mask(1, 5) = 9;
  MpiRanks ranks(MPI_COMM_WORLD, Decomposition::make(6, 3, world_size()));
  PicoFields f(ranks.patch());
  Pico pico(ranks, c.dx, c.dx, c.options);
  CHECK_THROWS_WITH(pico.update(input_of(ranks, c), f), Catch::Matchers::ContainsSubstring("mask"));
  c.mask(1, 5) = floating_ice;
  c.H(1, 4) = 1e9; // found in the physics, after the geometry has been written
  CHECK_THROWS_WITH(pico.update(input_of(ranks, c), f), Catch::Matchers::ContainsSubstring("thk"));
  c.H(1, 4) = 500.0;
  c.mask(1, 5) = ice_free_ocean;
  pico.update(input_of(ranks, c), f);
  CHECK(differences(ranks.patch(), f, run_pico(c)) == 0);
}
