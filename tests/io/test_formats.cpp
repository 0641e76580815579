// What single formats promise beyond the values (test_writer.cpp): what late definitions move, what
// CDF-2 holds, shapes of chunks, hints, slabs that need no copy.
#include "io/formats/chunks.hpp"
#include "io/formats/classic.hpp"
#include "io/formats/runs.hpp"
#include "io/read/reader.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fstream>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using io::Type;
using Sizes = std::vector<std::size_t>;

namespace {

constexpr std::size_t cells = 200;

enum class Kind { records, fixed, mixed };

/// Write `n` variables of 1600 bytes (each record) in two records, in order; the bytes moved.
std::int64_t moved(const std::string& path, const std::string& way, Kind kind, int n) {
  const auto writer = writer_of(way);
  io::Schema s;
  s.dimensions = {{"time", io::unlimited}, {"x", cells}};
  for (int v = 0; v < n; ++v) {
    const bool has_records = kind == Kind::records || (kind == Kind::mixed && v % 2 == 0);
    const auto dims =
        has_records ? std::vector<std::string>{"time", "x"} : std::vector<std::string>{"x"};
    s.variables.push_back({"variable_" + std::to_string(v), Type::float64, dims, {{"units", "m"}}});
  }
  const auto file = writer->open(path, s);
  const auto [first, count] = my_part(cells);
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::size_t v = 0; v < s.variables.size(); ++v) {
      const std::vector<double> values(count, static_cast<double>(100 * v + t));
      if (s.has_records(s.variables[v])) {
        file->put(s.variables[v].name, t, {{first}, {count}, {}}, values.data());
      } else if (t == 0) {
        file->put(s.variables[v].name, {{first}, {count}, {}}, values.data());
      }
    }
    file->end_record();
  }
  file->close();
  const io::Reader in(path, MPI_COMM_WORLD);
  for (std::size_t v = 0; v < s.variables.size(); ++v) {
    const bool has_records = s.has_records(s.variables[v]);
    CHECK(in.read_all(s.variables[v].name).back() ==
          static_cast<double>(100 * v + (has_records ? 1 : 0)));
  }
  return io::summarize(MPI_COMM_WORLD, writer->statistics()).work.moved_bytes;
}

} // namespace

TEST_CASE("late definitions move what is there: the more variables, the more often") {
  const Scratch scratch;
  const std::string format = GENERATE("serial", "pnetcdf");
  const std::string way = format + "/define=interleaved", path = scratch / "late.nc";
  INFO(format);
  constexpr std::int64_t one = cells * 8; // bytes of a variable (of a record of it)
  CHECK(moved(path, format + "/header=0", Kind::records, 5) == 0);
  for (const int n : {2, 5, 9}) {
    INFO(n);
    // each definition moves all variables before it: payload times (n - 1) / 4
    const std::int64_t all = n * (n - 1) / 2 * one;
    CHECK(moved(path, way + "/header=0", Kind::records, n) == all);
    CHECK(moved(path, way + "/header=0", Kind::fixed, n) == all);
    // with room in the header all stay where they are, but PnetCDF writes records again
    CHECK(moved(path, way + "/header=64KiB", Kind::fixed, n) == 0);
    CHECK(moved(path, way + "/header=64KiB", Kind::records, n) == (format == "serial" ? 0 : all));
  }
  // fixed variables after record variables: the records move for each of them, whatever room the
  // header has. r f r f r: before the first f there is 1 record variable, before the second 2;
  // PnetCDF rewrites 1 and 2 more for the second and third r
  CHECK(moved(path, way + "/header=64KiB", Kind::mixed, 5) == (format == "serial" ? 3 : 6) * one);
}

TEST_CASE("a classic file is CDF-2 where that can hold it, else CDF-5") {
  const Scratch scratch;
  const auto writer = writer_of(GENERATE("serial", "pnetcdf", "hybrid", "direct"));
  const auto kind = [&](const io::Schema& s) {
    writer->open(scratch / "ex.nc", s);
    char magic[4] = {};
    std::ifstream(scratch / "ex.nc.tmp", std::ios::binary).read(magic, 4);
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string text = io::classic_kind(s);
    CHECK(text.substr(0, 5) == "CDF-" + std::to_string(magic[3]));
    return text;
  };
  const std::string beyond = "CDF-5, which GDAL does not read; ";
  io::Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", 65536}, {"x", 8192}, {"long", 2147483648}};
  s.variables = {{"v", Type::int8, {"x"}, {}}};
  CHECK(kind(s) == beyond + "dimension 'long': expected a length of at most 2147483647 in CDF-2, "
                            "found 2147483648");
  s.dimensions.pop_back();
  CHECK(kind(s) == "CDF-2");
  s.variables = {{"id", Type::int64, {"x"}, {}}};
  CHECK(kind(s) == beyond + "variable 'id': expected a type that CDF-2 has, found int64");
  s.variables = {{"v", Type::int8, {"x"}, {{"n", std::int64_t{1}}}}};
  CHECK_THAT(kind(s), ContainsSubstring("attribute 'v:n': expected a type"));
  s.variables = {{"big", Type::float64, {"time", "y", "x"}, {}}};
  CHECK(kind(s) == beyond + "variable 'big': expected at most 4294967292 bytes in a record of "
                            "CDF-2, found 4294967296");
}

