// The length of a stripe where -io_stripe is not given: what stat reports of the folder as
// st_blksize, if that is plausible (parallel file systems do, the emulated cluster of
// docs/cluster.md does). A disk reports 4 KiB, a page: that is no stripe.
#pragma once

#include "io/options.hpp"

#include <mpi.h>

#include <cstddef>
#include <string>

namespace nunatak::io {

constexpr std::size_t default_stripe = std::size_t{1} << 20; ///< where the file system has none

struct Stripe {
  std::size_t bytes = default_stripe;
  const char* from = "the default";

  std::string text() const {
    return "stripes of " + std::to_string(bytes) + " bytes (" + from + ")";
  } ///< for the log
};

/// What a file system reports, if it is 64 KiB to 1 GiB; else default_stripe. `given`: -io_stripe,
/// if it is not 0.
Stripe stripe_of(std::size_t given, std::size_t reported = 0);

/// That of stripe_of, asked by rank 0 where `path` will be. Collective.
Stripe stripe_at(MPI_Comm comm, const std::string& path, const Options& options);

} // namespace nunatak::io
