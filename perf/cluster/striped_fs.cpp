// The client of an emulated striped parallel file system, on every node (FUSE 3).
//
//   striped_fs CONTENT MOUNTPOINT STRIPE DIRTY SERVER...   (STRIPE, DIRTY in bytes)
//
// The content is a folder shared by all nodes: names, sizes, data and locks are the kernel's, and
// so coherent. The time is that of a striped file system: metadata calls ask server 0; fsync asks
// all; a write or read moves as many bytes to or from the storage servers of its stripes and waits
// for them, without a cache, as with OrangeFS. With DIRTY > 0 it is that of a client of Lustre:
// extent locks and a page cache (client_cache.hpp) with up to DIRTY bytes unsent and as many on
// their way. The extended attribute user.locks of any file has the counts of this node.
#define FUSE_USE_VERSION 31
#include "client_cache.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

using namespace cluster;

namespace {

struct FileSystem {
  std::string content;
  std::uint64_t stripe = 1 << 20, most_dirty = 0;
  std::vector<std::string> addresses;
  std::vector<std::unique_ptr<Server>> servers;
  std::unique_ptr<ClientCache> cache;

  std::string path(const char* name) const { return content + name; }

  void metadata() const {
    Answers answers;
    servers[0]->ask({Operation::metadata, 0, 0, 0}, answers);
    answers.wait();
  }

  /// Moves bytes of a file that had `size` bytes before.
  void move(Operation operation, std::uint64_t file, Extent bytes, std::uint64_t size) const {
    Answers answers;
    for_each_piece(file, bytes, stripe, servers.size(), [&](const Piece& piece) {
      const auto [begin, end] = piece.extent;
      if (cache == nullptr) {
        servers[piece.server]->ask(
            {operation, static_cast<std::uint32_t>(end - begin), file, begin}, answers);
      } else if (operation == Operation::write) {
        cache->write(file, piece, size);
      } else {
        cache->read(file, piece, size);
      }
    });
    answers.wait();
  }

