// The life of the libraries: MPI, PETSc and Kokkos start with the Session and end with it.
#pragma once

#include <mpi.h>

#include <memory>

namespace Kokkos {
class ScopeGuard;
}

namespace nunatak {

class Session {
public:
  /// Starts MPI, then PETSc on the compute ranks (all of them: there are no output servers yet), then Kokkos.
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
  MPI_Comm m_comm = MPI_COMM_NULL;
  int m_rank = 0, m_size = 1;
  bool m_help_wanted = false;
  struct CommandLine;
  std::unique_ptr<CommandLine> m_command_line;
  std::unique_ptr<Kokkos::ScopeGuard> m_kokkos;
};

} // namespace nunatak
