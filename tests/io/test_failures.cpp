// Errors of the writer: on every rank, naming file and cause, without a hang or a final name.
#include "io/disk/disk.hpp"
#include "io/disk/mpi_io.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cerrno>
#include <climits>
#include <csignal>
#include <fstream>
#include <limits>
#include <sys/resource.h>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using io::Block;

namespace {

constexpr std::size_t rows = 2;

io::Schema schema_of(std::size_t cells) {
  io::Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", rows}, {"x", cells / rows}};
  s.variables = {{"thk", io::Type::float64, {"time", "y", "x"}, {}},
                 {"mask", io::Type::int8, {"y", "x"}, {}}};
  return s;
}

/// Columns of the grid: what two ranks write interleaves in the file.
struct Share {
  std::size_t start, columns, count;
  explicit Share(std::size_t cells) {
    const Part part = my_part(cells / rows);
    start = part.first;
    columns = part.count;
    count = rows * columns;
  }
  Block block() const { return {{0, start}, {rows, columns}, {}}; }
};

/// While it lives, files of the given ranks cannot grow beyond `bytes`, as on a full disk.
class FullDisk {
public:
  FullDisk(rlim_t bytes, bool this_rank) {
    m_handler = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &m_before);
    rlimit limit = m_before;
    if (this_rank) limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, m_handler);
  }

private:
  rlimit m_before{};
  void (*m_handler)(int);
};

} // namespace

TEST_CASE("ways of writing that do not exist are refused, naming those that do") {
  io::Options options;
  options.format = "netcdf5";
  CHECK_REFUSED(io::Writer(MPI_COMM_WORLD, options),
                "null|serial|netcdf4|pnetcdf|hybrid|direct, found 'netcdf5'");
  options = {};
  options.layout = "boxes";
  CHECK_REFUSED(io::Writer(MPI_COMM_WORLD, options), "file-per-aggregator:N, found 'boxes'");
  options = {};
  options.stripe = std::size_t{16} << 30;
  CHECK_REFUSED(io::Writer(MPI_COMM_WORLD, options), "to 1GiB, found '16GiB'");
}

TEST_CASE("names that cannot be kept are refused before anything is written") {
  const Scratch scratch;
  io::Schema schema;
  schema.variables = {{"v", io::Type::float64, {}, {}}};
  const auto pnetcdf = writer_of("pnetcdf"), serial = writer_of("serial");
  CHECK_REFUSED(pnetcdf->open(scratch / "a:b.nc", schema),
                "a:b.nc.tmp': expected a path without ':'");
  CHECK_REFUSED(serial->open(scratch / "Gr\xf6nland.nc", schema), "expected a file name in UTF-8");
  const auto file = serial->open(scratch / "a:b.nc", schema);
  CHECK_REFUSED(file->put_all("w", std::vector<double>{1.0}),
                "a:b.nc': expected a variable of the schema, found 'w'");
  file->put_all("v", std::vector<double>{1.0});
  file->close();
}

TEST_CASE("a file that cannot be created is an error on every rank") {
  const Scratch scratch;
  const std::string format = GENERATE("serial", "netcdf4", "pnetcdf", "hybrid", "direct");
  const auto writer = writer_of(format);
  const std::string missing = scratch / "no/such/folder/ex.nc";
  CHECK_REFUSED(writer->open(missing, schema_of(10)), missing);
  scratch.on_rank_0([&] { std::ofstream(scratch / "file"); });
  CHECK_REFUSED(writer->open(scratch / "file/ex.nc", schema_of(10)), "file/ex.nc");
  // what rename would refuse at the end is refused at the beginning
  scratch.on_rank_0([&] { std::filesystem::create_directory(scratch / "folder.nc"); });
  CHECK_REFUSED(writer->open(scratch / "folder.nc", schema_of(10)),
                "folder.nc': expected the name of a file, found a folder");
  CHECK_REFUSED(writer->open(scratch / "folder.nc/", schema_of(10)), "found a folder");
  CHECK_FALSE(std::filesystem::exists(scratch / "folder.nc.tmp"));
  const std::string longest(NAME_MAX - 9, 'n'); // with ".0000.tmp"
  CHECK_REFUSED(writer->open(scratch / (longest + "n"), schema_of(10)),
                "at most 246 bytes, found 247");
  CHECK(message([&] { writer->open(scratch / longest, schema_of(10)); }) == "no error");
  io::Schema bad = schema_of(10);
  bad.variables[0].dimensions[1] = "lev";
  CHECK_THAT(message([&] { writer->open(scratch / "ex.nc", bad); }),
             ContainsSubstring("ex.nc") && ContainsSubstring("found 'lev'"));
}

