// An options file, read by PETSc: YAML (.yaml, .yml), or lines of `-option value`.
//
//   init: marine     -init marine         Nesting stands for the underscore of a name. A list is a
//   grid:            -grid_dx 16km        value with commas.
//     dx: 16km
#pragma once

#include <mpi.h>
#include <petscsys.h>

#include <string>
#include <vector>

namespace nunatak {

struct GivenOption {
  std::string name, value;
  bool has_value = true;
};

/// The options in a database of PETSc (nullptr: the global one) that no call has asked for.
std::vector<GivenOption> unused_options(PetscOptions database = nullptr);

/// Rank 0 reads. Collective. Throws Error naming the file on all ranks: not a regular file, not
/// text, refused by PETSc, no options, an option twice (in any case), -help.
std::vector<GivenOption> read_options_file(MPI_Comm comm, const std::string& path);

} // namespace nunatak
