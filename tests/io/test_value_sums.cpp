// io/data/value_sums.hpp: the sum of values is that of its definition, however they are cut and
// lie; every format on every number of ranks has the same sums, which find a changed bit.
#include "io/disk/classic_header.hpp"
#include "io/disk/disk.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <netcdf.h>
#include <random>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using io::Type;

namespace {

/// The definition, value by value.
std::uint64_t expected_sum(const std::vector<double>& values) {
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < values.size(); ++n) {
    std::uint64_t bits;
    std::memcpy(&bits, &values[n], sizeof bits);
    const std::uint64_t u = bits ^ ((n + 1) * 0x9e3779b97f4a7c15);
    sum += u * 0xd1342542de82ef95 + (u % 0x100000000) * (u / 0x100000000);
  }
  return sum;
}

/// As it is made while the values are packed, and where they need not be.
std::uint64_t sum_of(io::Hyperslab slab, Type type, const std::vector<std::size_t>& shape) {
  io::ValueSum sum(shape), once_more(shape);
  io::Buffer packed;
  slab.sum = &sum;
  io::pack(slab, type, packed.of_size(8 * slab.elements()));
  io::Hyperslab there = io::row_major(slab, packed.data(), type);
  there.sum = &once_more;
  io::add_to_sum(there, type);
  CHECK(sum.value() == once_more.value());
  return sum.value();
}

io::Hyperslab slab_of(const std::vector<double>& values, const io::Box& box) {
  return io::row_major(box, reinterpret_cast<const std::byte*>(values.data()), Type::float64);
}

/// The lowest bit of the last value of a variable, whatever the format: by NetCDF.
void flip_last_value(const std::string& path, const std::string& variable) {
  int file = 0, id = 0, rank = 0, dimensions[NC_MAX_VAR_DIMS] = {};
  REQUIRE(nc_open(path.c_str(), NC_WRITE, &file) == NC_NOERR);
  REQUIRE(nc_inq_varid(file, variable.c_str(), &id) == NC_NOERR);
  REQUIRE(nc_inq_var(file, id, nullptr, nullptr, &rank, dimensions, nullptr) == NC_NOERR);
  std::vector<std::size_t> last(static_cast<std::size_t>(rank)), one(last.size(), 1);
  for (std::size_t d = 0; d < last.size(); ++d) {
    REQUIRE(nc_inq_dimlen(file, dimensions[d], &last[d]) == NC_NOERR);
    last[d] -= 1;
  }
  unsigned char value[8] = {};
  REQUIRE(nc_get_vara(file, id, last.data(), one.data(), value) == NC_NOERR);
  value[0] ^= 1;
  REQUIRE(nc_put_vara(file, id, last.data(), one.data(), value) == NC_NOERR);
  REQUIRE(nc_close(file) == NC_NOERR);
}

} // namespace

TEST_CASE("a sum of values is that of its definition, in any parts and orders of memory") {
  std::mt19937_64 random(7);
  const std::vector<std::size_t> shape = {5, 7, 11};
  std::vector<double> values(5 * 7 * 11);
  for (double& value : values) value = std::normal_distribution<double>(0, 1e3)(random);
  const std::uint64_t whole = expected_sum(values);
  CHECK(sum_of(slab_of(values, {{0, 0, 0}, shape}), Type::float64, shape) == whole);

  std::vector<double> turned(values.size()); // slowest dimension of the file fastest in memory
  for (std::size_t n = 0; n < values.size(); ++n)
    turned[(n % 11) * 35 + (n / 11) % 7 * 5 + n / 77] = values[n];
  const io::Hyperslab slab{{{0, 0, 0}, shape},
                           {1, 5, 35},
                           reinterpret_cast<const std::byte*>(turned.data()),
                           Type::float64};
  std::uint64_t sum = 0;
  for (std::size_t a = 0; a < 2; ++a) {
    for (std::size_t b = 0; b < 3; ++b)
      sum += sum_of(io::slice(slab, {{a * 3, 0, b * 4}, {3, 7, 4}}), Type::float64, shape);
  }
  CHECK(sum == whole);

  const double value = 0.1; // as the file has it
  const auto as_float = static_cast<float>(value);
  const auto sum_of_one = [](const auto& number, Type in_memory, Type type) {
    const auto* const data = reinterpret_cast<const std::byte*>(&number);
    return sum_of(io::row_major({{0}, {1}}, data, in_memory), type, {1});
  };
  const std::uint64_t right = sum_of_one(as_float, Type::float32, Type::float32);
  CHECK(sum_of_one(value, Type::float64, Type::float32) == right);
  CHECK(sum_of_one(value, Type::float64, Type::float64) != right);
}

