// io/remap.hpp, io/split_files.hpp, io/exchange.hpp: every layout writes the file that one rank alone would write, and sends as
// many messages as it must.
#include "io/durable.hpp"
#include "io/exchange.hpp"
#include "io/raw.hpp"
#include "io/remap.hpp"
#include "tests/io/pattern.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using io::Box;
using io::Schema;
using io::Type;

namespace {

constexpr std::size_t records = 3;

io::Options options_of(const std::string& way) {
  io::Options base;
  base.stripe = 100;
  return io::parse_way(way, base);
}

std::string checksum(const std::string& path) { return io::checksum_file(path).checksum; }

/// The file as one rank writes it, with the layout native.
void write_alone(const Scratch& scratch, const Schema& schema) {
  scratch.on_rank_0([&] {
    io::Writer alone(MPI_COMM_SELF, options_of("serial"));
    pattern::write(alone, scratch / "alone.nc", schema, records, pattern::patches, MPI_COMM_SELF);
  });
}

void check_same(const Scratch& scratch, const std::string& path, const Schema& schema) {
  CHECK(pattern::wrong_values(path, schema, records) == 0);
  scratch.on_rank_0([&] { CHECK(checksum(path) == checksum(scratch / "alone.nc")); });
}

const std::vector<std::string> layouts = {"zslab", "zslab:1", "box:1", "box:2", "morton:1", "morton:3"};
const std::vector<std::string> three_layouts = {"zslab", "box:1", "morton:3"};

} // namespace

TEST_CASE("every layout writes the same bytes, on nodes of 1, 2, 3 ranks and of the machine") {
  const Scratch scratch;
  const bool is_ice = GENERATE(true, false);
  const Schema schema = is_ice ? pattern::ice() : pattern::geodesic();
  write_alone(scratch, schema);
  for (const std::string& layout : layouts) {
    for (const int ranks_per_node : is_ice ? std::vector<int>{0, 2} : std::vector<int>{1, 3}) {
      if (ranks_per_node > 0 && ranks_per_node >= size_of(MPI_COMM_WORLD)) continue; // one node
      io::Options options = options_of("pnetcdf/" + layout);
      options.ranks_per_node = ranks_per_node;
      INFO(layout << ", " << ranks_per_node << " ranks per node");
      io::Writer writer(MPI_COMM_WORLD, options);
      pattern::write(writer, scratch / "ex.nc", schema, records);
      check_same(scratch, scratch / "ex.nc", schema);
    }
  }
}

TEST_CASE("formats that write together, after a layout") {
  const Scratch scratch;
  const auto [format, schema] = GENERATE(table<std::string, Schema>(
      {{"netcdf4", pattern::ice()}, {"netcdf4/chunk=record/deflate=1", pattern::ice()}, {"hybrid", pattern::geodesic()}}));
  for (const std::string& layout : three_layouts) {
    INFO(format << ", " << layout);
    io::Writer writer(MPI_COMM_WORLD, options_of(format + "/layout=" + layout + "/ranks_per_node=2/buffer=2000"));
    pattern::write(writer, scratch / "ex.nc", schema, records, pattern::changing_patches);
    CHECK(pattern::wrong_values(scratch / "ex.nc", schema, records) == 0);
  }
}

namespace {

std::vector<std::byte> raw_values(const std::string& path, const io::Variable& variable) {
  const io::RawFile file = io::open_raw(path);
  std::vector<std::size_t> count = file.schema.shape(variable);
  if (file.schema.has_records(variable)) count[0] = file.records;
  std::size_t bytes = io::bytes_of(variable.type);
  for (const std::size_t n : count) bytes *= n;
  std::vector<std::byte> values(bytes);
  io::read_raw(file, variable.name, std::vector<std::size_t>(count.size(), 0), count, values.data());
  return values;
}

} // namespace

