// io/methods/registry.hpp: every layout writes the file that one rank alone would write.
#include "io/disk/disk.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <numeric>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using io::Schema;
using io::Type;

namespace {

constexpr std::size_t records = 3;

io::Options striped(const std::string& way) {
  io::Options base;
  base.stripe = 1000;
  return io::parse_method(way, base);
}

const std::vector<std::string> layouts = {"zslab",    "zslab:1",  "box:1", "box:2",
                                          "morton:1", "morton:3", "auto",  "auto:1/stripe=64"};
const std::vector<std::string> three_layouts = {"zslab", "box:1", "morton:3", "auto"};

} // namespace

TEST_CASE("every layout writes the same bytes, on nodes of 1, 2, 3 ranks and of the machine") {
  const Scratch scratch;
  const bool is_ice = GENERATE(true, false);
  const std::string format = GENERATE("pnetcdf/", "direct/");
  const Schema schema = is_ice ? pattern::ice() : pattern::geodesic();
  pattern::write_alone(scratch, schema, records);
  for (const std::string& layout : layouts) {
    for (const int ranks_per_node : is_ice ? std::vector<int>{0, 2} : std::vector<int>{1, 3}) {
      if (ranks_per_node > 0 && ranks_per_node >= size_of(MPI_COMM_WORLD)) continue; // one node
      io::Options options = striped(format + layout);
      options.ranks_per_node = ranks_per_node;
      INFO(format << layout << ", " << ranks_per_node << " ranks per node");
      io::Writer writer(MPI_COMM_WORLD, options);
      pattern::write(writer, scratch / "ex.nc", schema, records);
      pattern::check_as_alone(scratch, "ex.nc", schema, records);
    }
  }
}

TEST_CASE("auto: long runs stay, short ones move, and the choice is reported") {
  const Scratch scratch;
  const auto size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  constexpr std::size_t length = 120;
  Schema schema;
  schema.dimensions = {{"y", length, true}, {"x", length, true}};
  schema.variables = {{"rows", Type::float64, {"y", "x"}, {}},
                      {"columns", Type::float64, {"y", "x"}, {}}};
  const auto [first, count] = my_part(length);
  std::vector<double> values(length * count);
  std::iota(values.begin(), values.end(), 1.0);
  io::Writer writer(MPI_COMM_WORLD, striped("direct/auto"));
  const auto put = [&](const char* variable, const io::Block& block) {
    const auto file = writer.open(
        scratch / variable, {schema.dimensions, {schema.variables[schema.variable(variable)]}, {}});
    file->put(variable, block, values.data());
    file->close();
    return std::pair{io::summarize(MPI_COMM_WORLD, file->statistics()).work,
                     file->hints().at("layout")};
  };
  const auto [rows, of_rows] = put("rows", {{first, 0}, {count, length}, {}});
  CHECK(rows.messages == 0);
  CHECK_THAT(of_rows, ContainsSubstring("1 variable(s) stay: " + std::to_string(size) +
                                        " calls; 0 variable(s) move"));
  const auto [columns, of_columns] = put("columns", {{0, first}, {length, count}, {}});
  CHECK((columns.messages > 0) == (size > 1));
  if (size > 1)
    CHECK_THAT(of_columns,
               ContainsSubstring("0 variable(s) stay: 0 calls; 1 variable(s) move: " +
                                 std::to_string(columns.message_bytes) + " bytes sent instead of " +
                                 std::to_string(size * length) + " calls"));
}

TEST_CASE("unless a layout is asked for, direct chooses by itself") {
  const Scratch scratch;
  const Schema schema{{{"y", 8, true}}, {{"thk", Type::float64, {"y"}, {}}}, {}};
  const auto is_chosen = [&](const std::string& way) {
    io::Writer writer(MPI_COMM_WORLD, striped(way));
    const auto file = writer.open(scratch / "ex.nc", schema);
    file->put_all("thk", std::vector<double>(8));
    const bool chosen = file->hints().count("layout") > 0;
    file->close();
    return chosen;
  };
  CHECK(is_chosen("direct/ranks_per_node=1"));
  CHECK(is_chosen("direct/ranks_per_node=100")); // of one node
  CHECK_FALSE(is_chosen("direct/native/ranks_per_node=1"));
  CHECK_FALSE(is_chosen("pnetcdf/ranks_per_node=1"));
}

