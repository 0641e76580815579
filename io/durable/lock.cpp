#include "io/durable/lock.hpp"

#include "io/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace nunatak::io {

namespace {

using Json = nlohmann::ordered_json;

std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// The first of these variables of the environment that is set.
std::string environment(const std::vector<const char*>& names) {
  for (const char* name : names) {
    if (const char* const value = std::getenv(name)) return value;
  }
  return "";
}

/// From /proc/<process>/stat, from the third field on: the state, ..., the 22nd is when it began,
/// in ticks since the machine did.
std::vector<std::string> status_of(long process) {
  const std::string line = first_line("/proc/" + std::to_string(process) + "/stat");
  std::istringstream fields(
      line.substr(std::min(line.size(), line.rfind(')') + 1))); // its name may hold blanks
  return {std::istream_iterator<std::string>(fields), {}};
}

std::string beginning_of(long process) {
  const std::vector<std::string> fields = status_of(process);
  return fields.size() > 19 ? fields[19] : "";
}

bool is_running(long process, const std::string& began) {
  if (::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) return false;
  const std::vector<std::string> fields = status_of(process);
  if (fields.size() <= 19) return true; // hidden from us
  const bool is_dead =
      fields[0] == "Z" || fields[0] == "X"; // and nobody has asked for its exit status yet
  return !is_dead && fields[19] == began;
}

Json this_process() {
  char host[256] = "", since[32] = "";
  ::gethostname(host, sizeof host - 1);
  const std::time_t now = std::time(nullptr);
  std::strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  std::error_code none;
  return {
      {"host", host},
      {"process", static_cast<long>(::getpid())},
      {"job", environment({"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID"})},
      {"since", since},
      {"restart", environment({"SLURM_RESTART_COUNT"})},
      {"began", beginning_of(::getpid())},
      {"machine", first_line("/etc/machine-id")},
      {"boot", first_line("/proc/sys/kernel/random/boot_id")},
      {"processes", std::filesystem::read_symlink("/proc/self/ns/pid", none)
                        .string()}}; // a container has its own
}

std::string line_of(const Json& writer) {
  return writer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

enum class Writer { alive, gone, unknown };

Writer look_at(const Json& writer) {
  const Json self = this_process();
  const auto same = [&](const char* key) { return writer.at(key) == self.at(key); };
  if (same("job") && self.at("job") != "" && !same("restart")) return Writer::gone;
  if (!same("host") || !same("machine")) return Writer::unknown;
  if (!same("boot")) return Writer::gone;
  if (!same("processes")) return Writer::unknown;
  return is_running(writer.at("process"), writer.at("began")) ? Writer::alive : Writer::gone;
}

std::string describe(const Json& writer) {
  const std::string job = writer.at("job");
  return "process " + writer.at("process").dump() + " on host " +
         writer.at("host").get<std::string>() + (job.empty() ? "" : ", job " + job) + ", since " +
         writer.at("since").get<std::string>();
}

/// A stream of the C library that closes itself.
using Stream = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string contents(std::FILE* file) {
  char text[4096];
  return {text, std::fread(text, 1, sizeof text, file)};
}

/// The stream's file is the one under that name, not one that was there before.
bool is_at(std::FILE* file, const std::string& name) {
  struct stat open {
  }, named{};
  return ::fstat(::fileno(file), &open) == 0 && ::stat(name.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

} // namespace

Lock::Lock(const std::string& path) : m_lock(path + ".lock"), m_text(line_of(this_process())) {
  constexpr int patience =
      20; // tenths of a second in which a writer that has made its lock puts its name into it
  for (int n = 0; !create(); ++n) {
    if (n > 10 * patience)
      throw Error("file '" + path + "': expected to lock it, found '" + m_lock +
                  "' again and again");
    remove_if_left(n >= patience, path);
  }
}

Lock::~Lock() {
  const Stream file(std::fopen(m_lock.c_str(), "re"), std::fclose);
  if (file && contents(file.get()) == m_text) std::remove(m_lock.c_str());
}

/// False if there is one already.
bool Lock::create() {
  Stream file(std::fopen(m_lock.c_str(), "wxe"), std::fclose); // x: only if there is none
  if (!file && errno == EEXIST) return false;
  if (!file)
    throw Error("file '" + m_lock + "': expected to create it; found: " + std::strerror(errno));
  if (std::fputs(m_text.c_str(), file.get()) == EOF || std::fflush(file.get()) != 0) {
    const int error = errno;
    std::remove(m_lock.c_str());
    throw Error("file '" + m_lock + "': expected to write it; found: " + std::strerror(error));
  }
  return is_at(file.get(), m_lock); // else we slept, and it was taken for one that was left
}

/// flock() keeps apart those who would remove the same lock: whoever comes second finds another one
/// under its name. `if_empty`: an empty one was left by a writer that was killed before it could
/// say who it is.
void Lock::remove_if_left(bool if_empty, const std::string& path) {
  const Stream file(std::fopen(m_lock.c_str(), "re"), std::fclose);
  if (!file && errno == ENOENT) return; // just removed
  const std::string what = "file '" + path + "': expected to be its only writer, found ";
  if (!file) throw Error(what + "'" + m_lock + "', which cannot be read: " + std::strerror(errno));
  ::flock(::fileno(file.get()), LOCK_EX);
  const std::string text = contents(file.get());
  if (text.empty() && !if_empty) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return;
  }
  if (!text.empty()) {
    try {
      const Json writer = Json::parse(text);
      const Writer is = look_at(writer);
      if (is == Writer::alive) throw Error(what + describe(writer) + " ('" + m_lock + "')");
      if (is == Writer::unknown) {
        throw Error(what + "the lock of " + describe(writer) + "; from here (host " +
                    this_process().at("host").get<std::string>() +
                    ") it cannot be told whether that still writes: if it does not, delete '" +
                    m_lock + "'");
      }
    } catch (const Json::exception&) {
      throw Error(what + "'" + m_lock +
                  "', which does not say who writes: if nobody does, delete it");
    }
  }
  if (!is_at(file.get(), m_lock)) return; // another one was faster
  std::remove(m_lock.c_str());
  m_was_left = true;
}

} // namespace nunatak::io
