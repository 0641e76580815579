// The options of a program: a table of rows, each bound to a variable that holds the default.
//
//   int columns = 201;
//   bool compare = false;
//   OptionTable table("nunatak-x: what it does", "nunatak-x -grid_Mx 101 -compare");
//   table.section("Grid");
//   table.add(number("grid_Mx", columns, "", "number of columns", 1));
//   table.add(flag("compare", compare, "comparison with a reference solver"));
//   table.read(argc, argv);
//
// Numbers with a unit may be given in any convertible unit (-grid_dx 16km). A flag alone is true,
// or takes a value (-compare no). An unknown option is an Error that suggests the nearest name.
// tests/miniapp/test_option_table.cpp builds this example.
#pragma once

#include "common/option.hpp"
#include "miniapp/base/version.hpp"

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace nunatak {

constexpr double no_bound = std::numeric_limits<double>::infinity();

/// A row besides those of common/option.hpp. `T`: int or double; `unit`: "" for none.
template <class T>
Option number(const std::string& name, T& target, const std::string& unit, const std::string& doc,
              double min = -no_bound, double max = no_bound);
/// Columns of standard output: the terminal's width (at least 60), or 100.
std::size_t help_columns();

class OptionTable {
public:
  /// `title`: "nunatak-x: what it does".
  OptionTable(std::string title, std::string example)
      : m_title(std::move(title)), m_example(std::move(example)) {}

  void section(const std::string& title) { m_section = title; }
  void add(Option option);
  /// Lines that -help prints after the options.
  void notes(std::vector<std::string> lines) { m_notes = std::move(lines); }

  /// Answers -help, -help json (for scripts) and -version, which may stand anywhere: rank 0 prints.
  /// False if none of them is there. `more`: libraries of this program besides those of versions().
  bool answer(int argc, const char* const* argv, const Versions& more = {}) const;

  /// Reads the command line. False after answer(). `arguments` collects positional ones;
  /// without it they are errors. Throws Error naming the option, expected and found value.
  [[nodiscard]] bool read(int argc, const char* const* argv,
                          std::vector<std::string>* arguments = nullptr);

  /// Sets one option; `value` is nullptr for a flag that stands alone. Errors as in read().
  void set(const std::string& name, const std::string* value);
  bool knows(const std::string& name) const { return find(name) != nullptr; }
  std::string value_text(const std::string& name) const; ///< "16000 m"; of a known option
  const std::string& values(const std::string& name) const { return find(name)->values; }
  const std::set<std::string>& names_set() const { return m_set; } ///< options set so far
  /// The known option closest to `name`, for suggestions; "" if none is close.
  std::string nearest_name(const std::string& name) const;
  [[noreturn]] void fail_unknown(const std::string& name) const;

  /// Where nothing is asked: rank 0 prints what the program is, an example, and the way to help.
  void print_start() const;
  /// Prints all options with defaults and descriptions, in lines of at most `columns` if possible.
  void print_help(std::ostream& out, std::size_t columns = help_columns()) const;
  nlohmann::json to_json() const; ///< all options with their values

private:
  struct Row {
    std::string section;
    Option option;
    std::string default_text;
  };
  const Option* find(const std::string& name) const;
  void print_title(std::ostream& out) const;
  std::string explanation() const;
  nlohmann::ordered_json help_json() const;

  std::string m_title, m_example, m_section;
  std::vector<Row> m_rows;
  std::vector<std::string> m_notes;
  std::set<std::string> m_set;
};

/// True if this argument is the name of an option rather than a value such as -3.
bool is_option(const std::string& word);
/// The error text for an argument that is neither an option nor the value of one.
std::string no_option(const std::string& word);

/// Every program accepts it: the process runs alone although a launcher has started several.
constexpr const char* alone_option = "-alone";
bool is_given(int argc, const char* const* argv, const std::string& word);

/// The value of an option before a table is filled; "" if absent. For -io_transport, because output
/// servers fill no table. io/write/async_file.cpp checks that the table agrees.
std::string value_on_command_line(int argc, const char* const* argv, const std::string& name);

} // namespace nunatak
