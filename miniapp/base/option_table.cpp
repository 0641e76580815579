#include "miniapp/base/option_table.hpp"

#include "io/error.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>

namespace nunatak::tools {

namespace {

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

} // namespace

void OptionTable::add(const std::string& name, Target target, const std::string& unit, const std::string& doc, double min) {
  m_groups.back().entries.push_back({name, target, unit, doc, text_of(target), min});
}

void OptionTable::read(int argc, const char* const* argv) {
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    if (word == "-help" || word == "--help" || word == "-h") {
      m_help_wanted = true;
      continue;
    }
    if (!is_option(word)) throw Error("'" + word + "' on the command line belongs to no option (expected: -option value)");
    const Entry& entry = find(word.substr(1));
    if (std::holds_alternative<bool*>(entry.target)) {
      *std::get<bool*>(entry.target) = true;
      continue;
    }
    if (a + 1 == argc || is_option(argv[a + 1])) throw Error("option " + word + ": expected a value, found none");
    set(entry, argv[++a]);
  }
}

const OptionTable::Entry& OptionTable::find(const std::string& name) const {
  std::string nearest;
  std::size_t fewest = std::max<std::size_t>(3, name.size() / 3 + 1); // farther is no suggestion
  for (const Group& g : m_groups) {
    for (const Entry& entry : g.entries) {
      if (entry.name == name) return entry;
      const std::size_t n = io::edit_distance(name, entry.name);
      if (n < fewest) fewest = n, nearest = entry.name;
    }
  }
  throw Error("unknown option -" + name + (nearest.empty() ? "" : "; did you mean -" + nearest + "?") +
              " (-help lists all options)");
}

std::string OptionTable::text_of(const Target& target) {
  return std::visit(
      [](auto* value) -> std::string {
        std::ostringstream s;
        s << std::boolalpha << *value;
        return s.str();
      },
      target);
}

void OptionTable::set(const Entry& entry, const std::string& value) {
  const std::string what = "option -" + entry.name;
  if (std::holds_alternative<std::string*>(entry.target)) {
    if (value.empty()) throw Error(what + ": expected a value, found none");
    *std::get<std::string*>(entry.target) = value;
    return;
  }
  const double number = parse_quantity(value, entry.unit, what);
  const bool whole = std::holds_alternative<int*>(entry.target);
  const double most = whole ? std::numeric_limits<int>::max() : std::numeric_limits<double>::infinity();
  if (!(number >= entry.min && number <= most) || (whole && number != std::floor(number))) {
    std::ostringstream s;
    s << what << ": expected a " << (whole ? "whole number" : "value") << " of at least " << entry.min
      << (entry.unit.empty() ? "" : " ") << entry.unit << ", found '" << value << "'";
    throw Error(s.str());
  }
  if (whole) {
    *std::get<int*>(entry.target) = static_cast<int>(number);
  } else {
    *std::get<double*>(entry.target) = number;
  }
}

void OptionTable::print_help(std::ostream& out) const {
  out << m_title << "\n\n  " << m_example << "\n\nNumbers with a unit may be given in any unit that converts: -loggp_L 1.5us.\n";
  std::size_t width = 15;
  for (const Group& g : m_groups) {
    for (const Entry& entry : g.entries) width = std::max(width, entry.name.size() + 1);
  }
  for (const Group& g : m_groups) {
    out << "\n" << g.title << "\n";
    for (const Entry& entry : g.entries) {
      const std::string value = entry.default_text.empty() ? "none" : entry.default_text;
      out << "  -" << std::left << std::setw(static_cast<int>(width)) << entry.name << std::setw(10)
          << value + (entry.unit.empty() ? "" : " ") + entry.unit << "  " << entry.doc << "\n";
    }
  }
}

nlohmann::json OptionTable::to_json() const {
  nlohmann::json json;
  for (const Group& g : m_groups) {
    for (const Entry& entry : g.entries) std::visit([&](auto* value) { json[entry.name] = *value; }, entry.target);
  }
  return json;
}

} // namespace nunatak::tools
