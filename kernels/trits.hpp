// Long lists of the numbers -1, 0, 1 in few words: messages of distance_gather.hpp.
//
//   -1 -1 -1 -1 -1 -1  0  0  1      as runs: (-1, 6) (0, 2) (1, 1)       one byte for a run of up to 42 numbers
//                                   packed:  digits of base 3            20 in a word of 32 bits: 1.6 bits per number
//
// The smaller of both is taken. Runs win where they are longer than 5 numbers on average, as in masks of ice shelves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nunatak {

using Trits = std::vector<signed char>; ///< of -1, 0, 1

/// Numbers as bytes: 7 bits in each, low bits first; the highest bit says that more follow.
class ByteWriter {
public:
  void put(std::uint32_t number) {
    for (; number >= 128; number >>= 7) m_bytes.push_back(static_cast<unsigned char>(number | 128));
    m_bytes.push_back(static_cast<unsigned char>(number));
  }
  std::size_t size_in_words() const { return (m_bytes.size() + 3) / 4; }
  void append_to(std::vector<int>& words) const {
    const std::size_t start = words.size();
    words.resize(start + size_in_words());
    if (!m_bytes.empty()) std::memcpy(words.data() + start, m_bytes.data(), m_bytes.size());
  }

private:
  std::vector<unsigned char> m_bytes;
};

class ByteReader {
public:
  explicit ByteReader(const int* words) : m_byte(reinterpret_cast<const unsigned char*>(words)) {}
  std::uint32_t get() {
    std::uint32_t number = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint32_t byte = *m_byte++;
      number |= (byte & 127) << shift;
      if (byte < 128) return number;
    }
  }

private:
  const unsigned char* m_byte;
};

/// Append `trits` to `words`: the number of words with runs, then these; or 0, then the packed words.
inline void encode_trits(const Trits& trits, std::vector<int>& words) {
  constexpr std::size_t per_word = 20;
  const std::size_t packed_words = (trits.size() + per_word - 1) / per_word;
  ByteWriter runs;
  for (std::size_t n = 0; n < trits.size() && runs.size_in_words() < packed_words;) {
    std::size_t end = n + 1;
    while (end < trits.size() && trits[end] == trits[n]) ++end;
    for (std::size_t length = end - n; length > 0;) { // a number of 32 bits holds runs of up to 2^30
      const std::size_t part = length < (std::size_t{1} << 30) ? length : std::size_t{1} << 30;
      runs.put(static_cast<std::uint32_t>(3 * (part - 1)) + static_cast<std::uint32_t>(trits[n] + 1));
      length -= part;
    }
    n = end;
  }
  if (runs.size_in_words() < packed_words) {
    words.push_back(static_cast<int>(runs.size_in_words()));
    return runs.append_to(words);
  }
  words.push_back(0);
  for (std::size_t n = 0; n < trits.size(); n += per_word) {
    const std::size_t end = n + per_word < trits.size() ? n + per_word : trits.size();
    std::uint32_t word = 0;
    for (std::size_t digit = end; digit-- > n;) word = 3 * word + static_cast<std::uint32_t>(trits[digit] + 1);
    words.push_back(static_cast<int>(word));
  }
}

/// Read `count` of them; returns what follows in the message.
inline const int* decode_trits(const int* words, std::size_t count, Trits& trits) {
  trits.resize(count);
  const std::size_t run_words = static_cast<std::size_t>(*words++);
  if (run_words > 0) {
    ByteReader runs(words);
    for (std::size_t n = 0; n < count;) {
      const std::uint32_t run = runs.get();
      const std::size_t length = run / 3 + 1;
      std::memset(trits.data() + n, static_cast<int>(run % 3) - 1, length);
      n += length;
    }
    return words + run_words;
  }
  for (std::size_t n = 0; n < count; ++words) {
    std::uint32_t word = static_cast<std::uint32_t>(*words);
    for (int digit = 0; digit < 20 && n < count; ++digit, word /= 3) trits[n++] = static_cast<signed char>(word % 3) - 1;
  }
  return words;
}

} // namespace nunatak
