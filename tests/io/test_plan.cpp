// io/write/plan.hpp: the messages, bytes and calls of a plan are those that the writer counts.
#include "io/write/plan.hpp"
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

/// What a rank puts of a variable: of maps a patch, in three rows of ranks if their number allows
/// it, else two, else one; of others rank 0 puts all.
io::Block block_of(const io::Schema& schema, const io::Variable& variable, int rank, int ranks) {
  const int rows = ranks % 3 == 0 ? 3 : ranks % 2 == 0 ? 2 : 1, columns = ranks / rows;
  const bool is_cut = variable.dimensions.size() > 1;
  io::Block block;
  for (const std::string& name : variable.dimensions) {
    if (name == "time") continue;
    const std::size_t length = schema.dimensions[schema.dimension(name)].length;
    const bool is_y = name == "y" && is_cut, is_x = name == "x" && is_cut;
    const auto part = static_cast<std::size_t>(is_y   ? rank / columns
                                               : is_x ? rank % columns
                                                      : 0),
               parts = static_cast<std::size_t>(is_y   ? rows
                                                : is_x ? columns
                                                       : 1);
    block.start.push_back(length * part / parts);
    block.count.push_back(length * (part + 1) / parts - block.start.back());
  }
  if (!is_cut && rank > 0) block.count.assign(block.count.size(), 0);
  return block;
}

std::vector<io::Parts> parts_for(const io::Schema& schema, int ranks) {
  std::vector<io::Parts> parts;
  for (const io::Variable& v : schema.variables) {
    std::vector<io::Part> of_ranks;
    for (int r = 0; r < (v.dimensions.size() > 1 ? ranks : 1); ++r) {
      const io::Block block = block_of(schema, v, r, ranks);
      of_ranks.push_back({r, {block.start, block.count}});
    }
    parts.push_back(io::make_parts(of_ranks));
  }
  return parts;
}

void put_state(io::File& file, int rank, int ranks) {
  const std::vector<double> values(points_y * points_x * levels, 1.5);
  const io::Schema& schema = file.schema();
  for (const io::Variable& v : schema.variables) {
    const std::size_t record = schema.has_records(v) ? 0 : io::no_record;
    const io::Block block = block_of(schema, v, rank, ranks);
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
PlannedAndCounted plan_and_write(MPI_Comm comm, const Scratch& scratch, io::Writer& writer) {
  const io::Options options = writer.options();
  const auto file = writer.open(scratch / "ex.nc", planned_state());
  put_state(*file, io::rank_in(comm), io::size_of(comm));
  file->end_record();
  file->close();
  writer.finish();
  const io::Topology nodes = io::make_topology(comm, options.ranks_per_node);
  PlannedWork plan(nodes);
  const io::ClassicLayout layout = io::read_classic_layout(scratch / "ex.nc").value();
  io::plan_records(file->schema(), layout, options, nodes, {io::stripe_of(options.stripe)},
                   parts_for(file->schema(), io::size_of(comm)), 1, plan);
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
  const auto planned = [&](const std::string& method) {
    return plan_and_write(MPI_COMM_WORLD, scratch, *writer_of(method));
  };
  const PlannedAndCounted direct = planned("direct/" + layout + more);
  check_messages(direct.planned, direct.ranks);
  check_writes(direct.planned, direct.ranks);
  if (layout != "native") return;
  const PlannedAndCounted serial = planned("serial" + more);
  check_messages(serial.planned, serial.ranks);
  CHECK(serial.planned.written_bytes == serial.ranks.written_bytes);
  CHECK(planned("pnetcdf" + more).planned.written_bytes == serial.ranks.written_bytes);
}

TEST_CASE("a plan has what clients send and servers write") {
  const std::string transport = GENERATE("async:1", "async:2"),
                    more = GENERATE("", "/buffer=4KiB", "/box");
  if (!has_room_for(transport)) return;
  const Scratch scratch;
  compute(transport, "direct" + more, [&](io::Writer& writer, MPI_Comm comm) {
    const PlannedAndCounted found = plan_and_write(comm, scratch, writer);
    check_messages(found.planned, found.ranks);
    if (io::rank_in(comm) == 0) check_writes(found.planned, found.servers);
  });
}

TEST_CASE("a method without a plan") {
  const io::Topology nodes = io::runs_of_nodes(2, 1);
  PlannedWork plan(nodes);
  const std::string method = GENERATE("netcdf4", "pnetcdf/zslab", "direct/file-per-aggregator:1");
  CHECK(
      !io::plan_records(planned_state(), {}, io::parse_method(method, {}), nodes, {}, {}, 1, plan));
  CHECK(plan.work.written_bytes == 0);
}
