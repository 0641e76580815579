// miniapp/model/dump.hpp: a buffer goes into a file by one line, from a function that knows nothing
// of output.
#include "io/reader.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/model/dump.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;

namespace {

/// Some function deep in the model.
void compute(const Array2<double>& nuH, double factor) {
  dump_buffer("nuH", (nuH(0, 0) = factor, nuH));
}

} // namespace

TEST_CASE("dump_buffer appends a record per call; without -dump it does nothing") {
  const Scratch scratch;
  const int size = size_of(MPI_COMM_WORLD), rank = rank_in(MPI_COMM_WORLD);
  Options options;
  options.io_order = GENERATE("yxz", "zyx");
  Grid grid;
  grid.decomposition = Decomposition::make(11, 9, size);
  grid.dx = grid.dy = 1000.0;
  const Patch p = grid.decomposition.patch(rank);
  const auto nuH = make_array<double>("whatever", p);
  const auto label = make_array<int>("label", p);
  const auto strain = make_columns<double>("strain", p, 4);
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      const int code = (p.ys + j - 1) * 100 + p.xs + i - 1;
      nuH(j, i) = code, label(j, i) = -code;
      for (int k = 0; k < 4; ++k) strain(j, i, k) = code + 0.125 * k;
    }
  }
  {
    Dumps none(options, grid, p, MPI_COMM_WORLD, "test");
    compute(nuH, 1.0);
    none.finish();
  }
  options.dump = scratch / "look_";
  Dumps dumps(options, grid, p, MPI_COMM_WORLD, "test");
  compute(nuH, 1.0);
  dumps.set_time(3155692.6);
  compute(nuH, 2.0);
  dump_buffer("label", label);
  dump_buffer("strain", strain);
  REQUIRE_THROWS_WITH(dump_buffer("label", nuH),
                      Catch::Matchers::ContainsSubstring("expected int32 with 1"));
  Patch other = p;
  other.xm += 1;
  REQUIRE_THROWS_WITH(
      dump_buffer("wrong", make_array<double>("wrong", other)),
      Catch::Matchers::ContainsSubstring("dump_buffer 'wrong': expected an array of"));
  dumps.finish();

  const io::Reader in(scratch / "look_nuH.nc", MPI_COMM_WORLD),
      levels(scratch / "look_strain.nc", MPI_COMM_WORLD),
      labels(scratch / "look_label.nc", MPI_COMM_WORLD);
  CHECK(in.records() == 2);
  CHECK(in.read_all("time") == std::vector<double>{0.0, 36.5});
  const auto values = in.read_block("nuH", {1, 0, 0}, {1, 9, 11});
  const auto found = labels.read_block_int("label", {0, 0, 0}, {1, 9, 11});
  const bool first = options.io_order == "zyx";
  const auto columns = levels.read_all("strain");
  int wrong = 0;
  for (std::size_t j = 0; j < 9; ++j) {
    for (std::size_t i = 0; i < 11; ++i) {
      const auto code = static_cast<double>(j * 100 + i);
      wrong += values[j * 11 + i] != code || static_cast<double>(found[j * 11 + i]) != -code;
      for (std::size_t k = 0; k < 4; ++k)
        wrong += columns[first ? (k * 9 + j) * 11 + i : (j * 11 + i) * 4 + k] !=
                 code + 0.125 * static_cast<double>(k);
    }
  }
  CHECK(wrong == 0);
  CHECK(levels.dimensions("strain")[first ? 1 : 3].name == "level");
}
