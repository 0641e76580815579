// io/plan.hpp: the messages, bytes and calls of a plan are those that the writer counts.
#include "io/plan.hpp"
#include "io/writer.hpp"
#include "tests/io/with_servers.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace nunatak;
using io::Type;

namespace {

constexpr std::size_t points_y = 26, points_x = 22, levels = 5;

io::Schema planned_state() {
  io::Schema s;
  s.dimensions = {
      {"time", io::unlimited}, {"y", points_y, true}, {"x", points_x, true}, {"z", levels}};
  for (const auto& dimensions : std::vector<std::vector<std::string>>{{"time"},
                                                                      {"y"},
                                                                      {"z"},
                                                                      {"y", "x"},
                                                                      {"time", "y", "x"},
                                                                      {"time", "y", "x"},
                                                                      {"time", "y", "x", "z"},
                                                                      {"time", "z", "y", "x"}})
    s.variables.push_back(
        {"v" + std::to_string(s.variables.size()), Type::float64, dimensions, {}});
  return s;
}

/// Three rows of ranks if their number allows it, else two, else one.
io::Cut cut_for(int ranks) {
  const std::size_t rows = ranks % 3 == 0   ? 3
                           : ranks % 2 == 0 ? 2
                                            : 1,
                    columns = static_cast<std::size_t>(ranks) / rows;
  io::Cut cut;
  for (std::size_t r = 0; r <= rows; ++r) cut.rows.push_back(r * points_y / rows);
  for (std::size_t c = 0; c <= columns; ++c) cut.columns.push_back(c * points_x / columns);
  return cut;
}

void put_state(io::File& file, const io::Cut& cut, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  const std::size_t n = cut.columns.size() - 1, r = at / n, c = at % n;
  const std::vector<double> values(points_y * points_x * levels, 1.5);
  const io::Schema& schema = file.schema();
  for (const io::Variable& v : schema.variables) {
    const std::size_t record = schema.has_records(v) ? 0 : io::no_record;
    const bool is_cut = v.dimensions.size() > 1;
    io::Block block;
    for (const std::string& name : v.dimensions) {
      if (name == "time") continue;
      const bool is_y = name == "y" && is_cut, is_x = name == "x" && is_cut;
      const std::size_t first = is_y ? cut.rows[r] : is_x ? cut.columns[c] : 0;
      block.start.push_back(first);
      block.count.push_back((is_y   ? cut.rows[r + 1]
                             : is_x ? cut.columns[c + 1]
                                    : schema.dimensions[schema.dimension(name)].length) -
                            first);
    }
    const bool has_values = is_cut || rank == 0;
    if (!has_values) block.count.assign(block.count.size(), 0);
    if (block.count.empty()) {
      file.put_all(v.name, record, std::vector<double>{1.5});
    } else {
      file.put(v.name, record, block, values.data());
    }
  }
}

/// What a plan sends and writes, as the writer counts it.
class PlannedWork final : public io::PlanWatch {
public:
  io::Work work;
  const io::Topology& nodes;
  explicit PlannedWork(const io::Topology& nodes_) : nodes(nodes_) {}
  void message(int from, int to, std::int64_t bytes) override {
    work.messages += 1;
    work.message_bytes += bytes;
    const auto node_of = [&](int rank) { return nodes.node_of.at(static_cast<std::size_t>(rank)); };
    const bool to_server = to >= static_cast<int>(nodes.node_of.size());
    if (!to_server && node_of(from) != node_of(to)) work.off_node_bytes += bytes;
  }
  void write(int, std::uint64_t, std::uint64_t bytes) override {
    work.written_operations += 1;
    work.written_bytes += static_cast<std::int64_t>(bytes);
  }
  void next() override {}
};

/// Writes a state on the ranks of `comm`: what the plan says, and what the ranks and, on rank 0,
/// their servers have counted.
struct PlannedAndCounted {
  io::Work planned, ranks, servers;
};
PlannedAndCounted plan_and_write(MPI_Comm comm, const Scratch& scratch, const std::string& method) {
  const io::Options options = io::parse_method(method, {});
  const io::Cut cut = cut_for(size_of(comm));
  io::Writer writer(comm, options);
  const auto file = writer.open(scratch / "ex.nc", planned_state());
  put_state(*file, cut, io::rank_in(comm));
  file->end_record();
  file->close();
  writer.finish();
  const io::Topology nodes = io::make_topology(comm, options.ranks_per_node);
  PlannedWork plan(nodes);
  const io::ClassicLayout layout = io::read_classic_layout(scratch / "ex.nc").value();
  io::plan_record(file->schema(), layout, options, nodes, cut, plan);
  PlannedAndCounted found{plan.work, io::summarize(comm, file->statistics()).work, {}};
  for (const io::ServerReport& r : writer.server_reports()) found.servers += r.summary.work;
  return found;
}

void check_messages(const io::Work& planned, const io::Work& counted) {
  CHECK(planned.messages == counted.messages);
  CHECK(planned.message_bytes == counted.message_bytes);
  CHECK(planned.off_node_bytes == counted.off_node_bytes);
}
void check_writes(const io::Work& planned, const io::Work& counted) {
  CHECK(planned.written_operations == counted.written_operations);
  CHECK(planned.written_bytes == counted.written_bytes);
}

} // namespace

TEST_CASE("a plan has the messages, bytes and calls of the writer") {
  const Scratch scratch;
  const std::string layout = GENERATE("native", "zslab", "zslab:1", "box:1", "morton:1", "auto",
                                      "auto:1"),
                    more = GENERATE("", "/buffer=1KiB", "/stripe=512/ranks_per_node=2");
  INFO(layout << more);
  const PlannedAndCounted direct =
      plan_and_write(MPI_COMM_WORLD, scratch, "direct/" + layout + more);
  check_messages(direct.planned, direct.ranks);
  check_writes(direct.planned, direct.ranks);
  if (layout != "native") return;
  const PlannedAndCounted serial = plan_and_write(MPI_COMM_WORLD, scratch, "serial" + more);
  check_messages(serial.planned, serial.ranks);
  CHECK(serial.planned.written_bytes == serial.ranks.written_bytes);
  CHECK(plan_and_write(MPI_COMM_WORLD, scratch, "pnetcdf" + more).planned.written_bytes ==
        serial.ranks.written_bytes);
}

TEST_CASE("a plan has what clients send and servers write") {
  const std::string transport = GENERATE("async:1", "async:2"),
                    more = GENERATE("", "/buffer=4KiB", "/box");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  with_servers(transport, [&](MPI_Comm comm) {
    const PlannedAndCounted found =
        plan_and_write(comm, scratch, "direct/transport=" + transport + more);
    check_messages(found.planned, found.ranks);
    if (io::rank_in(comm) == 0) check_writes(found.planned, found.servers);
  });
}

TEST_CASE("a method without a plan is refused") {
  const io::Topology nodes = io::runs_of_nodes(2, 1);
  PlannedWork plan(nodes);
  const auto refused = [&](const char* method) {
    CHECK_REFUSED(
        io::plan_record(planned_state(), {}, io::parse_method(method, {}), nodes, cut_for(2), plan),
        "whose plans are known");
  };
  refused("netcdf4");
  refused("pnetcdf/zslab");
  refused("direct/file-per-aggregator:1");
}
