#include "io/write/servers.hpp"

#include "io/write/ring.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace nunatak::io {

namespace {

/// Attribute key under which a communicator of compute ranks, and its copies, keep their Servers.
int keyval() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr);
    return made;
  }();
  return key;
}

} // namespace

std::vector<int> choose_servers(const Topology& machine, int n) {
  std::vector<std::vector<int>> free = machine.ranks_by_node();
  std::vector<int> servers;
  for (int k = 0; k < n; ++k) {
    auto node = static_cast<std::size_t>(static_cast<std::int64_t>(k + 1) * machine.n_nodes / n +
                                         machine.n_nodes - 1) %
                free.size();
    while (free[node].empty()) node = (node + 1) % free.size();
    servers.push_back(free[node].back());
    free[node].pop_back();
  }
  return servers;
}

int parse_transport(const std::string& transport) {
  int n = 0, end = 0;
  const bool is_form = std::sscanf(transport.c_str(), "async:%d%n", &n, &end) == 1 &&
                       static_cast<std::size_t>(end) == transport.size();
  return is_form && n >= 1 && n <= 1000000 ? n : 0;
}

double time_of_day() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Servers::Servers(MPI_Comm all, const std::string& transport) : m_transport(transport), m_comm(all) {
  const int rank = rank_in(all), size = size_of(all);
  const int n = parse_transport(transport);
  if (n >= size) {
    throw Error("option -io_transport: " + transport +
                ": expected at least one rank that computes besides " + std::to_string(n) +
                " server(s), found " + std::to_string(size) + " rank(s)");
  }
  if (n == 0) return;
  MPI_Comm_dup(all, &m_all);
  MPI_Comm_dup(all, &m_values);
  int* most_tag = nullptr;
  int is_known = 0;
  MPI_Comm_get_attr(m_all, MPI_TAG_UB, static_cast<void*>(&most_tag), &is_known);
  if (is_known != 0) m_most_tag = *most_tag;
  m_servers = choose_servers(make_topology(all, 0), n);
  for (int r = 0; r < size; ++r) {
    if (std::find(m_servers.begin(), m_servers.end(), r) == m_servers.end()) m_compute.push_back(r);
  }
  const auto own = std::find(m_servers.begin(), m_servers.end(), rank);
  m_is_server = own != m_servers.end();
  const int place = m_is_server ? static_cast<int>(own - m_servers.begin()) : rank;
  MPI_Comm_split(all, m_is_server ? 1 : 0, place, &m_comm);
  if (!is_server()) MPI_Comm_set_attr(m_comm, keyval(), this);
}

Servers::~Servers() {
  if (m_all == MPI_COMM_NULL) return;
  MPI_Comm_free(&m_comm);
  MPI_Comm_free(&m_all);
  MPI_Comm_free(&m_values);
}

Servers* Servers::of(MPI_Comm comm) {
  void* servers = nullptr;
  int found = 0;
  MPI_Comm_get_attr(comm, keyval(), static_cast<void*>(&servers), &found);
  return found != 0 ? static_cast<Servers*>(servers) : nullptr;
}

void Servers::send(int rank, int tag, const Bytes& bytes) {
  forget_taken();
  m_sent.emplace_back(bytes, MPI_REQUEST_NULL);
  auto& [kept, request] = m_sent.back();
  auto* const start = tag == action_tag ? MPI_Issend : MPI_Isend; // actions are counted until taken
  start(kept.data(), static_cast<int>(kept.size()), MPI_BYTE, rank, tag, m_all, &request);
}

std::optional<Bytes> Servers::receive(int source, int tag) {
  int is_there = 0, size = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(source, tag, m_all, &is_there, &message, &status);
  if (is_there == 0) return std::nullopt;
  MPI_Get_count(&status, MPI_BYTE, &size);
  Bytes bytes(static_cast<std::size_t>(size));
  MPI_Mrecv(bytes.data(), size, MPI_BYTE, &message, &status);
  return bytes;
}

void Servers::forget_taken() {
  while (!m_sent.empty()) {
    int is_sent = 0;
    MPI_Test(&m_sent.front().second, &is_sent, MPI_STATUS_IGNORE);
    if (is_sent == 0) return;
    m_sent.pop_front();
    Watchdog::of_process().advance();
  }
}

void Servers::act(const Packer& action) {
  const int rank = rank_in(m_comm);
  if (rank != 0) return;
  for (Nap nap; m_sent.size() > most_waiting_actions; nap.sleep()) forget_taken();
  for (const int server : m_servers) send(server, action_tag, action.bytes());
}

void Servers::hear() {
  while (const std::optional<Bytes> bytes = receive(MPI_ANY_SOURCE, news_tag)) {
    Watchdog::of_process().advance(); // slow servers do not hang
    Unpacker from(bytes->data());
    switch (from.take<News>()) {
    case News::error:
      if (m_error.empty()) m_error = from.take<std::string>();
      break;
    case News::opened:
      m_opened = Opened{from.take<bool>(), from.take<std::string>()};
      break;
    case News::committed:
      m_committed.push_back(from.take<std::string>());
      break;
    case News::finished: {
      auto& of_writer = reports(from.take<int>());
      of_writer.push_back(from.take<ServerReport>());
      break;
    }
    case News::stopped:
      m_has_stopped = true;
      break;
    case News::signalled:
      m_request = std::max(m_request, from.take<Request>());
    }
  }
}

std::vector<std::string> Servers::take_committed() { return std::exchange(m_committed, {}); }

std::optional<Opened> Servers::take_opened() { return std::exchange(m_opened, std::nullopt); }

void Servers::stop(int status) {
  if (m_servers.empty()) return;
  const Watchdog::Scope scope(m_path, "stop");
  act(Packer(Action::stop, status));
  const int rank = rank_in(m_comm);
  for (Nap nap; rank == 0 && !m_has_stopped; nap.sleep()) hear();
  wait_for_sent();
}

void Servers::wait_for_sent() {
  for (auto& [bytes, request] : m_sent) MPI_Wait(&request, MPI_STATUS_IGNORE);
  m_sent.clear();
}

} // namespace nunatak::io
