// io/trace/trace.hpp and io/trace/replay.hpp: a trace has every call on the watched files, true to
// the byte, and can be done again.
#include "io/formats/mpi_io.hpp"
#include "io/trace/replay.hpp"
#include "io/trace/trace.hpp"
#include "io/writer.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <sys/uio.h>
#include <thread>
#include <tuple>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using io::TraceOperation;

namespace {

using Call = std::tuple<std::string, std::int64_t, std::int64_t>; // operation, offset, bytes

std::vector<Call> calls_of(const io::TraceTable& trace, int rank, const std::string& file) {
  std::vector<Call> calls;
  for (const auto& e : trace.events) {
    if (e.rank == rank && trace.files[static_cast<std::size_t>(e.file)] == file) {
      calls.emplace_back(io::trace_operation_names[static_cast<std::size_t>(e.operation)], e.offset,
                         e.bytes);
    }
  }
  return calls;
}

struct Sums {
  std::int64_t writes = 0, written = 0, covered = 0; ///< covered: bytes from 0 on without a gap
};

Sums sums_of(const io::TraceTable& trace, const std::string& file) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  Sums s;
  for (const auto& e : trace.events) {
    if (e.operation != TraceOperation::write ||
        trace.files[static_cast<std::size_t>(e.file)] != file)
      continue;
    s.writes += 1;
    s.written += e.bytes;
    ranges.emplace_back(e.offset, e.offset + e.bytes);
  }
  std::sort(ranges.begin(), ranges.end());
  for (const auto& [first, last] : ranges) {
    if (first <= s.covered) s.covered = std::max(s.covered, last);
  }
  return s;
}

std::int64_t size_of_file(const std::string& path) {
  return static_cast<std::int64_t>(std::filesystem::file_size(path));
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

const std::string header = std::string(io::trace_header) + "\n";

} // namespace

TEST_CASE(
    "plain calls: each one, with the true offset; other files do not appear; errno survives") {
  if (!io::trace_available()) SKIP("this build cannot trace (sanitizers)");
  const Scratch scratch;
  const int rank = rank_in(MPI_COMM_WORLD);
  const std::string mine = scratch / ("data." + std::to_string(rank)), other = scratch / "other",
                    csv = scratch / "t.csv";
  const std::vector<char> bytes(1000, 'x');
  std::vector<char> back(1000);
  io::Trace trace(MPI_COMM_WORLD);
  trace.start(csv);
  io::trace_watch(scratch / "data");
  for (const std::string& path : {mine, other + std::to_string(rank)}) {
    const int fd = ::open(path.c_str(), O_CREAT | O_RDWR | O_TRUNC, 0644);
    REQUIRE(fd >= 0);
    CHECK(::write(fd, bytes.data(), 100) == 100);
    CHECK(::write(fd, bytes.data(), 23) == 23);
    CHECK(::pwrite(fd, bytes.data(), 10, 500 + rank) == 10);
    CHECK(::lseek(fd, -3, SEEK_CUR) == 120);
    const iovec parts[] = {{back.data(), 2}, {back.data(), 8}};
    CHECK(::readv(fd, parts, 2) == 10);
    CHECK(::pwritev(fd, parts, 2, 600) == 10);
    CHECK(::pread(fd, back.data(), 50, 590) == 20); // the file ends
    CHECK(::ftruncate(fd, 555) == 0);
    CHECK(::fsync(fd) == 0);
    std::thread([&] { CHECK(::write(fd, bytes.data(), 1) == 1); }).join();
    CHECK(::close(fd) == 0);
    const int appending = ::open(path.c_str(), O_WRONLY | O_APPEND);
    CHECK(::write(appending, bytes.data(), 7) == 7);
    errno = 0;
    CHECK(::read(appending, back.data(), 1) == -1); // not open for reading
    CHECK(errno == EBADF);
    CHECK(::close(appending) == 0);
  }
  errno = 0;
  CHECK(::open((scratch / "data/none").c_str(), O_RDONLY) == -1);
  CHECK(errno == ENOENT);
  trace.finish();
  CHECK(::close(::open(mine.c_str(), O_RDONLY)) == 0); // too late

  scratch.on_rank_0([&] {
    const io::TraceTable table = io::read_trace(csv);
    CHECK(table.ranks == size_of(MPI_COMM_WORLD));
    CHECK(table.files.size() == static_cast<std::size_t>(table.ranks) + 1);
    for (int r = 0; r < table.ranks; ++r) {
      CHECK(calls_of(table, r, scratch / "data/none") == std::vector<Call>{{"open", 0, -1}});
      CHECK(calls_of(table, r, scratch / ("data." + std::to_string(r))) ==
            std::vector<Call>{{"open", 0, 0},
                              {"truncate", 0, 0},
                              {"write", 0, 100},
                              {"write", 100, 23},
                              {"write", 500 + r, 10},
                              {"seek", 120, 0},
                              {"read", 120, 10},
                              {"write", 600, 10},
                              {"read", 590, 20},
                              {"truncate", 555, 0},
                              {"sync", 0, 0},
                              {"write", 130, 1},
                              {"close", 0, 0},
                              {"open", 0, 0},
                              {"write", 555, 7},
                              {"read", 562, -1},
                              {"close", 0, 0}});
    }
    for (const auto& e : table.events) CHECK((0.0 <= e.start && e.start <= e.end && e.end < 100.0));
  });
}

