// Headers as text, line by line in the form of `ncdump -h` (CDL), without groups and types of
// users.
#include "common/error.hpp"
#include "common/text.hpp"
#include "miniapp/bench/workload.hpp"

#include <cstdlib>
#include <sstream>

namespace nunatak::bench {

namespace {

/// Texts in quotes, which are joined, or numbers with suffixes of their type ("1.e+20f, 3b").
template <class F> io::Attribute::Value value_of(const std::string& given, const F& fail) {
  if (given[0] == '"') {
    std::string text;
    bool quoted = false;
    for (std::size_t n = 0; n < given.size(); ++n) {
      if (given[n] == '"') {
        quoted = !quoted;
      } else if (quoted) {
        text += given[n] == '\\' && n + 1 < given.size() && given[++n] == 'n' ? '\n' : given[n];
      }
    }
    if (quoted) fail("'\"' at the end of a text");
    return text;
  }
  std::vector<double> numbers;
  for (const std::string& number : split(given, ',')) {
    char* end = nullptr;
    numbers.push_back(std::strtod(number.c_str(), &end));
    if (end == number.c_str()) fail("a text in quotes or numbers");
  }
  return numbers;
}

} // namespace

io::Schema parse_cdl(const std::string& text, const std::string& name) {
  io::Schema header;
  std::istringstream lines(text);
  std::string line, section;
  int number = 1;
  const auto where = [&] { return "file '" + name + "', line " + std::to_string(number); };
  const auto fail = [&](const std::string& expected) {
    throw Error(where() + ": expected " + expected + ", found '" + printable(line, 80) + "'");
  };
  for (; std::getline(lines, line); ++number) {
    const bool is_value = line.find(" = ") != std::string::npos && section == "variables:";
    std::string head = line.substr(0, line.find(is_value ? " = " : "//"));
    for (char& mark : head) mark = mark == '(' || mark == ')' || mark == ',' ? ' ' : mark;
    const auto words = words_of(head);
    if (words.empty()) continue;
    if (section.empty()) {
      if (words[0] != "netcdf" || words.back() != "{") fail("'netcdf NAME {'");
      section = "{";
    } else if (line == "dimensions:" || line == "variables:" || line == "}") {
      section = line;
    } else if (section == "dimensions:") {
      if (words.size() != 4 || words[1] != "=" || words[3] != ";") fail("'NAME = LENGTH ;'");
      const auto length = [&](const std::string& word) {
        return static_cast<std::size_t>(whole_number(word, 1, 1ll << 40, where()));
      };
      io::Dimension& d = header.dimensions.emplace_back();
      d.name = words[0];
      if (words[2] != "UNLIMITED") {
        d.length = length(words[2]);
      } else if (const auto now = line.find("// ("); now != std::string::npos) {
        const auto current = words_of(line.substr(now + 4)); // as ncdump has it
        if (current.size() > 1 && current[1] == "currently)" && current[0] != "0")
          d.records = length(current[0]);
      }
    } else if (is_value) { // [string] [VARIABLE]:ATTRIBUTE = VALUE ;
      const std::size_t colon = words.back().find(':');
      const std::string owner = words.back().substr(0, colon);
      auto* attributes = &header.attributes;
      for (auto& v : header.variables) {
        if (v.name == owner) attributes = &v.attributes;
      }
      if (colon == std::string::npos || (attributes == &header.attributes && !owner.empty()))
        fail("an attribute of the file or of a variable above");
      std::string value = line.substr(line.find(" = ") + 3);
      while (!ends_with(value, " ;") && std::getline(lines, line)) {
        value += line;
        ++number;
      }
      if (!ends_with(value, " ;")) fail("';' at the end of an attribute");
      attributes->emplace_back(words.back().substr(colon + 1), "");
      attributes->back().value = value_of(value.substr(0, value.size() - 2), fail);
    } else { // TYPE VARIABLE(DIMENSION, ...) ;
      if (section != "variables:" || words.size() < 3 || words.back() != ";")
        fail("'dimensions:', 'variables:', 'TYPE NAME(DIMENSION, ...) ;' or '}'");
      io::Variable& v = header.variables.emplace_back();
      v.type = io::type_named(words[0]);
      if (v.type == io::Type::other) fail("a type of NetCDF (byte, int, double, ...)");
      v.name = words[1];
      for (std::size_t n = 2; n + 1 < words.size(); ++n) {
        if (io::find(header.dimensions, words[n]) == nullptr)
          fail("a dimension above for '" + words[n] + "'");
        v.dimensions.push_back(words[n]);
      }
    }
  }
  line = "the end";
  if (section != "}") fail("'}' at the end");
  return header;
}

} // namespace nunatak::bench
