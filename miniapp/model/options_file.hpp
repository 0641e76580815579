// An options file: YAML if its name ends in .yaml or .yml, read by libyaml, else lines of
// `-option value`, read by PETSc.
//
//   init: marine        -init marine      Nesting stands for the underscore of a name. A list is
//   one grid:               -grid_dx 16km     value with commas. In YAML an option that is there
//   twice
//     dx: 16km                            (in whatever case), or without a value, is an error.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace nunatak {

struct FileOption {
  std::string name, value;
  bool has_value = true;
  std::string place; ///< "'run.yaml', line 3"; of PETSc's format without the line
};

/// Rank 0 reads for all. Collective. Throws Error on all ranks, naming the file and, in YAML, the
/// line: no regular file, not text, not YAML, no options.
std::vector<FileOption> read_options_file(MPI_Comm comm, const std::string& path);

} // namespace nunatak
