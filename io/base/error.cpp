#include "io/base/error.hpp"

#include <algorithm>
#include <cctype>

namespace nunatak::io {

namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t n = 0; n < row.size(); ++n) row[n] = n;
  for (std::size_t m = 1; m <= a.size(); ++m) {
    std::size_t diagonal = row[0];
    row[0] = m;
    for (std::size_t n = 1; n <= b.size(); ++n) {
      const std::size_t replace = diagonal + (a[m - 1] == b[n - 1] ? 0 : 1);
      diagonal = row[n];
      row[n] = std::min({replace, row[n] + 1, row[n - 1] + 1});
    }
  }
  return row.back();
}

} // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& known) {
  std::string nearest;
  std::size_t fewest = std::max<std::size_t>(3, name.size() / 3 + 1); // more is no suggestion
  for (const std::string& other : known) {
    const std::size_t n = edit_distance(name, other);
    if (n < fewest) {
      fewest = n;
      nearest = other;
    }
  }
  return nearest;
}

std::string joined(const std::vector<std::string>& items, const char* separator) {
  std::string text;
  for (const std::string& item : items) text += (&item == &items[0] ? "" : separator) + item;
  return text;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    words.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return words;
    begin = end + 1;
  }
}

bool parse_switch(const std::string& given, const std::string& what) {
  std::string word = given;
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* yes : {"yes", "true", "on", "1"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"no", "false", "off", "0"}) {
    if (word == no) return false;
  }
  throw Error(what + ": expected yes or no, found '" + given + "'");
}

} // namespace nunatak::io