  /// All that this node has written of the file is on its servers.
  void sync(std::uint64_t file) const {
    if (cache != nullptr) cache->flush(file);
    Answers answers;
    for (const auto& server : servers) server->ask({Operation::sync, 0, 0, 0}, answers);
    answers.wait();
  }
};

FileSystem file_system;

int result(long status) { return status < 0 ? -errno : 0; }

/// Starts threads and connections, after FUSE has become a daemon.
void* start(fuse_conn_info* connection, fuse_config* config) {
  config->direct_io = 1;
  config->use_ino = 1;
  config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
  connection->max_write = 1 << 20;
  for (const std::string& address : file_system.addresses)
    file_system.servers.push_back(std::make_unique<Server>(address));
  if (file_system.most_dirty > 0)
    file_system.cache = std::make_unique<ClientCache>(file_system.most_dirty, file_system.addresses,
                                                      file_system.servers);
  return nullptr;
}

int fd_of(const fuse_file_info* file) { return static_cast<int>(file->fh); }

/// What is dirty of a file beyond `size` is sent no more.
void forget_beyond(const struct stat& file, off_t size) {
  if (file_system.cache == nullptr) return;
  file_system.cache->forget(
      file.st_ino, [end = static_cast<std::uint64_t>(size), number = file.st_ino](std::size_t s) {
        return size_of_object(number, end, file_system.stripe, file_system.servers.size(), s);
      });
}

int open_content(const char* path, int flags, mode_t mode, fuse_file_info* file) {
  file_system.metadata();
  const int fd = ::open(file_system.path(path).c_str(), flags & ~O_DIRECT, mode);
  if (fd < 0) return -errno;
  file->fh = static_cast<std::uint64_t>(fd);
  struct stat status {};
  if ((flags & O_TRUNC) != 0 && ::fstat(fd, &status) == 0) forget_beyond(status, 0);
  return 0;
}

/// Reads or writes the content, and takes the time of the servers.
template <class Call>
int move_content(Operation operation, std::size_t size, off_t at, fuse_file_info* file,
                 const Call& call) {
  struct stat before {};
  if (::fstat(fd_of(file), &before) != 0) return -errno;
  const ssize_t n = call(fd_of(file), size, at);
  if (n < 0) return -errno;
  if (n == 0) file_system.metadata();
  // The offset of the caller's node may be old: the kernel appends where the file ends. Where
  // another node appends at the same time, the place of the bytes on the servers is that of the
  // other one.
  const bool appends =
      operation == Operation::write && (::fcntl(fd_of(file), F_GETFL) & O_APPEND) != 0;
  const auto begin = static_cast<std::uint64_t>(appends ? before.st_size : at);
  file_system.move(operation, before.st_ino, {begin, begin + static_cast<std::uint64_t>(n)},
                   static_cast<std::uint64_t>(before.st_size));
  return static_cast<int>(n);
}

int read_content(const char*, char* data, std::size_t size, off_t at, fuse_file_info* file) {
  return move_content(Operation::read, size, at, file, [data](int fd, std::size_t n, off_t from) {
    return ::pread(fd, data, n, from);
  });
}

int write_content(const char*, const char* data, std::size_t size, off_t at, fuse_file_info* file) {
  const int now = ::fcntl(fd_of(file), F_GETFL); // the caller may have changed its mind: F_SETFL
  if (((now ^ file->flags) & O_APPEND) != 0) ::fcntl(fd_of(file), F_SETFL, now ^ O_APPEND);
  return move_content(Operation::write, size, at, file, [data](int fd, std::size_t n, off_t to) {
    return ::pwrite(fd, data, n, to);
  });
}

/// By which programs recognise Lustre, and its stripes.
int attribute_of_lustre(char* value, std::size_t size) {
  struct {
    std::uint32_t magic = 0x0bd10bd0, pattern = 1;
    std::uint64_t object[2] = {};
    std::uint32_t stripe_size = 0;
    std::uint16_t stripe_count = 0, first_server = 0;
  } layout;
  layout.stripe_size = static_cast<std::uint32_t>(file_system.stripe);
  layout.stripe_count = static_cast<std::uint16_t>(file_system.servers.size());
  if (size > 0 && size < sizeof layout) return -ERANGE;
  if (size > 0) std::memcpy(value, &layout, sizeof layout);
  return sizeof layout;
}

/// The counts as JSON.
int counts_of_locks(const char*, const char* name, char* value, std::size_t size) {
  if (file_system.cache == nullptr) return -ENODATA;
  if (std::strcmp(name, "lustre.lov") == 0) return attribute_of_lustre(value, size);
  if (std::strcmp(name, "user.locks") != 0) return -ENODATA;
  const ClientCache::Counts n = file_system.cache->counts();
  char text[300];
  const int length = std::snprintf(
      text, sizeof text,
      R"({"asked": %ld, "called_back": %ld, "partial_pages_read": %ld, )"
      R"("reads": %ld, "sent": %ld, "sent_at_call_back": %ld})",
      n.asked, n.called_back, n.partial_pages_read, n.reads, n.sent, n.sent_at_call_back);
  if (size > 0 && size < static_cast<std::size_t>(length)) return -ERANGE;
  if (size > 0) std::memcpy(value, text, static_cast<std::size_t>(length));
  return length;
}

/// Tries until there is no other holder, or the caller was interrupted.
template <class Try> int lock_by_trying(bool waits, const Try& attempt) {
  while (true) {
    file_system.metadata();
    const int status = attempt();
    if (status == 0 || !waits || errno != EAGAIN) return result(status);
    if (fuse_interrupted() != 0) return -EINTR;
    ::usleep(200);
  }
}

/// Open file description locks on the shared content, visible to all nodes.
int lock_content(const char*, fuse_file_info* file, int command, struct flock* lock) {
  lock->l_pid = 0;
  return lock_by_trying(command == F_SETLKW, [&] {
    return ::fcntl(fd_of(file), command == F_GETLK ? F_OFD_GETLK : F_OFD_SETLK, lock);
  });
}
int lock_whole(const char*, fuse_file_info* file, int operation) {
  return lock_by_trying((operation & LOCK_NB) == 0,
                        [&] { return ::flock(fd_of(file), operation | LOCK_NB); });
}

int remove_file(const char* path) {
  file_system.metadata();
  const std::string name = file_system.path(path);
  struct stat file {};
  const bool is_last = ::lstat(name.c_str(), &file) == 0 && file.st_nlink == 1;
  if (::unlink(name.c_str()) != 0) return -errno;
  if (is_last) forget_beyond(file, 0);
  return 0;
}

int rename_file(const char* from, const char* to, unsigned flags) {
  file_system.metadata();
  const std::string source = file_system.path(from), target = file_system.path(to);
  struct stat moved {
  }, replaced{};
  const bool replaces = ::lstat(source.c_str(), &moved) == 0 &&
                        ::lstat(target.c_str(), &replaced) == 0 && (flags & RENAME_EXCHANGE) == 0;
  if (::renameat2(AT_FDCWD, source.c_str(), AT_FDCWD, target.c_str(), flags) != 0) return -errno;
  const bool is_last = replaced.st_nlink == 1 && replaced.st_ino != moved.st_ino;
  if (replaces && is_last) forget_beyond(replaced, 0);
  return 0;
}

int cut_file(const char* path, off_t size, fuse_file_info* file) {
  file_system.metadata();
  const int fd = file != nullptr ? ::dup(fd_of(file))
                                 : ::open(file_system.path(path).c_str(), O_WRONLY | O_CLOEXEC);
  struct stat status {};
  const bool is_cut = fd >= 0 && ::ftruncate(fd, size) == 0 && ::fstat(fd, &status) == 0;
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!is_cut) return -error;
  forget_beyond(status, size);
  return 0;
}

