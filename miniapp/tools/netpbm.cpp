#include "miniapp/tools/netpbm.hpp"

#include "miniapp/base/error.hpp"

#include <algorithm>
#include <limits>

namespace nunatak::tools {

namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); } // blank, tab, LF, VT, FF, CR
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Scanner {
public:
  Scanner(std::string_view bytes, const std::string& file) : m_bytes(bytes), m_file(file) {}

  std::int64_t left() const { return static_cast<std::int64_t>(m_bytes.size() - m_at); }
  unsigned byte() { return static_cast<unsigned char>(m_bytes[m_at++]); }
  void skip(std::size_t n) { m_at += n; }

  /// Reads a number from `min` to `max`, after white space and comments.
  int number(const std::string& what, int min, int max) {
    skip_blanks();
    const std::size_t start = m_at;
    std::int64_t value = 0;
    while (left() > 0 && is_digit(m_bytes[m_at])) {
      value = std::min<std::int64_t>(10 * value + (m_bytes[m_at++] - '0'),
                                     std::int64_t{1} << 40); // avoids overflow; larger than any max
    }
    if (m_at == start) fail(what + ": expected a number, found " + here());
    if (value < min || value > max) {
      fail(what + ": expected a number from " + std::to_string(min) + " to " + std::to_string(max) +
           ", found " +
           std::string(m_bytes.substr(start, std::min<std::size_t>(m_at - start, 20))));
    }
    return static_cast<int>(value);
  }

  /// Reads one 0 or 1 of a plain bitmap; no space is needed between them.
  unsigned bit(const std::string& what) {
    skip_blanks();
    if (left() == 0 || (m_bytes[m_at] != '0' && m_bytes[m_at] != '1'))
      fail(what + ": expected 0 or 1, found " + here());
    return byte() - '0';
  }

  /// Reads the single white space between the header and raw values.
  void end_of_header() {
    if (left() == 0 || !is_space(m_bytes[m_at]))
      fail("header: expected white space before the values, found " + here());
    m_at += 1;
  }

  void need(std::int64_t bytes, const std::string& size) const {
    if (left() < bytes) {
      fail("expected at least " + std::to_string(bytes) + " bytes of values for " + size +
           " cells, found " + std::to_string(left()));
    }
  }

  /// Accepts only white space, and comments in plain formats.
  void end_of_file(bool plain) {
    if (plain) skip_blanks();
    while (left() > 0 && is_space(m_bytes[m_at])) m_at += 1;
    if (left() > 0)
      fail("expected the end of the file after the last value, found " + std::to_string(left()) +
           " more bytes");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("mask '" + m_file + "': " + what);
  }

private:
  /// Skips white space, and comments from # to the end of the line.
  void skip_blanks() {
    while (left() > 0 && (is_space(m_bytes[m_at]) || m_bytes[m_at] == '#')) {
      if (m_bytes[m_at] == '#') {
        while (left() > 0 && m_bytes[m_at] != '\n' && m_bytes[m_at] != '\r') m_at += 1;
      } else {
        m_at += 1;
      }
    }
  }

  std::string here() const {
    if (left() == 0) return "the end of the file";
    const char c = m_bytes[m_at];
    return (c > ' ' && c < 127
                ? "'" + std::string(1, c) + "'"
                : "the byte " +
                      std::to_string(static_cast<unsigned>(static_cast<unsigned char>(c)))) +
           " at " + std::to_string(m_at);
  }

  std::string_view m_bytes;
  const std::string& m_file;
  std::size_t m_at = 0;
};

} // namespace

bool is_netpbm(std::string_view start) {
  return start.size() >= 2 && start[0] == 'P' &&
         (start[1] == '1' || start[1] == '2' || start[1] == '4' || start[1] == '5');
}

Picture parse_netpbm(std::string_view bytes, const std::string& file) {
  Scanner in(bytes, file);
  if (!is_netpbm(bytes))
    in.fail("expected a portable bitmap or graymap (P1, P2, P4 or P5), found something else");
  const char format = bytes[1];
  const bool bitmap = format == '1' || format == '4', plain = format == '1' || format == '2';
  in.skip(2);
  constexpr int most = std::numeric_limits<int>::max();
  Picture picture;
  picture.Mx = in.number("width", 1, most);
  picture.My = in.number("height", 1, most);
  const int largest = bitmap ? 1 : in.number("largest value", 1, 65535);
  if (!plain) in.end_of_header();

  // check that the values exist before allocating; products of two ints fit 64 bits
  const std::int64_t Mx = picture.Mx, My = picture.My, cells = Mx * My;
  const std::int64_t row_bytes = format == '4' ? (Mx + 7) / 8 : largest > 255 ? 2 * Mx : Mx;
  in.need(format == '1'   ? cells
          : format == '2' ? 2 * cells - 1
                          : row_bytes * My,
          std::to_string(Mx) + " x " + std::to_string(My));
  picture.values.resize(static_cast<std::size_t>(cells));

  std::size_t n = 0;
  for (std::int64_t j = 0; j < My; ++j) {
    unsigned bits = 0;
    for (std::int64_t i = 0; i < Mx; ++i) {
      unsigned value = 0;
      if (format == '1') {
        value = in.bit("value");
      } else if (format == '2') {
        value = static_cast<unsigned>(in.number("value", 0, largest));
      } else if (format == '4') {
        bits = i % 8 == 0 ? in.byte() : bits << 1;
        value = bits >> 7 & 1u;
      } else {
        value = in.byte();
        if (largest > 255) value = value << 8 | in.byte();
        if (value > static_cast<unsigned>(largest)) {
          in.fail("value: expected a number from 0 to " + std::to_string(largest) + ", found " +
                  std::to_string(value));
        }
      }
      picture.values[n++] = static_cast<std::uint16_t>(value);
    }
  }
  in.end_of_file(plain);
  return picture;
}

} // namespace nunatak::tools
