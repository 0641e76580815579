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
#include "io/methods/registry.hpp"
#include "io/write/ring.hpp"
#include "io/write/servers.hpp"
#include "io/write/writer.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <list>
#include <malloc.h>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <sys/resource.h>

namespace nunatak::io {

namespace {

MPI_Comm copy_of(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &copy);
  return copy;
}

std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

/// Memory is used again: pages that go back to the system and come again cost as much as a copy.
void keep_memory() {
#ifdef __GLIBC__
  if (mallopt(M_MMAP_THRESHOLD, 1 << 30) == 0) mallopt(M_MMAP_THRESHOLD, 32 << 20); // older
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

/// The options of the Writer of the servers: values already lie where the layout wants them.
Options server_options(Options options) {
  options.transport = "sync";
  const bool has_subfiles = layout_row(options).subfiles;
  options.layout = has_subfiles ? "file-per-aggregator" : "native";
  if (has_subfiles) options.ranks_per_node = options.aggregators = 1; // each server writes one
  return options;
}

} // namespace

void call_in_thread(std::size_t bytes, const std::function<void()>& call,
                    const std::function<bool()>& take) {
  using Microseconds = std::chrono::microseconds;
  constexpr std::size_t smallest = 1 << 20;
  if (bytes < smallest) return call();
  // the destructor waits for the call if take() throws; deferred: no thread is left
  std::future<void> done = std::async(std::launch::async | std::launch::deferred, call);
  if (done.wait_for(Microseconds(0)) == std::future_status::deferred) return done.get();
  constexpr Microseconds shortest(20), longest(2000);
  for (Microseconds nap = shortest; done.wait_for(nap) != std::future_status::ready;)
    nap = take() ? shortest : std::min(2 * nap, longest);
  done.get();
  Watchdog::of_process().advance(); // which sees the calls of the main thread alone
}

namespace {

class Server {
public:
  explicit Server(Servers& servers)
      : m_servers(servers), m_comm(copy_of(servers.comm())), m_began(MPI_Wtime()) {
    const auto clients = static_cast<int>(servers.compute().size());
    m_home_clients = clients / m_size + (m_rank < clients % m_size ? 1 : 0);
  }

  /// Serves until Action::stop; returns the exit status.
  int run() {
    remember_signals();
    keep_memory();
    Nap nap(8000); // a look takes some 30 us, so that an idle server needs less than 1 % of a core
    while (!m_status) {
      forward_signal();
      bool has_done = take();
      if (!m_actions.empty() && is_ready(m_actions.front())) {
        const Bytes action = std::move(m_actions.front());
        m_actions.pop_front();
        execute(action);
        has_done = true;
      }
      if (has_done) {
        nap.wake();
        Watchdog::of_process().advance();
      } else {
        const double start = MPI_Wtime();
        nap.sleep();
        m_idle += MPI_Wtime() - start;
      }
    }
    MPI_Comm_free(&m_comm);
    return m_has_failed ? 2 : *m_status; // 2: the exit status of errors
  }

private:
  /// A variable (and record) of a batch: the boxes of this server, one after the other.
  struct Assembled {
    Buffer values;
    std::size_t elements = 0; ///< that have come
  };
  struct Batch {
    int file = 0;
    std::int64_t taken = 0; ///< messages
    std::map<Key, Assembled> parts;
  };
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

  /// Takes what has come, in any order and at any time; false if there was nothing. Values of later
  /// batches stay with their clients, and of open ones 16 MiB are received at a time.
  bool take() {
    const bool actions = take_actions(), counts = take_counts(), begun = begin_values(),
               finished = finish_values();
    return actions || counts || begun || finished;
  }

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
    for (const auto& [number, batch] : m_batches) {
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

  bool finish_values() {
    bool has_finished = false;
    for (auto in = m_incoming.begin(); in != m_incoming.end();) {
      int has_come = 0;
      MPI_Test(&in->request, &has_come, MPI_STATUS_IGNORE);
      if (has_come == 0) {
        ++in;
        continue;
      }
      Batch& batch = m_batches.at(in->batch);
      batch.taken += 1;
      m_messages += 1;
      m_message_bytes += static_cast<std::int64_t>(in->size);
      Unpacker message(in->buffer->data());
      if (const int number = message.take<int>(); number != in->batch)
        throw std::runtime_error("output servers: expected values of batch " +
                                 std::to_string(in->batch) + ", found those of batch " +
                                 std::to_string(number) + ": this MPI has too few tags");
      if (!m_has_failed) place(batch, message.rest(), in->buffer->data() + in->size);
      m_incoming_bytes -= in->size;
      if (m_free.size() < 2) m_free.push_back(std::move(in->buffer));
      in = m_incoming.erase(in);
      has_finished = true;
    }
    return has_finished;
  }

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
    int is_summed = 0;
    MPI_Test(&m_sum, &is_summed, MPI_STATUS_IGNORE); // true again and again once it is
    if (is_summed == 0 || m_batches.at(number).taken < m_expected[static_cast<std::size_t>(m_rank)])
      return false;
    m_is_summing = false;
    return true;
  }