TEST_CASE("every changed bit changes the sum, and so does every exchange of two values") {
  std::vector<double> values(40);
  for (std::size_t n = 0; n < values.size(); ++n)
    values[n] = static_cast<double>(n / 2); // most of their bits are equal
  const auto sum = [&] { return sum_of(slab_of(values, {{0}, {40}}), Type::float64, {40}); };
  const std::uint64_t right = sum();
  int unseen = 0, exchanged = 0;
  for (double& value : values) {
    for (int bit = 0; bit < 64; ++bit) {
      const double kept = value;
      std::uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      bits ^= std::uint64_t{1} << bit;
      std::memcpy(&value, &bits, sizeof bits);
      unseen += sum() == right;
      value = kept;
    }
  }
  for (std::size_t a = 0; a < 40; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (values[a] == values[b]) continue;
      std::swap(values[a], values[b]);
      unseen += sum() == right, exchanged += 1;
      std::swap(values[a], values[b]);
    }
  }
  CHECK(unseen == 0);
  CHECK(exchanged == 760);
}

TEST_CASE("the sum of what is put does not depend on what a format does with it") {
  const std::vector<double> values = {1.5, -2.0, 0.1, 4.0, 5.0, 6.0};
  const std::vector<std::size_t> shape = {2, 3};
  const io::Hyperslab slab = slab_of(values, {{0, 0}, shape});
  const auto half = [](const io::Hyperslab& all) {
    io::Buffer buffer;
    io::packed(io::slice(all, {{0, 0}, {1, 3}}), Type::float32, buffer);
  };
  const auto sum_with = [&](const auto& write) {
    return io::summed({slab}, Type::float32, shape,
                      [&](const io::Slabs& slabs) { write(slabs[0]); });
  };
  const std::uint64_t right = sum_with([&](const io::Hyperslab& all) {
    io::Buffer buffer;
    io::packed(all, Type::float32, buffer);
  });
  CHECK(right != 0);
  CHECK(sum_with([](const io::Hyperslab&) {}) == right); // strided memory, handed to a library
  CHECK(sum_with(half) == right);
  CHECK(sum_with([&](const io::Hyperslab& all) { // a part is packed twice
          half(all);
          io::Buffer buffer;
          io::packed(all, Type::float32, buffer);
        }) == right);
}

TEST_CASE("the sums in the manifest are those of the file, the same from every method") {
  const Scratch scratch;
  const std::string method =
      GENERATE("serial", "netcdf4", "netcdf4/deflate=1", "pnetcdf", "pnetcdf/box:1", "hybrid",
               "direct", "direct/zslab:2", "direct/calls=mpiio", "serial/file-per-aggregator:2",
               "pnetcdf/file-per-aggregator:3/buffer=100", "netcdf4/file-per-aggregator:2",
               "direct/file-per-aggregator:3");
  INFO(method);
  const io::Schema schema = pattern::ice();
  const std::string path = scratch / "ex.nc";
  pattern::write(*writer_of(method), path, schema, 3,
                 GENERATE(pattern::changing_patches, pattern::halves));
  pattern::write_alone(scratch, schema, 3);
  scratch.on_rank_0([&] {
    const auto files = io::parse_manifest(io::read_manifest(scratch / "manifest.jsonl")).files;
    REQUIRE(!files.empty());
    for (const auto& [name, lines] : files) { // one, or each subfile
      const io::ManifestEntry& line = lines.back();
      const io::FoundSums found = io::find_sums(MPI_COMM_SELF, scratch / name, 3);
      REQUIRE(line.sums);
      CHECK(*line.sums == found.sums);
      CHECK(line.metadata == found.metadata);
      CHECK(found.sums.size() == schema.variables.size());
      CHECK(found.sums.at("thk").size() == 3);
    }
    CHECK(verify_alone(scratch / "manifest.jsonl").empty());
    if (files.count("ex.nc") == 0) return;
    CHECK(io::find_sums(MPI_COMM_SELF, scratch / "alone.nc", 3).sums ==
          *files.at("ex.nc").back().sums);
  });
}

