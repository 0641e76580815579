#include "io/durable/shared_checksums.hpp"

#include "io/error.hpp"

#include <algorithm>
#include <filesystem>

namespace nunatak::io {

SharedChecksums::SharedChecksums(MPI_Comm comm, std::string path, std::vector<OutputFile> parts)
    : m_comm(comm), m_path(std::move(path)), m_files(std::move(parts)), m_sizes(m_files.size(), 0),
      m_sums(m_files.size(), 0) {
  const auto is_mine = [&](const OutputFile& file) {
    return file.owner == OutputFile::shared || file.owner == m_rank;
  };
  m_written_part = static_cast<std::size_t>(std::find_if(m_files.begin(), m_files.end(), is_mine) -
                                            m_files.begin());
}

void SharedChecksums::measure(const std::optional<SparseChecksum>& written) {
  m_written = written;
  for (std::size_t p = 0; p < m_files.size(); ++p) {
    if (m_rank != std::max(m_files[p].owner, 0)) continue;
    const std::string path = m_path + m_files[p].suffix;
    std::error_code error;
    m_sizes[p] = std::filesystem::file_size(path, error);
    if (error)
      throw Error("file '" + path + "': expected to find its size; found: " + error.message());
  }
}

std::vector<ManifestEntry> SharedChecksums::sizes() const {
  std::vector<ManifestEntry> entries(m_rank == 0 ? m_files.size() : 0);
  for (std::size_t p = 0; p < entries.size(); ++p) entries[p].size = m_sizes[p];
  return entries;
}

void SharedChecksums::share_sizes() {
  MPI_Allreduce(MPI_IN_PLACE, m_sizes.data(), static_cast<int>(m_sizes.size()), MPI_UINT64_T,
                MPI_SUM, m_comm);
}

std::pair<std::uint64_t, std::uint64_t> SharedChecksums::range(std::size_t p) const {
  if (m_files[p].owner != OutputFile::shared)
    return {0, m_rank == m_files[p].owner ? m_sizes[p] : 0};
  constexpr std::uint64_t smallest = 1 << 20; // a share below that is not worth opening the file
  const auto size = static_cast<std::uint64_t>(m_size), me = static_cast<std::uint64_t>(m_rank);
  const std::uint64_t share = std::max(smallest, (m_sizes[p] + size - 1) / size);
  return {std::min(m_sizes[p], me * share), std::min(m_sizes[p], (me + 1) * share)};
}

std::int64_t SharedChecksums::read() {
  std::uint64_t bytes = 0;
  for (std::size_t p = 0; p < m_files.size(); ++p) {
    if (m_written && p == m_written_part) {
      m_sums[p] = m_written->part_of_file(m_sizes[p]);
      continue;
    }
    const auto [begin, end] = range(p);
    SparseChecksum found;
    if (begin < end)
      found.add_checksum(begin, end - begin,
                         checksum_range(m_path + m_files[p].suffix, begin, end));
    m_sums[p] = found.part_of_file(m_sizes[p]);
    bytes += end - begin;
  }
  return static_cast<std::int64_t>(bytes);
}

std::vector<ManifestEntry> SharedChecksums::gather() const {
  const std::size_t n = m_files.size();
  std::vector<std::uint32_t> sums(n);
  MPI_Reduce(m_sums.data(), sums.data(), static_cast<int>(n), MPI_UINT32_T, MPI_BXOR, 0, m_comm);
  std::vector<ManifestEntry> entries(m_rank == 0 ? n : 0);
  for (std::size_t p = 0; p < entries.size(); ++p) {
    entries[p].size = m_sizes[p];
    entries[p].checksum = checksum_text(checksum_of_parts(sums[p], m_sizes[p]));
  }
  return entries;
}

} // namespace nunatak::io