  /// take() while a disk is waited for: the next batch is begun before its action is executed, and
  /// another one if the open ones have ended and are small.
  bool take_ahead() {
    constexpr std::size_t small = 1 << 20; // bytes
    const bool has_taken = take();
    std::size_t ended = 0, bytes = 0; // of the open batches
    for (const Bytes& action : m_actions) {
      Unpacker from(action.data());
      const auto what = from.take<Action>();
      if (what == Action::writer) break; // what comes after it needs its options
      if (what == Action::open) announce(from);
      if (what == Action::begin_batch) {
        const bool is_open = m_batches.count(Unpacker(from).take<int>()) > 0;
        if (!is_open && (ended < m_batches.size() || bytes > small)) break;
        begin_batch(from);
      }
      if (what == Action::end_batch) {
        const Batch& batch = m_batches.at(from.take<int>());
        ended += 1;
        for (const Key& key : from.take<std::vector<Key>>())
          bytes += bytes_here(m_files.at(batch.file), key.v);
      }
    }
    return has_taken;
  }

  /// Copy the values of a message to where they belong.
  void place(Batch& batch, const std::byte* message, const std::byte* end) {
    Unpacker from(message);
    from.take<int>(); // so that the rest lies at multiples of 8 bytes
    const auto [v, record, b] = from.take<Place>();
    const OpenFile& file = m_files.at(batch.file);
    const Type type = file.schema.variables[v].type;
    const std::vector<Box>& boxes = file.boxes[v][me()];
    std::size_t before = 0; // elements of the boxes before this one
    for (std::size_t k = 0; k < b; ++k) before += boxes[k].elements();
    Assembled& part = part_of_batch(batch, {v, record});
    while (from.rest() < end) { // each with its values, up to a multiple of 8 bytes
      const auto region = from.take<Box>();
      pack_into(boxes[b], part.values.data() + before * bytes_of(type),
                row_major(region, from.rest(), type), type);
      from.skip((region.elements() * bytes_of(type) + 7) / 8 * 8);
      part.elements += region.elements();
    }
  }

  Server::Assembled& part_of_batch(Batch& batch, const Key& key) {
    const auto [found, is_new] = batch.parts.try_emplace(key);
    if (is_new) found->second.values.of_size(bytes_here(m_files.at(batch.file), key.v));
    return found->second;
  }

  /// Compute rank 0 decides when the run ends.
  void forward_signal() {
    const Request request = asked_to_end();
    if (request <= m_forwarded) return;
    m_forwarded = request;
    m_servers.send(m_servers.compute().front(), news_tag, Packer(News::signalled, request).bytes());
  }

  /// A batch ends when all of its values have come.
  bool is_ready(const Bytes& action) {
    Unpacker from(action.data());
    return from.take<Action>() != Action::end_batch || is_complete(from.take<int>());
  }

  void execute(const Bytes& action) {
    Unpacker from(action.data());
    try {
      perform(from.take<Action>(), from);
    } catch (const Error& error) { // of all servers
      fail(error.what());
    }
  }

  void perform(Action what, Unpacker& from) {
    switch (what) {
    case Action::writer:
      return make_writer(from);
    case Action::open:
      return open(announce(from));
    case Action::begin_batch:
      return begin_batch(from);
    case Action::end_batch:
      return end_batch(from);
    case Action::end_record:
    case Action::commit: {
      File* const open_file = file(from).file.get();
      const auto step = from.take<std::int64_t>();
      if (open_file == nullptr) return;
      if (what == Action::end_record) open_file->end_record(step);
      if (what == Action::commit) open_file->commit(step);
      return;
    }
    case Action::close: {
      const int number = from.take<int>();
      m_files.at(number).closed_at = from.take<double>();
      return close(number, from.take<std::int64_t>());
    }
    case Action::abandon:
      m_files.erase(from.take<int>());
      return;
    case Action::finish:
      return report(from.take<int>());
    case Action::stop:
      m_status = from.take<int>();
      tell(Packer(News::stopped));
    }
  }

