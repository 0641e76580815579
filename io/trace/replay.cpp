#include "io/trace/replay.hpp"

#include "io/agree.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <thread>
#include <unistd.h>

namespace nunatak::io {

namespace {

using Operation = TraceOperation;

/// The names in the folder: without the traced folder, or with it if two would be the same.
std::vector<std::string> paths_in(const std::string& folder,
                                  const std::vector<std::string>& files) {
  std::map<std::string, int> times;
  for (const auto& file : files) times[std::filesystem::path(file).filename().string()] += 1;
  std::vector<std::string> paths;
  for (std::string name : files) {
    const std::string last = std::filesystem::path(name).filename().string();
    if (last.empty() || last == "." || last == "..")
      throw Error("trace: expected the name of a file, found '" + name + "'");
    std::replace(name.begin(), name.end(), '/', '_');
    paths.push_back((std::filesystem::path(folder) / (times[last] == 1 ? last : name)).string());
  }
  return paths;
}

/// What one rank does. A descriptor per traced rank and file, kept through opens that overlap.
class Player {
public:
  Player(std::vector<std::string> paths, const ReplayOptions& options)
      : m_paths(std::move(paths)), m_options(options) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;
  ~Player() {
    for (const auto& [key, open] : m_open) ::close(open.fd);
  }

  /// Room for the longest call, touched before the clock starts.
  void prepare(std::int64_t bytes) { m_buffer.assign(static_cast<std::size_t>(bytes), 'n'); }

  void play(const TraceEvent& e) {
    if (m_options.think && m_last_end >= 0.0 && e.start > m_last_end) {
      std::this_thread::sleep_for(std::chrono::duration<double>(e.start - m_last_end));
    }
    m_last_end = std::max(m_last_end, e.end);
    const std::pair<int, int> key{e.rank, e.file};
    if (e.operation == Operation::close) {
      close(key);
    } else {
      const int fd = descriptor(key, e.operation == Operation::open);
      if (e.operation == Operation::read) read(fd, e);
      if (e.operation == Operation::write) write(fd, e);
      if (e.operation == Operation::seek && ::lseek(fd, e.offset, SEEK_SET) < 0)
        fail(e.file, "seek");
      if (e.operation == Operation::sync && ::fsync(fd) != 0) fail(e.file, "sync");
      if (e.operation == Operation::truncate && ::ftruncate(fd, e.offset) != 0)
        fail(e.file, "truncate");
    }
    statistics.operations[static_cast<std::size_t>(e.operation)] += 1;
  }

  ReplayStatistics statistics;

private:
  struct Opened {
    int fd = -1, times = 0;
  };

  [[noreturn]] void fail(int file, const char* what) const {
    throw Error("file '" + m_paths[static_cast<std::size_t>(file)] + "': replay: expected to " +
                what + "; found: " + std::strerror(errno));
  }

  /// A file that is used without an open was open before the trace began.
  int descriptor(std::pair<int, int> key, bool again) {
    Opened& open = m_open[key];
    if (open.fd < 0)
      open.fd =
          ::open(m_paths[static_cast<std::size_t>(key.second)].c_str(), O_RDWR | O_CREAT, 0666);
    if (open.fd < 0) fail(key.second, "open");
    open.times += again;
    return open.fd;
  }

  void close(std::pair<int, int> key) {
    const auto open = m_open.find(key);
    if (open == m_open.end() || --open->second.times > 0) return;
    const int fd = open->second.fd;
    m_open.erase(open);
    if (::close(fd) != 0) fail(key.second, "close");
  }

  void read(int fd, const TraceEvent& e) {
    const ssize_t n = ::pread(fd, m_buffer.data(), static_cast<std::size_t>(e.bytes), e.offset);
    if (n < 0) fail(e.file, "read");
    statistics.read_bytes += n;
    statistics.missing_bytes += e.bytes - n;
  }

