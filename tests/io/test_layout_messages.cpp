// io/layouts/remap.hpp, io/data/exchange.hpp: a layout sends as many messages as it must, hands
// the inner format what it promises, and goes on when that fails on one rank.
#include "io/data/exchange.hpp"
#include "io/layouts/auto.hpp"
#include "io/layouts/remap.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using io::Box;
using io::Schema;
using io::Type;

namespace {

std::int64_t sent_bytes = 0; ///< by MPI_Isend of this rank: counts
int largest_sent = 0;        ///< of them

/// One field of 12 x 8 doubles, three records.
Schema one_field() {
  Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", 12, true}, {"x", 8, true}};
  s.variables = {{"v", Type::float64, {"time", "y", "x"}, {}}};
  return s;
}

/// Messages of a record whose parts `cut` says; the same from the second record on.
io::Work work_of(const std::string& way, const Schema& schema, const pattern::Cut& cut) {
  const Scratch scratch;
  io::Writer writer(MPI_COMM_WORLD, options_of(way));
  const auto file = writer.open(scratch / "ex.nc", schema);
  std::vector<io::Work> after;
  for (std::size_t t = 0; t < 3; ++t) {
    pattern::put(*file, {t}, cut, MPI_COMM_WORLD);
    after.push_back(io::summarize(MPI_COMM_WORLD, writer.statistics()).work);
  }
  const io::Work second = after[1] - after[0], third = after[2] - after[1];
  CHECK(second.messages == third.messages);
  CHECK(second.message_bytes == third.message_bytes);
  CHECK(second.messages == after[0].messages);
  file->close();
  return third;
}

std::vector<Box> rows(const Schema& schema, std::size_t v, int rank, int size, std::size_t) {
  const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(size);
  return {io::slab_boxes(schema, v, n)[r].at(0)};
}
std::vector<Box> columns(const Schema& schema, std::size_t v, int rank, int size, std::size_t) {
  const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(size);
  const Box whole = io::whole_box(schema, v);
  const std::size_t first = whole.count[1] * r / n;
  return {{{0, first}, {whole.count[0], whole.count[1] * (r + 1) / n - first}}};
}

} // namespace

extern "C" int MPI_Isend(const void* data, int count, MPI_Datatype type, int rank, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  sent_bytes += count;
  largest_sent = std::max(largest_sent, count);
  return PMPI_Isend(data, count, type, rank, tag, comm, request);
}

TEST_CASE("auto deals stripes to all ranks of a node, whatever the format knows") {
  const std::int64_t n = size_of(MPI_COMM_WORLD);
  Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", 64, true}, {"x", 64, true}};
  for (int v = 0; v < 24; ++v)
    s.variables.push_back({"v" + std::to_string(v), Type::float64, {"time", "y", "x"}, {}});
  CHECK(work_of("null/auto/stripe=16KiB", s, columns).messages == n * (n - 1));
  CHECK(work_of("pnetcdf/auto/stripe=16KiB", s, columns).messages == n * (n - 1));
}

TEST_CASE("auto: runs of 20 KiB stay, unless one of several nodes has most of them") {
  Schema s = one_field();
  const auto n = static_cast<std::size_t>(size_of(MPI_COMM_WORLD)), length = 2560 * n;
  s.dimensions[2].length = length;
  const auto uneven = [=](const Schema&, std::size_t, int rank, int, std::size_t) {
    const auto r = static_cast<std::size_t>(rank), first = length - 8 * (n - 1);
    return std::vector<Box>{{{0, r == 0 ? 0 : first + 8 * (r - 1)}, {12, r == 0 ? first : 8}}};
  };
  const std::string way = "null/auto/stripe=256KiB/ranks_per_node=";
  CHECK(work_of(way + "100", s, uneven).messages == 0);
  CHECK(work_of(way + "1", s, columns).messages == 0);
  CHECK((work_of(way + "1", s, uneven).messages > 0) == (n > 1));
}

TEST_CASE("auto judges a variable by all blocks of a rank, not by the first") {
  const Scratch scratch;
  const auto n = static_cast<std::size_t>(size_of(MPI_COMM_WORLD)),
             rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD));
  Schema s;
  s.dimensions = {{"x", 64 * n, true}};
  s.variables = {{"v", Type::float64, {"x"}, {}}};
  std::vector<io::Block> blocks(1, {{0}, {0}, {}}); // an empty one, then values dealt round-robin
  std::vector<double> values;
  for (std::size_t k = 0; k < 64; ++k) {
    blocks.push_back({{k * n + rank}, {1}, {}, {}, k});
    values.push_back(static_cast<double>(k * n + rank));
  }
  io::Writer writer(MPI_COMM_WORLD, options_of("direct/auto"));
  const auto file = writer.open(scratch / "ex.nc", s);
  file->put_blocks("v", io::no_record, blocks, reinterpret_cast<const std::byte*>(values.data()),
                   Type::float64);
  file->close();
  CHECK(io::summarize(MPI_COMM_WORLD, writer.statistics()).work.messages ==
        size_of(MPI_COMM_WORLD) - 1);
  const std::vector<double> found = io::Reader(scratch / "ex.nc", MPI_COMM_WORLD).read_all("v");
  for (std::size_t x = 0; x < 64 * n; ++x) CHECK(found[x] == static_cast<double>(x));
}

