// A folder of its own for one test case on all ranks, removed at the end; and small MPI helpers.
#pragma once

#include "io/agree.hpp"

#include <mpi.h>

#include <filesystem>
#include <functional>
#include <string>
#include <unistd.h>

using nunatak::io::rank_in;
using nunatak::io::size_of;

/// What f complains of.
inline std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const nunatak::io::Error& e) {
    return e.what();
  }
  return "no error";
}

class Scratch {
public:
  Scratch() {
    long id = getpid();
    MPI_Bcast(&id, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    m_path = std::filesystem::temp_directory_path() / ("nunatak_io_" + std::to_string(id));
    on_rank_0([&] { std::filesystem::create_directories(m_path); });
  }
  ~Scratch() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_in(MPI_COMM_WORLD) == 0) std::filesystem::remove_all(m_path);
  }
  std::string path() const { return m_path.string(); }
  std::string operator/(const std::string& name) const { return (m_path / name).string(); }

  /// Run `f` on rank 0 while the others wait.
  void on_rank_0(const std::function<void()>& f) const {
    nunatak::io::agree(MPI_COMM_WORLD, [&] {
      if (rank_in(MPI_COMM_WORLD) == 0) f();
    });
  }

private:
  std::filesystem::path m_path;
};
