// virtual_async: what output servers are sent of a workload (nunatak-io), for any numbers of ranks
// and servers, and how long it would take on a machine that is described by a few numbers. Nothing
// is sent, nothing is timed. Prints one JSON object.
//
//   virtual_async -workload pism:G1km -clients 256,16384 -servers 4,256 -ranks_per_node 64 -records
//   3 -compute 60
//
// Messages and bytes are counted (async_plan.hpp), and those of a real run
// (tests/program/test_async.py). Seconds are modelled (async_events.hpp).
#include "miniapp/base/error.hpp"
#include "miniapp/base/io_options.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/words.hpp"
#include "perf/async_events.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

using namespace nunatak;
using Json = nlohmann::ordered_json;
namespace t = nunatak::tools;

namespace {

struct Wanted {
  std::string workload = "pism:G5km", clients = "2", servers = "1";
  double scale = 1.0, compute = 0.0;
  int ranks_per_node = 0, records = 1, variables = 0;
  io::Options io;
  Machine machine;
};

Json spread(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {{"sum", sum}, {"min", *least}, {"max", *most}};
}

Json run(const Wanted& wanted, t::Workload workload, std::size_t clients, std::size_t servers) {
  workload.grid = [grid = workload.grid(clients)](std::size_t) {
    return grid;
  }; // not sought again for each client
  const Plan plan(workload, wanted.io, clients, servers);
  const Record first = plan.record(true),
               later = wanted.records > 1 ? plan.record(false) : Record();
  std::vector<double> messages(servers, 0), bytes(servers, 0);
  for (int r = 0; r < wanted.records; ++r) {
    for (const std::vector<Message>& of_client : r == 0 ? first.of_client : later.of_client) {
      for (const Message& m : of_client)
        messages[static_cast<std::size_t>(m.server)] += 1,
            bytes[static_cast<std::size_t>(m.server)] += m.bytes;
    }
  }
  const Times times = Events(wanted.machine, wanted.compute, static_cast<double>(wanted.io.pool),
                             wanted.records, first, later)
                          .run();
  return {{"clients", clients},
          {"servers", servers},
          {"messages", spread(messages)},
          {"message_bytes", spread(bytes)},
          {"first_record",
           {{"batches", first.bytes.size()},
            {"bytes_off_node", bytes_off_node(first, servers, wanted.ranks_per_node)}}},
          {"modelled",
           {{"visible_s", times.visible},
            {"drain_s", times.drain},
            {"total_s", times.total},
            {"stall_s", times.stall}}}};
}

void add_machine(OptionTable& table, Machine& m) {
  table.section("Modelled machine");
  table.add(number("pack", m.pack, "", "rate of a client that packs, MB/s", 1e-3));
  table.add(number("take", m.take, "",
                   "rate at which a server takes and places values, network included, MB/s", 1e-3));
  table.add(
      number("write", m.write, "", "rate of a server's processor while it writes, MB/s", 1e-3));
  table.add(number("disk", m.disk, "", "rate of the disk, MB/s", 1e-3));
  table.add(flag("shared", m.shared, "one disk for all servers, not one for each"));
  table.add(
      number("message", m.message, "", "time of a message on either side, microseconds", 0.0));
  table.add(number("latency", m.latency, "", "time until the other side knows, microseconds", 0.0));
  table.add(number("commit", m.commit, "", "seconds from the last value to the commit", 0.0));
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "virtual_async", [&](Libraries&) {
    Wanted wanted;
    OptionTable table(
        "virtual_async: counts what output servers are sent, and models its time; prints JSON",
        "virtual_async -workload pism:G1km -clients 256,16384 -servers 4,256 -ranks_per_node 64");
    table.section("Output");
    table.add(text("workload", wanted.workload, "model and size, as nunatak-io knows them"));
    table.add(number("scale", wanted.scale, "", "factor of horizontal lengths", 0.0));
    table.add(number("variables", wanted.variables, "", "number of variables (0: all)", 0));
    table.add(number("records", wanted.records, "", "records of the file", 1));
    table.add(number("compute", wanted.compute, "", "seconds between records, not counted", 0.0));
    table.add(text("clients", wanted.clients, "numbers of ranks that compute, a list"));
    table.add(text("servers", wanted.servers, "numbers of servers, as many"));
    table.add(
        number("ranks_per_node", wanted.ranks_per_node, "", "ranks of a node (0: one node)", 0));
    add_machine(table, wanted.machine);
    add_io_options(table, wanted.io);
    if (!table.read(argc, argv)) return;
    const t::Workload workload = t::make_workload(wanted.workload, wanted.scale, false,
                                                  static_cast<std::size_t>(wanted.variables));
    const std::vector<std::string> clients = split(wanted.clients, ','),
                                   servers = split(wanted.servers, ',');
    if (clients.size() != servers.size())
      throw Error("options -clients and -servers: expected lists of the same length");
    Json json = {{"benchmark", "virtual_async"},
                 {"bytes_per_record", workload.bytes_per_record()},
                 {"options", table.to_json()}};
    for (std::size_t n = 0; n < clients.size(); ++n) {
      const auto ranks = [](const std::string& text, const char* option) {
        return static_cast<std::size_t>(whole_number(text, 1, 1000000, option));
      };
      json["runs"].push_back(run(wanted, workload, ranks(clients[n], "option -clients"),
                                 ranks(servers[n], "option -servers")));
    }
    std::cout << json.dump(1) << std::endl;
  });
}
