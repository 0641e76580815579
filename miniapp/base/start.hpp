// What is looked at before a program starts its libraries: the place and the launcher; threads.
#pragma once

#include <Kokkos_Core.hpp>

#include <string>

namespace nunatak {

/// Throws Error if the working folder is gone, or if a launcher has started several processes and
/// MPI has made each of them a world of its own, unless they are meant to run `alone`. After the
/// start of MPI; the same on all processes.
void check_start(const std::string& program, bool alone);

/// One thread for kernels that use no more. Throws Error for more threads than Kokkos has room for.
Kokkos::InitializationSettings kokkos_settings();

} // namespace nunatak
