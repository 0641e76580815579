// See probe.hpp.
#include "miniapp/tools/io/probe.hpp"

#include "io/agree.hpp"
#include "io/durable/durable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace nunatak::tools {

namespace {

constexpr std::uint64_t call_bytes = 16 << 20;

[[noreturn]] void fail(const std::string& path, const std::string& call) {
  throw io::Error("file '" + path + "': expected " + call + " to work, found: " + std::strerror(errno));
}

} // namespace

Probe::Probe(MPI_Comm comm, std::string path, std::uint64_t bytes)
    : m_comm(comm), m_path(std::move(path)), m_bytes(bytes), m_topology(io::make_topology(comm, 0)), m_buffer(call_bytes) {
  MPI_Comm_rank(comm, &m_rank);
  MPI_Comm_size(comm, &m_size);
  for (std::size_t n = 0; n < m_buffer.size(); ++n) m_buffer[n] = static_cast<std::byte>(n * 7 + 1); // no zeros to be skipped
}

void Probe::write_share() const {
  const std::string path = m_path + ".tmp";
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail(path, "open");
  const auto rank = static_cast<std::uint64_t>(m_rank), size = static_cast<std::uint64_t>(m_size);
  const std::uint64_t share = m_bytes / size, end = m_rank + 1 == m_size ? m_bytes : share * (rank + 1);
  for (std::uint64_t at = share * rank; at < end;) {
    const ssize_t done = pwrite(fd, m_buffer.data(), std::min(call_bytes, end - at), static_cast<off_t>(at));
    if (done <= 0) {
      close(fd);
      fail(path, "pwrite");
    }
    at += static_cast<std::uint64_t>(done);
  }
  if (close(fd) != 0) fail(path, "close");
}

double Probe::run() {
  const std::string path = m_path + ".tmp";
  MPI_Barrier(m_comm);
  const double start = MPI_Wtime();
  io::agree(m_comm, [&] {
    if (m_rank != 0) return;
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) fail(path, "open");
    close(fd);
  });
  io::agree(m_comm, [&] { write_share(); });
  io::agree(m_comm, [&] {
    if (m_topology.is_first(m_rank)) io::fsync_path(path);
  });
  io::agree(m_comm, [&] {
    if (m_rank != 0) return;
    std::filesystem::rename(path, m_path);
    const std::string folder = std::filesystem::path(m_path).parent_path().string();
    io::fsync_path(folder.empty() ? "." : folder);
  });
  double seconds = MPI_Wtime() - start;
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, m_comm);
  return seconds;
}

} // namespace nunatak::tools
