// io/trace/shield.hpp: who calls a library learns of a write that has failed; the library does not.
#include "io/formats/mpi_io.hpp"
#include "io/trace/shield.hpp"
#include "io/trace/trace.hpp"
#include "io/writer.hpp"
#include "tests/io/scratch.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/resource.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

/// While it lives no file of this process can grow beyond `bytes`.
class Limit {
public:
  explicit Limit(rlim_t bytes) : m_handler(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &m_before);
    const rlimit limit{bytes, m_before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~Limit() {
    setrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, m_handler);
  }

private:
  void (*m_handler)(int);
  rlimit m_before{};
};

} // namespace

TEST_CASE("a failed call is a success for its caller, and stands in the shield: of this thread, on "
          "regular files") {
  if (!io::trace_available()) SKIP("sanitizers stand where the shield would");
  const Scratch scratch;
  char data[64] = {};
  iovec parts[2] = {{data, 40}, {data, 24}};
  const int fd = ::open((scratch / "f").c_str(), O_RDWR | O_CREAT, 0600),
            pipe_end = ::open("/dev/full", O_WRONLY);
  const Limit limit(0);
  CHECK(::pwrite(fd, data, 64, 0) == -1);
  {
    const io::Shield shield;
    CHECK(::read(fd, data, 8) == 0);
    CHECK(shield.error().empty());
    CHECK(::write(pipe_end, data, 64) == -1); // no regular file
    CHECK(::pwrite(-1, data, 64, 0) == -1);
    ssize_t of_thread = 0;
    std::thread([&] { of_thread = ::pwrite(fd, data, 64, 0); }).join();
    CHECK(of_thread == -1);
    CHECK(shield.error().empty());
    CHECK(::pwritev(fd, parts, 2, 0) == 64);
    CHECK(::pwrite(fd, data, 8, 0) == 8);
    CHECK_THAT(shield.error(),
               ContainsSubstring("expected to write 64 bytes; found: File too large"));
  }
  CHECK(::pwrite(fd, data, 64, 0) == -1);
  ::close(fd), ::close(pipe_end);
}

TEST_CASE("collective writes in many rounds on a rank whose disk is full: an error of all, and "
          "none waits") {
  if (!io::trace_available()) SKIP("sanitizers stand where the shield would");
  if (io::mpi_io_name() == "OMPIO") SKIP("OMPIO hangs in a collective write that fails");
  const Scratch scratch;
  io::Options options;
  options.hints = {{"cb_buffer_size", "4096"}};
  options.aggregators = size_of(MPI_COMM_WORLD); // all ranks write
  options.patience = 60;
  const std::string way =
      GENERATE("pnetcdf", "hybrid", "mpiio", "netcdf4", "pnetcdf/zslab", "netcdf4/zslab");
  const int full = GENERATE(0, 1); // rank 0 allocates, and learns of it then
  INFO(way << ", rank " << full);
  const auto writer = io::make_writer(MPI_COMM_WORLD, io::parse_method(way, options));
  const auto rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD)),
             size = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  constexpr std::size_t ny = 64, nx = 120;
  io::Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"y", ny, true}, {"x", nx, true}};
  schema.variables = {{"thk", io::Type::float64, {"time", "y", "x"}, {}}};
  const auto file = writer->open(scratch / "ex.nc", schema);
  const std::size_t first = nx * rank / size, end = nx * (rank + 1) / size;
  const std::vector<double> values(ny * (end - first), 1.0);
  const auto put = [&](std::size_t record) {
    file->put("thk", record, {{0, first}, {ny, end - first}, {}}, values.data());
    file->end_record();
  };
  put(0);
  std::string found;
  {
    std::optional<Limit> limit;
    if (static_cast<int>(rank) == full % static_cast<int>(size)) limit.emplace(4096);
    found = message([&] { put(1), put(2), file->close(); });
  }
  CHECK_THAT(found, ContainsSubstring("ex.nc") && ContainsSubstring("File too large"));
  CHECK_FALSE(std::filesystem::exists(scratch / "ex.nc"));
}