int list_folder(const char* path, void* entries, fuse_fill_dir_t add, off_t, fuse_file_info*,
                fuse_readdir_flags) {
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

void set_name_operations(fuse_operations& o) {
  o.getattr = [](const char* path, struct stat* status, fuse_file_info* file) {
    file_system.metadata();
    const int got = file != nullptr ? ::fstat(fd_of(file), status)
                                    : ::lstat(file_system.path(path).c_str(), status);
    // libraries take it as their buffer size, as on Lustre
    status->st_blksize = static_cast<blksize_t>(file_system.stripe);
    return result(got);
  };
  o.access = [](const char* path, int mode) {
    return result(::access(file_system.path(path).c_str(), mode));
  };
  o.mkdir = [](const char* path, mode_t mode) {
    file_system.metadata();
    return result(::mkdir(file_system.path(path).c_str(), mode));
  };
  o.unlink = remove_file;
  o.rmdir = [](const char* path) {
    file_system.metadata();
    return result(::rmdir(file_system.path(path).c_str()));
  };
  o.rename = rename_file;
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
  o.chmod = [](const char* path, mode_t mode, fuse_file_info*) {
    return result(::chmod(file_system.path(path).c_str(), mode));
  };
  o.utimens = [](const char* path, const timespec times[2], fuse_file_info*) {
    return result(
        ::utimensat(AT_FDCWD, file_system.path(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
  };
}

void set_file_operations(fuse_operations& o) {
  o.truncate = cut_file;
  o.statfs = [](const char* path, struct statvfs* status) {
    return result(::statvfs(file_system.path(path).c_str(), status));
  };
  o.open = [](const char* path, fuse_file_info* file) {
    return open_content(path, file->flags, 0, file);
  };
  o.create = [](const char* path, mode_t mode, fuse_file_info* file) {
    return open_content(path, file->flags | O_CREAT, mode, file);
  };
  o.release = [](const char*, fuse_file_info* file) { return result(::close(fd_of(file))); };
  o.read = read_content;
  o.write = write_content;
  o.fsync = [](const char*, int, fuse_file_info* file) {
    struct stat status {};
    if (::fstat(fd_of(file), &status) != 0) return -errno;
    file_system.sync(status.st_ino);
    return 0;
  };
  o.lock = lock_content;
  o.flock = lock_whole;
  o.readdir = list_folder;
  o.getxattr = counts_of_locks;
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
  fuse_operations all{};
  all.init = start;
  set_name_operations(all);
  set_file_operations(all);
  std::string options = "fsname=striped_fs,noatime,allow_other,max_threads=200";
  char* words[] = {argv[0], argv[2], const_cast<char*>("-o"), options.data(), nullptr};
  return fuse_main(4, words, &all, nullptr);
}
