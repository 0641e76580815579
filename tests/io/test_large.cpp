// Variables of more than 2^32 elements and more than 4 GiB, written in every format and read in
// every way: only the slabs at both ends are written, so that the file is a large hole and takes no
// room. Through the formats (io/formats/format.hpp): a File would ask for all values.
#include "io/methods/registry.hpp"
#include "io/read/reader.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <sys/stat.h>

using namespace nunatak;
using io::Type;

namespace {

constexpr std::size_t n_long = 4300000000, My = 40000, Mx = 15000;

io::Schema large_schema() {
  io::Schema s;
  s.dimensions = {{"time", io::unlimited}, {"long", n_long}, {"y", My}, {"x", Mx}};
  s.variables = {{"bytes", Type::int8, {"long"}, {}},              // more than 2^32 elements, 4 GiB
                 {"fixed", Type::float64, {"y", "x"}, {}},         // 4.8 GB
                 {"after", Type::int32, {"x"}, {}},                // beyond 4 GiB
                 {"field", Type::float64, {"time", "y", "x"}, {}}, // 4.8 GB in a record
                 {"last", Type::float32, {"time", "y"}, {}}};
  return s;
}

/// 2 elements along every dimension, at the beginning (rank 0) or the end (last) of the record.
io::Hyperslab corner(const io::Schema& schema, std::size_t v, bool at_end) {
  io::Box box{schema.record_shape(v), {}};
  for (std::size_t& n : box.start) n = at_end ? n - 2 : 0;
  box.count.assign(box.start.size(), 2);
  return io::row_major(box, nullptr, schema.variables[v].type);
}

std::vector<std::byte> numbers(Type type, std::size_t n, int first) {
  return io::with_type(type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<std::byte> bytes(n * sizeof(T));
    auto* values = reinterpret_cast<T*>(bytes.data());
    for (std::size_t k = 0; k < n; ++k) values[k] = static_cast<T>(first + static_cast<int>(k));
    return bytes;
  });
}

} // namespace

TEST_CASE("sizes beyond 32 bits") {
  const Scratch scratch;
  const std::string name = GENERATE("serial", "netcdf4", "pnetcdf", "direct", "direct/calls=mpiio"),
                    path = scratch / "large.nc";
  INFO(name);
  const io::Options options = io::parse_method(name, {});
  const io::Topology topology = io::make_topology(MPI_COMM_WORLD, 0);
  const io::Schema schema = large_schema();
  const auto format = io::find_format(MPI_COMM_WORLD, options, topology)(path, schema);
  format->define();
  const int rank = rank_in(MPI_COMM_WORLD), last = size_of(MPI_COMM_WORLD) - 1;
  const auto first_number = [](std::size_t v, std::size_t record, bool at_end) {
    return static_cast<int>(20 * v + 10 * record) + (at_end ? 5 : 0);
  };
  for (std::size_t record = 0; record < 2; ++record) {
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
      const bool has_records = schema.has_records(schema.variables[v]);
      if (record > 0 && !has_records) continue;
      io::Hyperslab slab = corner(schema, v, rank == last);
      const auto values =
          numbers(slab.type, slab.elements(), first_number(v, record, rank == last));
      slab.data = values.data();
      if (rank != 0 && rank != last) slab.count = {0};
      format->put(v, has_records ? record : io::no_record, {slab});
    }
    format->wait();
  }
  format->close();
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] {
    struct stat status {};
    REQUIRE(stat(path.c_str(), &status) == 0);
    CHECK(status.st_size > 3 * 4800000000LL);
    CHECK(status.st_blocks * 512 < 200000000); // a hole
  });
  for (const auto by :
       {io::ReadBy::each, io::ReadBy::serial, io::ReadBy::parallel, io::ReadBy::direct}) {
    io::ReadOptions how;
    how.by = by;
    const io::Reader in(path, MPI_COMM_WORLD, how);
    REQUIRE(in.records() == 2);
    for (std::size_t v = 0; v < schema.variables.size(); ++v) {
      const io::Variable& variable = schema.variables[v];
      for (std::size_t record = 0; record < (schema.has_records(variable) ? 2u : 1u); ++record) {
        for (const bool at_end : {false, true}) {
          const io::Box box = corner(schema, v, at_end)
                                  .in_record(schema.has_records(variable) ? record : io::no_record);
          std::vector<double> expected(box.elements());
          for (std::size_t k = 0; k < expected.size(); ++k)
            expected[k] = first_number(v, record, at_end) + static_cast<int>(k);
          INFO(io::word_of(by) << ": " << variable.name << ", record " << record);
          CHECK(in.read_block(variable.name, box.start, box.count) == expected);
        }
      }
    }
  }
}
