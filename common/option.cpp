#include "common/option.hpp"

#include "common/error.hpp"
#include "common/text.hpp"

#include <algorithm>
#include <sstream>

namespace nunatak {

namespace {

struct Unit {
  const char* name;
  std::size_t bytes;
};
constexpr Unit units[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

std::string text_of(std::size_t bytes) {
  for (const Unit& unit : units) {
    if (bytes > 0 && bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes) + unit.name;
  }
  return "0B";
}

/// The digits that a text begins with.
std::string number_in(const std::string& text) {
  return text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size()));
}

std::size_t parse_bytes(const std::string& text, std::size_t min, std::size_t max,
                        const std::string& what) {
  const std::string number = number_in(text), name = text.substr(number.size());
  for (const Unit& unit : units) {
    const bool is_it = name == unit.name || (name.empty() && unit.bytes == 1);
    if (!is_it || number.empty() || number.size() > 15) continue;
    const std::size_t count = std::stoull(number);
    if (count <= max / unit.bytes && count * unit.bytes >= min) return count * unit.bytes;
  }
  throw Error(what + ": expected a number of bytes (65536, 64KiB, 1MiB) from " + text_of(min) +
              " to " + text_of(max) + ", found '" + text + "'");
}

/// "box:2" fits "box:N".
bool fits(const std::string& word, const std::string& form) {
  const std::size_t n = form.find('N');
  if (n == std::string::npos || word.substr(0, n) != form.substr(0, n)) return word == form;
  const std::string number = word.substr(n);
  return !number.empty() && number == number_in(number) && number.size() < 8 &&
         std::stoi(number) >= 1 && std::stoi(number) <= 1000000;
}

} // namespace

std::string Option::value() const {
  const nlohmann::json value = get();
  std::ostringstream s;
  if (value.is_boolean()) {
    s << (value.get<bool>() ? "yes" : "no");
  } else if (value.is_string()) {
    s << value.get<std::string>();
  } else if (value.is_number_float()) {
    s << value.get<double>();
  } else {
    s << value;
  }
  return s.str();
}

Option text(const std::string& name, std::string& target, const std::string& doc) {
  const auto set = [&target](const std::string& value, const std::string&) {
    target = value == "none" ? "" : value;
  };
  return {name, "", doc, "", false, set, [&target] { return nlohmann::json(target); }};
}

Option choice(const std::string& name, std::string& target, const std::string& values,
              const std::string& doc) {
  const bool may_be_none = target.empty();
  const auto set = [&target, values, may_be_none](const std::string& value,
                                                  const std::string& what) {
    if (!(may_be_none && value == "none")) require_one_of(values, value, what);
    target = may_be_none && value == "none" ? "" : value;
  };
  return {name, "", doc, values, false, set, [&target] { return nlohmann::json(target); }};
}

Option flag(const std::string& name, bool& target, const std::string& doc) {
  const auto set = [&target](const std::string& value, const std::string& what) {
    target = parse_switch(value, what);
  };
  return {name, "", doc, "", true, set, [&target] { return nlohmann::json(target); }};
}

Option one_of_two(const std::string& name, bool& target, const std::string& yes,
                  const std::string& no, const std::string& doc) {
  const std::string values = yes + "|" + no;
  const auto set = [&target, yes, values](const std::string& value, const std::string& what) {
    require_one_of(values, value, what);
    target = value == yes;
  };
  const auto get = [&target, yes, no] { return nlohmann::json(target ? yes : no); };
  return {name, "", doc, values, false, set, get};
}

Option size(const std::string& name, std::size_t& bytes, const std::string& doc, std::size_t min,
            std::size_t max, const std::string& word) {
  const auto set = [&bytes, min, max, word](const std::string& value, const std::string& what) {
    const bool is_word = !word.empty() && value == word;
    bytes = is_word ? 0 : parse_bytes(value, min, max, what);
  };
  const auto get = [&bytes, word] {
    return nlohmann::json(bytes == 0 && !word.empty() ? word : text_of(bytes));
  };
  return {name, "", doc, "", false, set, get};
}

Option count(const std::string& name, int& target, const std::string& doc) {
  const auto set = [&target](const std::string& value, const std::string& what) {
    target = static_cast<int>(whole_number(value, 0, 1000000000, what));
  };
  return {name, "", doc, "", false, set, [&target] { return nlohmann::json(target); }};
}

Option duration(const std::string& name, double& seconds, const std::string& doc, double unit) {
  const auto set = [&seconds, unit](const std::string& value, const std::string& what) {
    seconds = value.empty() || value == "none" ? 0.0 : parse_duration(value, unit, what);
  };
  const auto get = [&seconds] {
    std::ostringstream text;
    text.precision(15);
    text << seconds << "s";
    return nlohmann::json(seconds == 0.0 ? "" : text.str());
  };
  return {name, "", doc, "", false, set, get};
}

void require_one_of(const std::string& values, const std::string& value, const std::string& what) {
  for (const std::string& form : split(values, '|')) {
    if (fits(value, form)) return;
  }
  throw Error(what + ": expected one of " + values + ", found '" + value + "'");
}

} // namespace nunatak