TEST_CASE("plain files, after a layout") {
  const Scratch scratch;
  const Schema schema = pattern::ice();
  const std::string format = GENERATE("posix", "mpiio");
  io::Writer native(MPI_COMM_WORLD, options_of(format));
  pattern::write(native, scratch / "native", schema, records);
  for (const std::string& layout : three_layouts) {
    INFO(format << ", " << layout);
    io::Writer writer(MPI_COMM_WORLD, options_of(format + "/" + layout + "/ranks_per_node=2"));
    pattern::write(writer, scratch / "ex", schema, records);
    scratch.on_rank_0([&] {
      CHECK(checksum(scratch / "ex.json") == checksum(scratch / "native.json"));
      for (const io::Variable& v : schema.variables)
        CHECK(raw_values(scratch / "ex", v) == raw_values(scratch / "native", v)); // in gaps there may be anything
    });
  }
}

TEST_CASE("pieces that change from record to record, and several puts of a variable") {
  const Scratch scratch;
  const Schema schema = pattern::ice();
  write_alone(scratch, schema);
  for (const pattern::Cut& cut : {pattern::Cut(pattern::changing_patches), pattern::Cut(pattern::halves)}) {
    for (const std::string& layout : three_layouts) {
      INFO(layout);
      io::Writer writer(MPI_COMM_WORLD, options_of("pnetcdf/" + layout + "/ranks_per_node=2"));
      pattern::write(writer, scratch / "ex.nc", schema, records, cut);
      check_same(scratch, scratch / "ex.nc", schema);
    }
  }
}

TEST_CASE("small buffers: a record in rounds, a variable in parts") {
  const Scratch scratch;
  const Schema schema = pattern::ice();
  write_alone(scratch, schema);
  const std::string buffer = GENERATE("100", "2000");
  for (const std::string& layout : three_layouts) {
    INFO(layout << ", " << buffer << " bytes");
    io::Writer writer(MPI_COMM_WORLD, options_of("pnetcdf/" + layout + "/ranks_per_node=2/buffer=" + buffer));
    pattern::write(writer, scratch / "ex.nc", schema, records, buffer == "100" ? pattern::halves : pattern::patches);
    check_same(scratch, scratch / "ex.nc", schema);
  }
}

TEST_CASE("two files interleave") {
  const Scratch scratch;
  const Schema schema = pattern::ice(), other = pattern::geodesic();
  for (const std::string& layout : three_layouts) {
    INFO(layout);
    io::Writer writer(MPI_COMM_WORLD, options_of("pnetcdf/" + layout));
    const auto a = writer.open(scratch / "a.nc", schema), b = writer.open(scratch / "b.nc", other, {io::FileKind::append, 1});
    pattern::put(*b, {}, pattern::patches, MPI_COMM_WORLD);
    pattern::put(*a, {}, pattern::patches, MPI_COMM_WORLD);
    for (std::size_t t = 0; t < 2; ++t) {
      pattern::put(*a, {t}, pattern::patches, MPI_COMM_WORLD);
      pattern::put(*b, {t}, pattern::patches, MPI_COMM_WORLD);
    }
    a->close();
    b->close();
    CHECK(pattern::wrong_values(scratch / "a.nc", schema, 2) == 0);
    CHECK(pattern::wrong_values(scratch / "b.nc", other, 2) == 0);
  }
}

namespace {

/// One field of 12 x 8 doubles, three records.
Schema one_field() {
  Schema s;
  s.dimensions = {{"time", io::unlimited}, {"y", 12, true}, {"x", 8, true}};
  s.variables = {{"v", Type::float64, {"time", "y", "x"}, {}}};
  return s;
}

/// Messages of a record, once with rows of ranks, or with what `cut` says; from the second record on nothing else happens.
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
  return {io::slab_boxes(schema, v, static_cast<std::size_t>(size))[static_cast<std::size_t>(rank)].at(0)};
}
std::vector<Box> columns(const Schema&, std::size_t, int rank, int size, std::size_t) {
  const auto r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(size);
  return {{{0, 8 * r / n}, {12, 8 * (r + 1) / n - 8 * r / n}}};
}

} // namespace