TEST_CASE("formats that write together, after a layout") {
  const Scratch scratch;
  const auto [way, schema] = GENERATE(
      table<std::string, Schema>({{"netcdf4/zslab", pattern::ice()},
                                  {"netcdf4/morton:3/chunk=record/deflate=1", pattern::ice()},
                                  {"hybrid/box:1", pattern::geodesic()}}));
  INFO(way);
  io::Writer writer(MPI_COMM_WORLD, striped(way + "/ranks_per_node=2/buffer=2000"));
  pattern::write(writer, scratch / "ex.nc", schema, records, pattern::changing_patches);
  CHECK(pattern::wrong_values(scratch / "ex.nc", schema, records) == 0);
}

TEST_CASE("pieces that change from record to record, several puts, small buffers") {
  const Scratch scratch;
  const Schema schema = pattern::ice();
  pattern::write_alone(scratch, schema, records);
  const std::string format = GENERATE("pnetcdf/", "direct/");
  const auto [cut, buffer] =
      GENERATE(table<pattern::Cut, std::string>({{pattern::changing_patches, ""},
                                                 {pattern::halves, ""},
                                                 {pattern::halves, "/buffer=100"},
                                                 {pattern::patches, "/buffer=2000"}}));
  for (const std::string& layout : three_layouts) {
    INFO(format << layout << buffer);
    io::Writer writer(MPI_COMM_WORLD, striped(format + layout + "/ranks_per_node=2" + buffer));
    pattern::write(writer, scratch / "ex.nc", schema, records, cut);
    pattern::check_as_alone(scratch, "ex.nc", schema, records);
  }
}

TEST_CASE("two files interleave") {
  const Scratch scratch;
  const Schema schema = pattern::ice(), other = pattern::geodesic();
  const std::string method =
      GENERATE(as<std::string>(), "serial", "netcdf4", "pnetcdf", "direct", "pnetcdf/zslab",
               "pnetcdf/box:1", "pnetcdf/morton:3", "pnetcdf/auto", "direct/zslab", "direct/box:1",
               "direct/morton:3", "direct/auto");
  INFO(method);
  io::Writer writer(MPI_COMM_WORLD, striped(method));
  const auto a = writer.open(scratch / "a.nc", schema),
             b = writer.open(scratch / "b.nc", other, {1});
  pattern::put(*b, {}, pattern::patches, MPI_COMM_WORLD);
  pattern::put(*a, {}, pattern::patches, MPI_COMM_WORLD);
  for (std::size_t t = 0; t < 2; ++t) {
    pattern::put(*a, {t}, pattern::patches, MPI_COMM_WORLD);
    pattern::put(*b, {t}, pattern::patches, MPI_COMM_WORLD);
  }
  b->close();
  pattern::put(*a, {2}, pattern::patches, MPI_COMM_WORLD);
  a->close();
  CHECK(pattern::wrong_values(scratch / "a.nc", schema, 3) == 0);
  CHECK(pattern::wrong_values(scratch / "b.nc", other, 2) == 0);
}

