// What a server receives: actions of compute rank 0, counts of its home clients, values of batches.
//
// Values of later batches stay with their clients, and of open ones 16 MiB are received at a time.
#pragma once

#include "io/async/servers.hpp"
#include "io/pack.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nunatak::io {

class Inbox {
public:
  /// `comm`: of the servers of the group; must outlive the Inbox.
  Inbox(Servers& servers, MPI_Comm comm) : m_servers(servers), m_comm(comm) {
    const auto n = static_cast<int>(servers.compute().size());
    m_home_clients = n / m_size + (m_rank < n % m_size ? 1 : 0);
  }

  /// Handles the values of a batch: see Client::send for the message.
  using Place = std::function<void(int batch, const std::byte* message, const std::byte* end)>;
  /// Receive what has arrived. False if there was nothing.
  bool poll(const Place& place) {
    const bool actions = take_actions(), counts = take_counts(), begun = begin_values(),
               finished = finish_values(place);
    return actions || counts || begun || finished;
  }

  const std::deque<Bytes>& actions() const { return m_actions; } ///< in their order
  Bytes pop_action() {
    Bytes action = std::move(m_actions.front());
    m_actions.pop_front();
    return action;
  }

  void open_batch(int number) { m_taken[number] = 0; }
  /// All messages of a batch, the next to be closed on all servers, have arrived at all of them.
  bool is_complete(int number) {
    if (!m_is_summing) {
      Counts& mine = m_counts[number];
      if (mine.clients < m_home_clients) return false;
      m_expected = mine.messages;
      m_expected.resize(static_cast<std::size_t>(m_size), 0); // if there is no home client
      m_sums = std::move(mine.sums);
      m_counts.erase(number);
      MPI_Iallreduce(MPI_IN_PLACE, m_expected.data(), m_size, MPI_INT64_T, MPI_SUM, m_comm, &m_sum);
      m_is_summing = true;
    }
    int is_summed = 1;
    if (m_sum != MPI_REQUEST_NULL) MPI_Test(&m_sum, &is_summed, MPI_STATUS_IGNORE);
    if (is_summed == 0 || m_taken.at(number) < m_expected[static_cast<std::size_t>(m_rank)])
      return false;
    m_is_summing = false;
    return true;
  }

  /// By key of that batch: the sums of the values of the home clients; empty if none are made.
  const std::vector<std::uint64_t>& sums() const { return m_sums; }
  void close_batch(int number) { m_taken.erase(number); }

  std::int64_t messages() const { return m_messages; } ///< of values, since restart_counts()
  std::int64_t message_bytes() const { return m_message_bytes; }
  void restart_counts() { m_messages = m_message_bytes = 0; }

private:
  static constexpr std::size_t most_incoming = std::size_t{16} << 20; ///< bytes at a time

  template <class T> static void add_each(const std::vector<T>& more, std::vector<T>& to) {
    to.resize(std::max(to.size(), more.size()), 0);
    for (std::size_t n = 0; n < more.size(); ++n) to[n] += more[n];
  }

  struct Counts {
    int clients = 0;                    ///< home clients that have reported
    std::vector<std::int64_t> messages; ///< to each server
    std::vector<std::uint64_t> sums;    ///< of each key
  };
  struct Incoming {
    int batch = 0;
    std::unique_ptr<Buffer> buffer;
    MPI_Request request = MPI_REQUEST_NULL;
    std::size_t size = 0;
  };
  bool take_actions() {
    if (m_actions.size() >= most_waiting_actions) return false;
    std::optional<Bytes> action = m_servers.receive(m_servers.compute().front(), action_tag);
    if (!action) return false;
    m_actions.push_back(std::move(*action));
    return true;
  }

  bool take_counts() {
    const std::optional<Bytes> bytes = m_servers.receive(MPI_ANY_SOURCE, count_tag);
    if (!bytes) return false;
    Unpacker from(bytes->data());
    Counts& counts = m_counts[from.take<int>()];
    counts.clients += 1;
    add_each(from.take<std::vector<std::int64_t>>(), counts.messages);
    add_each(from.take<std::vector<std::uint64_t>>(), counts.sums);
    return true;
  }

  bool begin_values() {
    bool has_begun = false;
    for (const auto& [number, taken] : m_taken) {
      if (m_incoming_bytes >= most_incoming) break;
      int is_there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, m_servers.tag_of_batch(number), m_servers.values(), &is_there,
                  &message, &status);
      if (is_there == 0) continue;
      int size = 0;
      MPI_Get_count(&status, MPI_BYTE, &size);
      if (m_free.empty()) m_free.push_back(std::make_unique<Buffer>());
      m_incoming.push_back(
          {number, std::move(m_free.back()), MPI_REQUEST_NULL, static_cast<std::size_t>(size)});
      m_free.pop_back();
      Incoming& in = m_incoming.back();
      MPI_Imrecv(in.buffer->of_size(in.size), size, MPI_BYTE, &message, &in.request);
      m_incoming_bytes += in.size;
      has_begun = true;
    }
    return has_begun;
  }

  bool finish_values(const Place& place) {
    bool has_finished = false;
    for (auto in = m_incoming.begin(); in != m_incoming.end();) {
      int has_come = 0;
      MPI_Test(&in->request, &has_come, MPI_STATUS_IGNORE);
      if (has_come == 0) {
        ++in;
        continue;
      }
      m_taken.at(in->batch) += 1;
      m_messages += 1;
      m_message_bytes += static_cast<std::int64_t>(in->size);
      Unpacker message(in->buffer->data());
      if (const int batch = message.take<int>(); batch != in->batch)
        throw std::runtime_error("output servers: expected values of batch " +
                                 std::to_string(in->batch) + ", found those of batch " +
                                 std::to_string(batch) + ": this MPI has too few tags");
      place(in->batch, message.rest(), in->buffer->data() + in->size);
      m_incoming_bytes -= in->size;
      if (m_free.size() < 2) m_free.push_back(std::move(in->buffer));
      in = m_incoming.erase(in);
      has_finished = true;
    }
    return has_finished;
  }

  Servers& m_servers;
  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm), m_size = size_of(m_comm), m_home_clients = 0;
  std::deque<Bytes> m_actions;
  std::map<int, std::int64_t> m_taken; ///< messages of each open batch
  std::map<int, Counts> m_counts;
  std::vector<std::int64_t> m_expected; ///< messages of the next batch to be closed, by server
  std::vector<std::uint64_t> m_sums;    ///< of the batch that was complete last
  MPI_Request m_sum = MPI_REQUEST_NULL;
  bool m_is_summing = false;
  std::list<Incoming> m_incoming;
  std::vector<std::unique_ptr<Buffer>> m_free;
  std::size_t m_incoming_bytes = 0;
  std::int64_t m_messages = 0, m_message_bytes = 0;
};

} // namespace nunatak::io