  void make_writer(Unpacker& from) {
    Writing& writing = m_writers[from.take<int>()];
    const std::vector<Option> rows = rows_of(writing.options);
    if (from.take<std::size_t>() != rows.size())
      throw Error("output: expected servers of the same version as the program");
    for (const Option& row : rows) row.set(from.take<std::string>(), "option -io_" + row.name);
    Options options = server_options(writing.options);
    options.call_disk = [this](std::size_t bytes, const std::function<void()>& call) {
      call_in_thread(bytes, call, [this] { return take_ahead(); });
    };
    writing.writer = std::make_unique<Writer>(m_servers.comm(), options,
                                              "output server (rank " +
                                                  std::to_string(m_servers.servers()[me()]) + ")");
  }

  /// Its values are taken from now on, if they are not already. Local.
  void begin_batch(Unpacker& from) {
    const auto [batch, is_new] = m_batches.try_emplace(from.take<int>());
    if (is_new) batch->second.file = from.take<int>();
  }

  /// What is needed to take the values of a file, if it is not known already. Local.
  OpenFile& announce(Unpacker& from) {
    const auto [file, is_new] = m_files.try_emplace(from.take<int>());
    OpenFile& opened = file->second;
    if (!is_new) return opened;
    opened.writer = from.take<int>();
    opened.path = from.take<std::string>();
    opened.options = from.take<FileOptions>();
    opened.options.sums_are_given = true;
    opened.schema = from.take<Schema>();
    for (std::size_t v = 0; v < opened.schema.variables.size(); ++v) {
      opened.boxes.push_back(server_boxes(m_writers.at(opened.writer).options, opened.schema, v,
                                          static_cast<std::size_t>(m_size)));
    }
    return opened;
  }

  void open(OpenFile& opened) {
    if (m_has_failed) return; // and they know
    opened.file =
        m_writers.at(opened.writer).writer->open(opened.path, opened.schema, opened.options);
    if (opened.options.continues)
      tell(Packer(News::opened, opened.file->is_continued(), opened.file->why_anew()));
  }

  void end_batch(Unpacker& from) {
    const int number = from.take<int>();
    const auto keys = from.take<std::vector<Key>>();
    Batch batch = std::move(m_batches.at(number));
    m_batches.erase(number);
    OpenFile& its_file = m_files.at(batch.file);
    if (its_file.file == nullptr || m_has_failed) return;
    const std::vector<std::uint64_t> sums = std::move(m_sums);
    agree(m_comm, [&] {
      if (sums.size() > keys.size()) {
        throw Error("file '" + its_file.path +
                    "': expected the same variables from all ranks, found " +
                    std::to_string(sums.size()) + " of one and " + std::to_string(keys.size()) +
                    " of rank 0");
      }
      for (const Key& key : keys) {
        const std::size_t expected = elements_of(its_file.boxes[key.v][me()]);
        const std::size_t found = part_of_batch(batch, key).elements;
        if (found == expected) continue;
        throw Error("file '" + its_file.path + "': variable '" +
                    its_file.schema.variables[key.v].name + "': expected " +
                    std::to_string(expected) + " values for server " + std::to_string(m_rank) +
                    ", found " + std::to_string(found) +
                    " at the end of what the ranks have put together");
      }
    });
    for (const Key& key : keys) write(its_file, key, batch.parts.at(key));
    for (std::size_t k = 0; k < sums.size(); ++k)
      its_file.file->add_sum(keys[k].v, keys[k].record, sums[k]);
  }

