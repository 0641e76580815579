// The CRC-32 of a file from pieces of it, in any order and on any ranks; what no piece holds is
// zero.
//
// Without its constants at begin and end CRC-32 is linear: of a file of n bytes, as a polynomial
// over two elements, it is the sum of those of its pieces, each times x^8 for every byte behind it.
// So a rank adds what it writes while that lies in the cache, the sums of all ranks are combined by
// exclusive or, and nobody reads the file once more. Reference: Peterson & Brown (1961), Cyclic
// codes for error detection, Proc. IRE 49. The powers of x are zlib's (crc32_combine).
#pragma once

#include <cstddef>
#include <cstdint>

namespace nunatak::io {

class SparseChecksum {
public:
  /// The bytes from `begin` on; pieces do not overlap.
  void add(std::uint64_t begin, const void* data, std::size_t size);
  /// The same from the CRC-32 of the piece.
  void add_checksum(std::uint64_t begin, std::uint64_t size, std::uint32_t crc);

  /// This rank's part of the sum for a file of `size` bytes, at least up to the end of every piece;
  /// combine them by exclusive or.
  std::uint32_t part_of_file(std::uint64_t size) const;

private:
  void add_linear(std::uint64_t end, std::uint32_t sum);

  std::uint64_t m_end = 0; ///< of the piece that ends last, and
  std::uint32_t m_sum = 0; ///< the sum for a file that ends there
};

/// The CRC-32 (zlib's) of a file of `size` bytes whose parts have this sum.
std::uint32_t checksum_of_parts(std::uint32_t sum, std::uint64_t size);

} // namespace nunatak::io
