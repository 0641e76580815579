// Every byte crosses the way to the disk once: what a trace has of writing and reading, the
// manifest included, over what was put.
#include "io/trace/csv.hpp"
#include "io/trace/trace.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace nunatak;
using io::TraceOperation;

TEST_CASE("bytes written and read, header and manifest included, over bytes put: at most 1.02") {
  if (!io::trace_available()) SKIP("this build cannot trace (sanitizers)");
  const Scratch scratch;
  const std::string way =
      GENERATE("serial", "pnetcdf", "pnetcdf/zslab", "pnetcdf/access=independent", "hybrid",
               "hybrid/box:1", "direct", "direct/zslab", "direct/auto",
               "direct/file-per-aggregator", "posix", "posix/auto", "mpiio", "mpiio/zslab");
  INFO(way);
  constexpr std::size_t records = 2;
  const io::Schema schema = pattern::ice(150, 160);
  const std::string csv = scratch / "t.csv", manifest = scratch / "manifest.jsonl";
  io::Trace trace(MPI_COMM_WORLD);
  trace.start(csv);
  io::trace_watch(manifest);
  {
    const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method(way, {}));
    pattern::write(*writer, scratch / "ex.nc", schema, records);
    writer->finish();
  }
  trace.finish();
  scratch.on_rank_0([&] {
    std::int64_t written = 0, read = 0;
    for (const auto& e : io::read_trace(csv).events) {
      if (e.operation == TraceOperation::write) written += e.bytes;
      if (e.operation == TraceOperation::read) read += e.bytes;
    }
    std::size_t put = 0, puts = 0;
    for (const io::Variable& v : schema.variables) {
      const std::size_t n = schema.has_records(v) ? records : 1;
      puts += n, put += n * schema.bytes(v);
    }
    std::size_t of_library = 0;
    if (way == "serial")
      of_library =
          puts * (std::size_t{128}
                  << 10); // NetCDF-C: what lies around both ends of a put, read and written
    if (way.rfind("hybrid", 0) == 0)
      of_library = std::size_t{300} << 10; // PnetCDF: a part of the file for its header
    const double ratio = (static_cast<double>(written + read) - static_cast<double>(of_library)) /
                         static_cast<double>(put);
    INFO(written << " bytes written and " << read << " read, " << put << " put");
    CHECK(static_cast<std::size_t>(written) > put);
    CHECK(ratio < 1.02);
  });
}
