#include "io/base/watchdog.hpp"

#include "common/names.hpp"
#include "io/base/agree.hpp"
#include "io/base/signals.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <execinfo.h>
#include <fcntl.h>
#include <future>
#include <sys/stat.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

/// What changes while calls of the main thread return, or others write the file.
std::string progress_of(const std::string& path) {
  const std::string counters = "/proc/self/task/" + std::to_string(::getpid()) + "/io";
  char text[512];
  std::string progress;
  if (const int fd = ::open(counters.c_str(), O_RDONLY | O_CLOEXEC); fd >= 0) {
    const ssize_t n = ::read(fd, text, sizeof text);
    progress.assign(text, n > 0 ? static_cast<std::size_t>(n) : 0);
    ::close(fd);
  }
  for (const std::string& name : {path, path + ".tmp", manifest_of(path)}) {
    struct stat now {};
    if (::stat(name.c_str(), &now) != 0) continue;
    for (const auto number : {static_cast<long>(now.st_size), static_cast<long>(now.st_blocks),
                              static_cast<long>(now.st_mtim.tv_sec), now.st_mtim.tv_nsec})
      progress += " " + std::to_string(number);
  }
  return progress;
}

char watched_now[512] = ""; // a plain array: for handlers of signals

// --- last words

std::atomic<bool> is_said{false};
int own_rank = 0;

/// Once. May be called by a handler of a signal.
void say(const char* why) {
  if (is_said.exchange(true)) return;
  char line[1024];
  const int n = std::snprintf(line, sizeof line, "error: rank %d: a library ends the run%s%s%s\n",
                              own_rank, Watchdog::what_now(), why[0] != '\0' ? ": " : "", why);
  const ssize_t written = ::write(STDERR_FILENO, line, static_cast<std::size_t>(n));
  static_cast<void>(written);
}

void on_abort(int) {
  say("");
  void* calls[64];
  backtrace_symbols_fd(calls, backtrace(calls, 64), STDERR_FILENO);
  std::signal(SIGABRT, SIG_DFL);
  std::raise(SIGABRT); // a signal from outside, too, ends the process
}

void on_error(MPI_Comm*, int* code, ...) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(*code, text, &length);
  say(text);
  MPI_Abort(MPI_COMM_WORLD, 2); // the status of errors
}

} // namespace

void give_last_words() {
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  void* calls[1];
  backtrace(calls, 1); // loads what a handler must not
  std::signal(SIGABRT, on_abort);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Errhandler_free(&handler);
}

const char* Watchdog::what_now() { return watched_now; }

Watchdog& Watchdog::of_process() {
  static Watchdog dog;
  return dog;
}

Watchdog::~Watchdog() {
  if (!m_thread.joinable()) return;
  {
    const std::lock_guard lock(m_mutex);
    m_ends = true;
  }
  m_change.notify_one();
  m_thread.join();
}

void Watchdog::set(MPI_Comm comm, double patience, const std::string& who, bool waits) {
  {
    const std::lock_guard lock(m_mutex);
    m_patience = std::chrono::milliseconds(std::llround(1000.0 * patience));
    m_rank = rank_in(comm);
    m_who = who.empty() ? "rank " + std::to_string(m_rank) : who;
    m_waits = waits;
    m_since = Clock::now();
    begin();
  }
  m_change.notify_one(); // it sleeps by the patience
}

void Watchdog::begin() {
  try {
    if (!m_thread.joinable()) m_thread = std::thread([this] { sleep_and_look(); });
  } catch (const std::exception&) { // no thread is left: the run goes on without a watchdog
  }
}

void Watchdog::wait_with(const std::optional<std::string>& error) {
  const std::lock_guard lock(m_mutex);
  m_waits_with = error;
}

void Watchdog::advance() {
  const std::lock_guard lock(m_mutex);
  m_since = Clock::now();
}

