// The life of the libraries of the model: MPI, Kokkos and PETSc start with the Session and end with it.
#pragma once

#include "miniapp/base/world.hpp"

#include <mpi.h>

#include <memory>

namespace nunatak {

class Session {
public:
  /// Starts MPI and Kokkos, then PETSc on the compute ranks (all of them: there are no output servers yet).
  /// PETSc takes the command line, but for `-help` and `-options_file`.
  Session(int argc, char** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  MPI_Comm comm() const { return m_comm; }
  int rank() const { return m_rank; }
  int size() const { return m_size; }
  bool help_wanted() const { return m_help_wanted; }

  /// Put the options files into PETSc's database; the command line overrides them. Collective. Throws Error on all ranks: a file
  /// that cannot be read, a word that belongs to no option.
  void read_options_files();

private:
  Libraries m_libraries;
  MPI_Comm m_comm = MPI_COMM_WORLD;
  int m_rank = 0, m_size = 1;
  bool m_help_wanted = false;
  struct CommandLine;
  std::unique_ptr<CommandLine> m_command_line;
};

} // namespace nunatak
