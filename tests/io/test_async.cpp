// The transport async: which ranks serve and what goes to which of them; the same files as sync,
// errors that come back, no endless wait; what the sums of the clients find.
#include "io/write/join.hpp"
#include "io/write/ring.hpp"
#include "tests/io/pattern.hpp"
#include "tests/io/with_servers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

namespace io = nunatak::io;
using Catch::Matchers::ContainsSubstring;
using io::Schema;

namespace {

bool damages = false; ///< the values that this rank sends
int waits = 0;        ///< collective calls of this rank that wait for others
int agrees = 0;       ///< and those that do not

constexpr std::size_t records = 3;

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

TEST_CASE("words of the transport") {
  for (const auto& [word, n] : {std::pair{"async:2", 2}, {"async:12", 12}, {"sync", 0}})
    CHECK(io::parse_transport(word) == n);
  for (const std::string word :
       {"async:0", "async", "async:", "async:1+1", "async:-1", "async:1x", "later"}) {
    INFO(word);
    CHECK(io::parse_transport(word) == 0);
    CHECK_REFUSED(options_of("direct/transport=" + word), "sync|async:N, found '" + word);
  }
}

TEST_CASE("what does not go together with servers is refused, with the reason") {
  CHECK_REFUSED(options_of("direct/box:2/transport=async:1"), "expected a layout without a number");
  CHECK_REFUSED(options_of("serial/define=interleaved/transport=async:1"),
                "expected -io_define upfront");
  CHECK_REFUSED(options_of("direct/pool=64KiB/transport=async:1"),
                "pool: expected a number of bytes (65536, 64KiB, 1MiB) from 1MiB");
  CHECK_REFUSED(io::Writer(MPI_COMM_WORLD, options_of("direct/transport=async:1")),
                "expected servers that were set apart when the program began (-io_transport "
                "async:1 on the command line), found none");
  CHECK_REFUSED(io::Servers(MPI_COMM_WORLD, "async:" + std::to_string(size_of(MPI_COMM_WORLD))),
                "expected at least one rank that computes");
}

TEST_CASE("servers write what the ranks would have written") {
  const std::string transport = GENERATE("async:1", "async:2", "async:3");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  const Schema schema = GENERATE(pattern::ice(), pattern::geodesic());
  pattern::write_alone(scratch, schema, records);
  struct Case {
    std::string way;
    pattern::Cut cut;
    bool has_same_bytes;
  };
  for (const auto& [way, cut, has_same_bytes] :
       {Case{"direct", pattern::patches, true}, Case{"serial", pattern::halves, true},
        Case{"pnetcdf/box", pattern::patches, true},
        Case{"direct/morton/stripe=64", pattern::changing_patches, true},
        Case{"hybrid/zslab", pattern::changing_patches, true},
        Case{"direct/buffer=100", pattern::patches, true},
        Case{"direct/auto/stripe=64", pattern::halves, true},
        Case{"direct/box", pattern::changing_patches, true},
        Case{"netcdf4", pattern::patches, false}}) {
    INFO(transport << ", " << way);
    compute(transport, way, [&, &cut = cut](io::Writer& writer, MPI_Comm comm) {
      pattern::write(writer, scratch / "ex.nc", schema, records, cut, comm);
      writer.finish();
      const auto committed = writer.take_committed();
      if (rank_in(comm) == 0) CHECK((committed == std::vector<std::string>{scratch / "ex.nc"}));
    });
    if (has_same_bytes) {
      pattern::check_as_alone(scratch, "ex.nc", schema, records);
    } else {
      CHECK(pattern::wrong_values(scratch / "ex.nc", schema, records) == 0);
    }
    CHECK(io::verify(MPI_COMM_WORLD, scratch / "manifest.jsonl").complaints.empty());
  }
}

TEST_CASE("files that are in the middle of a record at once, in any order, through a small ring") {
  const std::string transport = GENERATE("async:1", "async:2");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  const Schema schema = pattern::ice(61, 83); // 700 kB a record
  pattern::write_alone(scratch, schema, 6);
  const int seed = GENERATE(range(0, 3));
  compute(transport, "direct/buffer=200000/pool=1MiB", [&](io::Writer& writer, MPI_Comm comm) {
    std::mt19937 lot(static_cast<unsigned>(seed)); // the same on all ranks
    std::vector<std::unique_ptr<io::File>> files(4);
    std::vector<std::size_t> next(4, 0); // record
    while (std::any_of(next.begin(), next.end(), [](std::size_t n) { return n <= 6; })) {
      const std::size_t f = lot() % 4;
      if (next[f] > 6) continue;
      if (!files[f]) {
        const bool grows = f % 2 == 1;
        files[f] = writer.open(scratch / (std::to_string(f) + ".nc"), schema,
                               {grows ? std::optional<int>(1) : std::nullopt});
        pattern::put(*files[f], {}, pattern::patches, comm);
      }
      if (next[f] < 6) pattern::put(*files[f], {next[f]}, pattern::patches, comm);
      if (next[f] == 6) files[f]->close();
      next[f] += 1;
    }
    writer.finish();
    for (const auto& phase : writer.statistics().phases) CHECK(phase.seconds >= 0.0);
    CHECK(writer.statistics()[io::Phase::stall].seconds < 100.0);
  });
  for (const char* name : {"0.nc", "1.nc", "2.nc", "3.nc"})
    pattern::check_as_alone(scratch, name, schema, 6);
  CHECK(io::verify(MPI_COMM_WORLD, scratch / "manifest.jsonl").complaints.empty());
}

TEST_CASE("a ring holds no more messages than it may, however small they are") {
  if (size_of(MPI_COMM_WORLD) < 2) return;
  io::Ring ring(1 << 16, 3);
  const auto send = [&] {
    ring.take(8);
    ring.send(1, 0, MPI_COMM_WORLD);
  };
  if (rank_in(MPI_COMM_WORLD) == 0) {
    for (int n = 0; n < 3; ++n) send();
    CHECK(ring.stall_seconds() == 0.0);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD); // it sleeps from now on
    send();
    CHECK(ring.stall_seconds() > 0.1);
    CHECK(ring.drain(100.0));
  } else {
    if (rank_in(MPI_COMM_WORLD) == 1)
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::byte message[8];
    for (int n = 0; n < 4 && rank_in(MPI_COMM_WORLD) == 1; ++n)
      MPI_Recv(message, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a server takes what comes while a call waits for the disk, whose error it throws") {
  constexpr std::size_t much = 1 << 20;
  std::atomic<int> taken = 0;
  const auto take = [&] { return ++taken > 0; };
  const auto thread_of_call = [&](std::size_t bytes) {
    std::thread::id id;
    io::call_in_thread(
        bytes, [&] { id = std::this_thread::get_id(); }, take);
    return id;
  };
  const auto until_taken = [&] {
    while (taken < 3) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  io::call_in_thread(much, until_taken, take);
  CHECK(thread_of_call(much) != std::this_thread::get_id());
  CHECK(thread_of_call(much - 1) == std::this_thread::get_id());
  const auto full = [] { throw Error("full"); };
  CHECK_THROWS_AS(io::call_in_thread(much, full, take), Error);
  bool is_done = false;
  const auto take_no_more = []() -> bool { throw Error("no more"); };
  const auto slow_call = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_done = true;
  };
  CHECK_THROWS_AS(io::call_in_thread(much, slow_call, take_no_more), Error);
  CHECK(is_done); // what it uses lives until then
}

TEST_CASE("an error of a server reaches all ranks, and what was committed stays") {
  const std::string transport = GENERATE("async:1", "async:2");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  const Schema schema = pattern::ice();
  const int status = compute(transport, "direct", [&](io::Writer& writer, MPI_Comm comm) {
    pattern::write(writer, scratch / "good.nc", schema, records, pattern::patches, comm);
    const std::string found = message([&] {
      for (int n = 0; n < 100; ++n)
        pattern::write(writer, scratch / "none/bad.nc", schema, records, pattern::patches, comm);
      writer.finish();
    });
    CHECK_THAT(found, ContainsSubstring("none/bad.nc"));
    CHECK_REFUSED(writer.finish(), "none/bad.nc"); // still
  });
  const bool serves = status != 0;
  int servers = serves ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &servers, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(servers == io::parse_transport(transport));
  CHECK(pattern::wrong_values(scratch / "good.nc", schema, records) == 0);
}

TEST_CASE("a mistake of one rank is everybody's by the next record") {
  const std::string transport = GENERATE("async:1", "async:2");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"y", 4, true}};
  schema.variables = {{"v", io::Type::float64, {"time", "y"}, {}}};
  const bool is_missing = GENERATE(true, false);
  compute(transport, "direct", [&](io::Writer& writer, MPI_Comm comm) {
    const bool is_last = rank_in(comm) + 1 == size_of(comm);
    const std::string found = message([&] {
      const auto file = writer.open(scratch / "ex.nc", schema, {0});
      for (std::size_t t = 0; t < 50; ++t) {
        const io::Block block{{is_missing ? 0u : 3u}, {is_last ? 3u : 0u}, {}};
        const std::vector<double> values(4, 1.0);
        file->put("v", t, block, values.data());
        file->end_record();
        if (!is_missing) CHECK(t < 2); // thrown by the call after the next
      }
      file->close();
      writer.finish();
    });
    CHECK_THAT(found, ContainsSubstring("ex.nc") && ContainsSubstring("variable 'v'"));
    if (is_missing) {
      CHECK_THAT(found, ContainsSubstring("at the end of what the ranks have put together"));
    } else {
      CHECK_THAT(found, ContainsSubstring("rank " + std::to_string(size_of(comm) - 1) + ": "));
      CHECK_THAT(found, ContainsSubstring("expected a block within 0..4, found 3..6"));
    }
  });
  CHECK(!std::filesystem::exists(scratch / "ex.nc"));
}

