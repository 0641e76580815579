#include "io/layouts/stripe.hpp"

#include "io/agree.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sys/stat.h>
#include <sys/statfs.h>

namespace nunatak::io {

Stripe stripe_of(std::size_t given, std::size_t f_bsize, std::size_t st_blksize) {
  if (given > 0) return {given, "-io_stripe"};
  const auto plausible = [](std::size_t bytes) {
    return bytes >= (std::size_t{64} << 10) && bytes <= (std::size_t{1} << 30) ? bytes : 0;
  };
  const std::size_t reported = std::max(plausible(f_bsize), plausible(st_blksize));
  return reported > 0 ? Stripe{reported, "the file system's"} : Stripe{};
}

Stripe stripe_at(MPI_Comm comm, const std::string& path, const Options& options) {
  if (options.stripe > 0) return stripe_of(options.stripe);
  const int rank = rank_in(comm);
  std::uint64_t reported[2] = {0, 0}; // 0: no answer
  if (rank == 0) {
    const std::string parent = std::filesystem::path(path).parent_path().string(), folder = parent.empty() ? "." : parent;
    struct statfs file_system {};
    struct stat status {};
    if (::statfs(folder.c_str(), &file_system) == 0) reported[0] = static_cast<std::uint64_t>(file_system.f_bsize);
    if (::stat(folder.c_str(), &status) == 0) reported[1] = static_cast<std::uint64_t>(status.st_blksize);
  }
  MPI_Bcast(reported, 2, MPI_UINT64_T, 0, comm);
  return stripe_of(0, reported[0], reported[1]);
}

} // namespace nunatak::io
