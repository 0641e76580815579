// The client of an emulated striped parallel file system, on every node (FUSE 3).
//
//   striped_fs CONTENT MOUNTPOINT STRIPE DIRTY SERVER...       stripe, dirty in bytes; servers by address
//
// The *content* is a folder that all nodes of the emulated cluster share: names, sizes, data and locks are the kernel's, and so
// coherent. The *time* is that of a striped file system: every write and read moves as many bytes to or from the storage servers
// that hold those stripes, and waits for them; every metadata call asks server 0; fsync asks all. Stripe s of file f lies on
// server (f + s) mod n. Nothing is cached that is read. A write may return before its bytes have reached the servers, as long as
// at most DIRTY bytes of this node are on their way (0: it waits for them); fsync waits for all. So do the clients of Lustre;
// unlike there other nodes see such bytes at once.
#define FUSE_USE_VERSION 31
#include "protocol.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dirent.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace cluster;

namespace {

/// Waits until all requests that were made for it are answered, or until so few of their bytes are left that there is room.
class Answers {
public:
  void expect(std::uint64_t bytes) {
    const std::lock_guard lock(m_mutex);
    m_expected += 1, m_bytes += bytes;
  }
  void arrived(std::uint64_t bytes) {
    const std::lock_guard lock(m_mutex);
    m_expected -= 1, m_bytes -= bytes;
    m_change.notify_all(); // with the lock: who waits may end its life
  }
  void wait() {
    std::unique_lock lock(m_mutex);
    m_change.wait(lock, [this] { return m_expected == 0; });
  }
  void wait_for_room(std::uint64_t bytes, std::uint64_t limit) {
    std::unique_lock lock(m_mutex);
    m_change.wait(lock, [&] { return m_bytes == 0 || m_bytes + bytes <= limit; });
  }

private:
  std::mutex m_mutex;
  std::condition_variable m_change;
  int m_expected = 0;
  std::uint64_t m_bytes = 0;
};

/// The connection to one storage server: a thread that sends requests, one that takes the replies, in order.
class Server {
public:
  explicit Server(const std::string& address) : m_fd(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int yes = 1;
    setsockopt(m_fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, address.c_str(), &to.sin_addr);
    for (int attempt = 0; ::connect(m_fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0; ++attempt) {
      if (attempt == 50) {
        std::perror(("striped_fs: " + address).c_str());
        std::exit(1);
      }
      ::usleep(100000);
    }
    std::thread([this] { send_requests(); }).detach();
    std::thread([this] { take_replies(); }).detach();
  }

  void ask(const Request& request, Answers& answers) {
    answers.expect(request.size);
    const std::lock_guard lock(m_mutex);
    m_to_send.push_back({request, &answers});
    m_changed.notify_all();
  }

private:
  struct Job {
    Request request;
    Answers* answers;
  };

  void send_requests() {
    const std::vector<char> nothing(buffer_size, 0);
    while (true) {
      std::unique_lock lock(m_mutex);
      m_changed.wait(lock, [this] { return !m_to_send.empty(); });
      const Job job = m_to_send.front();
      m_to_send.pop_front();
      m_sent.push_back(job); // before it is sent: the reply may come at once
      lock.unlock();
      require(send_all(m_fd, &job.request, sizeof job.request));
      if (job.request.operation != Operation::write) continue;
      for (std::size_t left = job.request.size; left > 0; left -= std::min(left, nothing.size()))
        require(send_all(m_fd, nothing.data(), std::min(left, nothing.size())));
    }
  }

  void take_replies() {
    std::vector<char> buffer(buffer_size);
    Reply reply{};
    while (true) {
      require(receive_all(m_fd, &reply, sizeof reply));
      for (std::size_t left = reply.size; left > 0; left -= std::min(left, buffer.size()))
        require(receive_all(m_fd, buffer.data(), std::min(left, buffer.size())));
      std::unique_lock lock(m_mutex);
      const Job job = m_sent.front();
      m_sent.pop_front();
      lock.unlock();
      job.answers->arrived(job.request.size);
    }
  }

  static void require(bool connected) {
    if (!connected) std::_Exit(1); // the server is gone: so is the file system of this node
  }

  int m_fd;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Job> m_to_send, m_sent;
};

struct FileSystem {
  std::string content;
  std::uint64_t stripe = 1 << 20, most_dirty = 0;
  mutable Answers dirty; ///< written, and on its way
  std::vector<std::string> addresses;
  std::vector<std::unique_ptr<Server>> servers;

