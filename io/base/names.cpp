#include "io/base/names.hpp"

#include "io/base/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <filesystem>

namespace nunatak::io {

namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

/// A control character of UTF-8: U+0080 to U+009F.
bool is_c1(const std::string& text, std::size_t n) {
  const auto c = static_cast<unsigned char>(text[n]);
  return n > 0 && text[n - 1] == '\xc2' && c >= 0x80 && c < 0xa0;
}

} // namespace

bool is_utf8(const std::string& text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::string printable(const std::string& text, std::size_t most) {
  const bool is_known = is_utf8(text);
  std::string result;
  for (std::size_t n = 0; n < std::min(text.size(), most); ++n) {
    const auto c = static_cast<unsigned char>(text[n]);
    char hex[8];
    std::snprintf(hex, sizeof hex, "\\x%02x", c);
    const bool is_plain = c < 0x80 ? !is_control(c) : is_known && !is_c1(text, n);
    result += is_plain ? std::string(1, text[n]) : std::string(hex);
  }
  return result + (text.size() > most ? "..." : "");
}

std::string manifest_of(const std::string& path) {
  return (std::filesystem::path(path).parent_path() / "manifest.jsonl").string();
}

std::string with_suffix(const std::string& path, const std::string& suffix) {
  const std::string tmp = temporary_suffix;
  const bool is_temporary =
      path.size() >= tmp.size() && path.compare(path.size() - tmp.size(), tmp.size(), tmp) == 0;
  if (!is_temporary) return path + suffix;
  return path.substr(0, path.size() - tmp.size()) + suffix + tmp;
}

std::string subfile_suffix(std::size_t n) {
  char text[32];
  std::snprintf(text, sizeof text, ".%04zu", n);
  return text;
}

bool is_subfile_of(const std::string& name, const std::string& whole) {
  const std::size_t n = whole.size();
  return name.size() >= n + 5 && name.compare(0, n, whole) == 0 && name[n] == '.' &&
         name.find_first_not_of("0123456789", n + 1) == std::string::npos;
}

void require_name(const std::string& path, const std::string& suffix, const std::string& what) {
  const std::filesystem::path name = std::filesystem::path(path).filename();
  const std::string text = name.string(), ending = name.extension().string();
  if (text == "manifest.jsonl" || ending == temporary_suffix || ending == lock_suffix)
    throw Error(what + "expected a name that is not manifest.jsonl and does not end in .tmp or "
                       ".lock, which are reserved");
  if (!is_utf8(text)) throw Error(what + "expected a file name in UTF-8, found other bytes");
  if (printable(text, text.size()) != text)
    throw Error(what + "expected a file name without control characters, found some");
  const std::size_t most = NAME_MAX - suffix.size();
  if (text.size() > most) {
    throw Error(what + "expected a file name of at most " + std::to_string(most) +
                " bytes, found " + std::to_string(text.size()));
  }
}

} // namespace nunatak::io
