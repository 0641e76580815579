// io/write/writer.hpp: the pattern of pattern.hpp by every format on any ranks, read back.
#include "io/disk/disk.hpp"
#include "io/disk/mpi_io.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <netcdf.h>

#include <algorithm>
#include <map>

using namespace nunatak;
using io::Block;
using io::Type;

namespace {

constexpr std::size_t n_times = 3;

/// The state of an ice sheet with attributes of all types; CDF-2 has no 64-bit integers.
io::Schema with_attributes(bool is_cdf2) {
  io::Schema s = pattern::ice();
  s.variables.push_back({"label", Type::int32, {"y", "x"}, {{"_FillValue", -1}}});
  s.attributes = {{"Conventions", "CF-1.8"},
                  {"numbers", std::vector<double>{1.5, 2.5}},
                  {"count", 3},
                  {"empty", ""}};
  const auto attributes = [&s](const char* name) -> auto& {
    return s.variables[s.variable(name)].attributes;
  };
  attributes("thk") = {{"units", "m"}, {"_FillValue", -9999}, {"valid_min", 0}};
  attributes("mask") = {{"flag_values", {0, 1, 2}}, {"flag_meanings", "a b c"}};
  attributes("basins") = {{"valid_range", {0, 7000}}};
  attributes("cell") = {{"valid_max", std::int64_t{4611686018427387905LL}}};
  attributes("uvel") = {{"valid_max", 1e7}};
  if (is_cdf2)
    s.variables.erase(s.variables.begin() + static_cast<std::ptrdiff_t>(s.variable("cell")));
  return s;
}

/// What a file says of itself; variables defined `interleaved` are in it in the order of puts.
void check_metadata(const std::string& path, const io::Schema& schema, bool interleaved) {
  const io::Reader in(path, MPI_COMM_WORLD);
  const std::map<Type, std::string> types = {{Type::int8, "byte"},     {Type::int16, "short"},
                                             {Type::int32, "int"},     {Type::int64, "int64"},
                                             {Type::float32, "float"}, {Type::float64, "double"}};
  std::vector<std::string> names, found = in.variables();
  for (const auto& v : schema.variables) {
    names.push_back(v.name);
    CHECK(in.type(v.name) == types.at(v.type));
  }
  if (interleaved) {
    std::sort(names.begin(), names.end());
    std::sort(found.begin(), found.end());
  }
  CHECK(found == names);
  CHECK(in.text("", "Conventions") == "CF-1.8");
  CHECK(in.text("", "empty") == "");
  CHECK(in.numbers("", "numbers") == std::vector<double>{1.5, 2.5});
  CHECK(in.attribute_type("", "count") == "int");
  CHECK(in.number("thk", "_FillValue") == -9999.0);
  // given as int, written in the type of the variable
  CHECK(in.attribute_type("thk", "_FillValue") == "double");
  CHECK(in.attribute_type("thk", "valid_min") == "double");
  CHECK(in.attribute_type("mask", "flag_values") == "byte");
  CHECK(in.attribute_type("basins", "valid_range") == "short");
  if (in.has("cell")) CHECK(in.attribute_type("cell", "valid_max") == "int64");
  CHECK(in.attribute_type("uvel", "valid_max") == "float");
  CHECK(in.numbers("mask", "flag_values") == std::vector<double>{0, 1, 2});
  const auto axes = in.dimensions("temp");
  REQUIRE(axes.size() == 4);
  CHECK((axes[0].unlimited && axes[1].name == "z" && axes[1].length == 5));
  CHECK((axes[3].name == "x" && axes[3].length == 11));
}

} // namespace

TEST_CASE("every way of writing writes the same values and metadata") {
  const Scratch scratch;
  const std::string way = GENERATE(
      as<std::string>(), "serial", "pnetcdf", "netcdf4", "hybrid", "direct", // and then the knobs:
      "direct/align=4KiB/header=0", "direct/zslab", "direct/box:1", "direct/morton:2",
      "direct/calls=mpiio", "direct/box:1/calls=mpiio", "serial/buffer=617",
      "serial/define=interleaved/header=0", "pnetcdf/buffer=100",
      "pnetcdf/define=interleaved/header=0", "pnetcdf/align=4KiB/header=0",
      "pnetcdf/aggregators=2/hints=cb_buffer_size=65536", "hybrid/align=1KiB/header=64KiB",
      "netcdf4/buffer=100", "netcdf4/chunk=record/align=4KiB",
      "netcdf4/chunk=y=3,x=4,time=2/deflate=4");
  INFO(way);
  const io::Options options = io::parse_method(way, {});
  const bool interleaved = options.define == "interleaved";
  const io::Schema schema = with_attributes(false);
  const std::string path = scratch / "ex.nc";
  const auto writer = std::make_unique<io::Writer>(MPI_COMM_WORLD, options);
  pattern::write(*writer, path, schema, n_times);
  CHECK((io::summarize(MPI_COMM_WORLD, writer->statistics()).work.moved_bytes > 0) == interleaved);
  CHECK(pattern::wrong_values(path, schema, n_times) == 0);
  check_metadata(path, schema, interleaved);
  scratch.on_rank_0([&] { CHECK(verify_alone(scratch / "manifest.jsonl").empty()); });

  // and the same bytes as one rank alone, other classic files as serial
  if (options.format != "direct" && way != "serial" && way != "pnetcdf") return;
  scratch.on_rank_0([&] {
    io::Options others = options;
    others.format = "serial";
    others.layout = "native";
    others.own.clear();
    pattern::write(*std::make_unique<io::Writer>(MPI_COMM_SELF, others), scratch / "one.nc", schema,
                   n_times, pattern::patches, MPI_COMM_SELF);
    CHECK(file_hash(path) == file_hash(scratch / "one.nc"));
  });
}

