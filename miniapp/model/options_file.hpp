// An options file: YAML (.yaml, .yml; by libyaml), or lines of `-option value` (by PETSc).
//
//   init: marine     -init marine         Nesting stands for the underscore of a name. A list is a
//   grid:            -grid_dx 16km        value with commas. A YAML option that is repeated (in
//     dx: 16km                            any case) or has no value is an error.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace nunatak {

struct FileOption {
  std::string name, value;
  bool has_value = true;
  std::string place; ///< "'run.yaml', line 3"; PETSc's format has no line
};

/// Rank 0 reads. Collective. Throws Error on all ranks, naming the file and, in YAML, the line: not
/// a regular file, not text, not YAML, no options.
std::vector<FileOption> read_options_file(MPI_Comm comm, const std::string& path);

} // namespace nunatak