TEST_CASE("blocks of many short rows through the smallest ring, and a put that comes too late") {
  if (!has_room_for("async:1")) return;
  const Scratch scratch;
  Schema schema;
  schema.dimensions = {{"z", 3}, {"y", 2, true}, {"x", 200000}};
  schema.variables = {{"v", io::Type::float64, {"z", "y", "x"}, {}},
                      {"w", io::Type::float64, {"y"}, {}}};
  // a row is larger than the ring
  compute("async:1", "direct/pool=1MiB/buffer=1000", [&](io::Writer& writer, MPI_Comm comm) {
    pattern::write(writer, scratch / "ex.nc", schema, 0, pattern::patches, comm);
    writer.finish();
    const auto file = writer.open(scratch / "no.nc", schema);
    const std::vector<double> values(200000, 1.0);
    const io::Block row{{0, 0, 0}, {1, 1, rank_in(comm) == 0 ? 200000u : 0u}, {}};
    const std::string found = message([&] {
      file->put("v", row, values.data());
      file->put_all("w", std::vector<double>{1.0, 2.0});
      file->put("v", row, values.data());
      file->close();
      writer.finish();
    });
    CHECK_THAT(found, ContainsSubstring("no.nc': variable 'v': expected all puts of its values one "
                                        "after the other"));
  });
  CHECK(pattern::wrong_values(scratch / "ex.nc", schema, 0) == 0);
}

