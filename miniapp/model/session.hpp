// The lifetime of Kokkos and PETSc, and the options of the model. MPI: Processes (world.hpp).
#pragma once

#include "miniapp/base/option_table.hpp"
#include "miniapp/base/world.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace nunatak {

class Session {
public:
  /// Starts Kokkos, then PETSc, after MPI. PETSc does not get `-help` and `-options_file`.
  Session(int argc, char** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  MPI_Comm comm() const { return m_comm; }
  int rank() const { return m_rank; }
  int size() const { return m_size; }

  /// Sets the table from PETSC_OPTIONS, options files and the command line; later ones override.
  /// False after OptionTable::answer(). Throws Error on all ranks: unreadable file, argument
  /// without option, refused value, option unknown to table and PETSc. Collective.
  bool read(OptionTable& table);
  const std::vector<std::string>& options_files() const { return m_options_files; }
  bool has_arguments() const { return m_argc > 1; }

private:
  void watch() const;

  int m_argc;
  char** m_argv;
  Libraries m_libraries;
  MPI_Comm m_comm;
  int m_rank = 0, m_size = 1;
  std::vector<char*> m_words; ///< the command line, for PETSc
  std::vector<std::string> m_options_files;
  std::string m_error; ///< error of the command line, if any
};

/// For -version and reports.
Versions petsc_version();

/// Throws Error for an option with one of `prefixes` that `user` has not used in set-up.
void check_petsc_options(const std::vector<std::string>& prefixes, const std::string& user);
void check_solver_options(); ///< prefix ssa_; call it after the first solve

} // namespace nunatak
