#include "io/durable/sparse_checksum.hpp"

#include <libdeflate.h>
#include <zlib.h>

namespace nunatak::io {

namespace {

constexpr std::uint32_t ones = 0xffffffffu;

/// Times x^8 for each of so many bytes.
std::uint32_t shifted(std::uint32_t sum, std::uint64_t bytes) {
  return static_cast<std::uint32_t>(crc32_combine(sum, 0, static_cast<z_off_t>(bytes)));
}

std::uint32_t checksum_of_zeros(std::uint64_t size) { return shifted(ones, size) ^ ones; }

} // namespace

void SparseChecksum::add_linear(std::uint64_t end, std::uint32_t sum) {
  if (end > m_end) {
    m_sum = shifted(m_sum, end - m_end) ^ sum;
    m_end = end;
  } else {
    m_sum ^= shifted(sum, m_end - end);
  }
}

void SparseChecksum::add(std::uint64_t begin, const void* data, std::size_t size) {
  add_linear(begin + size, libdeflate_crc32(ones, data, size) ^
                               ones); // begun with ones, it begins with an empty register
}

void SparseChecksum::add_checksum(std::uint64_t begin, std::uint64_t size, std::uint32_t crc) {
  add_linear(begin + size, crc ^ checksum_of_zeros(size));
}

std::uint32_t SparseChecksum::part_of_file(std::uint64_t size) const {
  return shifted(m_sum, size - m_end);
}

std::uint32_t checksum_of_parts(std::uint32_t sum, std::uint64_t size) {
  return sum ^ checksum_of_zeros(size);
}

} // namespace nunatak::io
