#include "miniapp/base/parse.hpp"

#include "miniapp/base/units.hpp"

#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <regex>
#include <vector>

namespace nunatak {

namespace {

/// "3h50m", "1d 2h", "90min"; nullopt for other forms.
std::optional<double> human_duration(const std::string& text) {
  static const std::regex form(
      R"((?:(\d+\.?\d*) ?d)? ?(?:(\d+\.?\d*) ?h)? ?(?:(\d+\.?\d*) ?m(?:in)?)? ?(?:(\d+\.?\d*) ?s)?)");
  std::smatch part;
  if (text.empty() || !std::regex_match(text, part, form)) return std::nullopt;
  double seconds = 0.0;
  const double unit[] = {86400.0, 3600.0, 60.0, 1.0};
  for (std::size_t n = 0; n < 4; ++n) {
    if (part[n + 1].matched) seconds += unit[n] * std::strtod(part[n + 1].str().c_str(), nullptr);
  }
  return seconds;
}

/// "min:s", "h:min:s", "d-h", "d-h:min", "d-h:min:s"; nullopt for other forms.
std::optional<double> slurm_duration(const std::string& text) {
  static const std::regex form(R"((?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?)");
  std::smatch part;
  if (!std::regex_match(text, part, form)) return std::nullopt;
  std::vector<double> numbers;
  for (std::size_t n = 2; n < 5; ++n) {
    if (part[n].matched) numbers.push_back(std::stod(part[n]));
  }
  if (!part[1].matched && numbers.size() == 2) numbers.insert(numbers.begin(), 0.0); // no hours
  if (!part[1].matched && numbers.size() == 1) return 60.0 * numbers[0];
  numbers.resize(3, 0.0);
  return 86400.0 * (part[1].matched ? std::stod(part[1]) : 0.0) + 3600.0 * numbers[0] +
         60.0 * numbers[1] + numbers[2];
}

} // namespace

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
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

double parse_quantity(const std::string& text, const std::string& unit, const std::string& what) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number)) {
    throw Error(what + ": expected a number" + (unit.empty() ? "" : " in " + unit) + ", found '" +
                text + "'");
  }
  std::string suffix = end;
  suffix.erase(0, suffix.find_first_not_of(' '));
  if (suffix.empty()) return number;
  if (unit.empty()) throw Error(what + ": expected a number without unit, found '" + text + "'");
  return unit_conversion(suffix, unit, what)(number);
}

double parse_duration(const std::string& text, const std::string& what) {
  const bool is_short = text.size() < 100; // std::regex needs stack for each character
  std::optional<double> seconds = is_short ? human_duration(text) : std::nullopt;
  if (is_short && !seconds) seconds = slurm_duration(text);
  const bool is_quantity = std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
                           text.find_first_of(":-") == std::string::npos;
  if (!seconds && is_quantity) seconds = parse_quantity(text, "s", what);
  if (seconds && *seconds > 0.0 && *seconds < 1e12) return *seconds;
  throw Error(what + ": expected a time such as 3h50m, 90min or 3:50:00, found '" + text + "'");
}

} // namespace nunatak
