// How long output servers take for what they are sent, by discrete events:
//
//   client   pack -> room in the ring, or wait until the oldest message was taken -> offer
//   server   take what is offered of the open batch, one message after the other -> all servers
//   have theirs: put it in the order of
//            the file -> open the next batch, while a thread waits for the disk
//
// Not in it: who meets whom in the network, fragments of the ring, noise. Used by
// virtual_async.cpp.
#pragma once

#include "perf/async_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <utility>
#include <vector>

namespace nunatak {

/// Rates in MB/s.
struct Machine {
  double pack = 2000, take = 1000, write = 1000, disk = 100, message = 10, latency = 2,
         commit = 0; ///< message, latency: us
  bool shared = false;
};

/// Seconds, as nunatak-io has them; stall: of the client that waits longest for room in its ring.
struct Times {
  double visible = 0, drain = 0, total = 0, stall = 0;
};

class Events {
public:
  /// `compute`: seconds between records. `pool`: bytes of a ring.
  Events(const Machine& machine, double compute, double pool, int records, const Record& first,
         const Record& later)
      : m_machine(machine), m_compute(compute), m_pool(pool), m_clients(first.of_client.size()),
        m_servers(first.bytes[0].size()) {
    for (int r = 0; r < records; ++r) {
      m_records.push_back(r == 0 ? &first : &later);
      m_first_batch.push_back(m_batches.size());
      for (std::size_t b = 0; b < m_records.back()->bytes.size(); ++b)
        m_batches.push_back({m_records.back(), b});
    }
  }

  Times run() {
    begin_record(0.0);
    open_batch(0.0);
    for (; !m_events.empty();) {
      const Event event = m_events.top();
      m_events.pop();
      event.happens(event.time);
    }
    Times times;
    for (const Client& c : m_clients) {
      times.visible = std::max(times.visible, c.visible);
      times.stall = std::max(times.stall, c.stall);
    }
    const double durable = m_written + m_machine.commit;
    times.drain = durable - m_ended_at;
    times.total = durable - m_compute * static_cast<double>(m_records.size() - 1);
    return times;
  }

private:
  struct Client {
    std::size_t next = 0,
                released =
                    0; ///< message of the record; of all, those that have given back their room
    std::deque<std::pair<double, bool>>
        ring; ///< bytes of a message, oldest first, and whether it was taken
    double used = 0, visible = 0, stall = 0, stalled_at = -1;
  };
  struct Offer {
    std::size_t client, number; ///< of the messages of the client
    double bytes;
  };
  struct Server {
    std::map<std::size_t, std::deque<Offer>> offers; ///< by batch
    double taken = 0;                                ///< messages of the open batch
    bool is_busy = false;
  };
  struct Event {
    double time;
    std::int64_t number; ///< those of the same time happen in their order
    std::function<void(double)> happens;
    bool operator<(const Event& other) const {
      return std::pair(time, number) > std::pair(other.time, other.number);
    }
  };
  void at(double time, std::function<void(double)> happens) {
    m_events.push({time, m_n_events++, std::move(happens)});
  }

  void begin_record(double time) {
    m_began_at = time;
    for (std::size_t c = 0; c < m_clients.size(); ++c) m_clients[c].next = 0, put(c, time);
  }

  /// Pack the next message of the record, if its room is there. All ranks end a record before they
  /// compute (nunatak-io).
  void put(std::size_t c, double time) {
    Client& client = m_clients[c];
    const std::vector<Message>& messages = m_records[m_record]->of_client[c];
    if (client.next == messages.size()) {
      client.visible += time - m_began_at;
      if (++m_n_ended < m_clients.size()) return;
      m_n_ended = 0, m_ended_at = time;
      if (++m_record < m_records.size())
        at(time + m_compute, [this](double now) { begin_record(now); });
      return;
    }
    const Message message = messages[client.next];
    if (client.used + message.bytes > m_pool) {
      client.stalled_at = time;
      return;
    }
    client.next += 1, client.used += message.bytes;
    at(time + 1e-6 * m_machine.message + 1e-6 * message.bytes / m_machine.pack, [=](double now) {
      Client& sender = m_clients[c];
      sender.ring.emplace_back(message.bytes, false);
      const Offer offer{c, sender.released + sender.ring.size() - 1, message.bytes};
      const auto server = static_cast<std::size_t>(message.server);
      const std::size_t batch = m_first_batch[m_record] + static_cast<std::size_t>(message.batch);
      at(now + 1e-6 * m_machine.latency, [=](double then) {
        m_servers[server].offers[batch].push_back(offer);
        serve(server, then);
      });
      put(c, now);
    });
  }

  void serve(std::size_t s, double time) {
    Server& server = m_servers[s];
    std::deque<Offer>& offers = server.offers[m_open];
    if (server.is_busy || m_is_packing || offers.empty()) return;
    const Offer offer = offers.front();
    offers.pop_front();
    server.is_busy = true;
    at(time + 1e-6 * m_machine.message + 1e-6 * offer.bytes / m_machine.take, [=](double now) {
      m_servers[s].is_busy = false;
      at(now + 1e-6 * m_machine.latency, [=](double then) { give_credit(offer, then); });
      m_servers[s].taken += 1;
      write_if_complete(now);
      serve(s, now);
    });
  }

  void give_credit(const Offer& offer, double time) {
    Client& client = m_clients[offer.client];
    client.ring[offer.number - client.released].second = true;
    for (; !client.ring.empty() && client.ring.front().second; client.released += 1) {
      client.used -= client.ring.front().first;
      client.ring.pop_front();
    }
    if (client.stalled_at < 0) return;
    client.stall += time - client.stalled_at;
    client.stalled_at = -1;
    put(offer.client, time);
  }

  void open_batch(double time) {
    for (std::size_t s = 0; s < m_servers.size(); ++s) m_servers[s].taken = 0, serve(s, time);
  }

  /// The servers of a group write a batch together. Their processors take nothing while they pack
  /// it, their disks write one batch at a time, and beside a disk that writes one batch more is
  /// taken.
  void write_if_complete(double time) {
    if (m_disk_is_busy || m_open == m_batches.size()) return;
    const auto [record, batch] = m_batches[m_open];
    double sum = 0, most = 0;
    for (std::size_t s = 0; s < m_servers.size(); ++s) {
      if (m_servers[s].taken < record->expected[batch][s]) return;
      const auto bytes = static_cast<double>(record->bytes[batch][s]);
      sum += bytes, most = std::max(most, bytes);
    }
    m_is_packing = m_disk_is_busy = true;
    const double packed = time + 1e-6 * most / m_machine.write;
    m_written = packed + 1e-6 * (m_machine.shared ? sum : most) / m_machine.disk;
    at(packed, [this](double now) {
      m_is_packing = false, m_open += 1;
      open_batch(now);
    });
    at(m_written, [this](double now) {
      m_disk_is_busy = false;
      write_if_complete(now);
    });
  }

  const Machine& m_machine;
  double m_compute, m_pool;
  std::vector<Client> m_clients;
  std::vector<Server> m_servers;
  std::vector<const Record*> m_records;
  std::vector<std::size_t> m_first_batch;                       ///< of each record
  std::vector<std::pair<const Record*, std::size_t>> m_batches; ///< of all records
  std::priority_queue<Event> m_events;
  std::int64_t m_n_events = 0;
  std::size_t m_record = 0, m_open = 0,
              m_n_ended =
                  0; ///< of the clients; batch of the servers; clients that have ended the record
  bool m_is_packing = false, m_disk_is_busy = false;
  double m_began_at = 0, m_ended_at = 0, m_written = 0;
};

} // namespace nunatak
