// bench_checksum: what the sums of values (io/durable/value_sum.hpp) cost beside the packing of the
// same values (io/pack.hpp). Prints one JSON object.
//
//   bench_checksum -repeat 9
//
// Patches with ghosts, as a rank has them, in four ways to pack, from what a cache holds to what it
// does not. In each turn a patch is packed without and with its sum. Ratios of the medians over the
// turns, and of the fastest. Validated: the sum is that of the packed values.
#include "io/pack.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/program.hpp"
#include "perf/bandwidth.hpp"

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <iostream>

using namespace nunatak;
using bench::median;
using Json = nlohmann::ordered_json;

namespace {

double seconds_of(const std::function<void()>& f) {
  const double start = MPI_Wtime();
  f();
  return MPI_Wtime() - start;
}

struct Case {
  const char* name;
  std::size_t ym, xm, Mz;
  bool zyx;
  io::Type type;
};

Json measure(const Case& c, int repeat) {
  const std::size_t row = (c.xm + 2) * c.Mz;
  std::vector<double> memory((c.ym + 2) * row);
  for (std::size_t n = 0; n < memory.size(); ++n) memory[n] = 1.0 / static_cast<double>(n + 1);
  const auto s = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
  io::Hyperslab slab{{0, 0, 0}, {c.ym, c.xm, c.Mz}, {s(row), s(c.Mz), 1}};
  if (c.zyx) slab.count = {c.Mz, c.ym, c.xm}, slab.stride = {1, s(row), s(c.Mz)};
  slab.data = reinterpret_cast<const std::byte*>(memory.data() + row + c.Mz);
  const std::vector<std::size_t> shape = slab.count;
  io::Buffer packed;
  std::byte* const target = packed.of_size(slab.elements() * io::bytes_of(c.type));
  std::vector<double> alone, with_sum;
  std::uint64_t found = 0;
  for (int turn = 0; turn <= repeat; ++turn) { // the first one touches the memory
    io::ValueSum sum(shape);
    slab.sum = nullptr;
    const double seconds = seconds_of([&] { io::pack(slab, c.type, target); });
    slab.sum = &sum;
    const double seconds_with_sum = seconds_of([&] { io::pack(slab, c.type, target); });
    found = sum.value();
    if (turn > 0) alone.push_back(seconds), with_sum.push_back(seconds_with_sum);
  }
  io::ValueSum there(shape);
  io::add_to_sum(
      {slab.start, shape, io::contiguous_strides(shape), target, c.type, false, false, &there});
  if (there.value() != found)
    throw Error(std::string(c.name) + ": expected the sum of the packed values, found another one");
  const double bytes = static_cast<double>(slab.elements() * sizeof(double));
  return {{"case", c.name},
          {"bytes", bytes},
          {"pack_gb_per_s", bytes / median(alone) * 1e-9},
          {"with_sum_over_pack", median(with_sum) / median(alone)},
          {"fastest_with_sum_over_fastest", *std::min_element(with_sum.begin(), with_sum.end()) /
                                                *std::min_element(alone.begin(), alone.end())}};
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "bench_checksum", [&](Libraries&) {
    int repeat = 9;
    OptionTable table("bench_checksum: sums of values beside the packing of the same values",
                      "bench_checksum -repeat 9");
    table.section("Measurement");
    table.add(number("repeat", repeat, "", "turns", 1, 1000));
    if (!table.read(argc, argv)) return;
    Json results = Json::array();
    for (const Case& c : {Case{"map in cache", 100, 100, 1, false, io::Type::float64},
                          Case{"map", 2000, 2000, 1, false, io::Type::float64},
                          Case{"columns yxz", 500, 500, 31, false, io::Type::float64},
                          Case{"columns zyx", 500, 500, 31, true, io::Type::float64},
                          Case{"columns yxz as float32", 500, 500, 31, false, io::Type::float32}})
      results.push_back(measure(c, repeat));
    std::cout
        << Json{{"benchmark", "bench_checksum"}, {"repeat", repeat}, {"results", results}}.dump(2)
        << std::endl;
  });
}