TEST_CASE("messages are those that the cut asks for") {
  const int size = size_of(MPI_COMM_WORLD);
  const std::int64_t n = size, field = 12 * 8 * 8; // bytes of a record; 12 rows are divided by 1, 2, 3, 4, 6
  const std::string format = GENERATE("null", "pnetcdf");
  const Schema s = one_field();

  const io::Work all_to_one = work_of(format + "/box:1", s, rows);
  CHECK(all_to_one.messages == n - 1);
  CHECK(all_to_one.message_bytes == field * (n - 1) / n);
  CHECK(all_to_one.off_node_bytes == 0); // one machine

  const io::Work own = work_of(format + "/zslab", s, rows); // each rank has its slab
  CHECK(own.messages == 0);

  const io::Work turned = work_of(format + "/zslab", s, columns); // all to all
  CHECK(turned.messages == n * (n - 1));
  if (8 % size == 0) CHECK(turned.message_bytes == field * (n - 1) / n);

  const io::Work nodes = work_of(format + "/zslab:1/ranks_per_node=2", s, rows); // the first of each pair writes for both
  if (size % 2 == 0) CHECK(nodes.off_node_bytes == 0);
  if (size % 2 == 0) CHECK(nodes.messages == n / 2);
  if (size % 2 == 0) CHECK(nodes.message_bytes == field / 2);

  if (size == 1 || size == 2 || size == 6) { // cut into rows as the nodes are: 1, 3 rectangles of 12 x 8
    const io::Work boxes = work_of(format + "/box:1/ranks_per_node=2", s, rows);
    CHECK(boxes.messages == n / 2);
    CHECK(boxes.off_node_bytes == 0);
  }
  if (size == 4) {
    // tiles of 64 doubles, 8 x 8: one and a half of them in y; of half that, 5 x 6 ...; of 24: quarters of the field
    const auto quarters = [](const Schema&, std::size_t, int rank, int, std::size_t record) -> std::vector<Box> {
      const auto q = static_cast<std::size_t>(record < 9 ? rank : 0);
      return {{{6 * (q / 2), 4 * (q % 2)}, {6, 4}}};
    };
    const io::Work z_curve = work_of(format + "/morton:1/ranks_per_node=1/stripe=192", s, quarters);
    CHECK(z_curve.messages == 0);
    const auto exchanged = [&](const Schema& schema, std::size_t v, int rank, int n_ranks, std::size_t t) {
      return quarters(schema, v, 3 - rank, n_ranks, t);
    };
    const io::Work opposite = work_of(format + "/morton:1/ranks_per_node=1/stripe=192", s, exchanged);
    CHECK(opposite.messages == 4);
    CHECK(opposite.off_node_bytes == field);
  }
}

