// io/write/join.hpp: the subfiles of a layout file-per-aggregator become the file that was
// never in subfiles, byte for byte; those missing, damaged or of another set are refused.
#include "io/disk/disk.hpp"
#include "io/write/join.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <netcdf.h>

using namespace nunatak;
using io::Schema;

namespace {

constexpr std::size_t records = 2;

void write_pieces(const std::string& path, const std::string& format, const Schema& schema,
                  int per_node = 6) {
  const auto writer = writer_of(format + "/file-per-aggregator:" + std::to_string(per_node));
  pattern::write(*writer, path, schema, records);
}

void check_refused(const Scratch& scratch, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    CHECK_REFUSED(io::join(MPI_COMM_WORLD, scratch / "ex.nc", scratch / "no.nc", {}), word);
  CHECK_FALSE(std::filesystem::exists(scratch / "no.nc"));
}

} // namespace

TEST_CASE("joined subfiles have the bytes of the file that was never cut") {
  const Scratch scratch;
  const auto schema = GENERATE(values({pattern::ice(), pattern::geodesic()}));
  const std::string format = GENERATE("serial", "pnetcdf", "netcdf4");
  INFO(format);
  pattern::write_alone(scratch, schema, records);
  write_pieces(scratch / "ex.nc", format, schema);
  const io::Joined joined = io::join(MPI_COMM_WORLD, scratch / "ex.nc", scratch / "joined.nc",
                                     options_of("pnetcdf/zslab"));
  CHECK(joined.subfiles == static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  CHECK(joined.records == records);
  scratch.on_rank_0([&] {
    CHECK(file_hash(scratch / "joined.nc") == file_hash(scratch / "alone.nc"));
    io::join(MPI_COMM_SELF, scratch / "ex.nc", scratch / "small.nc",
             options_of("serial/buffer=100"));
    CHECK(file_hash(scratch / "small.nc") == file_hash(scratch / "alone.nc"));
    CHECK(verify_alone(scratch / "manifest.jsonl").empty());
  });
}

TEST_CASE("subfiles that are missing, damaged or strange are refused by name") {
  const Scratch scratch;
  const int size = size_of(MPI_COMM_WORLD);
  const auto on_rank_0 = [&](const auto& f) { scratch.on_rank_0(f); };
  const auto path = [&](const char* name) { return std::filesystem::path(scratch / name); };
  check_refused(scratch, {"ex.nc.0000': no such file", "the first subfile of"});

  io::Writer writer(MPI_COMM_WORLD, options_of("pnetcdf"));
  pattern::write(writer, scratch / "ex.nc.0000", pattern::ice(), records); // an ordinary file
  check_refused(scratch, {"ex.nc.0000': expected the attribute NumFilesInSet"});
  Schema boastful = pattern::ice();
  boastful.attributes.emplace_back("NumFilesInSet", 0x1p61);
  pattern::write(writer, scratch / "ex.nc.0000", boastful, records);
  check_refused(scratch, {"ex.nc.2305843009213693951': no such file"});
  if (size == 1) return;

  write_pieces(scratch / "ex.nc", "pnetcdf", pattern::ice(), 2);
  write_pieces(scratch / "longer.nc", "pnetcdf", pattern::ice(7, 12), 2);
  write_pieces(scratch / "other.nc", "pnetcdf", pattern::geodesic(), 2);
  on_rank_0([&] { std::filesystem::rename(path("ex.nc.0001"), path("kept")); });
  check_refused(scratch, {"ex.nc.0001': no such file", "subfiles of"});

  on_rank_0([&] { std::filesystem::copy_file(path("ex.nc.0000"), path("ex.nc.0001")); });
  check_refused(scratch, {"expected 11 values", "variable 'x'", "found 5"});

  on_rank_0([&] { std::filesystem::rename(path("longer.nc.0001"), path("ex.nc.0001")); });
  check_refused(scratch, {"ex.nc.0001': expected x = 11, as in the first subfile, found x = 12"});

  on_rank_0([&] { std::filesystem::rename(path("other.nc.0001"), path("ex.nc.0001")); });
  check_refused(scratch, {"ex.nc.0001': expected ", ", as in the first subfile, found "});

  on_rank_0([&] {
    std::filesystem::copy_file(path("kept"), path("ex.nc.0001"),
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path("ex.nc.0001"),
                                 std::filesystem::file_size(path("ex.nc.0001")) - 8);
  });
  check_refused(scratch, {"ex.nc.0001': truncated"});

  on_rank_0([&] {
    std::filesystem::copy_file(path("kept"), path("ex.nc.0001"),
                               std::filesystem::copy_options::overwrite_existing);
    int nc = 0, x = 0;
    const int shifted[] = {1, 11, 5, 10}; // one index too early
    CHECK(nc_open(path("ex.nc.0001").c_str(), NC_WRITE, &nc) == NC_NOERR);
    CHECK(nc_inq_varid(nc, "x", &x) == NC_NOERR);
    CHECK(nc_put_att_int(nc, x, "domain_decomposition", NC_INT, 4, shifted) == NC_NOERR);
    CHECK(nc_close(nc) == NC_NOERR);
  });
  check_refused(scratch, {"ex.nc.0001': variable 'x': expected a part that no other subfile has",
                          "ex.nc.0000'"});

  on_rank_0([&] { std::filesystem::rename(path("kept"), path("ex.nc.0001")); });
  io::join(MPI_COMM_WORLD, scratch / "ex.nc", scratch / "yes.nc", {});
  CHECK(pattern::wrong_values(scratch / "yes.nc", pattern::ice(), records) == 0);
}
