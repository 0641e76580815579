// Long lists of the numbers -1, 0, 1 in few words: messages of distance/gather.hpp.
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

/// Numbers as bytes: 7 bits in each, low bits first; the highest bit says that more follow.
class ByteWriter {
public:
  void put(std::uint64_t number) {
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
  std::uint64_t get() {
    std::uint64_t number = 0;
    for (int shift = 0;; shift += 7) {
      const std::uint64_t byte = *m_byte++;
      number |= (byte & 127) << shift;
      if (byte < 128) return number;
    }
  }

private:
  const unsigned char* m_byte;
};

struct TritRun {
  int trit; ///< -1, 0 or 1
  std::int64_t length;
};

class TritWriter {
public:
  void put(int trit, std::int64_t length = 1) {
    if (trit != m_run.trit) end_run(), m_run.trit = trit;
    m_run.length += length;
    m_count += length;
  }

  /// The number of words of runs, then these; or minus the number of packed words, then these.
  void append_to(std::vector<int>& words) {
    end_run();
    const std::int64_t run_words = static_cast<std::int64_t>(m_runs.size_in_words()), packed_words = (m_count + 19) / 20;
    words.push_back(static_cast<int>(run_words < packed_words ? run_words : -packed_words));
    if (run_words < packed_words) return m_runs.append_to(words);
    std::vector<int> runs;
    m_runs.append_to(runs);
    ByteReader reader(runs.data());
    std::uint32_t word = 0, digit = 1; // 3^n
    for (std::int64_t n = 0, left = 0, value = 0; n < m_count; ++n, --left) {
      if (left == 0) {
        const std::int64_t run = static_cast<std::int64_t>(reader.get());
        left = run / 3 + 1, value = run % 3;
      }
      word += digit * static_cast<std::uint32_t>(value);
      digit *= 3;
      if (n % 20 != 19 && n + 1 != m_count) continue;
      words.push_back(static_cast<int>(word));
      word = 0, digit = 1;
    }
  }

private:
  void end_run() {
    if (m_run.length > 0) m_runs.put(static_cast<std::uint64_t>(3 * (m_run.length - 1) + m_run.trit + 1));
    m_run.length = 0;
  }

  TritRun m_run{0, 0};
  std::int64_t m_count = 0;
  ByteWriter m_runs;
};

/// The reader must know where to stop.
class TritReader {
public:
  explicit TritReader(const int* words)
      : m_packed(words[0] < 0), m_next(words + 1), m_end(m_next + (m_packed ? -words[0] : words[0])), m_runs(m_next) {}

  TritRun run() {
    if (!m_packed) {
      const std::int64_t run = static_cast<std::int64_t>(m_runs.get());
      return {static_cast<int>(run % 3) - 1, run / 3 + 1};
    }
    if (m_digits == 0) m_word = static_cast<std::uint32_t>(*m_next++), m_digits = 20;
    const int trit = static_cast<int>(m_word % 3) - 1;
    m_word /= 3, m_digits -= 1;
    return {trit, 1};
  }
  int get() {
    if (m_now.length == 0) m_now = run();
    m_now.length -= 1;
    return m_now.trit;
  }
  const int* end() const { return m_end; } ///< what follows in the message

private:
  bool m_packed;
  const int *m_next, *m_end;
  ByteReader m_runs;
  std::uint32_t m_word = 0;
  int m_digits = 0;
  TritRun m_now{0, 0};
};

} // namespace nunatak
