// The transport thread: what a thread finds wrong is the error of all ranks. That it writes the
// files of the others: test_async.cpp.
#include "io/async/servers.hpp"
#include "io/thread/write_thread.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <sys/resource.h>
#include <thread>

namespace io = nunatak::io;
using Catch::Matchers::ContainsSubstring;
using io::Schema;

namespace {

io::Options options_of(const std::string& method) {
  return io::parse_method(method + "/transport=thread/pool=1MiB", {});
}

/// Files of this process have at most so many bytes.
class FileLimit {
public:
  explicit FileLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, SIG_IGN);
    set(bytes);
  }
  ~FileLimit() { set(m_before.rlim_cur); }

private:
  void set(rlim_t bytes) const {
    const rlimit limit{bytes, m_before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  rlimit m_before{};
};

} // namespace

TEST_CASE("a write that fails in the thread of one rank is the error of all, at the same call") {
  const std::string way = GENERATE("direct", "direct/box:1");
  const Scratch scratch;
  const Schema schema = pattern::ice(61, 83); // 700 kB a record
  const bool is_limited =
      way == "direct/box:1" || rank_in(MPI_COMM_WORLD) == std::min(1, size_of(MPI_COMM_WORLD) - 1);
  io::Writer writer(MPI_COMM_WORLD, options_of(way));
  pattern::write(writer, scratch / "good.nc", schema, 1);
  writer.finish();
  CHECK(writer.take_committed().size() == 1);
  const FileLimit limit(is_limited ? 1500000 : 1 << 30);
  int calls = 0;
  const std::string found = message([&] {
    const auto file =
        writer.open(scratch / "bad.nc", schema, {io::FileKind::append, GENERATE(0, 1)});
    pattern::put(*file, {}, pattern::halves, MPI_COMM_WORLD);
    for (std::size_t record = 0; record < 8; ++record, ++calls) {
      pattern::put(*file, {record}, pattern::halves, MPI_COMM_WORLD);
      file->end_record();
    }
    file->close();
    ++calls;
    writer.finish();
  });
  CHECK_THAT(found, ContainsSubstring("bad.nc") && ContainsSubstring("variable '") &&
                        ContainsSubstring("File too large"));
  CHECK_THAT(message([&] { writer.finish(); }), ContainsSubstring("File too large")); // still
  int least = calls, most = calls;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK(least == most);
  CHECK(pattern::wrong_values(scratch / "good.nc", schema, 1) == 0);
}

TEST_CASE("the first error of a job is the thread's, a lack of memory told in words, and no later "
          "job is run") {
  io::WriteThread thread(0);
  bool is_run = false;
  thread.add([] { throw std::bad_alloc(); });
  thread.wait_for(thread.add([&] { is_run = true; }));
  CHECK_THAT(message([&] { thread.rethrow(); }), ContainsSubstring("expected memory"));
  CHECK_FALSE(is_run);
}

TEST_CASE("close hands over, and finish makes durable, in the order of the calls") {
  const Scratch scratch;
  const Schema schema = pattern::ice();
  io::Writer writer(MPI_COMM_WORLD, options_of("direct"));
  for (const int round : {0, 1}) { // the second replaces the first
    INFO(round);
    const auto series = writer.open(scratch / "series.nc", schema, {io::FileKind::append, 1});
    pattern::put(*series, {}, pattern::patches, MPI_COMM_WORLD);
    pattern::put(*series, {0}, pattern::patches, MPI_COMM_WORLD);
    series->end_record();
    pattern::write(writer, scratch / "snapshot.nc", schema, 1, pattern::patches);
    pattern::write(writer, scratch / "snapshot.nc", schema, 2, pattern::patches);
    series->close();
  }
  writer.finish();
  std::vector<std::string> expected;
  for (int n = 0; n < 2; ++n)
    expected.insert(expected.end(),
                    {scratch / "snapshot.nc", scratch / "snapshot.nc", scratch / "series.nc"});
  CHECK((writer.take_committed() == expected));
  CHECK(pattern::wrong_values(scratch / "snapshot.nc", schema, 2) == 0);
  CHECK(pattern::wrong_values(scratch / "series.nc", schema, 1) == 0);
  REQUIRE(writer.server_reports().size() == 1);
  CHECK(writer.server_reports()[0].servers == size_of(MPI_COMM_WORLD));
  CHECK(writer.server_reports()[0].summary.work.written_bytes > 0);
}

TEST_CASE("a call that waits for a disk is made by a thread, and the rank does something else "
          "until it is done") {
  constexpr std::size_t much = io::DiskThread::worth_it;
  std::thread::id made_by;
  const auto call = [&] { made_by = std::this_thread::get_id(); };
  io::on_disk(much, call);
  CHECK((made_by == std::this_thread::get_id()));
  int turns = 0;
  {
    io::DiskThread thread([&] { return ++turns % 2 == 0; });
    io::on_disk(much, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      call();
    });
    CHECK((made_by != std::this_thread::get_id()));
    CHECK(turns > 1);
    CHECK(message([&] { io::on_disk(much, [] { throw io::Error("full"); }); }) == "full");
    io::on_disk(much, call); // goes on after an error
    CHECK((made_by != std::this_thread::get_id()));
    io::on_disk(much - 1, call); // is not worth it
    CHECK((made_by == std::this_thread::get_id()));
  }
  bool is_done = false;
  {
    io::DiskThread thread([]() -> bool { throw io::Error("meanwhile"); });
    CHECK(message([&] {
            io::on_disk(much, [&] {
              std::this_thread::sleep_for(std::chrono::milliseconds(20));
              is_done = true;
            });
          }) == "meanwhile");
    CHECK(is_done);
  }
  io::on_disk(much, call);
  CHECK((made_by == std::this_thread::get_id()));
}

TEST_CASE("layouts move values in put, and their aggregators' threads write them") {
  const Scratch scratch;
  const Schema schema = pattern::ice();
  io::Writer alone(MPI_COMM_WORLD, io::parse_method("serial", {}));
  pattern::write(alone, scratch / "alone.nc", schema, 3);
  for (const std::string way :
       {"direct/box:1", "direct/zslab:2", "direct/morton:2/stripe=64/buffer=100",
        "direct/auto:1/stripe=64"}) {
    INFO(way);
    io::Writer writer(MPI_COMM_WORLD, options_of(way));
    const auto file = writer.open(scratch / "ex.nc", schema, {io::FileKind::append, 1});
    pattern::put(*file, {}, pattern::changing_patches, MPI_COMM_WORLD);
    for (std::size_t record = 0; record < 3; ++record) {
      pattern::put(*file, {record}, pattern::changing_patches, MPI_COMM_WORLD);
      file->end_record();
    }
    file->close();
    writer.finish();
    scratch.on_rank_0([&] {
      const auto bytes = [&](const char* name) {
        std::ifstream in(scratch / name, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
      };
      CHECK((bytes("ex.nc") == bytes("alone.nc")));
    });
  }
}
