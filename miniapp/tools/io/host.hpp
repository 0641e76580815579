// Where a measurement was made: cores, load, libraries, file system. Used by nunatak_io.cpp.
#pragma once

#include "miniapp/tools/records.hpp"

#include <mpi.h>

#include <string>

namespace nunatak::tools {

/// Cores, ranks, ranks of the fullest node, nodes, available memory of the node that has least (bytes), oversubscribed (more
/// ranks than cores on some node), load average, MPI library and MPI-IO, versions of the libraries. Collective; the same on all
/// ranks.
Record host_facts(MPI_Comm comm);

/// Of the file system that holds a folder: "type" ("ext", "xfs", "tmpfs", ..., or its number), "free_bytes".
Record file_system_facts(const std::string& folder);

} // namespace nunatak::tools
