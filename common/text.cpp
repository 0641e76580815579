#include "common/text.hpp"

#include "common/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <regex>

namespace nunatak {

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

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

/// A control character of UTF-8: U+0080 to U+009F.
bool is_c1(const std::string& text, std::size_t n) {
  const auto c = static_cast<unsigned char>(text[n]);
  return n > 0 && text[n - 1] == '\xc2' && c >= 0x80 && c < 0xa0;
}

/// "3h50m", "1d 2h", "90 min", "0.5 hours", "1e3 s"; nullopt for other forms.
std::optional<double> human_duration(const std::string& text) {
  const auto of = [](const char* unit) {
    return R"((?:(\d+\.?\d*(?:e\+?\d+)?) ?)" + std::string(unit) + ")? ?";
  };
  static const std::regex form(of("d(?:ays?)?") + of("h(?:ours?)?") + of("m(?:in(?:utes?)?)?") +
                               of("s(?:ec(?:onds?)?)?"));
  std::smatch part;
  if (text.empty() || !std::regex_match(text, part, form)) return std::nullopt;
  double seconds = 0.0;
  const double unit[] = {86400.0, 3600.0, 60.0, 1.0};
  for (std::size_t n = 0; n < 4; ++n) {
    if (part[n + 1].matched) seconds += unit[n] * std::strtod(part[n + 1].str().c_str(), nullptr);
  }
  return seconds;
}

/// "min:s", "h:min:s", "d-h", "d-h:min", "d-h:min:s", a number; nullopt for other forms.
std::optional<double> slurm_duration(const std::string& text, double unit) {
  static const std::regex form(R"((?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?)");
  std::smatch part;
  if (!std::regex_match(text, part, form)) return std::nullopt;
  std::vector<double> numbers;
  for (std::size_t n = 2; n < 5; ++n) {
    if (part[n].matched) numbers.push_back(std::stod(part[n]));
  }
  if (!part[1].matched && numbers.size() == 2) numbers.insert(numbers.begin(), 0.0); // no hours
  if (!part[1].matched && numbers.size() == 1) return unit * numbers[0];
  numbers.resize(3, 0.0);
  return 86400.0 * (part[1].matched ? std::stod(part[1]) : 0.0) + 3600.0 * numbers[0] +
         60.0 * numbers[1] + numbers[2];
}

} // namespace

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
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

std::string joined(const std::vector<std::string>& items, const char* separator) {
  std::string text;
  for (const std::string& item : items) text += (&item == &items[0] ? "" : separator) + item;
  return text;
}

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

std::int64_t whole_number(const std::string& text, std::int64_t min, std::int64_t max,
                          const std::string& what) {
  std::int64_t number = 0;
  std::size_t used = 0;
  try {
    number = std::stoll(text, &used);
  } catch (const std::logic_error&) { // not a number, or beyond 64 bits
    used = 0;
  }
  if (used == 0 || used != text.size() || number < min || number > max) {
    throw Error(what + ": expected a whole number from " + std::to_string(min) + " to " +
                std::to_string(max) + ", found '" + text + "'");
  }
  return number;
}

double parse_duration(const std::string& text, double unit, const std::string& what) {
  std::optional<double> seconds;
  if (text.size() < 100)
    seconds = human_duration(text); // std::regex needs stack for each character
  if (text.size() < 100 && !seconds) seconds = slurm_duration(text, unit);
  if (seconds && *seconds > 0.0 && *seconds < 1e12) return *seconds;
  throw Error(what + ": expected a time such as 3h50m, 90min or 3:50:00, found '" + text + "'");
}

} // namespace nunatak
