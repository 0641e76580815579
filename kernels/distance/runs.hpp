// Long lists of the numbers -1, 0, 1 as run lengths: messages of distance/gather.hpp.
//
//   -1 -1 -1 -1 -1 -1  0  0  1      (-1, 6) (0, 2) (1, 1)       one byte for a run of up to 42
//   numbers
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

struct EncodedRun {
  int value; ///< -1, 0 or 1
  std::int64_t length;
};

class RunWriter {
public:
  void put(int value, std::int64_t length = 1) {
    if (value != m_run.value) end_run(), m_run.value = value;
    m_run.length += length;
  }

  /// The number of words that follow, then these.
  void append_to(std::vector<int>& words) {
    end_run();
    words.push_back(static_cast<int>(m_bytes.size_in_words()));
    m_bytes.append_to(words);
  }

private:
  void end_run() {
    if (m_run.length > 0)
      m_bytes.put(static_cast<std::uint64_t>(3 * (m_run.length - 1) + m_run.value + 1));
    m_run.length = 0;
  }

  EncodedRun m_run{0, 0};
  ByteWriter m_bytes;
};

/// The caller must know how many numbers there are.
class RunReader {
public:
  explicit RunReader(const int* words) : m_end(words + 1 + words[0]), m_bytes(words + 1) {}

  EncodedRun run() {
    const std::int64_t code = static_cast<std::int64_t>(m_bytes.get());
    return {static_cast<int>(code % 3) - 1, code / 3 + 1};
  }
  int get() {
    if (m_now.length == 0) m_now = run();
    m_now.length -= 1;
    return m_now.value;
  }
  const int* end() const { return m_end; } ///< what follows in the message

private:
  const int* m_end;
  ByteReader m_bytes;
  EncodedRun m_now{0, 0};
};

} // namespace nunatak
