#include "io/async/client.hpp"

#include "io/registry.hpp"

#include <algorithm>
#include <exception>
#include <limits>

namespace nunatak::io {

namespace {

constexpr std::size_t most_message = std::size_t{4} << 20, most_head = 4096; ///< bytes
/// Messages in flight: MPI searches through all of them, on both sides.
constexpr std::size_t most_messages = 4096;

/// The servers of `comm`; Error, with the reason, if there are none that fit the options.
Servers& require_servers(MPI_Comm comm, const Options& o) {
  Servers* const servers = Servers::of(comm);
  if (servers == nullptr || servers->transport() != o.transport) {
    throw Error("output: transport " + o.transport +
                ": expected servers that were set apart when the program began " +
                "(-io_transport " + o.transport + " on the command line), found " +
                (servers == nullptr ? "none" : "those of " + servers->transport()));
  }
  return *servers;
}

/// Calls f on rank 0 while the others sleep (in agree() they would spin). Throws on every rank.
template <class F> void wait_on_rank_0(MPI_Comm comm, const F& f) {
  std::exception_ptr failed;
  try {
    if (rank_in(comm) == 0) f();
  } catch (...) {
    failed = std::current_exception();
  }
  MPI_Request all = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm, &all);
  int have_come = 0;
  for (Nap nap; MPI_Test(&all, &have_come, MPI_STATUS_IGNORE), have_come == 0;) nap.sleep();
  agree(comm, [&] {
    if (failed) std::rethrow_exception(failed);
  });
}

} // namespace

std::vector<Box> message_boxes(const Box& whole, Type type, std::size_t pool) {
  return cut(whole, std::min(pool / 4 - most_head, most_message) / bytes_of(type));
}

Bytes message_head(int batch, std::size_t v, std::size_t record, std::size_t b, const Box& box) {
  return Packer(batch, 0, v, record, b, box).bytes();
}

bool join_message(Bytes& message, int batch, std::size_t v, std::size_t record, std::size_t b,
                  const Hyperslab& slab, bool has_record, Type type, std::size_t pool) {
  const Box box = slab.box(has_record);
  const Bytes head = message.empty() ? message_head(batch, v, record, b, box) : Packer(box).bytes();
  const std::size_t begin = message.size() + head.size(),
                    end = begin + (box.elements() * bytes_of(type) + 7) / 8 * 8;
  if (end > std::min(pool / 4, most_message)) return false;
  message.insert(message.end(), head.begin(), head.end());
  message.resize(end);
  pack(slab, type, message.data() + begin);
  return true;
}

Client::Client(MPI_Comm comm, const Options& options)
    : m_servers(require_servers(comm, options)), m_number(m_servers.next_number()),
      m_options(options), m_ring(options.pool, most_messages) {
  MPI_Comm_dup(comm, &m_comm);
  MPI_Comm_rank(comm, &m_rank);
  MPI_Comm_size(comm, &m_size);
  Packer action(Action::writer, m_number, knobs().size());
  for (const Knob& knob : knobs()) action.add(knob_text(m_options, knob));
  m_servers.act_on_all(action);
}

/// After an error, perhaps on this rank alone, servers may wait for values that never come, and
/// ranks may never agree: pending requests then keep their memory.
Client::~Client() {
  if (std::uncaught_exceptions() == 0) {
    m_ring.drain(std::numeric_limits<double>::max());
    MPI_Wait(&m_agreement->request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&m_comm);
    return;
  }
  m_ring.drain(5.0);
  int is_agreed = 0;
  MPI_Test(&m_agreement->request, &is_agreed, MPI_STATUS_IGNORE);
  if (is_agreed == 0) m_agreement.release();
}

std::int64_t Client::send(int group, int server, int batch, std::size_t v, std::size_t record,
                          std::size_t b, const Hyperslab& slab, Type type, std::int64_t& bytes) {
  const std::vector<Box> boxes = message_boxes(slab.box(record != no_record), type, m_ring.size());
  const int rank = m_servers.group(group)[static_cast<std::size_t>(server)];
  for (const Box& box : boxes) {
    const Hyperslab part = slice(slab, box);
    const Bytes head = message_head(batch, v, record, b, box);
    const std::size_t length = head.size() + part.elements() * bytes_of(type);
    std::byte* const message = m_ring.take(length);
    std::copy(head.begin(), head.end(), message);
    pack(part, type, message + head.size());
    m_ring.send(rank, m_servers.tag_of_batch(batch), m_servers.values());
    bytes += static_cast<std::int64_t>(length);
  }
  return static_cast<std::int64_t>(boxes.size());
}

void Client::send(int group, int server, int batch, const Bytes& message) {
  std::copy(message.begin(), message.end(), m_ring.take(message.size()));
  m_ring.send(m_servers.group(group)[static_cast<std::size_t>(server)],
              m_servers.tag_of_batch(batch), m_servers.values());
}

void Client::end_batch(int group, int batch, const std::vector<std::int64_t>& messages,
                       const std::vector<std::uint64_t>& sums) {
  const std::vector<int>& servers = m_servers.group(group);
  m_servers.send(servers[static_cast<std::size_t>(m_rank) % servers.size()], count_tag,
                 Packer(batch, messages, sums).bytes());
}

Opened Client::wait_for_open() {
  Opened opened;
  wait_on_rank_0(m_comm, [&] {
    std::optional<Opened> said;
    for (Nap nap; !(said = m_servers.take_opened()); nap.sleep()) {
      m_servers.hear();
      if (!m_servers.error().empty()) throw Error(m_servers.error());
    }
    opened = std::move(*said);
  });
  MPI_Bcast(&opened.is_continued, 1, MPI_CXX_BOOL, 0, m_comm);
  return opened;
}

void Client::wait_for_agreement() {
  if (m_agreement->request == MPI_REQUEST_NULL) return;
  MPI_Wait(&m_agreement->request, MPI_STATUS_IGNORE);
  if (m_agreement->failed == m_size) return;
  agree(m_comm, [&] {
    if (m_rank == m_agreement->failed) throw Error(m_error);
  });
}

void Client::agree_late(const KeptError& mine) {
  wait_for_agreement();
  m_error = mine.is_set() ? "rank " + std::to_string(m_rank) + ": " + mine.what() : "";
  if (m_rank == 0 && m_error.empty()) {
    m_servers.hear();
    m_error = m_servers.error();
  }
  m_agreement->mine = m_error.empty() ? m_size : m_rank;
  MPI_Iallreduce(&m_agreement->mine, &m_agreement->failed, 1, MPI_INT, MPI_MIN, m_comm,
                 &m_agreement->request);
}

std::vector<ServerReport> Client::finish() {
  wait_for_agreement();
  std::vector<ServerReport> reports;
  m_servers.act_on_all(Packer(Action::finish, m_number));
  wait_on_rank_0(m_comm, [&] {
    for (int g = 0; g < m_servers.n_groups(); ++g) {
      auto& said = m_servers.reports(m_number, g);
      for (Nap nap; said.empty(); nap.sleep()) m_servers.hear();
      reports.push_back(said.front());
      said.pop_front();
    }
    if (!m_servers.error().empty()) throw Error(m_servers.error());
  });
  return reports;
}

} // namespace nunatak::io
