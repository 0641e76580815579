// The stripe length if -io_stripe is not given: st_blksize of the folder, if it is plausible, as on
// parallel file systems. A disk reports a page of 4 KiB, which is no stripe.
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
  }
};

/// `given` (-io_stripe) if not 0; else `reported`, if it is 64 KiB to 1 GiB; else default_stripe.
Stripe stripe_of(std::size_t given, std::size_t reported = 0);

/// The same; rank 0 asks the file system of `path`. Collective.
Stripe stripe_at(MPI_Comm comm, const std::string& path, const Options& options);

} // namespace nunatak::io
