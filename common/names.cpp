#include "common/names.hpp"

#include "common/error.hpp"
#include "common/text.hpp"

#include <cctype>
#include <climits>
#include <cstdio>
#include <filesystem>

namespace nunatak {

std::string manifest_of(const std::string& path) {
  return (std::filesystem::path(path).parent_path() / "manifest.jsonl").string();
}

std::string with_suffix(const std::string& path, const std::string& suffix) {
  const std::string tmp = temporary_suffix;
  if (!ends_with(path, tmp)) return path + suffix;
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

void require_path(const std::string& path, const std::string& what) {
  if (std::isspace(static_cast<unsigned char>(path[0])) != 0 || path.find("://") != path.npos)
    throw Error(what + "expected a path that does not begin with a blank and has no '://'");
}

} // namespace nunatak
