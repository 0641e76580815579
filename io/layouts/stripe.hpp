// The stripe length if -io_stripe is not given: st_blksize of the folder, if it is plausible, as on
// parallel file systems. A disk reports a page of 4 KiB, which is no stripe.
#pragma once

#include <cstddef>

namespace nunatak::io {

constexpr std::size_t default_stripe = std::size_t{1} << 20; ///< where the file system has none

/// `given` (-io_stripe) if not 0; else `reported`, if it is 64 KiB to 1 GiB; else default_stripe.
inline std::size_t stripe_of(std::size_t given, std::size_t reported = 0) {
  if (given > 0) return given;
  const bool is_plausible = reported >= std::size_t{64} << 10 && reported <= std::size_t{1} << 30;
  return is_plausible ? reported : default_stripe;
}

} // namespace nunatak::io
