#include "miniapp/base/option_table.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/world.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iostream>
#include <sstream>

namespace nunatak {

namespace {

template <class T>
T parse_number(const std::string& value, const std::string& unit, double min, double max,
               const std::string& what) {
  const double number = parse_quantity(value, unit, what);
  constexpr bool whole = std::is_integral_v<T>;
  const bool fits = !whole || (number == std::floor(number) && std::fabs(number) <= 2147483647.0);
  if (!fits || !(number >= min && number <= max)) {
    std::ostringstream s;
    s << what << ": expected a " << (whole ? "whole number" : "value");
    if (min > -HUGE_VAL) s << " of at least " << min;
    if (max < HUGE_VAL) s << (min > -HUGE_VAL ? " and at most " : " of at most ") << max;
    s << (unit.empty() ? "" : " ") << unit << ", found '" << value << "'";
    throw Error(s.str());
  }
  return static_cast<T>(number);
}

/// The parts into which a long word may be broken: it is cut after each |.
std::vector<std::string> parts_of(const std::string& word, std::size_t width) {
  std::vector<std::string> parts{""};
  for (const char c : word) {
    parts.back() += c;
    if (c == '|' && word.size() > width) parts.emplace_back();
  }
  return parts;
}

/// Prints `text` from column `at` on, and further lines from column `indent`.
void fold(std::ostream& out, const std::string& text, std::size_t at, std::size_t indent,
          std::size_t columns) {
  std::istringstream words(text);
  const std::size_t width = columns > indent ? columns - indent : 1;
  bool is_first = true;
  for (std::string word; words >> word;) {
    bool begins = !is_first; // only the first part is preceded by a blank
    for (const std::string& part : parts_of(word, width)) {
      if (at + (begins ? 1 : 0) + part.size() > columns && at > indent) {
        out << "\n" << std::string(indent, ' ');
        at = indent;
        begins = false;
      }
      out << (begins ? " " : "") << part;
      at += (begins ? 1 : 0) + part.size();
      begins = false;
      is_first = false;
    }
  }
  out << "\n";
}

} // namespace

std::size_t help_columns() {
  winsize size{};
  const bool is_terminal =
      isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_terminal ? std::max<std::size_t>(size.ws_col, 60) : 100;
}

template <class T>
Option number(const std::string& name, T& target, const std::string& unit, const std::string& doc,
              double min, double max) {
  const auto set = [&target, unit, min, max](const std::string& value, const std::string& what) {
    target = parse_number<T>(value, unit, min, max, what);
  };
  return {name, unit, doc, "", false, set, [&target] { return nlohmann::json(target); }};
}
template Option number(const std::string&, int&, const std::string&, const std::string&, double,
                       double);
template Option number(const std::string&, double&, const std::string&, const std::string&, double,
                       double);

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

std::string no_option(const std::string& word) {
  const bool two_dashes = word.size() > 2 && word[0] == '-' && is_option(word.substr(1));
  return "'" + word + "' on the command line belongs to no option (expected: -option value" +
         (two_dashes ? ", with one dash: " + word.substr(1) : "") + ")";
}

bool is_given(int argc, const char* const* argv, const std::string& word) {
  return std::find(argv + 1, argv + argc, word) != argv + argc;
}

std::string value_on_command_line(int argc, const char* const* argv, const std::string& name) {
  std::string value;
  for (int a = 1; a + 1 < argc; ++a) {
    if (argv[a] == "-" + name && !is_option(argv[a + 1])) value = argv[a + 1];
  }
  return value;
}

void OptionTable::add(Option option) {
  std::string default_text = option.value();
  m_rows.push_back({m_section, std::move(option), std::move(default_text)});
}

const Option* OptionTable::find(const std::string& name) const {
  for (const Row& row : m_rows) {
    if (row.option.name == name) return &row.option;
  }
  return nullptr;
}

std::string OptionTable::nearest_name(const std::string& name) const {
  std::vector<std::string> known{"help", "version"};
  for (const Row& row : m_rows) known.push_back(row.option.name);
  return nunatak::nearest_name(name, known);
}

void OptionTable::fail_unknown(const std::string& name) const {
  const std::size_t equal = name.find('=');
  if (equal != std::string::npos && knows(name.substr(0, equal))) {
    throw Error("unknown option -" + name + "; did you mean -" + name.substr(0, equal) + " " +
                name.substr(equal + 1) + "?");
  }
  const std::string near = nearest_name(name);
  throw Error("unknown option -" + name + (near.empty() ? "" : "; did you mean -" + near + "?") +
              " (-help lists all options)");
}

void OptionTable::set(const std::string& name, const std::string* value) {
  const Option* const option = find(name);
  if (option == nullptr) fail_unknown(name);
  const std::string what = "option -" + name;
  if (!option->is_flag && (value == nullptr || value->empty()))
    throw Error(what + ": expected a value, found none");
  option->set(value != nullptr ? *value : "yes", what);
  m_set.insert(name);
}

std::string OptionTable::value_text(const std::string& name) const {
  const Option& option = *find(name);
  return option.value() + (option.unit.empty() ? "" : " ") + option.unit;
}

bool OptionTable::answer(int argc, const char* const* argv, const Versions& more) const {
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    const bool help = word == "-help" || word == "--help" || word == "-h";
    if (!help && word != "-version" && word != "--version") continue;
    if (World().rank() != 0) return true;
    if (!help) {
      print_versions(std::cout, m_title.substr(0, m_title.find(':')), more);
    } else if (a + 1 < argc && std::string(argv[a + 1]) == "json") {
      std::cout << help_json().dump(2) << "\n";
    } else {
      print_help(std::cout);
    }
    return true;
  }
  return false;
}

