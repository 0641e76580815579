// io/durable/recover.hpp: what a killed run has saved of a series becomes a file with those
// records, with every format; what is not what was saved does not.
#include "io/durable/recover.hpp"

#include "io/disk/disk.hpp"
#include "io/durable/manifest.hpp"
#include "tests/io/series.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <optional>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::size_t saved = 3;

/// What is on the disk if a run is killed `later` records after it has saved some: a copy.
void leave(const Scratch& scratch, const std::string& method, std::size_t later) {
  scratch.on_rank_0([&] { std::filesystem::create_directory(scratch / "run"); });
  const auto writer = writer_of(method);
  const auto file = writer->open(scratch / "run/ex.nc", series(), {0});
  for (std::size_t t = 0; t < saved; ++t) put_record(*file, t);
  file->commit(7);
  file->commit(8); // nothing is new
  for (std::size_t t = saved; t < saved + later; ++t) put_record(*file, t);
  scratch.on_rank_0([&] {
    std::filesystem::copy(scratch / "run", scratch / "left");
    std::filesystem::remove(scratch / "left/ex.nc.lock");
  });
  file->close();
}

} // namespace

TEST_CASE("a saved series is recovered with the records that were saved") {
  const std::string method =
      GENERATE("serial", "pnetcdf", "hybrid", "netcdf4", "direct", "pnetcdf/box:1");
  const std::size_t later = GENERATE(0, 2);
  const Scratch scratch;
  leave(scratch, method, later);
  const std::string path = scratch / "left/ex.nc";
  const io::Recovered recovered = io::recover(MPI_COMM_WORLD, path);
  CHECK(recovered.why_not.empty());
  CHECK(recovered.records == saved);
  CHECK(complete_records(path) == saved);
  scratch.on_rank_0([&] {
    CHECK(!std::filesystem::exists(path + ".tmp"));
    CHECK(!std::filesystem::exists(path + ".lock"));
    CHECK(verify_alone(scratch / "left/manifest.jsonl").empty());
  });
  CHECK(io::recover(MPI_COMM_WORLD, path).records == 0); // done
  // what was closed well is no case for it, and verifies
  CHECK(io::recover(MPI_COMM_WORLD, scratch / "run/ex.nc").records == 0);
  CHECK(complete_records(scratch / "run/ex.nc") == saved + later);
}

TEST_CASE("recovery may be interrupted anywhere and repeated") {
  const Scratch scratch;
  leave(scratch, "pnetcdf", 2);
  const std::string path = scratch / "left/ex.nc";
  const std::string manifest = scratch / "left/manifest.jsonl";
  std::string before;
  scratch.on_rank_0([&] { before = io::read_manifest(manifest); });
  io::recover(MPI_COMM_WORLD, path);
  scratch.on_rank_0([&] { // killed before the rename
    std::filesystem::rename(path, path + ".tmp");
    CHECK(verify_alone(manifest).empty());
  });
  const auto again = [&] {
    const io::Recovered recovered = io::recover(MPI_COMM_WORLD, path);
    CHECK((recovered.records == saved && recovered.why_not.empty()));
    CHECK(complete_records(path) == saved);
  };
  SECTION("after the line") {}
  SECTION("while it wrote the line") {
    scratch.on_rank_0([&] { std::ofstream(manifest) << before << R"({"name":"ex.nc","size":1,)"; });
  }
  SECTION("before the line") {
    scratch.on_rank_0([&] { std::ofstream(manifest) << before; });
  }
  again();
}

TEST_CASE("a file of a later run is not taken for the one whose rename is missing") {
  const Scratch scratch;
  leave(scratch, "serial", 0);
  const std::string path = scratch / "left/ex.nc", temporary = path + ".tmp";
  io::recover(MPI_COMM_WORLD, path);
  scratch.on_rank_0([&] {
    std::filesystem::copy(path, temporary);
    flip(temporary, std::filesystem::file_size(temporary) - 1); // of the same size
  });
  const io::Recovered recovered = io::recover(MPI_COMM_WORLD, path);
  CHECK((recovered.records == 0 && recovered.why_not.empty()));
  CHECK(complete_records(path) == saved);
}

TEST_CASE("what is not what was saved is not recovered") {
  const Scratch scratch;
  leave(scratch, "serial", 1);
  const std::string path = scratch / "left/ex.nc", temporary = path + ".tmp";
  SECTION("a value has changed") {
    scratch.on_rank_0([&] {
      const std::uintmax_t record = 8 * 101, size = std::filesystem::file_size(temporary);
      flip(temporary, size - record - 1); // of the last record that was saved
    });
    CHECK_THAT(io::recover(MPI_COMM_WORLD, path).why_not,
               ContainsSubstring("ex.nc.tmp': its values are not those that were saved"));
  }
  SECTION("it is shorter") {
    scratch.on_rank_0([&] {
      std::filesystem::resize_file(temporary, std::filesystem::file_size(temporary) - 8 * 101 - 8);
    });
    CHECK_THAT(io::recover(MPI_COMM_WORLD, path).why_not,
               ContainsSubstring("expected 3 records, found fewer"));
  }
  SECTION("it is not there, or a link") {
    scratch.on_rank_0([&] { std::filesystem::rename(temporary, path + ".kept"); });
    CHECK(io::recover(MPI_COMM_WORLD, path).records == 0);
    scratch.on_rank_0([&] { std::filesystem::create_symlink("ex.nc.kept", temporary); });
    CHECK(io::recover(MPI_COMM_WORLD, path).records == 0);
  }
  SECTION("another run writes it") {
    std::optional<io::Lock> lock;
    scratch.on_rank_0([&] { lock.emplace(path); });
    CHECK_REFUSED(io::recover(MPI_COMM_WORLD, path), "another program writes it");
  }
  scratch.on_rank_0([&] { CHECK(!std::filesystem::exists(path)); });
}

TEST_CASE("files without sums and subfiles are not saved") {
  const std::string method = GENERATE("serial/checksum=none", "serial/file-per-aggregator:1");
  const Scratch scratch;
  leave(scratch, method, 0);
  CHECK(io::recover(MPI_COMM_WORLD, scratch / "left/ex.nc").records == 0);
}
