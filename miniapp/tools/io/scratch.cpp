// See scratch.hpp.
#include "miniapp/tools/io/scratch.hpp"

#include "io/agree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace nunatak::tools {

Scratch::Scratch(MPI_Comm comm, const std::string& folder, bool keep)
    : m_comm(comm), m_path(folder + "/nunatak-io.files"), m_keep(keep) {
  MPI_Comm_rank(comm, &m_rank);
  io::agree(comm, [&] {
    if (m_rank == 0) std::filesystem::create_directories(m_path);
  });
  remove("");
}

Scratch::~Scratch() {
  std::error_code none; // nothing can be done here
  if (m_rank == 0 && !m_keep) std::filesystem::remove_all(m_path, none);
}

std::vector<std::string> Scratch::files(const std::string& name) const {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(m_path)) {
    if (entry.path().filename().string().rfind(name, 0) == 0) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void Scratch::remove(const std::string& name) const {
  io::agree(m_comm, [&] {
    if (m_rank != 0) return;
    for (const std::string& file : files(name)) std::filesystem::remove(file);
  });
}

std::int64_t Scratch::bytes(const std::string& name) const {
  std::int64_t sum = 0;
  io::agree(m_comm, [&] {
    if (m_rank != 0) return;
    for (const std::string& file : files(name)) sum += static_cast<std::int64_t>(std::filesystem::file_size(file));
  });
  MPI_Bcast(&sum, 1, MPI_INT64_T, 0, m_comm);
  return sum;
}

void Scratch::drop_from_cache(const std::string& name) const {
  for (const std::string& file : files(name)) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
  }
}

} // namespace nunatak::tools
