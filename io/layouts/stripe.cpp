#include "io/layouts/stripe.hpp"

#include "io/agree.hpp"

#include <cstdint>
#include <filesystem>
#include <sys/stat.h>

namespace nunatak::io {

Stripe stripe_of(std::size_t given, std::size_t reported) {
  if (given > 0) return {given, "-io_stripe"};
  const bool is_plausible = reported >= std::size_t{64} << 10 && reported <= std::size_t{1} << 30;
  return is_plausible ? Stripe{reported, "the file system's"} : Stripe{};
}

Stripe stripe_at(MPI_Comm comm, const std::string& path, const Options& options) {
  if (options.stripe > 0) return stripe_of(options.stripe);
  std::uint64_t reported = 0; // unknown
  if (rank_in(comm) == 0) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    struct stat status {};
    if (::stat(folder.empty() ? "." : folder.c_str(), &status) == 0)
      reported = static_cast<std::uint64_t>(status.st_blksize);
  }
  MPI_Bcast(&reported, 1, MPI_UINT64_T, 0, comm);
  return stripe_of(0, reported);
}

} // namespace nunatak::io
