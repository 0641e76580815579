#include "io/formats/run_file.hpp"

#include "io/durable/durable.hpp"
#include "io/formats/byte_order.hpp"
#include "io/thread/write_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nunatak::io {

constexpr std::size_t part_bytes = std::size_t{2} << 20;

RunFile::RunFile(MPI_Comm comm, const std::string& path, const Schema& schema,
                 const Options& /*options*/)
    : m_comm(comm), m_path(path), m_schema(schema) {
  m_fd = ::open(m_path.c_str(), O_WRONLY | O_CLOEXEC); // it has been created: registry.cpp
  if (m_fd < 0) fail("expected to open it");
}

RunFile::~RunFile() {
  if (m_fd >= 0) ::close(m_fd);
}

void RunFile::go_on_with(const std::string& path, std::uint64_t records) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    throw Error("file '" + path + "': expected to open it; found: " + std::strerror(errno));
  ::close(m_fd); // nothing was written to it
  m_fd = fd;
  m_path = path;
  m_records = records;
}

void RunFile::fail(const std::string& what) const {
  throw Error("file '" + m_path + "': " + what + "; found: " + std::strerror(errno));
}

void RunFile::put(std::size_t v, const Hyperslab& slab) {
  if (slab.elements() == 0 || m_error.is_set()) return;
  const Variable& variable = m_schema.variables[v];
  if (m_schema.has_records(variable))
    m_records = std::max(m_records, slab.start[0] + slab.count[0]);
  const std::size_t n_parts =
      (slab.elements() * bytes_of(variable.type) + part_bytes - 1) / part_bytes;
  m_error.keep([&] {
    for (std::size_t p = 0; p < n_parts; ++p) {
      const Hyperslab part = part_of(slab, p, n_parts);
      const std::size_t bytes = part.elements() * bytes_of(variable.type);
      if (m_used + bytes > part_bytes) write_pending();
      std::byte* const values = m_buffer.of_size(std::max(bytes, part_bytes)) + m_used;
      pack(part, variable.type, values);
      if (m_is_swapped) swap_bytes(values, part.elements(), bytes_of(variable.type));
      append_runs(m_schema, m_layout, v, part, values, m_pending);
      m_used += bytes;
    }
  });
}

void RunFile::write_pending() {
  if (m_pending.empty()) return;
  if (m_rank % 2 == 1)
    std::reverse(m_pending.begin(), m_pending.end()); // neighbours meet less often on a server
  on_disk(m_used, [this] {
    for (const Run& run : m_pending) {
      write(run);
    }
  });
  m_pending.clear();
  m_used = 0;
}

void RunFile::push() {
  if (!m_error.is_set()) m_error.keep([&] { write_pending(); });
}

void RunFile::wait() {
  push();
  m_error.rethrow();
}

void RunFile::write(const Run& run) {
  for (std::size_t done = 0; done < run.size;) {
    const ssize_t n =
        ::pwrite(m_fd, run.data + done, run.size - done, static_cast<off_t>(run.begin + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(variable_at(run.begin + done) + ": expected to write it");
    done += static_cast<std::size_t>(n);
    m_work.written_bytes += n;
    m_work.written_operations += 1;
  }
}

/// The variable to which this byte of the file belongs, for messages.
std::string RunFile::variable_at(std::uint64_t offset) const {
  const auto first = std::min_element(m_layout.begin.begin(), m_layout.begin.end());
  if (first == m_layout.begin.end() || offset < *first) return "the header";
  if (offset >= m_layout.record_begin && m_layout.record_stride > 0)
    offset = m_layout.record_begin + (offset - m_layout.record_begin) % m_layout.record_stride;
  auto found = static_cast<std::size_t>(first - m_layout.begin.begin());
  for (std::size_t v = 0; v < m_schema.variables.size(); ++v) {
    if (m_layout.begin[v] <= offset && m_layout.begin[v] >= m_layout.begin[found]) found = v;
  }
  return "variable '" + m_schema.variables[found].name + "'";
}

void RunFile::flush_values() {
  push();
  std::uint64_t records = m_records; // a rank may have seen fewer
  MPI_Allreduce(MPI_IN_PLACE, &records, 1, MPI_UINT64_T, MPI_MAX, m_comm);
  m_records = records;
  m_error.rethrow();
  if (m_rank != 0) return;
  const auto length = static_cast<off_t>(m_layout.file_size(records));
  if (retried([&] { return ::ftruncate(m_fd, length); }) != 0) fail("expected to set its length");
}

void RunFile::flush() {
  flush_values();
  if (m_rank == 0) count_records();
}

void RunFile::close() {
  flush();
  const int fd = m_fd;
  m_fd = -1;
  if (::close(fd) != 0 && errno != EINTR) fail("close"); // EINTR: it is closed
}

} // namespace nunatak::io
