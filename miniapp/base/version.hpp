// Versions of the program and of the libraries that it links, for -version and for reports.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace nunatak {

/// Names and values: {"MPI", "Open MPI v4.1.4"}.
using Versions = std::vector<std::pair<std::string, std::string>>;

/// This program (name nunatak), its commit ("" if unknown), compiler, Kokkos; MPI, NetCDF-C and
/// PnetCDF unless it was built with NUNATAK_BUILD=kernels.
Versions versions();

/// MPI and the libraries of io/ (world_mpi.cpp); none without MPI (world_serial.cpp).
Versions library_versions();

/// Prints "<program> 1.0.0", then a line for each of versions() and `more`.
void print_versions(std::ostream& out, const std::string& program, const Versions& more);

} // namespace nunatak
