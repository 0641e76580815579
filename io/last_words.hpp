// A line on standard error where a library ends the process without one that names a file: by
// abort() where memory fails, or since a call of MPI has failed.
#pragma once

namespace nunatak::io {

/// From now on. After MPI_Init, before communicators are duplicated.
void give_last_words();

} // namespace nunatak::io
