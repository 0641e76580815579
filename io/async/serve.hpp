// A server takes values from the ranks that compute, and writes them with a Writer on its group.
//
//   actions of compute rank 0, in order            values of open batches, of any rank
//     open a.nc | begin 7 | end 7 | end of record    7: thk, 7: temp, ...
//                                                  number of messages to expect
//                                                    7: 12
//
// A batch is what is put into a file until its record ends or -io_buffer bytes have come to a
// server. Its values are put together in memory, in runs as long as the file has them, and written
// when it ends. Meanwhile the next one is taken: a thread makes the calls that wait for a disk
// (call_in_thread()). What belongs to later batches stays with the clients. After an error
// everything is taken and dropped, so that no client waits.
#pragma once

#include "io/async/inbox.hpp"
#include "io/async/servers.hpp"
#include "io/layouts/partition.hpp"
#include "io/writer.hpp"

#include <limits>
#include <map>
#include <memory>
#include <optional>

namespace nunatak::io {

/// What server `server` of `n` writes of variable v, by server. The same on clients and servers.
Boxes server_boxes(const Options& options, const Schema& schema, std::size_t v, std::size_t n);

/// Bytes of a variable that come to each server: those of its boxes.
std::vector<std::size_t> server_bytes(const Boxes& boxes, Type type);

/// A batch, of which each server gets `share` bytes, ends before a variable of which each gets
/// `more`: else one would get more than `buffer` (-io_buffer).
bool ends_before(const std::vector<std::size_t>& share, const std::vector<std::size_t>& more,
                 std::size_t buffer);

/// The options of the Writer of the servers: values already lie where the layout wants them.
Options server_options(Options options);

/// Make a call that waits for a disk in a thread, and take() until it is done; below 1 MiB a thread
/// costs more than it hides. Throws the errors of the call. take() returns false if it did nothing.
void call_in_thread(std::size_t bytes, const std::function<void()>& call,
                    const std::function<bool()>& take);

class Server {
public:
  Server(Servers& servers, int group);
  int run(); ///< until Action::stop; the exit status

private:
  /// A variable (and record) of a batch: the boxes of this server, one after the other.
  struct Assembled {
    Buffer values;
    std::size_t elements = 0; ///< that have come
  };
  struct Batch {
    int file = 0;
    std::map<Key, Assembled> parts;
  };
  struct OpenFile {
    int writer = 0;
    std::string path;
    FileOptions options;
    Schema schema;
    std::vector<Boxes> boxes;   ///< of each variable, by server
    std::unique_ptr<File> file; ///< nullptr before it is opened, and after an error
    double closed_at = 0.0;
  };
  struct Writing { ///< for a Writer of the clients
    std::unique_ptr<Writer> writer;
    Options options;
    double longest_handover = 0.0;
  };

  bool take(); ///< what has come; false if there was nothing
  bool take_ahead();
  void place(Batch& batch, const std::byte* message, const std::byte* end);
  Assembled& part_of_batch(Batch& batch, const Key& key);

  void forward_signal();
  bool is_ready(const Bytes& action);
  bool has_marks(int marks);
  void execute(const Bytes& action);
  void perform(Action what, Unpacker& from);
  void make_writer(Unpacker& from);
  void begin_batch(int number, int file);
  OpenFile& announce(Unpacker& from);
  void open(OpenFile& file);
  void end_batch(Unpacker& from);
  void write(OpenFile& file, const Key& key, Assembled& part);
  void close(int number, std::int64_t step);
  void report(int writer);
  void fail(const std::string& what);
  void drop_files();
  void tell(const Packer& news);
  std::size_t bytes_here(const OpenFile& file, std::size_t v) const;
  OpenFile& file(Unpacker& from) { return m_files.at(from.take<int>()); }
  std::size_t me() const { return static_cast<std::size_t>(m_rank); }

  Servers& m_servers;
  int m_group, m_rank = 0, m_size = 1;
  MPI_Comm m_comm; ///< of the sums
  Inbox m_inbox;
  std::map<int, Writing> m_writers;
  std::map<int, OpenFile> m_files;
  std::map<int, Batch> m_batches; ///< open
  bool m_has_failed = false;
  std::optional<int> m_status; ///< of stop
  Request m_forwarded = Request::none;
  /// Received from the servers of the series (Servers::marks); the first one of a failure.
  int m_marks = 0, m_first_failed = std::numeric_limits<int>::max();
  double m_began, m_idle = 0.0;
};

} // namespace nunatak::io
