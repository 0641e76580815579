// The life of the libraries of the model: Kokkos and PETSc start with the Session and end with it.
// MPI: Processes (world.hpp).
#pragma once

#include "miniapp/base/option_table.hpp"
#include "miniapp/base/world.hpp"

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

namespace nunatak {

class Session {
public:
  /// On the ranks that compute, after MPI: starts Kokkos, then PETSc.
  /// PETSc gets the command line but for `-help` and `-options_file`.
  Session(int argc, char** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  MPI_Comm comm() const { return m_comm; }
  int rank() const { return m_rank; }
  int size() const { return m_size; }

  /// Set the rows of the table by the options files, PETSC_OPTIONS and the command line, which
  /// overrides the others. False if the user asked for -help: rank 0 has printed the table. Throws
  /// Error on all ranks: a file that cannot be read, a word that belongs to no option, a value that
  /// the table refuses, an option that neither the table nor PETSc knows. Collective.
  bool read(OptionTable& table);
  const std::vector<std::string>& options_files() const; ///< of the command line

private:
  Libraries m_libraries;
  MPI_Comm m_comm;
  int m_rank = 0, m_size = 1;
  struct CommandLine;
  std::unique_ptr<CommandLine> m_command_line;
};

/// Options of a PETSc object show only after it was set up whether anybody uses them. Throws Error
/// for one that begins with one of `prefixes` and that nobody has used; `user`: who should have.
void check_petsc_options(const std::vector<std::string>& prefixes, const std::string& user);
void check_solver_options(); ///< those that begin with ssa_; call it after the first solve

} // namespace nunatak