TEST_CASE("wrong puts are refused") {
  const Scratch scratch;
  const auto writer =
      writer_of(GENERATE("null", "serial", "netcdf4", "pnetcdf", "hybrid", "direct"));
  const auto file = writer->open(scratch / "ex.nc", schema_of(10));
  const Share mine(10);
  const std::vector<double> thk(10, 1.0);
  const std::vector<std::int32_t> mask(10, 1);
  CHECK_REFUSED(file->put("topg", 0, mine.block(), thk.data()), "found 'topg'");
  CHECK_REFUSED(file->put("mask", mine.block(), mask.data()), "values of type byte, found int");
  CHECK_REFUSED(file->put("thk", mine.block(), thk.data()), "'thk': expected a record number");
  CHECK_REFUSED(file->put_all("mask", std::vector<std::int8_t>(9)), "expected 10 values, found 9");

  // the last rank alone puts beyond the grid: all ranks learn of it at the end of the record
  Block block = mine.block();
  const bool is_last = rank_in(MPI_COMM_WORLD) == size_of(MPI_COMM_WORLD) - 1;
  if (is_last) block.count[1] += 1;
  file->put("thk", 0, block, thk.data());
  CHECK_REFUSED(file->end_record(), "dimension 'x': expected a block within 0..5, found");
}

TEST_CASE("a file with values missing does not get its final name") {
  const Scratch scratch;
  const auto writer = writer_of(GENERATE("serial", "netcdf4", "pnetcdf", "hybrid", "direct"));
  const auto file = writer->open(scratch / "ex.nc", schema_of(10));
  const Share mine(10);
  const std::vector<double> thk(10, 1.0);
  file->put("thk", 0, mine.block(), thk.data());
  file->put("thk", 1, mine.block(), thk.data());
  CHECK_REFUSED(file->close(),
                "'mask': expected 10 values in 2 record(s), found that 0 have been put");
  CHECK_FALSE(std::filesystem::exists(scratch / "ex.nc"));
  CHECK_FALSE(std::filesystem::exists(scratch / "manifest.jsonl"));
}

TEST_CASE("a full disk is an error on every rank") {
  const Scratch scratch;
  const std::string format = GENERATE("serial", "netcdf4", "pnetcdf", "hybrid", "direct",
                                      "direct/zslab:1/ranks_per_node=1/buffer=64KiB");
  const bool one_rank_only = GENERATE(false, true);
  INFO(format << (one_rank_only ? ", one rank" : ", all ranks"));
  constexpr std::size_t cells = 1 << 20;
  const auto writer = writer_of(format);
  const auto file = writer->open(scratch / "ex.nc", schema_of(cells));
  if (format != "serial" && format.rfind("direct", 0) != 0 && io::mpi_io_name() == "OMPIO")
    SKIP("OMPIO hangs in a collective write that fails");
  const Share mine(cells);
  const std::vector<double> thk(mine.count, 1.0);
  const std::vector<std::int8_t> mask(mine.count, 1);
  std::string found;
  {
    const FullDisk full(1 << 20, !one_rank_only || rank_in(MPI_COMM_WORLD) == 0);
    found = message([&] {
      file->put("mask", mine.block(), mask.data());
      for (std::size_t t = 0; t < 3; ++t) {
        file->put("thk", t, mine.block(), thk.data());
        file->end_record();
      }
      file->close();
    });
  }
  CHECK_THAT(found, ContainsSubstring("ex.nc"));
  if (size_of(MPI_COMM_WORLD) == 1)
    CHECK_THAT(found, ContainsSubstring("File too large")); // what the system said
  CHECK_FALSE(std::filesystem::exists(scratch / "ex.nc"));
}

TEST_CASE("a full disk leaves the records that are committed in place") {
  const Scratch scratch;
  const auto writer = writer_of("direct");
  constexpr std::size_t cells = 1 << 14;
  const std::string path = scratch / "ts.nc", manifest = scratch / "manifest.jsonl";
  const auto file = writer->open(path, schema_of(cells), {1});
  const Share mine(cells);
  const std::vector<double> thk(mine.count, 1.0);
  const std::vector<std::int8_t> mask(mine.count, 1);
  file->put("mask", mine.block(), mask.data());
  file->put("thk", 0, mine.block(), thk.data());
  file->end_record();
  file->put("thk", 1, mine.block(), thk.data());
  file->end_record();
  const FullDisk full(1 << 17, true); // the values of two records are there
  CHECK(verify_alone(manifest).empty());
  CHECK_THAT(message([&] {
               file->put("thk", 2, mine.block(), thk.data());
               file->end_record();
             }),
             ContainsSubstring("ts.nc") && ContainsSubstring("File too large"));
  CHECK(verify_alone(manifest).empty());
}

TEST_CASE("the cause of a failed write: what the system said, or else that the disk is full") {
  const Scratch scratch;
  constexpr auto too_much = std::numeric_limits<std::int64_t>::max(); // more than any disk has
  CHECK(io::cause_of_failed_write(ENOSPC, scratch.path(), 0) == ": No space left on device");
  CHECK(io::cause_of_failed_write(EFBIG, scratch.path(), 0) == ": File too large");
  CHECK(io::cause_of_failed_write(ENOENT, scratch.path(), 0) == ""); // not of writing
  CHECK(io::cause_of_failed_write(0, scratch.path(), 0) == "");
  CHECK_THAT(io::cause_of_failed_write(0, scratch.path(), too_much),
             ContainsSubstring(
                 ": no space left on device: expected room for 9223372036854775807 bytes, found "));
  CHECK(io::cause_of_failed_write(0, scratch / "no/such/folder", too_much) == "");
}
