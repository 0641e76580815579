// Compares files with the manifest in their folder (manifest.hpp), read by all ranks together.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::io {

struct Verification {
  std::size_t files = 0;
  std::uint64_t bytes = 0;             ///< of the files
  std::vector<std::string> complaints; ///< empty: all files are intact
};

/// Compare the files of a manifest with their lines: length, sums of values, fingerprint of the
/// metadata. `name`: only that file and its subfiles; "": all. Collective; the result is the same
/// on all ranks. Error on all ranks if there is no such manifest.
Verification verify(MPI_Comm comm, const std::string& manifest, const std::string& name = "");

/// The complaints of all files of a manifest; local.
std::vector<std::string> verify_manifest(const std::string& manifest);

/// Error on all ranks, with what was expected and found, if a file does not match its lines in the
/// manifest of its folder. A file without lines, or a missing file, passes. Collective.
void require_intact(MPI_Comm comm, const std::string& path);

} // namespace nunatak::io
