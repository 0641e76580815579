// The client of an emulated striped parallel file system, on every node (FUSE 3).
//
//   striped_fs CONTENT MOUNTPOINT STRIPE DIRTY SERVER...   (STRIPE, DIRTY in bytes)
//
// The content is a folder shared by all nodes: names, sizes, data and locks are the kernel's, and
// so coherent. The time is that of a striped file system: a write or read moves as many bytes to or
// from the storage servers of its stripes and waits for them; metadata calls ask server 0; fsync
// asks all. Stripe s of file f is on server (f + s) mod n. There is no read cache. A write may
// return while up to DIRTY bytes of this node are in flight (0: none); fsync waits for all. Lustre
// does the same, but does not show such bytes to other nodes at once.
#define FUSE_USE_VERSION 31
#include "striped_servers.hpp"

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

FileSystem file_system;

int result(long status) { return status < 0 ? -errno : 0; }

std::uint64_t number_of(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 ? status.st_ino : 0;
}

/// Starts threads and connections, after FUSE has become a daemon.
void* start(fuse_conn_info* connection, fuse_config* config) {
  config->direct_io = 1;
  config->use_ino = 1;
  config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
  connection->max_write = 1 << 20;
  for (const std::string& address : file_system.addresses)
    file_system.servers.push_back(std::make_unique<Server>(address));
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
  file_system.read(number_of(fd_of(file)), static_cast<std::uint64_t>(at),
                   static_cast<std::uint64_t>(n));
  return static_cast<int>(n);
}

int write_content(const char*, const char* data, std::size_t size, off_t at, fuse_file_info* file) {
  const ssize_t n = ::pwrite(fd_of(file), data, size, at);
  if (n < 0) return -errno;
  file_system.write(number_of(fd_of(file)), static_cast<std::uint64_t>(at),
                    static_cast<std::uint64_t>(n));
  return static_cast<int>(n);
}

/// Open file description locks on the shared content, visible to all nodes.
int lock_content(const char*, fuse_file_info* file, int command, struct flock* lock) {
  lock->l_pid = 0;
  while (true) {
    file_system.metadata();
    const int status = ::fcntl(fd_of(file), command == F_GETLK ? F_OFD_GETLK : F_OFD_SETLK, lock);
    if (status == 0 || command != F_SETLKW || errno != EAGAIN) return result(status);
    ::usleep(200);
  }
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
    return result(::renameat2(AT_FDCWD, file_system.path(from).c_str(), AT_FDCWD,
                              file_system.path(to).c_str(), flags));
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
  o.chmod = [](const char* path, mode_t mode, fuse_file_info*) {
    return result(::chmod(file_system.path(path).c_str(), mode));
  };
  o.utimens = [](const char* path, const timespec times[2], fuse_file_info*) {
    return result(
        ::utimensat(AT_FDCWD, file_system.path(path).c_str(), times, AT_SYMLINK_NOFOLLOW));
  };
}

void set_file_operations(fuse_operations& o) {
  o.truncate = [](const char* path, off_t size, fuse_file_info* file) {
    file_system.metadata();
    return result(file != nullptr ? ::ftruncate(fd_of(file), size)
                                  : ::truncate(file_system.path(path).c_str(), size));
  };
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
  std::string options = "fsname=striped_fs,noatime,allow_other";
  char* words[] = {argv[0], argv[2], const_cast<char*>("-o"), options.data(), nullptr};
  return fuse_main(4, words, &all, nullptr);
}