  std::string path(const char* name) const { return content + name; }

  void metadata() const {
    Answers answers;
    servers[0]->ask({Operation::metadata, 0, 0, 0}, answers);
    answers.wait();
  }

  void read(std::uint64_t file, std::uint64_t begin, std::uint64_t size) const {
    Answers answers;
    ask(Operation::read, file, begin, size, answers);
    answers.wait();
  }
  void write(std::uint64_t file, std::uint64_t begin, std::uint64_t size) const {
    Answers answers;
    if (most_dirty > 0) dirty.wait_for_room(size, most_dirty);
    ask(Operation::write, file, begin, size, most_dirty > 0 ? dirty : answers);
    answers.wait();
  }

  void sync() const {
    dirty.wait();
    Answers answers;
    for (const auto& server : servers) server->ask({Operation::sync, 0, 0, 0}, answers);
    answers.wait();
  }

private:
  void ask(Operation operation, std::uint64_t file, std::uint64_t begin, std::uint64_t size, Answers& answers) const {
    const std::uint64_t n = servers.size();
    for (const std::uint64_t end = begin + size; begin < end;) {
      const std::uint64_t number = begin / stripe, in_stripe = begin % stripe, bytes = std::min(stripe - in_stripe, end - begin);
      const Request request{operation, static_cast<std::uint32_t>(bytes), file, number / n * stripe + in_stripe};
      servers[(file + number) % n]->ask(request, answers);
      begin += bytes;
    }
  }
} file_system;

int result(long status) { return status < 0 ? -errno : 0; }

std::uint64_t number_of(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

/// Threads and connections begin here: FUSE has become a daemon.
void* start(fuse_conn_info* connection, fuse_config* config) {
  config->direct_io = 1;
  config->use_ino = 1;
  config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
  connection->max_write = 1 << 20;
  for (const std::string& address : file_system.addresses) file_system.servers.push_back(std::make_unique<Server>(address));
  return nullptr;
}

int open_content(const char* path, int flags, mode_t mode, fuse_file_info* file) {
  file_system.metadata();
  const int fd = ::open(file_system.path(path).c_str(), flags & ~(O_DIRECT | O_APPEND), mode);
  if (fd < 0) return -errno;
  file->fh = static_cast<std::uint64_t>(fd);
  return 0;
}

int fd_of(const fuse_file_info* file) { return static_cast<int>(file->fh); }

int read_content(const char*, char* data, std::size_t size, off_t at, fuse_file_info* file) {
  const ssize_t n = ::pread(fd_of(file), data, size, at);
  if (n < 0) return -errno;
  if (n == 0) file_system.metadata();
  file_system.read(number_of(fd_of(file)), static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(n));
  return static_cast<int>(n);
}

int write_content(const char*, const char* data, std::size_t size, off_t at, fuse_file_info* file) {
  const ssize_t n = ::pwrite(fd_of(file), data, size, at);
  if (n < 0) return -errno;
  file_system.write(number_of(fd_of(file)), static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(n));
  return static_cast<int>(n);
}

/// Locks of open file descriptions of the shared content: all nodes see them.
int lock_content(const char*, fuse_file_info* file, int command, struct flock* lock) {
  lock->l_pid = 0;
  while (true) {
    file_system.metadata();
    const int status = ::fcntl(fd_of(file), command == F_GETLK ? F_OFD_GETLK : F_OFD_SETLK, lock);
    if (status == 0 || command != F_SETLKW || errno != EAGAIN) return result(status);
    ::usleep(200);
  }
}

int list_folder(const char* path, void* entries, fuse_fill_dir_t add, off_t, fuse_file_info*, fuse_readdir_flags) {
  file_system.metadata();
  DIR* const folder = ::opendir(file_system.path(path).c_str());
  if (folder == nullptr) return -errno;
  while (const dirent* const entry = ::readdir(folder)) {
    struct stat status {};
    status.st_ino = entry->d_ino;
    status.st_mode = static_cast<mode_t>(entry->d_type) << 12;
    if (add(entries, entry->d_name, &status, 0, fuse_fill_dir_flags{}) != 0) break;
  }
  ::closedir(folder);
  return 0;
}

fuse_operations operations() {
  fuse_operations o{};
  o.init = start;
  o.getattr = [](const char* path, struct stat* status, fuse_file_info* file) {
    file_system.metadata();
    const int got = file != nullptr ? ::fstat(fd_of(file), status) : ::lstat(file_system.path(path).c_str(), status);
    status->st_blksize = static_cast<blksize_t>(file_system.stripe); // libraries size their buffers by it, as on Lustre
    return result(got);
  };
  o.access = [](const char* path, int mode) { return result(::access(file_system.path(path).c_str(), mode)); };
  o.mkdir = [](const char* path, mode_t mode) {
    file_system.metadata();
    return result(::mkdir(file_system.path(path).c_str(), mode));
  };
  o.unlink = [](const char* path) {
    file_system.metadata();
    return result(::unlink(file_system.path(path).c_str()));
  };
  o.rmdir = [](const char* path) {
    file_system.metadata();
    return result(::rmdir(file_system.path(path).c_str()));
  };
  o.rename = [](const char* from, const char* to, unsigned flags) {
    file_system.metadata();
    return result(::renameat2(AT_FDCWD, file_system.path(from).c_str(), AT_FDCWD, file_system.path(to).c_str(), flags));
  };
  o.link = [](const char* from, const char* to) {
    file_system.metadata();
    return result(::link(file_system.path(from).c_str(), file_system.path(to).c_str()));
  };
  o.symlink = [](const char* to, const char* path) {
    file_system.metadata();
    return result(::symlink(to, file_system.path(path).c_str()));
  };
  o.readlink = [](const char* path, char* target, std::size_t size) {
    const ssize_t n = ::readlink(file_system.path(path).c_str(), target, size - 1);
    if (n >= 0) target[n] = '\0';
    return result(n);
  };
  o.chmod = [](const char* path, mode_t mode, fuse_file_info*) { return result(::chmod(file_system.path(path).c_str(), mode)); };
  o.utimens = [](const char* path, const timespec times[2], fuse_file_info*) {
    return result(::utimensat(AT_FDCWD, file_system.path(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
  };
  o.truncate = [](const char* path, off_t size, fuse_file_info* file) {
    file_system.metadata();
    return result(file != nullptr ? ::ftruncate(fd_of(file), size) : ::truncate(file_system.path(path).c_str(), size));
  };
  o.statfs = [](const char* path, struct statvfs* status) { return result(::statvfs(file_system.path(path).c_str(), status)); };
  o.open = [](const char* path, fuse_file_info* file) { return open_content(path, file->flags, 0, file); };
  o.create = [](const char* path, mode_t mode, fuse_file_info* file) {
    return open_content(path, file->flags | O_CREAT, mode, file);
  };
  o.release = [](const char*, fuse_file_info* file) { return result(::close(fd_of(file))); };
  o.read = read_content;
  o.write = write_content;
  o.fsync = [](const char*, int, fuse_file_info*) {
    file_system.sync();
    return 0;
  };
  o.lock = lock_content;
  o.flock = [](const char*, fuse_file_info* file, int operation) {
    file_system.metadata();
    return result(::flock(fd_of(file), operation));
  };
  o.readdir = list_folder;
  return o;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "striped_fs CONTENT MOUNTPOINT STRIPE DIRTY SERVER...\n");
    return 2;
  }
  file_system.content = argv[1];
  file_system.stripe = std::strtoull(argv[3], nullptr, 10);
  file_system.most_dirty = std::strtoull(argv[4], nullptr, 10);
  file_system.addresses.assign(argv + 5, argv + argc);
  ::umask(0);
  const fuse_operations all = operations();
  std::string options = "fsname=striped_fs,noatime,allow_other";
  char* words[] = {argv[0], argv[2], const_cast<char*>("-o"), options.data(), nullptr};
  return fuse_main(4, words, &all, nullptr);
}