TEST_CASE("ranks send aggregators of auto their boxes once, not each part in a stripe") {
  const auto n = static_cast<std::size_t>(size_of(MPI_COMM_WORLD));
  Schema s = one_field(); // each y is a stripe; pairs of x are dealt round-robin
  s.dimensions = {{"time", io::unlimited}, {"y", 64}, {"x", 256 * n, true}};
  const auto pairs = [](const Schema&, std::size_t, int rank, int size, std::size_t) {
    std::vector<Box> boxes;
    for (int pair = rank; pair < 128 * size; pair += size)
      boxes.push_back({{0, 2 * static_cast<std::size_t>(pair)}, {64, 2}});
    return boxes;
  };
  sent_bytes = 0;
  const std::int64_t of_values =
      3 * work_of("null/auto/stripe=" + std::to_string(2048 * n), s, pairs).message_bytes;
  CHECK(sent_bytes * static_cast<std::int64_t>(n) <= of_values * 3 / 2);
  CHECK((sent_bytes > 0) == (n > 1));
}

TEST_CASE("ranks that put different numbers of blocks get an error, also if they agree later") {
  if (size_of(MPI_COMM_WORLD) == 1) return;
  const Scratch scratch;
  const auto odd = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD) % 2);
  Schema s = one_field();
  s.variables.resize(4, one_field().variables[0]);
  for (std::size_t v = 0; v < 4; ++v) s.variables[v].name = "vwxy"[v];
  const auto put = [&](const std::string& way, const std::vector<std::size_t>& blocks) {
    io::Writer writer(MPI_COMM_WORLD, options_of(way));
    const auto file = writer.open(scratch / "ex.nc", s);
    for (std::size_t v = 0; v < blocks.size(); ++v)
      file->put_blocks(s.variables[v].name, 0, {blocks[v], {{0, 0}, {0, 0}, {}}}, nullptr,
                       Type::float64);
    file->close();
  };
  const std::string expected = ": expected as many blocks from every rank, found ";
  CHECK_THROWS_WITH(put("direct/box:1", {1 + odd}),
                    ContainsSubstring("variable 'v'" + expected + "1 to 2"));
  CHECK_THROWS_WITH(put("direct/box:1/buffer=1536", {1, 1 + odd, 1, 2 - odd}), // holds two fields
                    ContainsSubstring("variable 'w'" + expected + "3 to 4"));
}

TEST_CASE("messages are those that the cut asks for") {
  const int size = size_of(MPI_COMM_WORLD);
  const std::int64_t n = size, field = 12 * 8 * 8; // bytes of a record
  const std::string format = GENERATE("null", "pnetcdf");
  const Schema s = one_field();

  const io::Work all_to_one = work_of(format + "/box:1", s, rows);
  CHECK(all_to_one.messages == n - 1);
  CHECK(all_to_one.message_bytes == field * (n - 1) / n);
  CHECK(all_to_one.off_node_bytes == 0); // one machine

  CHECK(work_of(format + "/zslab", s, rows).messages == 0); // each rank has its slab

  const io::Work turned = work_of(format + "/zslab", s, columns); // all to all
  CHECK(turned.messages == n * (n - 1));
  if (8 % size == 0) CHECK(turned.message_bytes == field * (n - 1) / n);

  const io::Work nodes = work_of(format + "/zslab:1/ranks_per_node=2", s, rows);
  if (size % 2 == 0) CHECK((nodes.off_node_bytes == 0 && nodes.messages == n / 2));
  if (size % 2 == 0) CHECK(nodes.message_bytes == field / 2);

  if (size == 1 || size == 2 || size == 6) { // cut into rows, as the nodes are
    const io::Work boxes = work_of(format + "/box:1/ranks_per_node=2", s, rows);
    CHECK((boxes.messages == n / 2 && boxes.off_node_bytes == 0));
  }
  if (size == 4) {
    // tiles of 24 doubles could be 4 x 6; from the shorter dimension: x gets 4, y the other 6
    const auto quarters = [](const Schema&, std::size_t, int rank, int,
                             std::size_t) -> std::vector<Box> {
      const auto q = static_cast<std::size_t>(rank);
      return {{{6 * (q / 2), 4 * (q % 2)}, {6, 4}}};
    };
    const std::string z_curve = format + "/morton:1/ranks_per_node=1/stripe=192";
    CHECK(work_of(z_curve, s, quarters).messages == 0);
    const auto exchanged = [&](const Schema& schema, std::size_t v, int rank, int n_ranks,
                               std::size_t t) { return quarters(schema, v, 3 - rank, n_ranks, t); };
    const io::Work opposite = work_of(z_curve, s, exchanged);
    CHECK((opposite.messages == 4 && opposite.off_node_bytes == field));
  }
}

