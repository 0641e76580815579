// Where a measurement was made: cores, load, file system; and what it does to the file system outside of what is timed.
// Used by nunatak_io.cpp.
#pragma once

#include "miniapp/tools/records.hpp"

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::tools {

/// Cores, ranks, ranks of the fullest node, nodes, oversubscribed (more ranks than cores on some node), load average, MPI library
/// and MPI-IO, versions of the libraries. Collective; the same on all ranks.
Record host_facts(MPI_Comm comm);

/// Of the file system that holds a folder: "type" ("ext", "xfs", "tmpfs", ..., or its number), "free_bytes".
Record file_system_facts(const std::string& folder);

/// The files of a way: those in `folder` whose names begin with `name`. Local.
std::vector<std::string> files_of(const std::string& folder, const std::string& name);
std::int64_t bytes_of_files(const std::vector<std::string>& paths);

/// Take files out of this node's page cache: fsync, then POSIX_FADV_DONTNEED, which the system may ignore. Local.
void drop_from_cache(const std::vector<std::string>& paths);

} // namespace nunatak::tools