  /// Box by box; servers that have fewer take part with nothing.
  void write(OpenFile& its_file, const Key& key, Assembled& part) {
    const Variable& variable = its_file.schema.variables[key.v];
    std::size_t most = 0;
    for (const auto& boxes : its_file.boxes[key.v]) most = std::max(most, boxes.size());
    const std::vector<Box>& mine = its_file.boxes[key.v][me()];
    const Indices none(whole_box(its_file.schema, key.v).count.size(), 0);
    std::vector<Block> blocks(most, Block{none, none, {}});
    std::size_t before = 0; // elements
    for (std::size_t b = 0; b < mine.size(); ++b) {
      blocks[b] = {mine[b].start, mine[b].count, {}, {}, before};
      before += mine[b].elements();
    }
    its_file.file->put_blocks(variable.name, key.record, blocks, part.values.data(), variable.type);
  }

  void close(int number, std::int64_t step) {
    OpenFile& its_file = m_files.at(number);
    if (its_file.file != nullptr) {
      its_file.file->close(step);
      tell(Packer(News::committed, its_file.file->path()));
      double& longest = m_writers.at(its_file.writer).longest_handover;
      longest = std::max(longest, time_of_day() - its_file.closed_at);
    }
    m_files.erase(number);
  }

  void report(int number) {
    const auto found = m_writers.find(number);
    ServerReport report;
    report.servers = m_size;
    if (found != m_writers.end() && found->second.writer != nullptr) {
      report.summary = summarize(m_comm, found->second.writer->statistics());
      report.handover_seconds = found->second.longest_handover;
    }
    report.idle_share = over_ranks(m_comm, {m_idle / (MPI_Wtime() - m_began)}).front().mean;
    report.peak_bytes = static_cast<std::int64_t>(
        over_ranks(m_comm, {static_cast<double>(peak_bytes())}).front().max);
    std::int64_t taken[2] = {std::exchange(m_messages, 0), std::exchange(m_message_bytes, 0)};
    MPI_Allreduce(MPI_IN_PLACE, taken, 2, MPI_INT64_T, MPI_SUM, m_comm);
    report.messages = taken[0];
    report.message_bytes = taken[1];
    m_idle = 0.0;
    m_began = MPI_Wtime();
    tell(Packer(News::finished, number, report));
  }

  /// The files stay as they were last committed. Their errors are the same as the first.
  void fail(const std::string& what) {
    m_has_failed = true;
    for (auto& [number, its_file] : m_files) its_file.file.reset();
    tell(Packer(News::error, what));
  }

  void tell(const Packer& news) {
    if (m_rank == 0) m_servers.send(m_servers.compute().front(), news_tag, news.bytes());
  }

  /// Bytes of a variable that this server writes.
  std::size_t bytes_here(const OpenFile& file, std::size_t v) const {
    return elements_of(file.boxes[v][me()]) * bytes_of(file.schema.variables[v].type);
  }

  OpenFile& file(Unpacker& from) { return m_files.at(from.take<int>()); }
  std::size_t me() const { return static_cast<std::size_t>(m_rank); }

  static constexpr std::size_t most_incoming = std::size_t{16} << 20; ///< bytes at a time

  template <class T> static void add_each(const std::vector<T>& more, std::vector<T>& to) {
    to.resize(std::max(to.size(), more.size()), 0);
    for (std::size_t n = 0; n < more.size(); ++n) to[n] += more[n];
  }

  Servers& m_servers;
  MPI_Comm m_comm; ///< of the sums
  int m_rank = rank_in(m_comm), m_size = size_of(m_comm), m_home_clients;
  std::deque<Bytes> m_actions; ///< of compute rank 0, in their order
  std::map<int, Counts> m_counts;
  std::vector<std::int64_t> m_expected; ///< messages of the next batch to be closed, by server
  std::vector<std::uint64_t> m_sums;    ///< by key of that batch, of home clients; none if not made
  MPI_Request m_sum = MPI_REQUEST_NULL;
  bool m_is_summing = false;
  std::list<Incoming> m_incoming;
  std::vector<std::unique_ptr<Buffer>> m_free;
  std::size_t m_incoming_bytes = 0;
  std::int64_t m_messages = 0, m_message_bytes = 0; ///< of values, since the last report
  std::map<int, Writing> m_writers;
  std::map<int, OpenFile> m_files;
  std::map<int, Batch> m_batches; ///< open
  bool m_has_failed = false;
  std::optional<int> m_status; ///< of stop
  Request m_forwarded = Request::none;
  double m_began, m_idle = 0.0;
};

} // namespace

int Servers::serve() {
  const int status = Server(*this).run();
  wait_for_sent();
  return status;
}

} // namespace nunatak::io
