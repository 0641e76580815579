// What a trace remembers, and how it leaves the program. See trace.hpp.
//
// This is the only process-wide state of io/. It cannot be otherwise: a library that writes knows a
// descriptor, not us, and there is one table of descriptors in a process. The state is made when
// first used and never destroyed, because libraries and threads still close files after main() has
// ended.
#include "io/trace/trace.hpp"

#include "io/agree.hpp"
#include "io/async/servers.hpp"
#include "io/trace/record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

namespace nunatak::io {

namespace trace {

namespace {

constexpr int most_descriptors = 1 << 16;    // descriptors above are not watched
constexpr std::size_t most_events = 1 << 22; // 48 bytes each; what comes later is counted, not kept
constexpr std::size_t chunk_bytes = 1 << 20; // of text sent to rank 0 at a time
std::atomic<std::int32_t>
    files[most_descriptors]; // the watched file of a descriptor and one; 0: none

struct Watch {
  std::string absolute, given;
  int times = 1;
};

struct State {
  std::mutex mutex;
  std::vector<Watch> watches;
  std::vector<std::string> names;
  std::vector<TraceEvent> events;
  std::int64_t dropped = 0;
  double zero = 0.0;

  void forget() {
    watches.clear();
    names.clear();
    std::vector<TraceEvent>().swap(events);
    dropped = 0;
    for (auto& file : files) file.store(0, std::memory_order_relaxed);
  }
};

State& state() {
  static State* const s = new State;
  return *s;
}

/// Without asking the file system: the file need not exist.
std::string absolute_path(int folder, const std::string& path) {
  std::filesystem::path p = path;
  if (folder != AT_FDCWD && p.is_relative())
    p = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(folder)) / p;
  return std::filesystem::absolute(p).lexically_normal().string();
}

} // namespace

double now() noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

int find(int folder, const char* path) noexcept {
  const int error = errno;
  int found = -1;
  try {
    State& s = state();
    const std::lock_guard<std::mutex> lock(s.mutex);
    const Watch* watch = nullptr;
    std::string absolute = path == nullptr || s.watches.empty() ? "" : absolute_path(folder, path);
    if (std::filesystem::path(absolute).extension() == ".lock")
      absolute.clear(); // says who writes, and is no output
    for (const Watch& w : s.watches) {
      const bool longer = watch == nullptr || w.absolute.size() > watch->absolute.size();
      if (longer && absolute.compare(0, w.absolute.size(), w.absolute) == 0) watch = &w;
    }
    if (watch != nullptr) {
      std::string name = watch->given + absolute.substr(watch->absolute.size());
      if (watch->times > 1) name += "@" + std::to_string(watch->times);
      const auto at = std::find(s.names.begin(), s.names.end(), name);
      found = static_cast<int>(at - s.names.begin());
      if (at == s.names.end()) s.names.push_back(name);
    }
  } catch (...) { // no memory, or a folder whose path is unknown: this file is not traced
    found = -1;
  }
  errno = error;
  return found;
}

int file_of(int fd) noexcept {
  return fd < 0 || fd >= most_descriptors ? -1 : files[fd].load(std::memory_order_relaxed) - 1;
}

int set_file_of(int fd, int file) noexcept {
  return fd < 0 || fd >= most_descriptors
             ? -1
             : files[fd].exchange(file + 1, std::memory_order_relaxed) - 1;
}

void record(TraceOperation operation, int file, std::int64_t offset, std::int64_t bytes,
            double start, double end) noexcept {
  const int error = errno;
  State& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  // a call may end after its trace has
  const bool is_on =
      recording.load(std::memory_order_relaxed) && static_cast<std::size_t>(file) < s.names.size();
  try {
    if (is_on && s.events.size() < most_events) {
      s.events.push_back({start, end, offset, bytes, file, 0, operation});
    } else if (is_on) {
      s.dropped += 1;
    }
  } catch (...) { // no memory
    s.dropped += 1;
  }
  errno = error;
}

} // namespace trace

using trace::state;

bool trace_available() { return trace::is_interposed; }

