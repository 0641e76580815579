// The transport `async:S` on the ranks that compute: values are sent to the servers (serve.cpp),
// and the rank goes on. Writer::finish() waits for them and reports errors.
//
//   put:                         pack -> ring -> the servers that own the values
//   end_record, commit, close:   sent to the servers, without waiting
//
//   end of record k:   wait for the agreement of k-1: an error of any rank is thrown here, on all
//                      rank 0 receives news of its servers
//                      start the agreement of k (nonblocking) with this rank's error, if any
#include "io/write/ring.hpp"
#include "io/write/servers.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <memory>
#include <optional>

namespace nunatak::io {

namespace {

/// Messages in flight: MPI searches through all of them, on both sides, and each may take 4 KiB of
/// the 4 MiB of shared memory that a rank of Open MPI has for all it sends (prepare_mpi()).
constexpr std::size_t most_messages = 512;

/// The servers of `comm`; Error, with the reason, if there are none that fit the options.
Servers& require_servers(MPI_Comm comm, const Options& o) {
  Servers* const servers = Servers::of(comm);
  if (servers == nullptr || servers->transport() != o.transport) {
    throw Error("option -io_transport: " + o.transport +
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

/// The connection of a Writer on the compute ranks: messages, errors.
class Client final : public Connection {
public:
  Client(MPI_Comm comm, const Options& options)
      : m_rank(rank_in(comm)), m_size(size_of(comm)), m_servers(require_servers(comm, options)),
        m_number(m_servers.next_number()), m_options(options), m_ring(options.pool, most_messages) {
    MPI_Comm_dup(comm, &m_comm);
    const std::vector<Option> rows = rows_of(m_options);
    Packer action(Action::writer, m_number, rows.size());
    for (const Option& row : rows) action.add(row.value());
    m_servers.act(action);
  }

  /// After an error, perhaps on this rank alone, servers may wait for values that never come, and
  /// ranks may never agree: pending requests then keep their memory.
  ~Client() override {
    if (std::uncaught_exceptions() == 0) {
      const Watchdog::Scope scope(m_servers.path(), "close");
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

  std::unique_ptr<File> open(NewFile file) override;
  std::vector<ServerReport> finish() override {
    const Watchdog::Scope scope(m_servers.path(), "finish");
    wait_for_agreement();
    std::vector<ServerReport> reports;
    m_servers.act(Packer(Action::finish, m_number));
    wait_on_rank_0(m_comm, [&] {
      auto& said = m_servers.reports(m_number);
      for (Nap nap; said.empty(); nap.sleep()) m_servers.hear();
      reports.push_back(said.front());
      said.pop_front();
      if (!m_servers.error().empty()) throw Error(m_servers.error());
    });
    return reports;
  }
  Servers& servers() override { return m_servers; }

  int number() const { return m_number; } ///< of the writer
  const Options& options() const { return m_options; }
  const Ring& ring() const { return m_ring; }

  /// Send `slab`, packed as `type`, which lies in box `b` of a server (its number).
  /// Returns the number of messages; their bytes are added to `bytes`.
  std::int64_t send(std::size_t server, int batch, const Place& place, const Hyperslab& slab,
                    Type type, std::int64_t& bytes) {
    const std::vector<Box> boxes = message_boxes(slab, type, m_ring.size());
    for (const Box& box : boxes) {
      const Hyperslab part = slice(slab, box);
      const Bytes head = message_head(batch, place, box);
      const std::size_t length = head.size() + part.elements() * bytes_of(type);
      std::byte* const message = m_ring.take(length);
      std::copy(head.begin(), head.end(), message);
      pack(part, type, message + head.size());
      m_ring.send(m_servers.servers()[server], m_servers.tag_of_batch(batch), m_servers.values());
      bytes += static_cast<std::int64_t>(length);
    }
    return static_cast<std::int64_t>(boxes.size());
  }
  /// Send a message that join_message() made.
  void send(std::size_t server, int batch, const Bytes& message) {
    std::copy(message.begin(), message.end(), m_ring.take(message.size()));
    m_ring.send(m_servers.servers()[server], m_servers.tag_of_batch(batch), m_servers.values());
  }
  /// This rank's part of a batch has been sent, in `messages` by server. `sums`: by key, or empty.
  void end_batch(int batch, const std::vector<std::int64_t>& messages,
                 const std::vector<std::uint64_t>& sums) {
    const std::vector<int>& servers = m_servers.servers();
    m_servers.send(servers[static_cast<std::size_t>(m_rank) % servers.size()], count_tag,
                   Packer(batch, messages, sums).bytes());
  }

  /// Wait for the servers' answer on the file opened last, which may be continued. Collective.
  Opened wait_for_open() {
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
  /// The agreement drawn above. `mine`: error of this rank. Collective, without waiting.
  void agree_late(const KeptError& mine) {
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

private:
  void wait_for_agreement() {
    if (m_agreement->request == MPI_REQUEST_NULL) return;
    MPI_Wait(&m_agreement->request, MPI_STATUS_IGNORE);
    if (m_agreement->failed == m_size) return;
    agree(m_comm, [&] {
      if (m_rank == m_agreement->failed) throw Error(m_error);
    });
  }

  MPI_Comm m_comm = MPI_COMM_NULL;
  int m_rank, m_size;
  Servers& m_servers;
  int m_number;
  Options m_options;
  Ring m_ring;
  std::string m_error;        ///< of this rank, or on rank 0 of a server
  struct Agreement {          ///< MPI writes into it until it is done
    int mine = 0, failed = 0; ///< the lowest rank with an error; the number of ranks: none
    MPI_Request request = MPI_REQUEST_NULL;
  };
  std::unique_ptr<Agreement> m_agreement = std::make_unique<Agreement>();
};

class AsyncFile final : public File {
public:
  /// Collective, without waiting; with FileOptions::continues the servers say what is to be put.
  AsyncFile(NewFile file, Client& client)
      : File(std::move(file)), m_client(client), m_number(client.servers().next_number()) {
    const std::size_t n = client.servers().servers().size();
    for (std::size_t v = 0; v < schema().variables.size(); ++v) {
      m_boxes.push_back(server_boxes(client.options(), schema(), v, n));
      m_bytes.push_back(server_bytes(m_boxes.back(), schema().variables[v].type));
    }
    m_last.resize(m_boxes.size());
    m_share.assign(n, 0);
    m_messages.assign(n, 0);
    act(Packer(Action::open, m_number, client.number(), path(), m_options, schema()));
    if (!m_options.continues) return;
    Opened opened;
    timed(Phase::open, [&] { opened = client.wait_for_open(); });
    opened.is_continued ? begin_with_kept_records() : begin_anew(opened.why_anew);
  }

  ~AsyncFile() override {
    if (m_is_closed) return;
    end_batch();
    act(Packer(Action::abandon, m_number));
  }

  std::map<std::string, std::string> hints() const override { return {}; }
  /// Adds to the sum of the last put, whose key is in the batch.
  void add_sum(std::size_t v, std::size_t record, std::uint64_t sum) override {
    const auto key = std::find(m_keys.begin(), m_keys.end(), Key{v, record});
    if (key != m_keys.end()) m_key_sums[static_cast<std::size_t>(key - m_keys.begin())] += sum;
  }

private:
  void reserve(std::int64_t /*records*/) override {}
  void write_slabs(std::size_t v, std::size_t record, const Slabs& slabs) override {
    join_batch(v, record);
    const bool many = slabs.size() > 1;
    const double stalled = m_client.ring().stall_seconds();
    for (std::size_t s = 0; s < m_boxes[v].size(); ++s) {
      for (std::size_t b = 0; b < m_boxes[v][s].size(); ++b) {
        Bytes joined; // a message of many small ones
        for (const Hyperslab& slab : slabs) {
          if (slab.elements() == 0 || !do_meet(slab, m_boxes[v][s][b])) continue;
          const Hyperslab part = slice(slab, m_boxes[v][s][b]);
          const auto join = [&] {
            return join_message(joined, m_batch, {v, record, b}, part, schema().variables[v].type,
                                m_client.ring().size());
          };
          if (many && join()) continue;
          send_joined(s, joined); // it is full, or the part is long
          if (many && join()) continue;
          const std::int64_t sent = m_client.send(s, m_batch, {v, record, b}, part,
                                                  schema().variables[v].type, m_work.message_bytes);
          m_messages[s] += sent;
          m_work.messages += sent;
        }
        send_joined(s, joined);
      }
    }
    m_work.stall_seconds += m_client.ring().stall_seconds() - stalled;
  }

  void finish_record(std::int64_t step) override {
    timed(Phase::wait, [&] {
      end_batch();
      act(Packer(Action::end_record, m_number, step));
      m_client.agree_late(m_error);
    });
  }

  bool can_commit_records() const override { return true; } ///< the servers decide
  bool is_time_to_commit() const override { return false; } ///< the servers decide
  void commit_records(std::int64_t step) override { act(Packer(Action::commit, m_number, step)); }

  void save_records(std::int64_t step) override { commit_records(step); } ///< the servers decide

  void close_and_commit(std::int64_t step) override {
    timed(Phase::close, [&] {
      end_batch();
      m_client.agree_late(m_error);
      act(Packer(Action::close, m_number, time_of_day(), step));
    });
    m_is_closed = true;
  }

  Work work() const override { return m_work; }

  /// A batch ends before a server would get more than -io_buffer; a variable and record is not
  /// split.
  void join_batch(std::size_t v, std::size_t record) {
    if (std::find(m_keys.begin(), m_keys.end(), Key{v, record}) != m_keys.end()) return;
    if (m_last[v] == record) {
      throw Error("file '" + path() + "': variable '" + schema().variables[v].name +
                  "': expected all puts of its values one after " + "the other (transport " +
                  m_client.options().transport + "), found one more after others had been sent");
    }
    if (ends_before(m_share, m_bytes[v], m_client.options().batch_bytes())) end_batch();
    if (m_batch < 0) {
      m_batch = m_client.servers().next_batch();
      act(Packer(Action::begin_batch, m_batch, m_number));
    }
    m_keys.push_back({v, record});
    if (m_sums) m_key_sums.push_back(0);
    for (std::size_t s = 0; s < m_share.size(); ++s) m_share[s] += m_bytes[v][s];
  }

  void end_batch() {
    if (m_batch < 0) return;
    m_client.end_batch(m_batch, m_messages, m_key_sums);
    act(Packer(Action::end_batch, m_batch, m_keys));
    for (const Key& key : m_keys) m_last[key.v] = key.record;
    m_batch = -1;
    m_keys.clear();
    m_key_sums.clear();
    std::fill(m_share.begin(), m_share.end(), 0);
    std::fill(m_messages.begin(), m_messages.end(), 0);
  }

  void send_joined(std::size_t s, Bytes& message) {
    if (message.empty()) return;
    m_client.send(s, m_batch, message);
    m_messages[s] += 1;
    m_work.messages += 1;
    m_work.message_bytes += static_cast<std::int64_t>(message.size());
    message.clear();
  }

  void act(const Packer& action) {
    io::watched(path(), "hand over", [&] { m_client.servers().act(action); });
  }

  Client& m_client;
  int m_number;
  std::vector<Boxes> m_boxes;                    ///< of each variable, by server
  std::vector<std::vector<std::size_t>> m_bytes; ///< of each variable, sent to each server
  /// By variable: the record (or none) whose batch was the last to end.
  std::vector<std::optional<std::size_t>> m_last;
  int m_batch = -1;                      ///< open batch; -1: none
  std::vector<Key> m_keys;               ///< of the batch
  std::vector<std::uint64_t> m_key_sums; ///< of this rank's values, by key; empty if not wanted
  std::vector<std::size_t> m_share;      ///< bytes of the batch, by server
  std::vector<std::int64_t> m_messages;  ///< of the batch, from this rank, by server
  bool m_is_closed = false;
  Work m_work;
};

std::unique_ptr<File> Client::open(NewFile file) {
  m_servers.opens(file.path);
  return std::make_unique<AsyncFile>(std::move(file), *this);
}

} // namespace

std::unique_ptr<Connection> connect_to_servers(MPI_Comm comm, const Options& options) {
  return std::make_unique<Client>(comm, options);
}

} // namespace nunatak::io
