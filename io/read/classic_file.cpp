#include "io/read/classic_file.hpp"

#include "io/error.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nunatak::io {

constexpr std::uint64_t largest_gap = 64 << 10, largest_span = 4 << 20;

std::vector<Placement> broadcast_placements(const ClassicLayout& layout, const Contents& contents,
                                            MPI_Comm comm) {
  std::vector<std::uint64_t> begins = {layout.record_size}; // then of each variable
  for (const ClassicLayout::Place& place : layout.variables) begins.push_back(place.begin);
  begins.resize(contents.variables.size() + 1);
  MPI_Bcast(begins.data(), static_cast<int>(begins.size()), MPI_UINT64_T, 0, comm);
  std::vector<Placement> placements;
  for (const Contents::Variable& variable : contents.variables) {
    std::vector<std::size_t> shape;
    std::optional<std::uint64_t> record_stride;
    for (const std::size_t axis : variable.axes) shape.push_back(contents.dimensions[axis].length);
    if (!shape.empty() && contents.dimensions[variable.axes[0]].unlimited)
      record_stride = begins[0];
    const std::uint64_t begin = begins[placements.size() + 1];
    placements.push_back(
        placement_of(begin, classic_type_bytes[variable.nc_type], shape, record_stride));
  }
  return placements;
}

ClassicFile::ClassicFile(const std::string& path, std::vector<Placement> placements)
    : m_placements(std::move(placements)), m_fd(::open(path.c_str(), O_RDONLY)) {
  if (m_fd < 0)
    throw Error("file '" + path + "': expected to open it; found: " + std::strerror(errno));
}

ClassicFile::~ClassicFile() { ::close(m_fd); }

void ClassicFile::read(std::size_t v, const Box& box, std::byte* values,
                       ReadStatistics& statistics) {
  m_runs.clear();
  append_runs(m_placements[v], box.start, box.count, values, m_runs);
  const auto target = [&](const Run& run) { return values + (run.data - values); };
  for (auto first = m_runs.begin(); first != m_runs.end();) {
    auto last = first; // of the runs read in one call
    const auto end = [](const auto& run) { return run->begin + run->size; };
    while (last + 1 != m_runs.end() && (last + 1)->begin - end(last) <= largest_gap &&
           end(last + 1) - first->begin <= largest_span)
      ++last;
    if (first == last) {
      read_at(first->begin, first->size, target(*first), statistics);
    } else {
      m_span.resize(end(last) - first->begin);
      read_at(first->begin, m_span.size(), m_span.data(), statistics);
      for (auto run = first; run <= last; ++run)
        std::memcpy(target(*run), m_span.data() + (run->begin - first->begin), run->size);
    }
    first = last + 1;
  }
}

void ClassicFile::read_at(std::uint64_t begin, std::size_t size, std::byte* to,
                          ReadStatistics& statistics) const {
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = ::pread(m_fd, to + done, size - done, static_cast<off_t>(begin + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw Error(n == 0 ? "the end of the file" : std::strerror(errno));
    done += static_cast<std::size_t>(n);
    statistics.bytes += n;
    statistics.operations += 1;
  }
}

} // namespace nunatak::io