  void write(int fd, const TraceEvent& e) {
    for (std::int64_t done = 0; done < e.bytes;) {
      const ssize_t n =
          ::pwrite(fd, m_buffer.data(), static_cast<std::size_t>(e.bytes - done), e.offset + done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(e.file, "write");
      done += n;
    }
    statistics.written_bytes += e.bytes;
  }

  std::vector<std::string> m_paths;
  ReplayOptions m_options;
  std::map<std::pair<int, int>, Opened> m_open;
  std::vector<char> m_buffer;
  double m_last_end = -1.0;
};

/// Rank 0, before the clock starts: no file is there, except those that are only read.
void prepare_files(const std::string& folder, const std::vector<std::string>& paths,
                   const TraceTable& trace) {
  std::filesystem::create_directories(folder);
  std::vector<std::int64_t> length(paths.size(), 0);
  std::set<std::int32_t> written;
  for (const TraceEvent& e : trace.events) {
    const auto file = static_cast<std::size_t>(e.file);
    if (e.operation == Operation::read) length[file] = std::max(length[file], e.offset + e.bytes);
    if (e.operation == Operation::write || e.operation == Operation::truncate)
      written.insert(e.file);
  }
  Player player(paths, {});
  player.prepare(1 << 20);
  for (std::size_t f = 0; f < paths.size(); ++f) {
    const auto file = static_cast<std::int32_t>(f);
    std::filesystem::remove(paths[f]);
    for (std::int64_t at = 0; at < length[f] && written.count(file) == 0; at += 1 << 20) {
      player.play(
          {0, 0, at, std::min<std::int64_t>(1 << 20, length[f] - at), file, 0, Operation::write});
    }
  }
}

} // namespace

ReplayStatistics replay(MPI_Comm comm, const std::string& csv, const std::string& folder,
                        const ReplayOptions& options) {
  const int rank = rank_in(comm), size = size_of(comm);
  TraceTable trace;
  std::vector<std::string> paths;
  agree(comm, [&] {
    trace = read_trace(csv);
    paths = paths_in(folder, trace.files);
  });
  auto& events = trace.events;
  events.erase(
      std::remove_if(events.begin(), events.end(), [](const TraceEvent& e) { return e.bytes < 0; }),
      events.end());
  on_rank_0(comm, [&] { prepare_files(folder, paths, trace); });

  // calls of this rank, in the order of their beginning; a truncation of any rank begins another
  // phase
  std::stable_sort(events.begin(), events.end(),
                   [](const TraceEvent& a, const TraceEvent& b) { return a.start < b.start; });
  std::vector<std::vector<TraceEvent>> phases(1);
  double first = 0.0, last = 0.0;
  std::int64_t longest = 0;
  for (std::size_t n = 0; n < events.size(); ++n) {
    const TraceEvent& e = events[n];
    first = n == 0 ? e.start : first;
    last = n == 0 ? e.end : std::max(last, e.end);
    if (e.operation == Operation::truncate) phases.emplace_back();
    if (e.rank % size == rank) {
      phases.back().push_back(e);
      longest = std::max(longest, e.bytes);
    }
    if (e.operation == Operation::truncate) phases.emplace_back();
  }

  Player player(paths, options);
  std::string error; // a rank that fails still comes to every barrier
  const auto keep_error = [&error](const auto& f) {
    try {
      if (error.empty()) f();
    } catch (const std::exception& e) {
      error = e.what();
    }
  };
  keep_error([&] { player.prepare(longest); });
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  for (std::size_t p = 0; p < phases.size(); ++p) {
    if (p > 0) MPI_Barrier(comm);
    keep_error([&] {
      for (const TraceEvent& e : phases[p]) player.play(e);
    });
  }
  ReplayStatistics s = player.statistics;
  s.seconds = MPI_Wtime() - start;
  agree(comm, [&] {
    if (!error.empty()) throw Error(error);
  });
  MPI_Allreduce(MPI_IN_PLACE, s.operations.data(), static_cast<int>(s.operations.size()),
                MPI_INT64_T, MPI_SUM, comm);
  for (std::int64_t* bytes : {&s.read_bytes, &s.written_bytes, &s.missing_bytes}) {
    MPI_Allreduce(MPI_IN_PLACE, bytes, 1, MPI_INT64_T, MPI_SUM, comm);
  }
  MPI_Allreduce(MPI_IN_PLACE, &s.seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  s.traced_ranks = trace.ranks;
  s.traced_seconds = last - first;
  return s;
}

} // namespace nunatak::io
