// Ranks that write while the others compute, and the messages between the two sides.
//
//   Servers servers(MPI_COMM_WORLD, "async:2");   // before PETSc and Kokkos; collective
//   if (servers.is_server()) return servers.serve();
//   ...  // servers.comm(): the compute ranks; a Writer on it finds its servers
//   servers.stop(status);
//
//   nodes      [0 1 2 3] [4 5 6 7]  [8 9 10 11]  [12 13 14 15]          async:2: 7 and 15 serve
//
// Protocol: docs/explanation/output.md. Neighbours: async_file.cpp, serve.cpp, wire.cpp, ring.hpp.
#pragma once

#include "io/base/signals.hpp"
#include "io/base/topology.hpp"
#include "io/data/message_bytes.hpp"
#include "io/layouts/partition.hpp"
#include "io/methods/method.hpp"
#include "io/write/file.hpp"

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nunatak::io {

/// The number of servers of -io_transport; 0: none.
int parse_transport(const std::string& transport);

/// The ranks of `n` servers: the last ones of evenly chosen nodes, the last node among them.
std::vector<int> choose_servers(const Topology& machine, int n);

/// Requests to the servers, in the order of compute rank 0.
enum class Action {
  writer,
  open,
  begin_batch,
  end_batch,
  end_record,
  commit,
  close,
  abandon,
  finish,
  stop
};

/// What the first server reports to compute rank 0.
enum class News { error, opened, committed, finished, stopped, signalled };

/// Actions that wait on compute rank 0, and on a server: the lead of a run is bounded.
constexpr std::size_t most_waiting_actions = 256;

/// Tags of what is not values. Messages with values use the number of their batch.
enum Tag { action_tag = 1, count_tag = 2, news_tag = 3, first_batch_tag = 16 };

/// A variable (its number) and one of its records.
struct Key {
  std::size_t v, record;
  bool operator==(const Key& other) const { return v == other.v && record == other.record; }
  bool operator<(const Key& other) const {
    return v != other.v ? v < other.v : record < other.record;
  }
};

/// Where values of a message belong: variable, record, and which of the server's boxes.
struct Place {
  std::size_t v, record, b;
};

/// What each of `n` servers writes of variable v.
Boxes server_boxes(const Options& options, const Schema& schema, std::size_t v, std::size_t n);

/// Bytes of a variable that come to each server: those of its boxes.
std::vector<std::size_t> server_bytes(const Boxes& boxes, Type type);

/// A batch, of which each server gets `share` bytes, ends before a variable of which each gets
/// `more`: else one would get more than `buffer` (-io_buffer).
bool ends_before(const std::vector<std::size_t>& share, const std::vector<std::size_t>& more,
                 std::size_t buffer);

/// `whole` in boxes of one message each: at most 4 MiB and a quarter of the ring (`pool` bytes).
std::vector<Box> message_boxes(const Box& whole, Type type, std::size_t pool);
/// What precedes the values of the first box: a multiple of 8 bytes.
Bytes message_head(int batch, const Place& place, const Box& box);
/// Appends a small hyperslab to a message for the same place, or begins one. False if the message
/// would become too long.
bool join_message(Bytes& message, int batch, const Place& place, const Hyperslab& slab, Type type,
                  std::size_t pool);

/// Seconds, as synchronous on all nodes as their clocks.
double time_of_day();

/// What the servers did for a Writer.
struct ServerReport {
  int servers = 0;
  Summary summary;         ///< of the Writer, all its files so far
  double idle_share = 0.0; ///< mean over servers, of the time since the last report of any Writer
  double handover_seconds = 0;                  ///< longest time from close() to the commit
  std::int64_t peak_bytes = 0;                  ///< resident memory, largest of the servers
  std::int64_t messages = 0, message_bytes = 0; ///< received since that report
};

/// What is known of a file with FileOptions::continues: see File::is_continued().
struct Opened {
  bool is_continued = false;
  std::string why_anew;
};

class Servers {
public:
  /// Collective on `all`, which must outlive it. Error if no rank would be left to compute.
  Servers(MPI_Comm all, const std::string& transport);
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  bool is_server() const { return m_is_server; }
  MPI_Comm comm() const { return m_comm; } ///< of the compute ranks, or of the servers
  /// On a server: write until stop() (serve.cpp). Returns its exit status.
  int serve();
  /// On the compute ranks, collective: end the servers, if there are any.
  void stop(int status);

  /// The file opened last, which the watchdog names where servers are waited for.
  void opens(const std::string& path) { m_path = path; }
  const std::string& path() const { return m_path; }

  /// The servers of a communicator of compute ranks; nullptr if there are none.
  static Servers* of(MPI_Comm comm);

  const std::string& transport() const { return m_transport; }
  /// A communicator of all ranks for values alone: actions are not matched behind waiting ones.
  MPI_Comm values() const { return m_values; }
  // Ranks of values().
  const std::vector<int>& servers() const { return m_servers; }
  const std::vector<int>& compute() const { return m_compute; }

  int next_number() { return m_next_number++; } ///< of a Writer or file; equal on compute ranks
  int next_batch() { return m_next_batch++; }   ///< equal on compute ranks
  /// MPI has 2^15 tags or more; they are reused, and the number in the message decides (serve.cpp).
  int tag_of_batch(int batch) const {
    return first_batch_tag + batch % (m_most_tag - first_batch_tag + 1);
  }

  /// Send a short message; its memory is kept until it is received. Local.
  void send(int rank, int tag, const Bytes& bytes);
  /// A short message, if it has arrived.
  std::optional<Bytes> receive(int source, int tag);
  /// On compute rank 0: to all servers, in order; waits while too many wait. Else none.
  void act(const Packer& action);
  /// On compute rank 0: receive the servers' news so far.
  void hear();
  const std::string& error() const { return m_error; } ///< the first of a server; "": none
  /// On compute rank 0: the most urgent signal that a server has received.
  Request request() {
    hear();
    return m_request;
  }
  std::vector<std::string> take_committed(); ///< paths, since the last call
  std::optional<Opened> take_opened(); ///< answer for the file whose open() waits, if it is there
  /// Reports of a Writer that have come and were not taken.
  std::deque<ServerReport>& reports(int writer) { return m_reports[writer]; }

private:
  void forget_taken();
  void wait_for_sent();

  std::string m_transport, m_path = "(none)";
  MPI_Comm m_all = MPI_COMM_NULL, m_values = MPI_COMM_NULL, m_comm = MPI_COMM_NULL;
  bool m_is_server = false;
  std::vector<int> m_servers, m_compute;
  int m_next_number = 0, m_next_batch = 0, m_most_tag = 32767;
  bool m_has_stopped = false;
  std::deque<std::pair<Bytes, MPI_Request>> m_sent;
  std::string m_error;
  Request m_request = Request::none;
  std::vector<std::string> m_committed;
  std::optional<Opened> m_opened;
  std::map<int, std::deque<ServerReport>> m_reports; ///< by writer
};

/// Make a call that waits for a disk in a thread, and take() until it is done; below 1 MiB a thread
/// costs more than it hides. Throws the errors of the call. take() returns false if it did nothing.
void call_in_thread(std::size_t bytes, const std::function<void()>& call,
                    const std::function<bool()>& take);

/// The connection of a Writer on the compute ranks to its servers (async_file.cpp).
class Connection {
public:
  virtual ~Connection() = default;
  virtual std::unique_ptr<File> open(NewFile file) = 0;
  /// Wait until the servers have done everything. Collective; throws their errors. Rank 0: reports.
  virtual std::vector<ServerReport> finish() = 0;
  virtual Servers& servers() = 0;
};
/// Collective on `comm`, of compute ranks. Error if it has no servers that fit the options.
std::unique_ptr<Connection> connect_to_servers(MPI_Comm comm, const Options& options);

} // namespace nunatak::io