TEST_CASE("a changed bit is found, and named by file or subfile, variable and record") {
  const Scratch scratch;
  const std::string method =
      GENERATE("direct", "direct/zslab", "serial", "pnetcdf", "hybrid", "netcdf4",
               "direct/file-per-aggregator:3", "pnetcdf/file-per-aggregator:2");
  INFO(method);
  const std::string path = scratch / "ex.nc", manifest = scratch / "manifest.jsonl";
  const io::Schema schema = pattern::ice();
  pattern::write(*writer_of(method), path, schema, 3);
  std::string last = path;
  for (const char* suffix : {".0000", ".0001", ".0002"})
    if (std::filesystem::exists(path + suffix)) last = path + suffix;
  MPI_Barrier(MPI_COMM_WORLD);
  for (const io::Variable& variable : schema.variables) {
    const bool has_records = schema.has_records(variable);
    const std::string name = "variable '" + variable.name + "'";
    const auto flip_last = [&] { flip_last_value(last, variable.name); };
    scratch.on_rank_0(flip_last);
    const auto complaints = io::verify(MPI_COMM_WORLD, manifest, "ex.nc").complaints;
    if (last == path)
      CHECK_THAT(message([&] { io::require_intact(MPI_COMM_WORLD, path); }),
                 ContainsSubstring(name) && ContainsSubstring("was changed after it was written"));
    MPI_Barrier(MPI_COMM_WORLD);
    scratch.on_rank_0([&] {
      REQUIRE(complaints.size() == 1);
      CHECK_THAT(complaints[0], ContainsSubstring("file '" + last + "': " + name +
                                                  (has_records ? ", record 2: " : ": ") +
                                                  "expected values with the sum"));
      flip_last();
    });
  }
  scratch.on_rank_0([&] { // an attribute
    if (method == "netcdf4" || last != path) return;
    std::string bytes(io::read_classic_layout(path).value().header_end, '\0');
    std::ifstream(path, std::ios::binary)
        .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    flip(path, bytes.find("polar_stereographic"));
    const auto complaints = verify_alone(manifest);
    REQUIRE(complaints.size() == 1);
    CHECK_THAT(
        complaints[0],
        ContainsSubstring("expected dimensions, variables and attributes with the fingerprint "));
  });
}

TEST_CASE("what the manifest has with each choice of -io_checksum") {
  const Scratch scratch;
  const std::string choice = GENERATE("values", "none"), format = GENERATE("direct", "pnetcdf");
  INFO(choice << ", " << format);
  pattern::write(*writer_of(format + "/checksum=" + choice), scratch / "ex.nc", pattern::ice(), 2);
  scratch.on_rank_0([&] {
    const auto files = io::parse_manifest(io::read_manifest(scratch / "manifest.jsonl")).files;
    const io::ManifestEntry& line = files.at("ex.nc").back();
    CHECK(line.sums.has_value() == (choice == "values"));
    CHECK(line.metadata.empty() == (choice == "none"));
    CHECK(verify_alone(scratch / "manifest.jsonl").empty());
    std::ofstream(scratch / "ex.nc", std::ios::app) << "more";
    CHECK_FALSE(verify_alone(scratch / "manifest.jsonl").empty()); // by its size
  });
}