void trace_watch(const std::string& path) {
  if (!trace::recording) return;
  auto& s = state();
  const std::lock_guard<std::mutex> lock(s.mutex);
  const std::string absolute = trace::absolute_path(AT_FDCWD, path);
  for (auto& w : s.watches) {
    if (w.absolute != absolute) continue;
    w.times += 1;
    return;
  }
  s.watches.push_back({absolute, path, 1});
}

Trace::~Trace() {
  if (m_csv.empty()) return;
  trace::recording = false;
  const std::lock_guard<std::mutex> lock(state().mutex);
  state().forget();
}

Trace::Trace(MPI_Comm comm) : m_comm(comm), m_servers(Servers::of(comm)) {
  if (m_servers != nullptr) m_comm = m_servers->all();
}

void Trace::start(const std::string& csv) {
  if (csv.empty()) return;
  const std::string what = "trace '" + csv + "': ";
  if (!trace_available()) {
    throw Error(what + "this program cannot record one (it was built with sanitizers, or without "
                       "nunatak_io_trace)");
  }
  if (trace::recording) throw Error(what + "expected no trace to run, found one");
  if (m_servers != nullptr) m_servers->act_on_all(Packer().add(Action::start_trace).add(csv));
  on_rank_0(m_comm, [&] {
    m_out.open(csv, std::ios::trunc);
    if (!m_out) throw Error(what + "expected to create the file; found: " + std::strerror(errno));
  });
  m_csv = csv;
  MPI_Barrier(m_comm);
  state().zero = trace::now();
  trace::recording = true;
}

namespace {

/// Lines of this rank's events from `next` on, about `trace::chunk_bytes` of them; none when all
/// are written.
std::string next_lines(std::size_t& next, int rank) {
  std::string text;
  const auto& s = state();
  for (; next < s.events.size() && text.size() < trace::chunk_bytes; ++next) {
    TraceEvent event = s.events[next];
    event.rank = rank;
    append_line(text, event, s.names[static_cast<std::size_t>(event.file)], s.zero);
  }
  return text;
}

} // namespace

void Trace::finish() {
  if (m_csv.empty()) return;
  if (m_servers != nullptr) m_servers->act_on_all(Packer().add(Action::finish_trace));
  trace::recording = false;
  const std::lock_guard<std::mutex> lock(state().mutex);
  const int rank = rank_in(m_comm), size = size_of(m_comm);
  std::int64_t counts[2] = {static_cast<std::int64_t>(state().events.size()), state().dropped};
  MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM, m_comm);
  std::size_t next = 0;
  int error = 0; // the first
  const auto check = [&] {
    if (!m_out && error == 0) error = errno;
  };
  if (rank == 0) {
    m_out << "# calls on watched files; bytes -1: the call failed; start and end in s since the "
             "ranks began to record together\n"
          << "# ranks: " << size << ", events: " << counts[0]
          << ", not kept for lack of memory: " << counts[1] << "\n"
          << trace_header << "\n";
    for (std::string text = next_lines(next, 0); !text.empty(); text = next_lines(next, 0))
      m_out << text, check();
    for (int from = 1; from < size; ++from) {
      for (std::string text(1, ' '); !text.empty();) {
        MPI_Status status;
        int length = 0;
        MPI_Send(nullptr, 0, MPI_CHAR, from, 0, m_comm); // one rank at a time, when rank 0 is ready
        MPI_Probe(from, 0, m_comm, &status);
        MPI_Get_count(&status, MPI_CHAR, &length);
        text.resize(static_cast<std::size_t>(length));
        MPI_Recv(text.data(), length, MPI_CHAR, from, 0, m_comm, MPI_STATUS_IGNORE);
        m_out << text, check();
      }
    }
    m_out.close(), check();
  } else {
    for (std::string text(1, ' '); !text.empty();) {
      MPI_Recv(nullptr, 0, MPI_CHAR, 0, 0, m_comm, MPI_STATUS_IGNORE);
      text = next_lines(next, rank);
      MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, 0, m_comm);
    }
  }
  state().forget();
  const std::string csv = std::exchange(m_csv, "");
  on_rank_0(m_comm, [&] {
    if (!m_out)
      throw Error("trace '" + csv +
                  "': expected to write the file; found: " + std::strerror(error));
  });
}

} // namespace nunatak::io