bool OptionTable::read(int argc, const char* const* argv, std::vector<std::string>* arguments) {
  if (answer(argc, argv)) return false;
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    if (word == alone_option) continue;
    if (!is_option(word) && arguments != nullptr) {
      arguments->push_back(word);
      continue;
    }
    if (!is_option(word)) throw Error(no_option(word));
    const bool has_value = a + 1 < argc && !is_option(argv[a + 1]);
    const std::string value = has_value ? argv[++a] : "";
    set(word.substr(1), has_value ? &value : nullptr);
  }
  return true;
}

/// How defaults, units and switches are given, as far as the program has any.
std::string OptionTable::explanation() const {
  bool has_units = false;
  bool has_flags = false;
  for (const Row& row : m_rows) {
    has_units |= !row.option.unit.empty();
    has_flags |= row.option.is_flag;
  }
  return std::string("The value after the name of an option is its default (none: no value). ") +
         (has_units ? units_in_words() : "") +
         (has_flags ? " An option whose default is yes or no is a switch: alone it means yes, "
                      "otherwise give yes, true, on, 1 or no, false, off, 0."
                    : "") +
         " -alone: this process runs by itself, although a launcher has started several.";
}

void OptionTable::print_title(std::ostream& out) const {
  out << m_title << "\n\n  " << m_example << "\n\n";
}

void OptionTable::print_start() const {
  if (World().rank() != 0) return;
  print_title(std::cout);
  std::cout << "-help lists all options, -version the libraries of this program.\n";
}

void OptionTable::print_help(std::ostream& out, std::size_t columns) const {
  print_title(out);
  fold(out, explanation(), 0, 0, columns);
  std::size_t widest = 15;
  for (const Row& row : m_rows) widest = std::max(widest, row.option.name.size() + 1);
  const std::size_t values = 3 + widest, docs = values + 14; // columns at which they begin
  std::string section;
  for (const Row& row : m_rows) {
    if (row.section != section) {
      section = row.section;
      out << "\n";
      fold(out, section, 0, 2, columns);
    }
    const Option& o = row.option;
    const std::string value = (row.default_text.empty() ? "none" : row.default_text) +
                              (o.unit.empty() ? "" : " ") + o.unit;
    std::string line = "  -" + o.name;
    line.resize(values, ' ');
    line += value;
    if (line.size() + 2 > docs) { // too long for its column
      out << line << "\n";
      line.clear();
    }
    line.resize(docs, ' ');
    out << line;
    fold(out, o.doc + (o.values.empty() ? "" : ": ") + o.values, docs, docs, columns);
  }
  if (!m_notes.empty()) out << "\n";
  for (const std::string& line : m_notes) out << line << "\n";
}

nlohmann::ordered_json OptionTable::help_json() const {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const Row& row : m_rows) {
    options.push_back({{"section", row.section},
                       {"name", row.option.name},
                       {"default", row.default_text},
                       {"unit", row.option.unit},
                       {"description", row.option.doc},
                       {"values", row.option.values},
                       {"switch", row.option.is_flag}});
  }
  return {{"title", m_title},
          {"example", m_example},
          {"explanation", explanation()},
          {"options", options},
          {"notes", m_notes}};
}

nlohmann::json OptionTable::to_json() const {
  nlohmann::json json;
  for (const Row& row : m_rows) json[row.option.name] = row.option.get();
  return json;
}

} // namespace nunatak
