// io/durable/durable.hpp and the commits of the writer: final names are complete files, the
// manifest tells the truth.
#include "io/durable/durable.hpp"
#include "io/durable/sparse_checksum.hpp"
#include "io/durable/verify.hpp"
#include "io/writer.hpp"
#include "tests/io/series.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <fstream>
#include <random>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("close: final name, no temporary name, a line in the manifest") {
  const Scratch scratch;
  io::Options options;
  options.format = GENERATE("serial", "netcdf4", "pnetcdf", "hybrid", "direct");
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  const std::string path = scratch / "ex.nc", manifest = scratch / "manifest.jsonl";
  CHECK(io::manifest_of(path) == manifest);
  const auto file = writer->open(path, series());
  put_record(*file, 0);
  file->sync();
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(complete_records(path + ".tmp") == 1); // sync: another process can read it
  file->close(42);
  CHECK_FALSE(std::filesystem::exists(path + ".tmp"));
  CHECK(complete_records(path) == 1);
  CHECK(io::verify_manifest(manifest).empty());
  const auto lines = lines_of(manifest);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["state"] == "intent");
  CHECK(lines[1]["state"] == "committed");
  for (const auto& line : lines) {
    CHECK(line["name"] == "ex.nc");
    CHECK(line["size"] == std::filesystem::file_size(path));
    CHECK(line["step"] == 42);
    CHECK(line["records"] == 1);
  }
  MPI_Barrier(MPI_COMM_WORLD); // rank 0 has let the name go
  CHECK_FALSE(std::filesystem::exists(path + ".lock"));
}

TEST_CASE("the manifest notices what changed after it was written") {
  const Scratch scratch;
  const std::string manifest = scratch / "manifest.jsonl", path = scratch / "ex.nc";
  io::Options options;
  options.format = "serial";
  options.checksum = GENERATE("values", "file");
  const auto writer = io::make_writer(MPI_COMM_WORLD, options);
  const auto file = writer->open(path, series());
  put_record(*file, 0);
  file->close();
  const auto complaint = [&] {
    std::string all;
    for (const auto& c : io::verify_manifest(manifest)) all += c;
    return all;
  };
  const std::string good = scratch / "good.nc";
  scratch.on_rank_0([&] { std::filesystem::copy_file(path, good); });
  const std::uintmax_t size = std::filesystem::file_size(path);

  scratch.on_rank_0([&] { // one bit of the last value
    std::fstream f(path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekp(static_cast<std::streamoff>(size) - 1);
    f.put(1);
  });
  CHECK_THAT(complaint(),
             ContainsSubstring("ex.nc': ") &&
                 ContainsSubstring(options.checksum == "file"
                                       ? "expected " + std::to_string(size) + " bytes, crc32:"
                                       : "expected values with the sum"));
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] { std::filesystem::resize_file(path, size - 8); });
  CHECK_THAT(complaint(), ContainsSubstring("truncated"));
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] { std::filesystem::remove(path); });
  CHECK_THAT(complaint(), ContainsSubstring("No such file"));
  MPI_Barrier(MPI_COMM_WORLD);
  scratch.on_rank_0([&] { std::filesystem::rename(good, path); });
  CHECK(complaint().empty());
  MPI_Barrier(MPI_COMM_WORLD);

  // killed while appending a line: the torn line does not count, and the next commit ends it
  scratch.on_rank_0(
      [&] { std::ofstream(manifest, std::ios::app) << R"({"name":"ex.nc","size":1,)"; });
  CHECK(complaint().empty());
  MPI_Barrier(MPI_COMM_WORLD);
  const auto again = writer->open(path, series());
  put_record(*again, 0);
  put_record(*again, 1);
  again->close();
  CHECK(complaint().empty());
  CHECK_THAT(io::verify_manifest(scratch / "none.jsonl").at(0),
             ContainsSubstring("no such manifest"));
}