TEST_CASE("puts of one record and of two, between the same ends of records") {
  const Scratch scratch;
  const Schema schema = one_field();
  for (const std::string& layout : three_layouts) {
    INFO(layout);
    io::Writer writer(MPI_COMM_WORLD, options_of("pnetcdf/" + layout));
    const auto file = writer.open(scratch / "ex.nc", schema);
    const auto put = [&](std::size_t record, std::size_t half) { // of this rank's rows
      Box box = rows(schema, 0, rank_of(MPI_COMM_WORLD), size_of(MPI_COMM_WORLD), 0).at(0);
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

TEST_CASE("messages above the largest go in several, in order") {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size == 1) return;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  std::vector<std::byte> out(1001), in(1001);
  for (std::size_t n = 0; n < out.size(); ++n) out[n] = static_cast<std::byte>(n * 7 + static_cast<std::size_t>(rank));
  CHECK(io::exchange(MPI_COMM_WORLD, {{previous, in.data(), in.size()}}, {{next, out.data(), out.size()}}, 100) == 11);
  for (std::size_t n = 0; n < in.size(); ++n) {
    if (in[n] != static_cast<std::byte>(n * 7 + static_cast<std::size_t>(previous))) FAIL("byte " << n);
  }
}

namespace {

/// A format that only notes what it gets, and may fail on one rank.
class Notes final : public io::Format {
public:
  struct Seen {
    int posts = 0, waits = 0;
    std::size_t elements = 0;
    bool all_lasting = true;
  };
  Notes(Seen& seen, int fails_on) : m_seen(seen), m_fails_on(fails_on) {}
  void define(const Schema&) override {}
  void post(std::size_t, const io::Piece& piece) override {
    m_seen.posts += 1;
    m_seen.elements += piece.elements();
    m_seen.all_lasting = m_seen.all_lasting && piece.lasting && piece.start.size() == piece.stride.size() && piece.start[0] == 8;
    if (rank_of(MPI_COMM_WORLD) == m_fails_on) throw io::Error("no");
  }
  void wait() override { m_seen.waits += 1; }
  void flush() override {}
  void close() override {}
  io::Work work() const override { return {}; }

private:
  Seen& m_seen;
  int m_fails_on;
};

} // namespace

TEST_CASE("the inner format gets lasting pieces, equally many on all ranks, also after it has failed on one") {
  const int rank = rank_of(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const Schema schema = one_field();
  io::Options options;
  options.buffer = GENERATE(std::size_t{1} << 20, std::size_t{100});
  const io::Topology topology = io::make_topology(MPI_COMM_WORLD, 2);
  const std::vector<int> aggregators = io::aggregators(topology, 1);
  const auto boxes_of = [&](const Schema& s, std::size_t v) { return io::morton_boxes(s, v, aggregators.size(), 400); };
  Notes::Seen seen;
  const auto format =
      io::make_remap(MPI_COMM_WORLD, options, topology, aggregators, boxes_of, std::make_unique<Notes>(seen, size - 1));
  format->define(schema);
  const Box mine = rows(schema, 0, rank, size, 0).at(0);
  const std::vector<double> values(mine.elements());
  io::Piece piece{{8, mine.start[0], 0}, {1, mine.count[0], 8}, {0, 8, 1}, reinterpret_cast<const std::byte*>(values.data())};
  format->post(0, piece);
  if (rank == size - 1) {
    CHECK_THROWS_AS(format->wait(), io::Error);
  } else {
    CHECK_NOTHROW(format->wait());
  }
  int most[] = {seen.posts, -seen.posts, seen.waits, -seen.waits};
  MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  CHECK((most[0] == -most[1] && most[2] == -most[3]));
  CHECK((seen.posts > 0 && seen.all_lasting));
  MPI_Allreduce(MPI_IN_PLACE, &seen.elements, 1, MPI_UNSIGNED_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(seen.elements == 12 * 8);
}

TEST_CASE("file-per-aggregator: each file opens by itself and says where it belongs") {
  const Scratch scratch;
  const std::string format = GENERATE("serial", "pnetcdf", "netcdf4");
  const int size = size_of(MPI_COMM_WORLD), n = std::min(2, size);
  io::Writer writer(MPI_COMM_WORLD, options_of(format + "/file-per-aggregator:2"));
  const Schema schema = pattern::ice();
  pattern::write(writer, scratch / "ex.nc", schema, records, pattern::changing_patches);
  CHECK_FALSE(std::filesystem::exists(scratch / "ex.nc"));
  CHECK(io::verify_manifest(scratch / "manifest.jsonl").empty());
  std::size_t cells = 0;
  for (int a = 0; a < n; ++a) { // cut along x, the longer one
    const io::Reader in(scratch / ("ex.nc.000" + std::to_string(a)), MPI_COMM_WORLD);
    const auto where = in.numbers("x", "domain_decomposition").value();
    CHECK(in.number("", "NumFilesInSet") == n);
    CHECK((where[0] == 1 && where[1] == 11));
    const auto first = static_cast<std::size_t>(where[2]) - 1, count = static_cast<std::size_t>(where[3]) - first;
    CHECK(in.length("x") == count);
    CHECK(in.length("y") == 7);
    cells += 7 * count;
    const auto x = in.read_all("x"), thk = in.read_all("thk");
    const std::size_t v_x = schema.variable("x"), v_thk = schema.variable("thk");
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      wrong += x[i] != pattern::value(schema, v_x, 0, first + i);
      for (std::size_t t = 0; t < records; ++t) {
        for (std::size_t j = 0; j < 7; ++j)
          wrong += thk[(t * 7 + j) * count + i] != pattern::value(schema, v_thk, t, j * 11 + first + i);
      }
    }
    CHECK(wrong == 0);
    CHECK(in.read_all("z").size() == 5); // in every file
    CHECK(in.text("", "Conventions") == "CF-1.8");
  }
  CHECK(cells == 77);
}

TEST_CASE("file-per-aggregator: a file without distributed dimensions is one ordinary file") {
  const Scratch scratch;
  Schema schema;
  schema.dimensions = {{"time", io::unlimited}, {"nv", 2}};
  schema.variables = {{"time", Type::float64, {"time"}, {}}, {"time_bounds", Type::float64, {"time", "nv"}, {}}};
  write_alone(scratch, schema);
  io::Writer writer(MPI_COMM_WORLD, options_of("pnetcdf/file-per-aggregator"));
  pattern::write(writer, scratch / "ex.nc", schema, records);
  check_same(scratch, scratch / "ex.nc", schema);
}

TEST_CASE("file-per-aggregator: more aggregators than cells are refused") {
  const Scratch scratch;
  io::Writer writer(MPI_COMM_WORLD, options_of("pnetcdf/file-per-aggregator:6"));
  const Schema small = pattern::ice(1, 2);
  if (size_of(MPI_COMM_WORLD) <= 2) {
    pattern::write(writer, scratch / "ex.nc", small, 1);
    CHECK(std::filesystem::exists(scratch / "ex.nc.0000"));
  } else {
    CHECK_THROWS_MATCHES(writer.open(scratch / "ex.nc", small), io::Error, MessageMatches(ContainsSubstring("at most 2 agg")));
  }
}

TEST_CASE("null with a layout moves values, and writes nothing") {
  const Scratch scratch;
  for (const char* layout : {"zslab", "box:1", "morton:2", "file-per-aggregator"}) {
    io::Writer writer(MPI_COMM_WORLD, options_of(std::string("null/") + layout));
    pattern::write(writer, scratch / "ex.nc", pattern::ice(), records);
    const io::Summary s = io::summarize(MPI_COMM_WORLD, writer.statistics());
    CHECK(s.work.written_bytes == 0);
    CHECK((s.work.messages > 0) == (size_of(MPI_COMM_WORLD) > 1));
  }
  CHECK(std::filesystem::is_empty(scratch.path()));
}

TEST_CASE("what cannot work with a layout is refused with the reason") {
  const std::pair<const char*, const char*> refused[] = {{"serial/zslab", "format serial gathers to rank 0 by itself"},
                                                         {"serial/box:2", "format serial gathers to rank 0 by itself"},
                                                         {"serial/morton:1", "format serial gathers to rank 0 by itself"},
                                                         {"hybrid/file-per-aggregator", "writes a NetCDF file per aggregator"},
                                                         {"posix/file-per-aggregator:2", "writes a NetCDF file per aggregator"},
                                                         {"pnetcdf/zslab/define=interleaved", "layouts move a record at a time"},
                                                         {"pnetcdf/box", "expected one of"},
                                                         {"pnetcdf/box:0", "expected one of"},
                                                         {"pnetcdf/morton:-1", "expected one of"},
                                                         {"pnetcdf/diagonal", "expected one of"}};
  for (const auto& [way, why] : refused) {
    INFO(way);
    CHECK_THROWS_MATCHES(options_of(way), io::Error, MessageMatches(ContainsSubstring(why)));
  }
}
