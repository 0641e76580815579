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

#include "miniapp/base/version.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <iosfwd>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace nunatak {

/// A row, made by number(), choice(), ... below. The bound variable must outlive the table.
struct Option {
  std::string name, unit, doc;
  std::string values; ///< admissible ones, separated by |, printed after `doc`
  bool is_flag;       ///< may be given without a value, which means "yes"
  /// `what` begins the text of an Error.
  std::function<void(const std::string& value, const std::string& what)> set;
  std::function<nlohmann::json()> get;
};

constexpr double no_bound = std::numeric_limits<double>::infinity();

/// `T`: int or double; `unit`: "" for none.
template <class T>
Option number(const std::string& name, T& target, const std::string& unit, const std::string& doc,
              double min = -no_bound, double max = no_bound);
/// One of `values`, which are separated by |.
Option choice(const std::string& name, std::string& target, const std::string& values,
              const std::string& doc);
/// Without a value it is empty, for which "none" stands in help and may be given: no file of -o
/// none.
Option text(const std::string& name, std::string& target, const std::string& doc);
Option flag(const std::string& name, bool& target, const std::string& doc);
/// A bool with two named values, `yes` and `no`.
Option one_of_two(const std::string& name, bool& target, const std::string& yes,
                  const std::string& no, const std::string& doc);

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

/// Throws Error, which begins with `what`, unless `value` is one of `values`, separated by |.
void require_one_of(const std::string& values, const std::string& value, const std::string& what);

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
