// Where nunatak-io measures: the host, a scratch folder, and the raw write baseline.
#pragma once

#include "common/error.hpp"
#include "io/base/agree.hpp"
#include "io/base/topology.hpp"
#include "io/disk/disk.hpp"
#include "io/disk/mpi_io.hpp"
#include "io/write/servers.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/records.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace nunatak::bench {

/// Available memory of this node in bytes, as Linux estimates it; the maximum value if unknown.
inline std::uint64_t available_memory() {
  std::ifstream in("/proc/meminfo");
  std::string name, unit;
  for (std::uint64_t kibibytes = 0; in >> name >> kibibytes; std::getline(in, unit)) {
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

/// Cores, ranks that compute, servers, nodes, ranks of the fullest node, least memory of a node
/// (bytes), oversubscribed (more ranks and servers than cores), load average, MPI, MPI-IO,
/// libraries. Collective; equal on all ranks.
inline Record host_facts(MPI_Comm comm) {
  const int ranks = io::size_of(comm);
  const io::Topology nodes = io::make_topology(comm, 0);
  int fullest = 0;
  for (const std::vector<int>& of_node : nodes.ranks_by_node())
    fullest = std::max(fullest, static_cast<int>(of_node.size()));
  auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  MPI_Allreduce(MPI_IN_PLACE, &cores, 1, MPI_INT, MPI_MIN, comm);
  std::uint64_t memory = available_memory();
  MPI_Allreduce(MPI_IN_PLACE, &memory, 1, MPI_UINT64_T, MPI_MIN, comm);
  const io::Servers* const apart = io::Servers::of(comm); // dealt to all nodes
  const int servers = apart == nullptr ? 0 : static_cast<int>(apart->servers().size());
  double load = 0.0;
  if (getloadavg(&load, 1) != 1) load = -1.0;
  MPI_Bcast(&load, 1, MPI_DOUBLE, 0, comm);
  Record facts;
  facts["ranks"] = ranks;
  facts["servers"] = servers;
  facts["nodes"] = nodes.n_nodes;
  facts["ranks_per_node"] = fullest;
  facts["cores_per_node"] = cores;
  facts["available_memory"] = memory;
  facts["oversubscribed"] = fullest + (servers + nodes.n_nodes - 1) / nodes.n_nodes > cores;
  facts["load_average"] = load < 0.0 ? Record() : Record(load);
  facts["mpi"] = io::mpi_library();
  facts["mpi_io"] = io::mpi_io_name();
  for (const auto& [name, number] : io::library_versions()) facts["libraries"][name] = number;
  return facts;
}

/// "type" ("ext", "xfs", "tmpfs", ..., or its number) and "free_bytes" of a folder. Collective.
inline Record file_system_facts(MPI_Comm comm, const std::string& folder) {
  struct {
    std::int64_t type = 0;
    std::uint64_t free = 0;
  } found_there;
  io::on_rank_0(comm, [&] { // other nodes may not see the folder yet
    struct statfs type {};
    struct statvfs space {};
    if (statfs(folder.c_str(), &type) != 0 || statvfs(folder.c_str(), &space) != 0)
      throw Error("option -o: expected a folder, found '" + folder + "'");
    found_there = {static_cast<std::int64_t>(type.f_type),
                   static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize};
  });
  MPI_Bcast(&found_there, sizeof found_there, MPI_BYTE, 0, comm);
  const std::map<std::int64_t, const char*> names = {
      // magic numbers of statfs(2), from /usr/include/linux/magic.h
      {0xef53, "ext"},         {0x58465342, "xfs"},   {0x9123683e, "btrfs"},  {0x01021994, "tmpfs"},
      {0x794c7630, "overlay"}, {0x6969, "nfs"},       {0x0bd00bd0, "lustre"}, {0x47504653, "gpfs"},
      {0x2fc12fc1, "zfs"},     {0xf2f52010, "f2fs"},  {0x01021997, "9p"},     {0x65735546, "fuse"},
      {0x00c36400, "ceph"},    {0x19830326, "beegfs"}};
  const auto found = names.find(found_there.type);
  std::ostringstream number;
  number << "0x" << std::hex << found_there.type;
  Record facts;
  facts["type"] = found == names.end() ? number.str() : found->second;
  facts["free_bytes"] = found_there.free;
  return facts;
}

/// The scratch folder: created, emptied and removed by rank 0, untimed.
class Scratch {
public:
  /// Creates an empty `folder`/nunatak-io.files, in which none of the `files` may be. Collective;
  /// throws Error on all ranks.
  Scratch(MPI_Comm comm, const std::string& folder, bool keep, const std::vector<NamedFile>& files)
      : m_comm(comm), m_path(folder + "/nunatak-io.files"), m_keep(keep) {
    io::on_rank_0(comm, [&] {
      check_files(files);
      for (const NamedFile& file : files) {
        if (lies_in(file.path, m_path))
          throw Error("option " + file.option + ": expected a file outside of '" + m_path +
                      "', which is emptied, found '" + file.path + "'");
      }
      std::error_code none;
      if (!std::filesystem::is_directory(folder, none))
        throw Error("option -o: expected a folder, found '" + folder + "'");
      if (!std::filesystem::create_directory(m_path, none) && none)
        throw Error("option -o: expected to make the folder '" + m_path +
                    "'; found: " + none.message());
      check_own_files();
    });
    remove("");
  }
  /// Removes it, unless `keep`. Not collective.
  ~Scratch() {
    std::error_code none; // ignored: errors cannot be reported here
    if (m_rank == 0 && !m_keep) std::filesystem::remove_all(m_path, none);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& folder() const { return m_path; }
  std::string path(const std::string& name) const { return m_path + "/" + name; }

  // For files whose names begin with `name`:
  /// Collective.
  void remove(const std::string& name) const {
    io::on_rank_0(m_comm, [&] {
      for (const std::string& file : files(name)) std::filesystem::remove(file);
    });
  }
  /// On all ranks; collective.
  std::int64_t bytes(const std::string& name) const {
    std::int64_t sum = 0;
    io::on_rank_0(m_comm, [&] {
      for (const std::string& file : files(name))
        sum += static_cast<std::int64_t>(std::filesystem::file_size(file));
    });
    MPI_Bcast(&sum, 1, MPI_INT64_T, 0, m_comm);
    return sum;
  }
  /// Evicts them from the page cache: fsync, then POSIX_FADV_DONTNEED. Local; call it on all ranks.
  void drop_from_cache(const std::string& name) const {
    for (const std::string& file : files(name)) {
      const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
      if (fd < 0) continue;
      fsync(fd);
      posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
      close(fd);
    }
  }

private:
  /// What is in the folder is removed: throws Error unless a run of nunatak-io left it.
  void check_own_files() const {
    const std::regex own(R"((raw|manifest\.jsonl|method[0-9]+\.nc)([.].*)?)");
    std::string found = std::filesystem::is_symlink(m_path) ? "a symbolic link" : "";
    for (const std::string& file : files("")) {
      const std::string name = std::filesystem::path(file).filename().string();
      if (!std::regex_match(name, own) || !std::filesystem::is_regular_file(file))
        found = "'" + name + "' there";
    }
    if (!found.empty())
      throw Error("option -o: expected no folder '" + m_path +
                  "', which is emptied, or one of nunatak-io's own files; found " + found);
  }
  std::vector<std::string> files(const std::string& name) const {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(m_path)) {
      if (entry.path().filename().string().rfind(name, 0) == 0)
        paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  MPI_Comm m_comm;
  int m_rank = io::rank_in(m_comm);
  std::string m_path;
  bool m_keep;
};

/// The raw write baseline: as many bytes in plain pwrite() calls, made durable as io::File does.
/// Which way is fastest depends on the file system, so there are three; the fastest of them is the
/// roof, and the speed of a method is a fraction of it: the time of the roof over its own.
///
///   rank 0 |2 MiB|2 MiB|2 MiB|...     one preallocated file, a contiguous part per rank, in small
///   rank 1        ...    |2 MiB|...   or large calls, or a file per rank; then fsync, rename,
///                                     fsync of the folder
class RawWrite {
public:
  struct Way {
    const char* text;
    std::uint64_t call_bytes; // of a pwrite()
    bool is_shared;           // one file
  };
  static constexpr std::array<Way, 3> ways{{{"one file, calls of 2 MiB", 2 << 20, true},
                                            {"one file, calls of 64 MiB", 64 << 20, true},
                                            {"a file per rank, calls of 2 MiB", 2 << 20, false}}};

  /// Each run() writes `bytes` to `path`, or to `path` and the number of each rank. Collective.
  RawWrite(MPI_Comm comm, std::string path, std::uint64_t bytes)
      : m_comm(comm), m_path(std::move(path)), m_bytes(bytes),
        m_topology(io::make_topology(comm, 0)),
        m_buffer(std::min<std::uint64_t>(64 << 20, bytes / m_size + m_size)) {
    for (std::size_t n = 0; n < m_buffer.size(); ++n)
      m_buffer[n] = static_cast<std::byte>(n * 7 + 1); // nonzero, so that nothing is skipped
  }

  /// Seconds of the slowest rank until all is durable. The files must not exist, because freeing
  /// their blocks would be timed. Collective; throws Error on all ranks.
  double run(const Way& way) {
    const std::uint64_t part = m_bytes / m_size, begin = part * m_rank,
                        end = m_rank + 1 == m_size ? m_bytes : begin + part;
    MPI_Barrier(m_comm);
    const double start = MPI_Wtime();
    if (way.is_shared) {
      const std::string path = m_path + ".tmp";
      io::on_rank_0(m_comm, [&] {
        io::create_anew(path);
        io::reserve_space(open(path), 0, m_bytes);
      });
      io::agree(m_comm, [&] { write(open(path), begin, end, way.call_bytes); });
      io::agree(m_comm, [&] {
        if (m_topology.is_first(static_cast<int>(m_rank))) io::fsync_path(path);
      });
      io::on_rank_0(m_comm, [&] { io::rename_file(path, m_path); });
    } else {
      io::agree(m_comm, [&] {
        const std::string name = m_path + "." + std::to_string(m_rank), path = name + ".tmp";
        io::create_anew(path);
        const io::Descriptor file = open(path);
        io::reserve_space(file, 0, end - begin);
        write(file, 0, end - begin, way.call_bytes);
        io::fsync_file(file);
        io::rename_file(path, name);
      });
    }
    io::on_rank_0(m_comm, [&] { io::fsync_folder_of(m_path); });
    double seconds = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, m_comm);
    return seconds;
  }

private:
  static io::Descriptor open(const std::string& path) {
    return io::Descriptor(path, O_WRONLY, "cannot open it");
  }
  void write(const io::Descriptor& file, std::uint64_t at, std::uint64_t end,
             std::uint64_t call_bytes) const {
    while (at < end) {
      const std::size_t count = std::min({call_bytes, end - at, std::uint64_t{m_buffer.size()}});
      const ssize_t done = pwrite(file, m_buffer.data(), count, static_cast<off_t>(at));
      if (done <= 0)
        throw Error("file '" + file.path() + "': cannot write it: " + std::strerror(errno));
      at += static_cast<std::uint64_t>(done);
    }
  }

  MPI_Comm m_comm;
  std::uint64_t m_rank = static_cast<std::uint64_t>(io::rank_in(m_comm)),
                m_size = static_cast<std::uint64_t>(io::size_of(m_comm));
  std::string m_path;
  std::uint64_t m_bytes;
  io::Topology m_topology;
  std::vector<std::byte> m_buffer;
};

} // namespace nunatak::bench
