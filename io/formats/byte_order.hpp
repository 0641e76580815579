// Byte order of the memory, and byte swapping, for classic files written or read without a library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nunatak::io {

inline bool memory_is_big_endian() {
  const std::uint16_t one = 1;
  return *reinterpret_cast<const unsigned char*>(&one) == 0;
}

template <class Word, class Swap>
void swap_all(std::byte* values, std::size_t n, const Swap& swap) {
  for (std::size_t k = 0; k < n; ++k) {
    Word word;
    std::memcpy(&word, values + k * sizeof word, sizeof word);
    word = swap(word);
    std::memcpy(values + k * sizeof word, &word, sizeof word);
  }
}

/// Reverse the bytes of each of `n` values of `size` bytes.
inline void swap_bytes(std::byte* values, std::size_t n, std::size_t size) {
  if (size == 2)
    swap_all<std::uint16_t>(values, n, [](std::uint16_t w) { return __builtin_bswap16(w); });
  if (size == 4)
    swap_all<std::uint32_t>(values, n, [](std::uint32_t w) { return __builtin_bswap32(w); });
  if (size == 8)
    swap_all<std::uint64_t>(values, n, [](std::uint64_t w) { return __builtin_bswap64(w); });
}

} // namespace nunatak::io