TEST_CASE("streams and copies in the kernel") {
  if (!io::trace_available()) SKIP("this build cannot trace (sanitizers)");
  const Scratch scratch;
  const std::string csv = scratch / "t.csv", path = scratch / "a, \"b\"",
                    copy = path + ".copy"; // a name for a CSV to quote
  io::Trace trace(MPI_COMM_WORLD);
  trace.start(csv);
  io::trace_watch(path);
  scratch.on_rank_0([&] {
    write_text(path, std::string(300, 'y'));
    const int in = ::open(path.c_str(), O_RDONLY), out = ::creat(copy.c_str(), 0644);
    CHECK(::copy_file_range(in, nullptr, out, nullptr, 200, 0) == 200);
    CHECK(::copy_file_range(in, nullptr, out, nullptr, 200, 0) == 100);
    ::close(in);
    ::close(out);
  });
  trace.finish();
  scratch.on_rank_0([&] {
    const io::TraceTable table = io::read_trace(csv);
    CHECK(calls_of(table, 0, path) == std::vector<Call>{{"open", 0, 0},
                                                        {"truncate", 0, 0},
                                                        {"write", 0, 300},
                                                        {"close", 0, 0},
                                                        {"open", 0, 0},
                                                        {"read", 0, 200},
                                                        {"read", 200, 100},
                                                        {"close", 0, 0}});
    CHECK(calls_of(table, 0, copy) == std::vector<Call>{{"open", 0, 0},
                                                        {"truncate", 0, 0},
                                                        {"write", 0, 200},
                                                        {"write", 200, 100},
                                                        {"close", 0, 0}});
  });
}

TEST_CASE("what the libraries write covers the file; the replay does it again") {
  if (!io::trace_available()) SKIP("this build cannot trace (sanitizers)");
  const Scratch scratch;
  io::Options options;
  options.format = GENERATE("serial", "pnetcdf");
  options.header = 0; // space kept free, which PnetCDF leaves as a hole
  INFO(options.format);
  const auto rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
             size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  constexpr std::size_t cells = 9000;
  io::Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"cell", cells}};
  schema.variables = {{"thk", io::Type::float64, {"time", "cell"}, {}}};
  const std::size_t first = cells * rank / size, count = cells * (rank + 1) / size - first;
  const std::vector<double> thk(count, 1.5);
  const std::string csv = scratch / "t.csv";
  {
    const auto writer = io::make_writer(MPI_COMM_WORLD, options);
    io::Trace trace(MPI_COMM_WORLD);
    trace.start(csv);
    for (int again = 0; again < 2; ++again) { // the second is another file of the same name
      const auto file = writer->open(scratch / "ex.nc", schema);
      for (std::size_t t = 0; t < 2; ++t) {
        file->put("thk", t, io::Block{{first}, {count}, {}}, thk.data());
        file->end_record();
      }
      file->close();
    }
    trace.finish();
    const auto after = writer->open(scratch / "after.nc", schema);
    after->put("thk", 0, io::Block{{first}, {count}, {}}, thk.data());
    after->close();
  }
  const std::int64_t bytes = size_of_file(scratch / "ex.nc");
  std::int64_t writes = 0, written = 0;
  scratch.on_rank_0([&] {
    const io::TraceTable table = io::read_trace(csv);
    CHECK(table.files ==
          std::vector<std::string>{scratch / "ex.nc.tmp",
                                   scratch / "ex.nc.tmp@2"}); // no manifest, no after.nc
    for (const std::string& name : table.files) {
      const Sums s = sums_of(table, name);
      INFO(name);
      CHECK(s.covered == bytes);
      CHECK(s.written >= static_cast<std::int64_t>(2 * cells * sizeof(double)));
      writes += s.writes;
      written += s.written;
    }
  });
  MPI_Bcast(&writes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  MPI_Bcast(&written, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);

  for (const bool think : {false, true}) {
    const io::ReplayStatistics s = io::replay(MPI_COMM_WORLD, csv, scratch / "again", {think});
    CHECK(s.operations[static_cast<std::size_t>(TraceOperation::write)] == writes);
    CHECK(s.written_bytes == written);
    // with others a rank may read, for the checksum, before they have written: nothing holds the
    // ranks together in a replay
    if (size_of(MPI_COMM_WORLD) == 1) CHECK(s.missing_bytes == 0);
    CHECK(s.traced_ranks <= size_of(MPI_COMM_WORLD));
    CHECK(size_of_file(scratch / "again/ex.nc.tmp") == bytes);
    CHECK(size_of_file(scratch / "again/ex.nc.tmp@2") == bytes);
    MPI_Barrier(MPI_COMM_WORLD); // before the next replay removes the files
  }
}