TEST_CASE(
    "killed between the rename and the last line: the intent before it vouches for the file") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    const std::string path = scratch / "ex.nc", manifest = scratch / "manifest.jsonl";
    io::Options options;
    options.format = "serial";
    const auto writer = io::make_writer(MPI_COMM_SELF, options);
    const auto write = [&](std::size_t records) {
      const auto file = writer->open(path, series());
      for (std::size_t t = 0; t < records; ++t) {
        file->put_all("time", t, std::vector<double>{0.0});
        file->put_all("thk", t, std::vector<double>(100, 0.0));
      }
      file->close();
    };
    write(1);
    std::filesystem::copy_file(path, scratch / "first.nc");
    write(2);
    // twice: intent, rename, committed. Take the last line away: as if killed just before it
    const auto lines = lines_of(manifest);
    REQUIRE(lines.size() == 4);
    CHECK(lines[2]["state"] == "intent");
    std::ofstream(manifest) << lines[0] << '\n' << lines[1] << '\n' << lines[2] << '\n';
    CHECK(io::verify_manifest(manifest).empty());
    // killed before the rename: the old file is there, and still vouched for
    std::filesystem::rename(scratch / "first.nc", path);
    CHECK(io::verify_manifest(manifest).empty());
    // after the last line, the old file is no longer right
    std::ofstream(manifest, std::ios::app) << lines[3] << '\n';
    CHECK(io::verify_manifest(manifest).size() == 1);
    // a new name: killed before the rename there is no file, after it there is one; both are right,
    // another one is not
    std::ofstream(manifest) << lines[0] << '\n';
    CHECK(io::verify_manifest(manifest).empty());
    std::filesystem::rename(path, scratch / "second.nc");
    CHECK(io::verify_manifest(manifest).empty());
    std::filesystem::rename(scratch / "second.nc", path);
    std::filesystem::resize_file(path, 100);
    CHECK_FALSE(io::verify_manifest(manifest).empty());
  });
}

TEST_CASE("the checksum is zlib's CRC-32, as every tool computes it") {
  const Scratch scratch;
  scratch.on_rank_0([&] { std::ofstream(scratch / "digits") << "123456789"; });
  const auto entry = io::checksum_file(scratch / "digits");
  CHECK(entry.checksum == "crc32:cbf43926"); // the check value of the standard
  CHECK(entry.size == 9);
  scratch.on_rank_0([&] { CHECK(io::copy_file(scratch / "digits", scratch / "copy") == 9); });
  CHECK(io::checksum_file(scratch / "copy").checksum == entry.checksum);
}

TEST_CASE("the checksum of a file from its pieces, in any order, from several ranks, with holes") {
  const Scratch scratch;
  std::mt19937 random(1);
  const std::string path = scratch / "pieces";
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{100003}}) {
    std::string bytes(size, '\0');
    std::vector<std::pair<std::size_t, std::size_t>> pieces; // begin, size
    for (std::size_t at = 0; at < size;) {
      const std::size_t n = std::min<std::size_t>(size - at, random() % 5000);
      const bool is_hole = random() % 4 == 0;
      for (std::size_t k = at; k < at + n && !is_hole; ++k) bytes[k] = static_cast<char>(random());
      if (!is_hole) pieces.emplace_back(at, n);
      at += n;
    }
    std::shuffle(pieces.begin(), pieces.end(), random);
    io::SparseChecksum ranks[3];
    for (const auto& [begin, n] : pieces) ranks[random() % 3].add(begin, bytes.data() + begin, n);
    std::uint32_t sum = 0;
    for (const io::SparseChecksum& rank : ranks) sum ^= rank.part_of_file(size);
    scratch.on_rank_0([&] {
      std::ofstream(path, std::ios::binary) << bytes;
      CHECK(io::checksum_text(io::checksum_of_parts(sum, size)) ==
            io::checksum_file(path).checksum);
      if (size > 0)
        CHECK(io::checksum_text(io::checksum_of_parts(sum ^ 1, size)) !=
              io::checksum_file(path).checksum);
    });
  }
}
