#include "io/async/inbox.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace nunatak::io {

namespace {

/// Bytes of messages that are received at a time.
constexpr std::size_t most_incoming = std::size_t{16} << 20;

template <class T> void add_each(const std::vector<T>& more, std::vector<T>& to) {
  to.resize(std::max(to.size(), more.size()), 0);
  for (std::size_t n = 0; n < more.size(); ++n) to[n] += more[n];
}

} // namespace

Inbox::Inbox(Servers& servers, MPI_Comm comm) : m_servers(servers), m_comm(comm) {
  const auto n = static_cast<int>(servers.compute().size());
  m_home_clients = n / m_size + (m_rank < n % m_size ? 1 : 0);
}

bool Inbox::poll(const Place& place) {
  const bool actions = take_actions(), counts = take_counts(), begun = begin_values(),
             finished = finish_values(place);
  return actions || counts || begun || finished;
}

Bytes Inbox::pop_action() {
  Bytes action = std::move(m_actions.front());
  m_actions.pop_front();
  return action;
}

bool Inbox::take_actions() {
  if (m_actions.size() >= most_waiting_actions) return false;
  std::optional<Bytes> action = m_servers.receive(m_servers.compute().front(), action_tag);
  if (!action) return false;
  m_actions.push_back(std::move(*action));
  return true;
}

bool Inbox::take_counts() {
  const std::optional<Bytes> bytes = m_servers.receive(MPI_ANY_SOURCE, count_tag);
  if (!bytes) return false;
  Unpacker from(bytes->data());
  Counts& counts = m_counts[from.take<int>()];
  counts.clients += 1;
  add_each(from.take<std::vector<std::int64_t>>(), counts.messages);
  add_each(from.take<std::vector<std::uint64_t>>(), counts.sums);
  return true;
}

bool Inbox::begin_values() {
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

bool Inbox::finish_values(const Place& place) {
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

bool Inbox::is_complete(int number) {
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

} // namespace nunatak::io