TEST_CASE("a file that is given up leaves no final name, and the servers go on") {
  if (!has_room_for("async:1")) return;
  const Scratch scratch;
  const Schema schema = pattern::ice();
  compute("async:1", "direct", [&](io::Writer& writer, MPI_Comm comm) {
    {
      const auto file = writer.open(scratch / "no.nc", schema);
      pattern::put(*file, {}, pattern::patches, comm);
    }
    pattern::write(writer, scratch / "yes.nc", schema, records, pattern::patches, comm);
    writer.finish();
    if (rank_in(comm) == 0) {
      CHECK(writer.server_reports().size() == 1);
      CHECK(writer.server_reports()[0].summary.work.written_bytes > 0);
    }
  });
  CHECK(!std::filesystem::exists(scratch / "no.nc"));
  CHECK(pattern::wrong_values(scratch / "yes.nc", schema, records) == 0);
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

TEST_CASE("a record costs the computing ranks one collective call, which does not block") {
  if (!has_room_for("async:1")) return;
  const Scratch scratch;
  const Schema schema = pattern::ice();
  compute("async:1", "direct", [&](io::Writer& writer, MPI_Comm comm) {
    const auto file = writer.open(scratch / "ex.nc", schema, {1});
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
  compute(transport, format + "/file-per-aggregator", [&](io::Writer& writer, MPI_Comm comm) {
    pattern::write(writer, scratch / "ex.nc", schema, 2, pattern::changing_patches, comm);
    writer.finish();
  });
  MPI_Barrier(MPI_COMM_WORLD);
  const io::Joined joined = io::join(MPI_COMM_WORLD, scratch / "ex.nc", scratch / "joined.nc",
                                     options_of("pnetcdf/zslab"));
  CHECK(joined.subfiles == static_cast<std::size_t>(io::parse_transport(transport)));
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
    compute("async:1", "direct", [&](io::Writer& writer, MPI_Comm comm) {
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

TEST_CASE("a server that never serves is not waited for without an end", "[.]") { // io.stop
  io::Servers servers(MPI_COMM_WORLD, "async:1");
  if (servers.is_server()) std::this_thread::sleep_for(std::chrono::hours(1));
  io::Watchdog::of_process().set(servers.comm(), 1, "", true);
  for (std::size_t n = 0; n <= io::most_waiting_actions; ++n)
    servers.act(io::Packer(io::Action::commit));
  servers.stop(0);
}