TEST_CASE("CDF-2 holds the same, without 64-bit integers") {
  const Scratch scratch;
  const io::Schema schema = with_attributes(true);
  const auto writer = writer_of(GENERATE("serial", "pnetcdf", "hybrid", "direct"));
  pattern::write(*writer, scratch / "ex.nc", schema, n_times);
  CHECK(pattern::wrong_values(scratch / "ex.nc", schema, n_times) == 0);
  check_metadata(scratch / "ex.nc", schema, false);
}

TEST_CASE("pieces that leave gaps do not touch the gaps; 64-bit integers and floats are exact") {
  const Scratch scratch;
  const std::string format = GENERATE("serial", "pnetcdf", "netcdf4", "hybrid", "direct");
  INFO(format);
  const auto writer = writer_of(format);
  io::Schema schema;
  schema.dimensions = {{"x", 12}};
  schema.variables = {{"v", Type::int64, {"x"}, {}}, {"f", Type::float32, {"x"}, {}}};
  const auto file = writer->open(scratch / "gaps.nc", schema);
  constexpr std::int64_t first = 4611686018427387905LL; // 2^62 + 1: no double holds it
  std::vector<float> floats;
  for (int n = 0; n < 12; ++n) floats.push_back(static_cast<float>(n) + 0.1f);
  file->put_all("f", floats);
  const auto rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
             size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  // every second cell in the first round, in cyclic order over the ranks; then the others
  for (std::size_t n = 0; n < 6 / size + 1; ++n) {
    for (const std::size_t odd : {std::size_t{1}, std::size_t{0}}) {
      const std::size_t pair = n * size + rank, at = 2 * pair + odd;
      std::int64_t value = first + static_cast<std::int64_t>(at);
      file->put("v", Block{{pair < 6 ? at : 0}, {pair < 6 ? 1u : 0u}, {}}, &value);
      value = 0; // put has copied
    }
  }
  file->close();
  const io::Reader in(scratch / "gaps.nc", MPI_COMM_WORLD);
  int id = -1;
  std::vector<long long> v(12);
  REQUIRE(nc_open((scratch / "gaps.nc").c_str(), NC_NOWRITE, &id) == NC_NOERR);
  CHECK(nc_get_var_longlong(id, 0, v.data()) == NC_NOERR);
  nc_close(id);
  for (std::size_t n = 0; n < 12; ++n) CHECK(v[n] == first + static_cast<std::int64_t>(n));
  CHECK(in.read_all("f") == std::vector<double>(floats.begin(), floats.end()));
}

TEST_CASE("null writes nothing; statistics count what was put") {
  const Scratch scratch;
  const std::string format = GENERATE("null", "serial", "netcdf4", "pnetcdf", "direct");
  INFO(format);
  const auto writer = writer_of(format);
  const auto file = writer->open(scratch / "ex.nc", pattern::ice());
  pattern::put(*file, {}, pattern::patches, MPI_COMM_WORLD);
  for (const std::size_t t : {0, 1}) pattern::put(*file, {t}, pattern::patches, MPI_COMM_WORLD);
  file->close();
  CHECK(std::filesystem::exists(scratch / "ex.nc") == (format != "null"));

  const io::Summary s = io::summarize(MPI_COMM_WORLD, writer->statistics());
  constexpr std::int64_t cells = 7 * 11, levels = 5;
  constexpr std::int64_t fixed = 8 * (7 + 11 + levels) + 4 + cells * (2 + 8),
                         record = 8 + 16 + cells * (1 + 8) + cells * levels * (8 + 4);
  CHECK(s[io::Phase::post].bytes == fixed + 2 * record);
  CHECK(s[io::Phase::post].operations == (6 + 2 * 6) * size_of(MPI_COMM_WORLD));
  CHECK(s[io::Phase::wait].operations == 3 * size_of(MPI_COMM_WORLD));
  CHECK(s[io::Phase::wait].min <= s[io::Phase::wait].mean);
  CHECK(s[io::Phase::wait].mean <= s[io::Phase::wait].max);
  CHECK(file->statistics()[io::Phase::post].bytes == writer->statistics()[io::Phase::post].bytes);
  if (format == "null") {
    CHECK(s.work.written_bytes == 0);
    CHECK(s[io::Phase::fsync].operations == 0);
  } else {
    CHECK(s.work.written_bytes >= fixed + 2 * record);
  }
  const bool by_mpi_io = format != "null" && format != "serial" && format != "direct";
  REQUIRE(file->hints().count("mpi_io") == (by_mpi_io ? 1 : 0));
  if (by_mpi_io) CHECK(file->hints().at("mpi_io") == io::mpi_io_name());
}
