#include "io/layouts/stripe.hpp"

#include "io/agree.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <vector>

namespace nunatak::io {

Stripe stripe_of(std::size_t given, std::size_t reported) {
  if (given > 0) return {given, "-io_stripe"};
  const bool is_plausible = reported >= std::size_t{64} << 10 && reported <= std::size_t{1} << 30;
  return is_plausible ? Stripe{reported, "the file system's"} : Stripe{};
}

std::size_t lustre_stripe(const unsigned char* layout, std::size_t size) {
  const auto number = [&](std::size_t at, std::size_t bytes) { // 0 beyond the end
    std::uint32_t value = 0;
    if (at + bytes <= size) std::memcpy(&value, layout + at, bytes);
    return value;
  };
  const auto of_plain =
      [&](std::size_t at) { // lmm_magic, lmm_pattern, lmm_oi (16), lmm_stripe_size
        const std::uint32_t magic = number(at, 4);
        return magic == 0x0BD10BD0 || magic == 0x0BD30BD0 ? std::size_t{number(at + 24, 4)} : 0;
      };
  if (number(0, 4) != 0x0BD60BD0) return of_plain(0);
  const std::uint32_t components =
      number(14, 2); // entries of 48 bytes from byte 32 on, each with lcme_offset at 24
  return components > 0 ? of_plain(number(32 + 48 * (std::size_t{components} - 1) + 24, 4)) : 0;
}

namespace {

std::size_t ask_lustre(const std::string& folder) {
  std::vector<unsigned char> layout(65536); // no attribute is longer
  const ssize_t size = ::getxattr(folder.c_str(), "lustre.lov", layout.data(), layout.size());
  return size > 0 ? lustre_stripe(layout.data(), static_cast<std::size_t>(size)) : 0;
}

} // namespace

Stripe stripe_at(MPI_Comm comm, const std::string& path, const Options& options) {
  if (options.stripe > 0) return stripe_of(options.stripe);
  const int rank = rank_in(comm);
  std::uint64_t reported = 0; // no answer
  if (rank == 0) {
    const std::string parent = std::filesystem::path(path).parent_path().string(),
                      folder = parent.empty() ? "." : parent;
    struct stat status {};
    reported = ask_lustre(folder);
    if (reported == 0 && ::stat(folder.c_str(), &status) == 0)
      reported = static_cast<std::uint64_t>(status.st_blksize);
  }
  MPI_Bcast(&reported, 1, MPI_UINT64_T, 0, comm);
  return stripe_of(0, reported);
}

} // namespace nunatak::io
