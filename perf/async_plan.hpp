// What clients send to output servers, record by record, counted by the functions by which both
// decide (io/async, io/layouts/partition.hpp). Nothing is sent. Used by virtual_async.cpp.
#pragma once

#include "io/async/client.hpp"
#include "io/async/serve.hpp"
#include "miniapp/tools/io/workload.hpp"

#include <string>
#include <vector>

namespace nunatak {

struct Message {
  int server, batch; ///< of the record
  double bytes;
};

/// What a record makes clients send: the first one holds what has no records, too.
struct Record {
  std::vector<std::vector<Message>> of_client;
  // Of each batch, by server:
  std::vector<std::vector<double>> expected;   ///< messages
  std::vector<std::vector<std::size_t>> bytes; ///< of the file
};

class Plan {
public:
  Plan(const tools::Workload& workload, const io::Options& options, std::size_t clients,
       std::size_t servers)
      : m_workload(workload), m_options(options),
        m_schema(tools::schema_of(workload, workload.order)), m_clients(clients),
        m_servers(servers) {}

  /// The order is that of Arrays::put of nunatak-io.
  Record record(bool is_first) const {
    Record record;
    record.of_client.resize(m_clients);
    for (const tools::WorkloadVariable& v : m_workload.variables) {
      if (is_first && !v.records) add(v, record);
    }
    tools::WorkloadVariable time;
    time.name = "time", time.content = tools::Content::coordinate;
    add(time, record);
    for (const tools::WorkloadVariable& v : m_workload.variables) {
      if (v.records) add(v, record);
    }
    return record;
  }

private:
  /// What is put of a variable, by AsyncFile.
  void add(const tools::WorkloadVariable& variable, Record& record) const {
    const std::size_t v = m_schema.variable(variable.name);
    const io::Type type = m_schema.variables[v].type;
    const io::Boxes boxes = io::server_boxes(m_options, m_schema, v, m_servers);
    const std::vector<std::size_t> bytes = io::server_bytes(boxes, type);
    if (record.bytes.empty() ||
        io::ends_before(record.bytes.back(), bytes, m_options.batch_bytes()))
      record.bytes.emplace_back(m_servers, 0), record.expected.emplace_back(m_servers, 0.0);
    for (std::size_t s = 0; s < m_servers; ++s) record.bytes.back()[s] += bytes[s];
    const bool is_of_rank_0 = variable.content == tools::Content::coordinate;
    for (std::size_t c = 0; c < (is_of_rank_0 ? 1 : m_clients); ++c) {
      for (const io::Box& given :
           is_of_rank_0 ? std::vector{io::whole_box(m_schema, v)} : given_boxes(variable, c))
        send(given, type, v, boxes, static_cast<int>(record.bytes.size()) - 1, record.of_client[c],
             record.expected.back());
    }
  }

  void send(const io::Box& given, io::Type type, std::size_t v, const io::Boxes& boxes, int batch,
            std::vector<Message>& messages, std::vector<double>& expected) const {
    if (given.elements() == 0) return;
    for (std::size_t s = 0; s < m_servers; ++s) {
      for (std::size_t b = 0; b < boxes[s].size(); ++b) {
        const io::Box& box = boxes[s][b];
        if (!box.start.empty() && (box.start[0] >= given.start[0] + given.count[0] ||
                                   given.start[0] >= box.start[0] + box.count[0]))
          continue; // as below, but quickly
        for (const io::Box& part : io::message_boxes(io::meet(given, box), type, m_options.pool)) {
          const std::size_t bytes =
              io::message_head(0, v, 0, b, part).size() + part.elements() * io::bytes_of(type);
          messages.push_back(
              {static_cast<int>(s), batch, static_cast<double>((bytes + 7) / 8 * 8)});
          expected[s] += 1;
        }
      }
    }
  }

  std::vector<io::Box> given_boxes(const tools::WorkloadVariable& variable,
                                   std::size_t client) const {
    std::vector<io::Box> boxes;
    for (const tools::Box& box : tools::boxes_of(m_workload, variable, client, m_clients)) {
      boxes.emplace_back();
      for (const std::size_t d : tools::file_order(m_workload, variable, m_workload.order))
        boxes.back().start.push_back(box.start[d]), boxes.back().count.push_back(box.count[d]);
    }
    return boxes;
  }

  const tools::Workload& m_workload;
  const io::Options& m_options;
  io::Schema m_schema;
  std::size_t m_clients, m_servers;
};

/// Bytes that leave their node: ranks_per_node consecutive ranks are one; servers are chosen as in
/// a run.
inline double bytes_off_node(const Record& record, std::size_t n_servers, int ranks_per_node) {
  const std::size_t ranks = record.of_client.size() + n_servers;
  io::Topology machine;
  for (std::size_t r = 0; r < ranks; ++r)
    machine.node_of.push_back(ranks_per_node > 0 ? static_cast<int>(r) / ranks_per_node : 0);
  machine.n_nodes = machine.node_of.back() + 1;
  const std::vector<int> servers = io::choose_servers(machine, static_cast<int>(n_servers));
  std::vector<bool> serves(ranks, false);
  for (const int server : servers) serves[static_cast<std::size_t>(server)] = true;
  double bytes = 0;
  std::size_t rank = 0;
  for (const std::vector<Message>& messages : record.of_client) {
    while (serves[rank]) ++rank;
    for (const Message& message : messages) {
      const auto server =
          static_cast<std::size_t>(servers[static_cast<std::size_t>(message.server)]);
      if (machine.node_of[rank] != machine.node_of[server]) bytes += message.bytes;
    }
    ++rank;
  }
  return bytes;
}

} // namespace nunatak