TEST_CASE("replay: more traced ranks than ranks, files that are only read, truncations in the "
          "order of time") {
  const Scratch scratch;
  scratch.on_rank_0([&] {
    write_text(scratch / "t.csv",
               "# by hand\n" + header +
                   "4,write,d/out,0,1000,0.1,0.2\n" // cut off by the truncation of rank 0
                   "0,truncate,d/out,10,0,0.3,0.3\n"
                   "1,write,d/out,50,50,0.4,0.5\n"
                   "3,read,d/in,1000,24,0.4,0.5\n"
                   "2,read,other/in,0,8,0.1,0.2\n"
                   "2,write,d/out,0,5,0.1,-0.0\n");
  });
  CHECK_THROWS_WITH(
      io::replay(MPI_COMM_WORLD, scratch / "t.csv", scratch / "again"),
      ContainsSubstring("line 8: expected an end not before the start 0.1, found -0.0"));
  scratch.on_rank_0([&] {
    std::string text = io::trace_header;
    text += "\n4,write,d/out,0,1000,0.1,0.2\n0,truncate,d/out,10,0,0.3,0.3\n1,write,d/"
            "out,50,50,0.4,0.5\n2,write,d/"
            "out,90,-1,0.1,0.2\n"
            "3,read,d/in,1000,24,0.4,0.5\n2,read,other/in,0,8,0.1,0.2\n3,close,d/in,0,0,0.6,0.6\n";
    write_text(scratch / "t.csv", text);
  });
  const io::ReplayStatistics s = io::replay(MPI_COMM_WORLD, scratch / "t.csv", scratch / "again");
  CHECK(size_of_file(scratch / "again/out") == 100);
  CHECK(size_of_file(scratch / "again/d_in") == 1024);
  CHECK(size_of_file(scratch / "again/other_in") == 8);
  CHECK(s.operations == decltype(s.operations){
                            0, 2, 2, 0, 0, 1, 1}); // open, read, write, seek, sync, truncate, close
  CHECK(s.read_bytes == 32);
  CHECK(s.written_bytes == 1050);
  CHECK(s.missing_bytes == 0);
  CHECK(s.traced_ranks == 5);
  CHECK(std::abs(s.traced_seconds - 0.5) < 1e-12);
}

TEST_CASE("a bad trace is refused with its line, what was expected and what was found") {
  const Scratch scratch;
  const auto [text, message] = GENERATE(table<std::string, std::string>({
      {"", "line 0: expected 'rank,operation,file,offset,bytes,start,end', found ''"},
      {"rank,op\n",
       "line 1: expected 'rank,operation,file,offset,bytes,start,end', found 'rank,op'"},
      {header + "# fine\n0,write,a,0,1,0\n", "line 3: expected 7 fields, found 6"},
      {header + "x,write,a,0,1,0,1\n", "line 2: expected a rank from 0 to 1073741823, found 'x'"},
      {header + "0,wirte,a,0,1,0,1\n", "line 2: expected an operation (open, read, write, seek, "
                                       "sync, truncate, close), found 'wirte'"},
      {header + "0,write,,0,1,0,1\n", "line 2: expected the name of a file, found none"},
      {header + "0,write,a,-4,1,0,1\n", "line 2: expected an offset from 0"},
      {header + "0,write,a,0,99999999999,0,1\n",
       "line 2: expected bytes from -1 to 2147479552, found '99999999999'"},
      {header + "0,write,a,0,1,nan,1\n", "line 2: expected a start in seconds, found 'nan'"},
      {header + "0,write,\"a,0,1,0,1\n",
       "line 2: expected a closing quote, found the end of the file"},
      {header + "0,write,a/..,0,1,0,1\n", "expected the name of a file, found 'a/..'"},
  }));
  scratch.on_rank_0([&, bad = text] { write_text(scratch / "bad.csv", bad); });
  CHECK_THROWS_WITH(io::replay(MPI_COMM_WORLD, scratch / "bad.csv", scratch / "again"),
                    ContainsSubstring(message));
  CHECK_THROWS_WITH(io::replay(MPI_COMM_WORLD, scratch / "none.csv", scratch / "again"),
                    ContainsSubstring("No such file"));
}

TEST_CASE("a trace that cannot be") {
  const Scratch scratch;
  io::Trace trace(MPI_COMM_WORLD), second(MPI_COMM_WORLD);
  if (!io::trace_available()) {
    CHECK_THROWS_WITH(trace.start(scratch / "t.csv"),
                      ContainsSubstring("this program cannot record one"));
    return;
  }
  CHECK_THROWS_WITH(trace.start(scratch / "none/t.csv"),
                    ContainsSubstring("expected to create the file; found: No such file"));
  trace.finish(); // was not started: nothing
  trace.start(scratch / "t.csv");
  CHECK_THROWS_WITH(second.start(scratch / "u.csv"),
                    ContainsSubstring("expected no trace to run, found one"));
  trace.finish();
  trace.start(scratch / "t.csv"); // and again
  trace.finish();
  CHECK(io::read_trace(scratch / "t.csv").events.empty());
}
