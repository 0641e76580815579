#include "miniapp/base/option_table.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/world.hpp"

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
  s << std::boolalpha;
  std::visit(
      [&](const auto& target) {
        if constexpr (std::is_same_v<std::decay_t<decltype(target)>, Option::Setting>) {
          s << target.get();
        } else {
          s << *target;
        }
      },
      option.target);
  return s.str();
}

void assign(bool& target, const Option&, const std::string* value, const std::string& what) {
  if (value == nullptr || is_one_of(*value, "true|yes|on|1")) {
    target = true;
  } else if (is_one_of(*value, "false|no|off|0")) {
    target = false;
  } else {
    throw Error(what + ": expected true or false, found '" + *value + "'");
  }
}

void assign(std::string& target, const Option& option, const std::string* value, const std::string& what) {
  if (!option.words.empty() && !is_one_of(*value, option.words)) {
    throw Error(what + ": expected one of " + option.words + ", found '" + *value + "'");
  }
  target = *value;
}

template <class T> void assign(T& target, const Option& option, const std::string* value, const std::string& what) {
  const double number = parse_quantity(*value, option.unit, what);
  const bool whole = std::is_same_v<T, int>, fits = !whole || (number == std::floor(number) && std::fabs(number) <= 2147483647.0);
  if (!fits || !(number >= option.min && number <= option.max)) {
    std::ostringstream s;
    s << what << ": expected a " << (whole ? "whole number" : "value");
    if (option.min > -HUGE_VAL) s << " of at least " << option.min;
    if (option.max < HUGE_VAL) s << (option.min > -HUGE_VAL ? " and at most " : " of at most ") << option.max;
    s << (option.unit.empty() ? "" : " ") << option.unit << ", found '" << *value << "'";
    throw Error(s.str());
  }
  target = static_cast<T>(number);
}

} // namespace

Option count_or_auto(const std::string& name, std::optional<std::int64_t>& target, const std::string& doc) {
  const auto set = [&target, name](const std::string& value, const std::string& what) {
    int count = 0;
    if (value != "auto") assign(count, number(name, count, "", "", 0), &value, what + " (a number, or auto)");
    target = value == "auto" ? std::nullopt : std::optional<std::int64_t>(count);
  };
  const auto get = [&target] { return target ? std::to_string(*target) : std::string("auto"); };
  return setting(name, {set, get, false}, "", doc);
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
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

void OptionTable::fail_unknown(const std::string& name) const {
  std::vector<std::string> known;
  for (const Section& section : m_sections) {
    for (const Row& row : section.rows) known.push_back(row.option.name);
  }
  const std::string nearest = io::nearest_name(name, known);
  throw Error("unknown option -" + name + (nearest.empty() ? "" : "; did you mean -" + nearest + "?") +
              " (-help lists all options)");
}

void OptionTable::set(const std::string& name, const std::string* value) {
  const Option* const option = find(name);
  if (option == nullptr) fail_unknown(name);
  const std::string what = "option -" + name;
  const auto* const own = std::get_if<Option::Setting>(&option->target);
  const bool is_flag = own != nullptr ? own->is_flag : std::holds_alternative<bool*>(option->target);
  if (!is_flag && (value == nullptr || value->empty())) throw Error(what + ": expected a value, found none");
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
    if (!is_option(word)) throw Error("'" + word + "' on the command line belongs to no option (expected: -option value)");
    const bool has_value = a + 1 < argc && !is_option(argv[a + 1]);
    const std::string value = has_value ? argv[++a] : "";
    set(word.substr(1), has_value ? &value : nullptr);
  }
  return true;
}

void OptionTable::print_help(std::ostream& out) const {
  out << m_title << "\n\n  " << m_example << "\n\nNumbers with a unit may be given in any unit that converts: 16km, 1.5us.\n";
  std::size_t widest = 15;
  for (const Section& section : m_sections) {
    for (const Row& row : section.rows) widest = std::max(widest, row.option.name.size() + 1);
  }
  const int width = static_cast<int>(widest);
  for (const Section& section : m_sections) {
    out << "\n" << section.title << "\n";
    for (const Row& row : section.rows) {
      const Option& o = row.option;
      const std::string value = row.default_text.empty() ? "none" : row.default_text;
      out << "  -" << std::left << std::setw(width) << o.name << std::setw(12) << value + (o.unit.empty() ? "" : " ") + o.unit
          << "  " << o.doc << (o.words.empty() ? "" : ": ") << o.words << "\n";
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
