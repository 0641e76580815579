#include "miniapp/base/option_table.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/world.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace nunatak {

namespace {

bool is_one_of(const std::string& word, const std::string& words) {
  return ("|" + words + "|").find("|" + word + "|") != std::string::npos;
}

std::string text_of(const Option& option) {
  std::ostringstream s;
  std::visit(
      [&](const auto& target) {
        using T = std::decay_t<decltype(target)>;
        if constexpr (std::is_same_v<T, Option::Setting>) {
          s << target.get();
        } else if constexpr (std::is_same_v<T, bool*>) {
          s << (*target ? "yes" : "no");
        } else {
          s << *target;
        }
      },
      option.target);
  return s.str();
}

void assign(bool& target, const Option&, const std::string* value, const std::string& what) {
  target = value == nullptr || io::parse_switch(*value, what);
}

void assign(std::string& target, const Option& option, const std::string* value,
            const std::string& what) {
  if (!option.words.empty() && !is_one_of(*value, option.words)) {
    throw Error(what + ": expected one of " + option.words + ", found '" + *value + "'");
  }
  target = *value;
}

template <class T>
void assign(T& target, const Option& option, const std::string* value, const std::string& what) {
  const double number = parse_quantity(*value, option.unit, what);
  const bool whole = std::is_same_v<T, int>,
             fits = !whole || (number == std::floor(number) && std::fabs(number) <= 2147483647.0);
  if (!fits || !(number >= option.min && number <= option.max)) {
    std::ostringstream s;
    s << what << ": expected a " << (whole ? "whole number" : "value");
    if (option.min > -HUGE_VAL) s << " of at least " << option.min;
    if (option.max < HUGE_VAL)
      s << (option.min > -HUGE_VAL ? " and at most " : " of at most ") << option.max;
    s << (option.unit.empty() ? "" : " ") << option.unit << ", found '" << *value << "'";
    throw Error(s.str());
  }
  target = static_cast<T>(number);
}

bool is_flag(const Option& option) {
  const auto* const own = std::get_if<Option::Setting>(&option.target);
  return own != nullptr ? own->is_flag : std::holds_alternative<bool*>(option.target);
}

/// Where a word may be broken if a line cannot hold it: after each |.
std::vector<std::string> parts_of(const std::string& word, std::size_t room) {
  std::vector<std::string> parts{""};
  for (const char c : word) {
    parts.back() += c;
    if (c == '|' && word.size() > room) parts.emplace_back();
  }
  return parts;
}

/// Prints `text` from column `at` on, and further lines from column `indent`.
void fold(std::ostream& out, const std::string& text, std::size_t at, std::size_t indent,
          std::size_t columns) {
  std::istringstream words(text);
  const std::size_t room = columns > indent ? columns - indent : 1;
  bool is_first = true;
  for (std::string word; words >> word;) {
    bool begins = !is_first; // a word has a blank before it, its parts have none
    for (const std::string& part : parts_of(word, room)) {
      if (at + (begins ? 1 : 0) + part.size() > columns && at > indent) {
        out << "\n" << std::string(indent, ' ');
        at = indent, begins = false;
      }
      out << (begins ? " " : "") << part;
      at += (begins ? 1 : 0) + part.size(), begins = is_first = false;
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

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         std::isalpha(static_cast<unsigned char>(word[1])) != 0;
}

std::string no_option(const std::string& word) {
  const bool two_dashes = word.size() > 2 && word[0] == '-' && is_option(word.substr(1));
  return "'" + word + "' on the command line belongs to no option (expected: -option value" +
         (two_dashes ? ", with one dash: " + word.substr(1) : "") + ")";
}

std::string value_on_command_line(int argc, const char* const* argv, const std::string& name) {
  std::string value;
  for (int a = 1; a + 1 < argc; ++a) {
    if (argv[a] == "-" + name && !is_option(argv[a + 1])) value = argv[a + 1];
  }
  return value;
}

void OptionTable::add(Option option) {
  const std::string default_text = text_of(option);
  m_sections.back().rows.push_back({std::move(option), default_text});
}

const Option* OptionTable::find(const std::string& name) const {
  for (const Section& section : m_sections) {
    for (const Row& row : section.rows) {
      if (row.option.name == name) return &row.option;
    }
  }
  return nullptr;
}

std::string OptionTable::nearest_name(const std::string& name) const {
  std::vector<std::string> known{"help"};
  for (const Section& section : m_sections) {
    for (const Row& row : section.rows) known.push_back(row.option.name);
  }
  return io::nearest_name(name, known);
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
  if (!is_flag(*option) && (value == nullptr || value->empty()))
    throw Error(what + ": expected a value, found none");
  std::visit(
      [&](const auto& target) {
        if constexpr (std::is_same_v<std::decay_t<decltype(target)>, Option::Setting>) {
          target.set(value != nullptr ? *value : "yes", what);
        } else {
          assign(*target, *option, value, what);
        }
      },
      option->target);
  m_set.insert(name);
}

bool OptionTable::read(int argc, const char* const* argv, std::vector<std::string>* words) {
  for (int a = 1; a < argc; ++a) {
    const std::string word = argv[a];
    if (word == "-help" || word == "--help" || word == "-h") {
      if (World().rank() == 0) print_help(std::cout);
      return false;
    }
    if (!is_option(word) && words != nullptr) {
      words->push_back(word);
      continue;
    }
    if (!is_option(word)) throw Error(no_option(word));
    const bool has_value = a + 1 < argc && !is_option(argv[a + 1]);
    const std::string value = has_value ? argv[++a] : "";
    set(word.substr(1), has_value ? &value : nullptr);
  }
  return true;
}

void OptionTable::print_introduction(std::ostream& out, std::size_t columns) const {
  bool has_units = false, has_flags = false;
  for (const Section& section : m_sections) {
    for (const Row& row : section.rows)
      has_units |= !row.option.unit.empty(), has_flags |= is_flag(row.option);
  }
  out << m_title << "\n\n  " << m_example << "\n\n";
  fold(out,
       std::string("What stands after the name of an option is its default (none: no value). ") +
           (has_units ? units_in_words() : "") +
           (has_flags ? " An option whose default is yes or no is a switch: yes where it stands "
                        "alone, else as it is told by yes, "
                        "true, on, 1 or no, false, off, 0."
                      : ""),
       0, 0, columns);
}

void OptionTable::print_help(std::ostream& out, std::size_t columns) const {
  print_introduction(out, columns);
  std::size_t widest = 15;
  for (const Section& section : m_sections) {
    for (const Row& row : section.rows) widest = std::max(widest, row.option.name.size() + 1);
  }
  const std::size_t values = 3 + widest, docs = values + 14; // columns where they begin
  for (const Section& section : m_sections) {
    out << "\n";
    fold(out, section.title, 0, 2, columns);
    for (const Row& row : section.rows) {
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
      fold(out, o.doc + (o.words.empty() ? "" : ": ") + o.words, docs, docs, columns);
    }
  }
}

nlohmann::json OptionTable::to_json() const {
  nlohmann::json json;
  for (const Section& section : m_sections) {
    for (const Row& row : section.rows) {
      std::visit(
          [&](const auto& target) {
            if constexpr (std::is_same_v<std::decay_t<decltype(target)>, Option::Setting>) {
              json[row.option.name] = target.get();
            } else {
              json[row.option.name] = *target;
            }
          },
          row.option.target);
    }
  }
  return json;
}

} // namespace nunatak