TEST_CASE("file-per-aggregator: each file opens by itself and says where it belongs") {
  const Scratch scratch;
  const std::string format = GENERATE("serial", "pnetcdf", "netcdf4", "direct");
  const int size = size_of(MPI_COMM_WORLD), n = std::min(2, size);
  io::Writer writer(MPI_COMM_WORLD, striped(format + "/file-per-aggregator:2"));
  const Schema schema = pattern::ice();
  pattern::write(writer, scratch / "ex.nc", schema, records, pattern::changing_patches);
  CHECK_FALSE(std::filesystem::exists(scratch / "ex.nc"));
  CHECK(verify_alone(scratch / "manifest.jsonl").empty());
  std::size_t cells = 0;
  for (int a = 0; a < n; ++a) { // cut along x, the longer one
    const io::Reader in(scratch / ("ex.nc.000" + std::to_string(a)), MPI_COMM_WORLD,
                        {io::ReadBy::each, 1 << 20, 1 << 20, 0, io::Missing::fills, true, {}});
    const auto where = in.numbers("x", "domain_decomposition").value();
    CHECK(in.number("", "NumFilesInSet") == n);
    CHECK((where[0] == 1 && where[1] == 11));
    const auto first = static_cast<std::size_t>(where[2]) - 1,
               count = static_cast<std::size_t>(where[3]) - first;
    CHECK(in.dimensions("x")[0].length == count);
    CHECK(in.dimensions("y")[0].length == 7);
    cells += 7 * count;
    const auto x = in.read_all("x"), thk = in.read_all("thk");
    const std::size_t v_x = schema.variable("x"), v_thk = schema.variable("thk");
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      wrong += x[i] != pattern::value(schema, v_x, 0, first + i);
      for (std::size_t t = 0; t < records; ++t) {
        for (std::size_t j = 0; j < 7; ++j)
          wrong +=
              thk[(t * 7 + j) * count + i] != pattern::value(schema, v_thk, t, j * 11 + first + i);
      }
    }
    CHECK(wrong == 0);
    CHECK(in.read_all("z").size() == 5); // in every file
    CHECK(in.text("", "Conventions") == "CF-1.8");
  }
  CHECK(cells == 77);
}

TEST_CASE("file-per-aggregator: a file without distributed dimensions is one ordinary file") {
  const Scratch scratch;
  Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"nv", 2}};
  schema.variables = {{"time", Type::float64, {"time"}, {}},
                      {"time_bounds", Type::float64, {"time", "nv"}, {}}};
  pattern::write_alone(scratch, schema, records);
  io::Writer writer(MPI_COMM_WORLD, striped("pnetcdf/file-per-aggregator"));
  pattern::write(writer, scratch / "ex.nc", schema, records);
  pattern::check_as_alone(scratch, "ex.nc", schema, records);
}

TEST_CASE("file-per-aggregator: more aggregators than cells are refused") {
  const Scratch scratch;
  io::Writer writer(MPI_COMM_WORLD, striped("pnetcdf/file-per-aggregator:6"));
  const Schema small = pattern::ice(1, 2);
  if (size_of(MPI_COMM_WORLD) <= 2) {
    pattern::write(writer, scratch / "ex.nc", small, 1);
    CHECK(std::filesystem::exists(scratch / "ex.nc.0000"));
  } else {
    CHECK_REFUSED(writer.open(scratch / "ex.nc", small), "at most 2 agg");
  }
}

TEST_CASE("null with a layout moves values, and writes nothing") {
  const Scratch scratch;
  for (const char* layout : {"zslab", "box:1", "morton:2", "file-per-aggregator"}) {
    io::Writer writer(MPI_COMM_WORLD, striped(std::string("null/") + layout));
    pattern::write(writer, scratch / "ex.nc", pattern::ice(), records);
    const io::Summary s = io::summarize(MPI_COMM_WORLD, writer.statistics());
    CHECK(s.work.written_bytes == 0);
    CHECK((s.work.messages > 0) == (size_of(MPI_COMM_WORLD) > 1));
  }
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("what cannot work with a layout is refused with the reason") {
  const std::pair<const char*, const char*> refused[] = {
      {"serial/zslab", "format serial gathers to rank 0 by itself"},
      {"serial/box:2", "format serial gathers to rank 0 by itself"},
      {"serial/morton:1", "format serial gathers to rank 0 by itself"},
      {"hybrid/file-per-aggregator", "writes a NetCDF file per aggregator"},
      {"pnetcdf/zslab/define=interleaved", "a layout whole records"},
      {"pnetcdf/box:0", "expected one of"},
      {"pnetcdf/morton:-1", "expected one of"},
      {"pnetcdf/diagonal", "expected one of"}};
  for (const auto& [way, why] : refused) {
    INFO(way);
    CHECK_REFUSED(striped(way), why);
  }
}
