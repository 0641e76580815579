// A folder of its own for one test case on all ranks, removed at the end; and small MPI helpers.
#pragma once

#include "io/agree.hpp"

#include <mpi.h>

#include <cstdlib>
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
    std::string path = std::filesystem::temp_directory_path() / "nunatak_io_XXXXXX";
    on_rank_0([&] {
      if (mkdtemp(path.data()) == nullptr) throw nunatak::io::Error("cannot create " + path);
    });
    MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    m_path = path;
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
