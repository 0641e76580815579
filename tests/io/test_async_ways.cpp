// Which ranks serve, what goes to which of them, and what the sums of the clients find.
#include "io/durable/verify.hpp"
#include "io/layouts/join.hpp"
#include "tests/io/pattern.hpp"
#include "tests/io/with_servers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace io = nunatak::io;
using Catch::Matchers::ContainsSubstring;
using io::Schema;

namespace {

bool damages = false; ///< the values that this rank sends
int waits = 0;        ///< collective calls of this rank that wait for others
int agrees = 0;       ///< and those that do not

} // namespace

extern "C" {

/// The last value of every message to a server has one bit changed on its way.
int MPI_Issend(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
               MPI_Request* request) {
  constexpr int last = 8; // bytes: all values of this test are float64
  if (damages && count > last)
    static_cast<std::byte*>(const_cast<void*>(data))[count - last] ^= std::byte{1};
  return PMPI_Issend(data, count, type, rank, tag, comm, request);
}
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  waits += 1;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  waits += 1;
  return PMPI_Bcast(data, count, type, root, comm);
}
int MPI_Barrier(MPI_Comm comm) {
  waits += 1;
  return PMPI_Barrier(comm);
}
int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  agrees += 1;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}
}

TEST_CASE("servers are the last ranks of evenly chosen nodes") {
  io::Topology machine;
  machine.n_nodes = 4;
  for (int rank = 0; rank < 16; ++rank) machine.node_of.push_back(rank / 4);
  using Ranks = std::vector<int>;
  CHECK((io::choose_servers(machine, 1) == Ranks{15}));
  CHECK((io::choose_servers(machine, 2) == Ranks{7, 15}));
  CHECK((io::choose_servers(machine, 4) == Ranks{3, 7, 11, 15}));
  Ranks eight = io::choose_servers(machine, 8); // two of each node
  std::sort(eight.begin(), eight.end());
  CHECK((eight == Ranks{2, 3, 6, 7, 10, 11, 14, 15}));
  machine.node_of = {0, 0, 0, 0, 0, 1}, machine.n_nodes = 2; // a small node gives what it has
  Ranks three = io::choose_servers(machine, 3);
  std::sort(three.begin(), three.end());
  CHECK((three == Ranks{3, 4, 5}));
}

TEST_CASE("with async:S+T files that grow have servers of their own") {
  if (!has_room_for("async:1+1")) return;
  const Scratch scratch;
  const Schema schema = pattern::ice();
  with_servers("async:1+1", [&](MPI_Comm comm) {
    io::Writer writer(comm, io::parse_method("direct/transport=async:1+1", {}));
    const auto written = [&] { // by each group
      writer.finish();
      std::vector<std::int64_t> bytes;
      for (const io::ServerReport& report : writer.server_reports())
        bytes.push_back(report.summary.work.written_bytes);
      if (rank_in(comm) == 0) REQUIRE(bytes.size() == 2);
      bytes.resize(2, 0); // known on rank 0
      return bytes;
    };
    {
      const auto series = writer.open(scratch / "series.nc", schema, {io::FileKind::append, 1});
      pattern::put(*series, {}, pattern::patches, comm);
      pattern::put(*series, {0}, pattern::patches, comm);
      series->close();
    }
    const auto after_series = written();
    pattern::write(writer, scratch / "snapshot.nc", schema, 1, pattern::patches, comm);
    const auto after_snapshot = written();
    if (rank_in(comm) != 0) return;
    CHECK(after_series[0] == 0);
    CHECK(after_series[1] > 1000);
    CHECK(after_snapshot[0] > 1000);
    CHECK(after_snapshot[1] == after_series[1]);
  });
}

TEST_CASE("a record costs the computing ranks one collective call, which does not block") {
  if (!has_room_for("async:1")) return;
  const Scratch scratch;
  const Schema schema = pattern::ice();
  with_servers("async:1", [&](MPI_Comm comm) {
    io::Writer writer(comm, io::parse_method("direct/transport=async:1", {}));
    const auto file = writer.open(scratch / "ex.nc", schema, {io::FileKind::append, 1});
    pattern::put(*file, {}, pattern::patches, comm);
    waits = agrees = 0;
    for (std::size_t record = 0; record < 5; ++record)
      pattern::put(*file, {record}, pattern::patches, comm);
    CHECK(waits == 0);
    CHECK(agrees == 5);
    waits = agrees = 0;
    file->close();
    CHECK(waits == 0);
    CHECK(agrees == 1);
    writer.finish();
    CHECK(waits > 0); // they are counted
  });
}

TEST_CASE("pieces that servers have written are joined to the file of one rank") {
  const std::string transport = GENERATE("async:1", "async:2", "async:3"),
                    format = GENERATE("serial", "direct", "netcdf4");
  if (!has_room_for(transport)) return;
  INFO(format << ", " << transport);
  const Scratch scratch;
  const Schema schema = pattern::ice();
  with_servers(transport, [&](MPI_Comm comm) {
    io::Writer writer(comm,
                      io::parse_method(format + "/file-per-aggregator/transport=" + transport, {}));
    pattern::write(writer, scratch / "ex.nc", schema, 2, pattern::changing_patches, comm);
    writer.finish();
  });
  MPI_Barrier(MPI_COMM_WORLD);
  const io::Joined joined = io::join(MPI_COMM_WORLD, scratch / "ex.nc", scratch / "joined.nc",
                                     io::parse_method("pnetcdf/zslab", {}));
  CHECK(joined.subfiles == static_cast<std::size_t>(io::parse_transport(transport).once));
  CHECK(pattern::wrong_values(scratch / "joined.nc", schema, 2) == 0);
  CHECK(io::verify(MPI_COMM_WORLD, scratch / "manifest.jsonl").complaints.empty());
}

TEST_CASE("a bit that changes on its way to a server is found by the clients' sums") {
  if (!has_room_for("async:1")) return;
  const Scratch scratch;
  Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"y", 12, true}, {"x", 5}};
  schema.variables = {{"good", io::Type::float64, {"time", "y", "x"}, {}},
                      {"bad", io::Type::float64, {"time", "y", "x"}, {}}};
  const auto rows = [](MPI_Comm comm) {
    const auto [first, count] = my_part(12, comm);
    return io::Block{{first, 0}, {count, 5}, {}};
  };
  for (const bool is_damaged : {false, true}) {
    with_servers("async:1", [&](MPI_Comm comm) {
      io::Writer writer(comm, io::parse_method("direct/transport=async:1", {}));
      const auto file = writer.open(scratch / "ex.nc", schema);
      const std::vector<double> values(60, 1.5);
      file->put("good", 0, rows(comm), values.data());
      damages = is_damaged && rank_in(comm) == 0;
      file->put("bad", 0, rows(comm), values.data());
      damages = false;
      file->end_record();
      file->close();
      writer.finish();
    });
    MPI_Barrier(MPI_COMM_WORLD);
    const std::vector<std::string> complaints =
        io::verify(MPI_COMM_WORLD, scratch / "manifest.jsonl").complaints;
    if (rank_in(MPI_COMM_WORLD) != 0) continue;
    REQUIRE(complaints.size() == (is_damaged ? 1 : 0));
    if (is_damaged)
      CHECK_THAT(complaints.front(), ContainsSubstring("ex.nc") && ContainsSubstring("'bad'"));
  }
}