TEST_CASE("shapes of chunks") {
  io::Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", 100}, {"x", 50}, {"long", 3000000000}};
  s.variables = {{"t", Type::float64, {"time"}, {}},
                 {"v", Type::float64, {"time", "y", "x"}, {}},
                 {"f", Type::int32, {"y", "x"}, {}},
                 {"s", Type::int32, {}, {}},
                 {"large", Type::int16, {"time", "y", "long"}, {}}};
  const auto chunk = [&](const std::string& variable, const std::string& way) {
    auto own = io::parse_method("netcdf4" + way, {}).own;
    own.insert({{"chunk", "auto"}, {"deflate", "0"}}); // unless they are given
    return io::chunk_shape(s, s.variables[s.variable(variable)],
                           {own["chunk"], std::stoi(own["deflate"])});
  };
  CHECK(chunk("t", "") == Sizes{512}); // 4 KiB
  CHECK(chunk("t", "/chunk=record") == Sizes{1});
  CHECK(chunk("v", "") == Sizes{1, 100, 50});
  CHECK(chunk("f", "").empty());
  CHECK(chunk("f", "/deflate=1") == Sizes{100, 50});
  CHECK(chunk("s", "/deflate=1").empty());
  CHECK(chunk("large", "") == Sizes{1, 1, 2147483647});              // below 4 GiB
  CHECK(chunk("large", "/deflate=1") == Sizes{1, 1, (1 << 20) / 2}); // many ranks compress
  CHECK(chunk("v", "/chunk=y=64,x=1000") == Sizes{1, 64, 50});       // cut to the dimension
  CHECK(chunk("v", "/chunk=x=7,time=4") == Sizes{4, 100, 7});
  CHECK(chunk("f", "/chunk=x=7") == Sizes{100, 7});
  CHECK(chunk("f", "/chunk=time=7").empty());
  CHECK_REFUSED(chunk("v", "/chunk=z=7"),
                "expected a dimension of the file (time, y, x, long), found 'z'");
  for (const char* wrong : {"/chunk=y", "/chunk=y=0", "/chunk=y=-3", "/chunk=y=4k"})
    CHECK_REFUSED(chunk("v", wrong), "expected auto, record or lengths by dimension");
}

TEST_CASE("aggregators per node become hints of MPI-IO, unless the user gives them") {
  const Scratch scratch;
  io::Schema s;
  s.dimensions = {{"x", 4}};
  const std::string nodes = std::to_string((size_of(MPI_COMM_WORLD) + 1) / 2); // of two ranks
  const auto open_and_close = [&](const std::string& way) {
    const auto writer = writer_of(way + "/ranks_per_node=2/aggregators=1");
    const auto file = writer->open(scratch / "ex.nc", s);
    auto found = file->hints();
    file->close();
    return found;
  };
  // asked for, and used or (Open MPI 5, all files but the first) said to be ignored
  const auto hints = [&](const std::string& way, const std::string& key) {
    const auto found = open_and_close(way);
    const auto ignored = found.find("ignored");
    const std::string list = ignored != found.end() ? "," + ignored->second + "," : "";
    const std::size_t at = list.find("," + key + "=");
    if (at == std::string::npos) return found.at(key);
    const std::size_t begin = at + key.size() + 2;
    return list.substr(begin, list.find(',', begin) - begin);
  };
  for (const char* format : {"netcdf4", "pnetcdf", "hybrid"}) {
    INFO(format);
    CHECK(hints(format, "cb_nodes") == nodes);
    CHECK(hints(format, "cb_config_list") == "*:" + nodes);
    CHECK(hints(std::string(format) + "/hints=cb_nodes=1", "cb_nodes") == "1");
  }
  for (const char* way : {"serial", "direct/native"}) CHECK(open_and_close(way).empty());
  CHECK_THROWS_WITH(open_and_close("pnetcdf/hints=cb_buffer_size=0"), ContainsSubstring("1 byte"));
}

TEST_CASE("runs: what lies together is one") {
  io::Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", 4}, {"x", 5}};
  s.variables = {{"f", Type::int16, {"y", "x"}, {}}, {"r", Type::int16, {"time", "y", "x"}, {}}};
  io::ClassicLayout layout;
  layout.variables = {{0, 40, false}, {40, 40, true}};
  layout.record_size = 40;
  const std::byte data[200] = {};
  const auto runs = [&](std::size_t v, std::size_t record, const io::Box& box) {
    std::vector<io::Run> list;
    io::append_runs(s, layout, v, record, box, data, list);
    std::vector<std::array<std::size_t, 3>> found; // in the file, bytes, in memory
    for (const auto& run : list)
      found.push_back({run.begin, run.size, static_cast<std::size_t>(run.data - data)});
    return found;
  };
  using Found = std::vector<std::array<std::size_t, 3>>;
  CHECK(runs(0, io::no_record, {{0, 0}, {4, 5}}) == Found{{0, 40, 0}});
  CHECK(runs(0, io::no_record, {{1, 0}, {2, 5}}) == Found{{10, 20, 0}});
  CHECK(runs(0, io::no_record, {{1, 2}, {2, 2}}) == Found{{14, 4, 0}, {24, 4, 4}});
  CHECK(runs(1, 3, {{0, 0}, {4, 5}}) == Found{{40 + 3 * 40, 40, 0}});
  CHECK(runs(1, 1, {{1, 1}, {2, 1}}) == Found{{80 + 12, 2, 0}, {80 + 22, 2, 2}});
}

TEST_CASE("what waits is limited, and large variables are cut") {
  io::Waiting waiting(1000, 3);
  CHECK((waiting.parts(3000) == 1 && waiting.parts(3001) == 2));
  waiting.add(2000);
  CHECK((waiting.has_room(1000) && !waiting.has_room(1001)));
  waiting.clear();
  CHECK(waiting.has_room(1 << 20)); // alone
  CHECK(io::Waiting(std::size_t{8} << 30, 1).parts(std::size_t{5} << 30) == 5);
}
