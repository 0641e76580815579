// What a server receives: actions of compute rank 0, counts of its home clients, values of batches.
//
// Values of later batches stay with their clients, and of open ones 16 MiB are received at a time.
#pragma once

#include "io/async/servers.hpp"
#include "io/pack.hpp"

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

namespace nunatak::io {

class Inbox {
public:
  /// `comm`: of the servers of the group; must outlive the Inbox.
  Inbox(Servers& servers, MPI_Comm comm);

  /// Handles the values of a batch: see Client::send for the message.
  using Place = std::function<void(int batch, const std::byte* message, const std::byte* end)>;
  /// Receive what has arrived. False if there was nothing.
  bool poll(const Place& place);

  const std::deque<Bytes>& actions() const { return m_actions; } ///< in their order
  Bytes pop_action();

  void open_batch(int number) { m_taken[number] = 0; }
  /// All messages of a batch, the next to be closed on all servers, have arrived at all of them.
  bool is_complete(int number);
  /// By key of that batch: the sums of the values of the home clients; empty if none are made.
  const std::vector<std::uint64_t>& sums() const { return m_sums; }
  void close_batch(int number) { m_taken.erase(number); }

  std::int64_t messages() const { return m_messages; } ///< of values, since restart_counts()
  std::int64_t message_bytes() const { return m_message_bytes; }
  void restart_counts() { m_messages = m_message_bytes = 0; }

private:
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
  bool take_actions();
  bool take_counts();
  bool begin_values();
  bool finish_values(const Place& place);

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