TEST_CASE("puts of one record and of two, between the same ends of records") {
  const Scratch scratch;
  const Schema schema = one_field();
  for (const char* layout : {"zslab", "box:1", "morton:3"}) {
    INFO(layout);
    io::Writer writer(MPI_COMM_WORLD, options_of(std::string("pnetcdf/") + layout));
    const auto file = writer.open(scratch / "ex.nc", schema);
    const auto put = [&](std::size_t record, std::size_t half) { // of this rank's rows
      Box box = rows(schema, 0, rank_in(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD), 0).at(0);
      box.start[1] = 4 * half;
      box.count[1] = 4;
      pattern::put_as<double>(*file, 0, {record}, box, false);
    };
    const std::size_t order[][2][2] = {{{0, 0}, {0, 1}}, {{1, 0}, {2, 1}}, {{1, 1}, {2, 0}}};
    for (const auto& round : order) {
      for (const auto& [record, half] : round) put(record, half);
      file->end_record();
    }
    file->close();
    CHECK(pattern::wrong_values(scratch / "ex.nc", schema, 3) == 0);
  }
}

TEST_CASE("the aggregators hand the format few large pieces") {
  const Scratch scratch;
  io::Writer writer(MPI_COMM_WORLD, options_of("pnetcdf/box:1"));
  pattern::write(writer, scratch / "ex.nc", one_field(), 3);
  const io::Summary s = io::summarize(MPI_COMM_WORLD, writer.statistics());
  CHECK(s[io::Phase::exchange].bytes == s.work.message_bytes);
  CHECK(s[io::Phase::exchange].operations >= 3);
  CHECK(s.work.written_operations == 3 * size_of(MPI_COMM_WORLD)); // one wait for each record
}

TEST_CASE("messages above the largest go in parts, filled before and taken once they are whole") {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size == 1) return;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  const std::size_t length = GENERATE(std::size_t{1001}, std::size_t{1000});
  std::vector<std::byte> out(length), in(length), taken;
  const auto fill = [&](int of, std::vector<std::byte>& bytes) {
    for (std::size_t n = 0; n < length; ++n)
      bytes[n] = static_cast<std::byte>(n * 7 + static_cast<std::size_t>(of));
  };
  int times_taken = 0;
  largest_sent = 0;
  const std::int64_t sent = io::exchange(
      MPI_COMM_WORLD, {{previous, in.data(), length}}, {{next, out.data(), length}},
      [&](std::size_t) { fill(rank, out); },
      [&](std::size_t) {
        taken = in;
        times_taken += 1;
      },
      100);
  fill(previous, out);
  CHECK((sent == 1 && taken == out && times_taken == 1));
  CHECK(largest_sent == 100);
}

namespace {

/// A format that only notes what it gets, and may fail on one rank.
class Notes final : public io::Format {
public:
  struct Seen {
    int slabs = 0, waits = 0;
    std::size_t elements = 0;
    bool all_lasting = true;
  };
  Notes(Seen& seen, int fails_on) : m_seen(seen), m_fails_on(fails_on) {}
  void define() override {}
  void put(std::size_t, std::size_t record, const io::Slabs& slabs) override {
    for (const io::Hyperslab& slab : slabs) {
      m_seen.slabs += 1;
      m_seen.elements += slab.elements();
      m_seen.all_lasting = m_seen.all_lasting && slab.lasting && record == 8 &&
                           slab.start.size() == slab.stride.size();
    }
    if (rank_in(MPI_COMM_WORLD) == m_fails_on) throw Error("no");
  }
  void wait() override { m_seen.waits += 1; }
  void close() override {}
  io::Work work() const override { return {}; }

private:
  Seen& m_seen;
  int m_fails_on;
};

} // namespace

TEST_CASE("the inner format gets equally many lasting pieces on all ranks, failed or not") {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const Schema schema = one_field();
  io::Options options;
  options.buffer = GENERATE(std::size_t{1} << 20, std::size_t{100});
  const io::Topology topology = io::make_topology(MPI_COMM_WORLD, 2);
  const std::vector<int> aggregators = io::aggregators(topology, 1);
  const auto boxes_of = [&](const Schema& s, std::size_t v) {
    return io::segment_boxes(s, v, aggregators.size(), 400);
  };
  Notes::Seen seen;
  const auto format = io::make_remap(MPI_COMM_WORLD, schema, options, topology, aggregators,
                                     boxes_of, std::make_unique<Notes>(seen, size - 1));
  format->define();
  const Box mine = rows(schema, 0, rank, size, 0).at(0);
  const std::vector<double> values(mine.elements());
  format->put(
      0, 8,
      {io::row_major(mine, reinterpret_cast<const std::byte*>(values.data()), Type::float64)});
  if (rank == size - 1) {
    CHECK_THROWS_AS(format->wait(), Error);
  } else {
    CHECK_NOTHROW(format->wait());
  }
  int most[] = {seen.slabs, -seen.slabs, seen.waits, -seen.waits};
  MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK((most[0] == -most[1] && most[2] == -most[3]));
  CHECK((seen.slabs > 0 && seen.all_lasting));
  MPI_Allreduce(MPI_IN_PLACE, &seen.elements, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(seen.elements == 12 * 8);
}
