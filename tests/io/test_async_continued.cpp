// Output servers go on in place with the series of an earlier run, as the ranks themselves would:
// the same bytes, the same reasons for a new file, and the same error, at the same call.
#include "io/durable/durable.hpp"
#include "io/durable/verify.hpp"
#include "tests/io/series.hpp"
#include "tests/io/with_servers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include <filesystem>

namespace io = nunatak::io;

namespace {

/// f(comm, suffix of a method) on the ranks that compute: with servers, or all ranks.
template <class F> void compute(const std::string& transport, const F& f) {
  if (transport == "sync") return f(MPI_COMM_WORLD, std::string());
  with_servers(transport, [&](MPI_Comm comm) { f(comm, "/transport=" + transport); });
}

/// Kept records 0 to 2, and 3 to 5 after them.
void go_on(MPI_Comm comm, const std::string& path, const std::string& method) {
  const auto writer = writer_of(method, comm);
  const std::size_t before = file_hash(path);
  for (const bool has_more : {false, true}) { // the first is given up: the old file stands
    const auto file =
        writer->open(path, with_history("one\ntwo"), {io::FileKind::append, 1, 3, true});
    REQUIRE(file->is_continued());
    CHECK(file_hash(path) == before);
    CHECK(message([&] { file->put_all("time", 2, std::vector<double>{0.0}); }).find("from 3 on") !=
          std::string::npos);
    MPI_Barrier(comm);
    if (!has_more) continue;
    for (std::size_t t = 3; t < 6; ++t) put_record(*file, t, comm);
    file->close();
  }
  writer->finish();
}

} // namespace

TEST_CASE("a series that servers continue in place has the bytes of the ranks' own") {
  const std::string transport = GENERATE("async:1", "async:2", "async:2+1");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  const std::string before = GENERATE("serial", "direct"),
                    method = GENERATE("direct", "direct/box");
  for (const std::string& way : {std::string("sync"), transport}) {
    write_series(scratch / (way + ".nc"), before, with_history("one"), 5);
    compute(way, [&](MPI_Comm comm, const std::string& suffix) {
      go_on(comm, scratch / (way + ".nc"), method + suffix);
    });
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(complete_records(scratch / (way + ".nc")) == 6);
  }
  CHECK(file_hash(scratch / (transport + ".nc")) == file_hash(scratch / "sync.nc"));
  CHECK(io::verify_manifest(scratch / "manifest.jsonl").empty());
  CHECK_FALSE(lines_of(scratch / "manifest.jsonl").back().contains("grows"));
}

TEST_CASE("servers write a series anew, or refuse it, for the reasons of the ranks") {
  const std::string transport = GENERATE("async:1", "async:2", "async:1+1");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  const std::string path = scratch / "ts.nc";
  const io::Schema two = with_history("one\ntwo");
  io::Schema other = two;
  other.variables[1].attributes = {{"units", "m"}};
  struct Case {
    std::string method, path, found;
    io::Schema schema;
    int every = 1;
  };
  write_series(path, "direct", with_history("one"), 5);
  const std::string none = scratch / "none/ts.nc";
  for (const Case& c :
       {Case{"direct", path, "another header", other},
        Case{"direct/checksum=none", path, "sums", two}, Case{"pnetcdf", path, "", two},
        Case{"direct", path, "", two, 0}, Case{"direct", none, none, two}}) { // no such folder
    std::string found[2];
    for (const int n : {0, 1}) {
      scratch.on_rank_0([&] { std::filesystem::remove(path + ".tmp"); }); // of a file given up
      compute(n == 0 ? "sync" : transport, [&](MPI_Comm comm, const std::string& suffix) {
        const auto writer = writer_of(c.method + suffix, comm);
        const std::string error = message([&] {
          const auto file =
              writer->open(c.path, c.schema, {io::FileKind::append, c.every, 3, true});
          CHECK_FALSE(file->is_continued());
          found[n] = file->why_anew();
        });
        if (error == "no error") return;
        found[n] = error;
        io::broadcast(found[n], comm);
        CHECK(found[n] == error);
      });
      MPI_Barrier(MPI_COMM_WORLD);
    }
    INFO(found[0] << " and " << found[1]);
    if (rank_in(MPI_COMM_WORLD) != 0) continue; // where why_anew() is known
    CHECK(found[0] == found[1]);
    CHECK((c.found.empty() ? found[1].empty() : found[1].find(c.found) != std::string::npos));
  }
}
