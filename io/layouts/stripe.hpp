// The length of a stripe where -io_stripe is not given: that of the file system, if it tells.
//
// It may say so in stat's st_blksize (the emulated cluster of docs/cluster.md does). A disk says 4
// KiB, a page: that is no stripe; nor is statfs' f_bsize, for which OrangeFS says 4 MiB, the length
// of its buffers, where stripes have 1 MiB. Lustre says it in an attribute of a folder that has a
// layout for its new files (lfs setstripe); that was tried with bytes made by hand only.
#pragma once

#include "io/options.hpp"

#include <mpi.h>

#include <cstddef>
#include <string>

namespace nunatak::io {

constexpr std::size_t default_stripe = std::size_t{1} << 20; ///< where nobody says

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

/// Of the attribute lustre.lov (struct lov_user_md, or lov_comp_md_v1: then of the last component,
/// where large files end). 0: none.
std::size_t lustre_stripe(const unsigned char* layout, std::size_t size);

/// That of stripe_of, asked by rank 0 where `path` will be. Collective.
Stripe stripe_at(MPI_Comm comm, const std::string& path, const Options& options);

} // namespace nunatak::io
