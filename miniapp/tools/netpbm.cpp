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
  bool at_space() const { return left() > 0 && is_space(m_bytes[m_at]); }
  unsigned byte() { return static_cast<unsigned char>(m_bytes[m_at++]); }
  void skip(std::size_t n) { m_at += n; }

  /// Reads a number from `min` to `max` of at most so many digits, after white space and comments.
  int number(const std::string& what, int min, int max, std::size_t digits = 20) {
    skip_blanks();
    const std::size_t begin = m_at;
    std::int64_t value = 0;
    for (; left() > 0 && m_at - begin < digits && is_digit(m_bytes[m_at]); ++m_at)
      value = std::min(10 * value + (m_bytes[m_at] - '0'), std::int64_t{1} << 40); // above any max
    if (m_at == begin) fail(what + ": expected a number, found " + here());
    require(value, min, max, what, std::string(m_bytes.substr(begin, m_at - begin)));
    return static_cast<int>(value);
  }

  void require(std::int64_t value, int min, int max, const std::string& what,
               const std::string& found) const {
    if (value < min || value > max)
      fail(what + ": expected a number from " + std::to_string(min) + " to " + std::to_string(max) +
           ", found " + found);
  }

  /// Skips white space, and comments from # to the end of the line.
  void skip_blanks() {
    bool in_comment = false;
    for (; left() > 0 && (in_comment || at_space() || m_bytes[m_at] == '#'); ++m_at)
      in_comment =
          m_bytes[m_at] == '#' || (in_comment && m_bytes[m_at] != '\n' && m_bytes[m_at] != '\r');
  }

  std::string here() const {
    if (left() == 0) return "the end of the file";
    const auto c = static_cast<unsigned char>(m_bytes[m_at]);
    return (c > ' ' && c < 127 ? "'" + std::string(1, m_bytes[m_at]) + "'"
                               : "the byte " + std::to_string(unsigned{c})) +
           " at " + std::to_string(m_at);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error("mask '" + m_file + "': " + what);
  }

private:
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
  if (!plain) {
    if (!in.at_space())
      in.fail("header: expected white space before the values, found " + in.here());
    in.skip(1);
  }

  // check that the values exist before allocating; products of two ints fit 64 bits
  const std::int64_t Mx = picture.Mx, My = picture.My, cells = Mx * My;
  const std::int64_t row_bytes = format == '4' ? (Mx + 7) / 8 : largest > 255 ? 2 * Mx : Mx;
  const std::int64_t needed = format == '1'   ? cells
                              : format == '2' ? 2 * cells - 1
                                              : row_bytes * My;
  if (in.left() < needed)
    in.fail("expected at least " + std::to_string(needed) + " bytes of values for " +
            std::to_string(Mx) + " x " + std::to_string(My) + " cells, found " +
            std::to_string(in.left()));
  picture.values.reserve(static_cast<std::size_t>(cells));
  unsigned bits = 0; // of P4
  for (std::int64_t n = 0; n < cells; ++n) {
    unsigned value = 0;
    if (plain) {
      value = static_cast<unsigned>(in.number("value", 0, largest, bitmap ? 1 : 20));
    } else if (bitmap) {
      bits = n % Mx % 8 == 0 ? in.byte() : bits << 1;
      value = bits >> 7 & 1u;
    } else {
      value = in.byte();
      if (largest > 255) value = value << 8 | in.byte();
      in.require(value, 0, largest, "value", std::to_string(value));
    }
    picture.values.push_back(static_cast<std::uint16_t>(value));
  }
  if (plain) in.skip_blanks();
  while (in.at_space()) in.skip(1);
  if (in.left() > 0)
    in.fail("expected the end of the file after the last value, found " +
            std::to_string(in.left()) + " more bytes");
  return picture;
}

} // namespace nunatak::tools