Watchdog::Watched Watchdog::exchange(Watched watched) {
  const std::lock_guard lock(m_mutex);
  m_since = Clock::now();
  m_scopes += 1;
  m_progress.clear();
  std::snprintf(watched_now, sizeof watched_now, watched ? " in phase '%s' of file '%s'" : "%s%s",
                watched ? watched->second : "", watched ? watched->first.c_str() : "");
  begin();
  return std::exchange(m_watched, std::move(watched));
}

Watchdog::Scope::Scope(const std::string& path, const char* phase)
    : m_outer(of_process().exchange(std::pair(path, phase))) {}
Watchdog::Scope::~Scope() { of_process().exchange(std::move(m_outer)); }

/// Looks after every sixteenth of the patience, and at its end.
void Watchdog::sleep_and_look() {
  using std::chrono::milliseconds;
  std::unique_lock lock(m_mutex);
  milliseconds nap = m_patience / 16;
  while (!m_ends) {
    const auto begin = Clock::now();
    if (m_patience.count() == 0) {
      m_change.wait(lock);
    } else {
      m_change.wait_for(lock, nap);
      // of a process that was stopped and continued, this time does not count
      const auto slept = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
      if (slept > 2 * nap) m_since += slept - nap;
    }
    nap = m_patience / 16;
    const bool is_asked = asked_to_end() != Request::none;
    if (m_ends || m_patience.count() == 0 || (!m_watched && !is_asked)) continue;
    if (m_watched) look_for_progress(lock, 2 * nap);
    if (!m_watched) m_since = std::max(m_since, time_of_request());
    const auto left = limit() - std::chrono::duration_cast<milliseconds>(Clock::now() - m_since);
    if (left.count() <= 0) end_run();
    nap = std::min(nap, left);
  }
}

/// A thread of its own looks, because stat() may hang as the call that is watched.
void Watchdog::look_for_progress(std::unique_lock<std::mutex>& lock,
                                 std::chrono::milliseconds longest) {
  const std::int64_t scope = m_scopes;
  const std::string path = m_watched->first;
  std::packaged_task<std::string()> look([path] { return progress_of(path); });
  std::future<std::string> answer = look.get_future();
  lock.unlock();
  std::optional<std::string> progress;
  try {
    std::thread(std::move(look)).detach();
    if (answer.wait_for(longest) == std::future_status::ready) progress = answer.get();
  } catch (const std::exception&) {
    progress = progress_of(path); // no thread is left: here
  }
  lock.lock();
  if (!progress || scope != m_scopes) return;
  const std::string before = std::exchange(m_progress, *progress);
  if (!before.empty() && before != m_progress) m_since = Clock::now();
}

std::chrono::milliseconds Watchdog::limit() const {
  if (!m_waits_with.value_or("").empty()) return m_patience * 7 / 8;
  auto limit = m_patience + m_patience * m_rank / (4 * (m_rank + 1));
  for (const bool waits : {m_waits, m_waits_with.has_value()}) {
    if (waits) limit += m_patience / 2;
  }
  return limit;
}

void Watchdog::end_run() {
  const std::string error = m_waits_with.value_or("");
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - m_since).count();
  std::string what;
  if (m_watched) {
    what = "file '" + m_watched->first + "': " + m_who + " has been in phase '" +
           m_watched->second + "' for " + std::to_string(seconds) +
           " s without progress (-io_patience): " +
           (error.empty() ? "a rank or the file system hangs"
                          : "other ranks did not arrive, and this one has failed: " + error);
  } else {
    what = m_who + " was asked to end by a signal, and has not ended a step for " +
           std::to_string(seconds) + " s (-io_patience)";
  }
  std::fprintf(stderr, "error: %s, and the run ends. Files that were committed are whole.\n",
               what.c_str());
  std::fflush(stderr);
  int is_on = 0;
  int is_off = 0;
  MPI_Initialized(&is_on);
  MPI_Finalized(&is_off);
  if (is_on != 0 && is_off == 0) MPI_Abort(MPI_COMM_WORLD, 2); // also ends output servers
  std::_Exit(2);
}

} // namespace nunatak::io
