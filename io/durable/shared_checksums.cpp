// See shared_checksums.hpp.
#include "io/durable/shared_checksums.hpp"

#include "io/error.hpp"

#include <algorithm>
#include <filesystem>

namespace nunatak::io {

SharedChecksums::SharedChecksums(MPI_Comm comm, std::string path, std::vector<OutputFile> parts)
    : m_comm(comm), m_path(std::move(path)), m_files(std::move(parts)), m_sizes(m_files.size(), 0),
      m_checksums(m_files.size(), 0) {
  MPI_Comm_rank(comm, &m_rank);
  MPI_Comm_size(comm, &m_size);
}

void SharedChecksums::measure() {
  for (std::size_t p = 0; p < m_files.size(); ++p) {
    if (m_rank != std::max(m_files[p].owner, 0)) continue;
    const std::string path = m_path + m_files[p].suffix;
    std::error_code error;
    m_sizes[p] = std::filesystem::file_size(path, error);
    if (error) throw Error("file '" + path + "': expected to find its size; found: " + error.message());
  }
}

void SharedChecksums::share_sizes() {
  MPI_Allreduce(MPI_IN_PLACE, m_sizes.data(), static_cast<int>(m_sizes.size()), MPI_UINT64_T, MPI_SUM, m_comm);
}

std::pair<std::uint64_t, std::uint64_t> SharedChecksums::range(std::size_t p, int rank) const {
  if (m_files[p].owner != OutputFile::shared) return {0, rank == m_files[p].owner ? m_sizes[p] : 0};
  constexpr std::uint64_t smallest = 1 << 20; // a share below that is not worth opening the file
  const auto size = static_cast<std::uint64_t>(m_size), me = static_cast<std::uint64_t>(rank);
  const std::uint64_t share = std::max(smallest, (m_sizes[p] + size - 1) / size);
  return {std::min(m_sizes[p], me * share), std::min(m_sizes[p], (me + 1) * share)};
}

std::int64_t SharedChecksums::read() {
  std::uint64_t bytes = 0;
  for (std::size_t p = 0; p < m_files.size(); ++p) {
    const auto [begin, end] = range(p, m_rank);
    if (begin < end) m_checksums[p] = checksum_range(m_path + m_files[p].suffix, begin, end);
    bytes += end - begin;
  }
  return static_cast<std::int64_t>(bytes);
}

std::vector<ManifestEntry> SharedChecksums::gather() const {
  const std::size_t n = m_files.size();
  std::vector<std::uint32_t> all(m_rank == 0 ? n * static_cast<std::size_t>(m_size) : 0);
  MPI_Gather(m_checksums.data(), static_cast<int>(n), MPI_UINT32_T, all.data(), static_cast<int>(n), MPI_UINT32_T, 0, m_comm);
  std::vector<ManifestEntry> entries(m_rank == 0 ? n : 0);
  for (std::size_t p = 0; p < entries.size(); ++p) {
    std::uint32_t checksum = 0; // of no bytes
    for (int r = 0; r < m_size; ++r) {
      const auto [begin, end] = range(p, r);
      if (begin < end) checksum = combine_checksums(checksum, all[static_cast<std::size_t>(r) * n + p], end - begin);
    }
    entries[p].size = m_sizes[p];
    entries[p].checksum = checksum_text(checksum);
  }
  return entries;
}

} // namespace nunatak::io
