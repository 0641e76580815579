// The libraries of the model and its options: Kokkos and PETSc start with the Session and end with
// it. MPI: Processes (world.hpp).
#pragma once

#include "miniapp/base/option_table.hpp"
#include "miniapp/base/world.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace nunatak {

class Session {
public:
  /// On the ranks that compute, after MPI: starts Kokkos, then PETSc.
  /// PETSc gets the command line except for `-help` and `-options_file`.
  Session(int argc, char** argv);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  MPI_Comm comm() const { return m_comm; }
  int rank() const { return m_rank; }
  int size() const { return m_size; }

  /// Set the rows of the table by PETSC_OPTIONS, options files and the command line; the later ones
  /// override. False if the user asked for -help: rank 0 has printed the table. Throws Error on all
  /// ranks: a file that cannot be read, a word that belongs to no option, a value that the table
  /// refuses, an option that neither the table nor PETSc knows. Collective.
  bool read(OptionTable& table);
  const std::vector<std::string>& options_files() const { return m_options_files; }

private:
  Libraries m_libraries;
  MPI_Comm m_comm;
  int m_rank = 0, m_size = 1;
  std::vector<char*> m_words; ///< of the command line, for PETSc
  std::vector<std::string> m_options_files;
  bool m_help = false;
  std::string m_error; ///< what is wrong with the command line
};

/// Only after a PETSc object was set up is it known which options it uses. Throws Error for one
/// that begins with one of `prefixes` and was not used by `user`.
void check_petsc_options(const std::vector<std::string>& prefixes, const std::string& user);
void check_solver_options(); ///< those that begin with ssa_; call it after the first solve

} // namespace nunatak
