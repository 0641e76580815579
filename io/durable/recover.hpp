// What a killed run has left of a series that it would have committed when it closed it.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

namespace nunatak::io {

struct Recovered {
  std::size_t records = 0; ///< 0: nothing was there to be recovered
  std::string why_not;     ///< if what was there is of no use
};

/// If the last line of `path` in the manifest is of a saved file (File::commit()): give path.tmp,
/// if it has the values of that line, its name, with these records. The same if it is of a complete
/// file that has not yet got its name, so that recovery, and the end of a run, may be interrupted
/// at any time. Error if another run writes the file. Collective.
Recovered recover(MPI_Comm comm, const std::string& path);

} // namespace nunatak::io
