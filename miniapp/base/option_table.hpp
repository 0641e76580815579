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

#include <nlohmann/json.hpp>

#include <functional>
#include <iosfwd>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace nunatak {

/// A row, made by number(), word(), ... below. The bound variable must outlive the table.
struct Option {
  std::string name, unit, doc;
  std::string words; ///< admissible values, printed after `doc`
  bool is_flag;      ///< may be given without a value, which means "yes"
  /// `what` begins the text of an Error.
  std::function<void(const std::string& value, const std::string& what)> set;
  std::function<nlohmann::json()> get;
};

constexpr double no_bound = std::numeric_limits<double>::infinity();

/// `T`: int or double; `unit`: "" for none.
template <class T>
Option number(const std::string& name, T& target, const std::string& unit, const std::string& doc,
              double min = -no_bound, double max = no_bound);
/// One of the values in `words`, which are separated by |.
Option word(const std::string& name, std::string& target, const std::string& words,
            const std::string& doc);
Option text(const std::string& name, std::string& target, const std::string& doc);
Option flag(const std::string& name, bool& target, const std::string& doc);
/// A bool with two named values, `yes` and `no`.
Option one_of_two(const std::string& name, bool& target, const std::string& yes,
                  const std::string& no, const std::string& doc);

/// Columns of standard output: the terminal's width (at least 60), or 100.
std::size_t help_columns();

class OptionTable {
public:
  OptionTable(std::string title, std::string example)
      : m_title(std::move(title)), m_example(std::move(example)) {}

  void section(const std::string& title) { m_sections.push_back({title, {}}); }
  void add(Option option);

  /// Reads the command line. False after -help, which rank 0 prints. `words` collects positional
  /// arguments; without it they are errors. Throws Error naming the option, expected and found
  /// value.
  [[nodiscard]] bool read(int argc, const char* const* argv,
                          std::vector<std::string>* words = nullptr);

  /// Sets one option; `value` is nullptr for a flag that stands alone. Errors as in read().
  void set(const std::string& name, const std::string* value);
  bool knows(const std::string& name) const { return find(name) != nullptr; }
  const std::set<std::string>& names_set() const { return m_set; } ///< options set so far
  /// The known option closest to `name`, for suggestions; "" if none is close.
  std::string nearest_name(const std::string& name) const;
  [[noreturn]] void fail_unknown(const std::string& name) const;

  /// Prints all options with defaults and descriptions, in lines of at most `columns` if possible.
  void print_help(std::ostream& out, std::size_t columns = help_columns()) const;
  nlohmann::json to_json() const; ///< all options with their values

private:
  struct Row {
    Option option;
    std::string default_text;
  };
  struct Section {
    std::string title;
    std::vector<Row> rows;
  };
  const Option* find(const std::string& name) const;
  void print_introduction(std::ostream& out, std::size_t columns) const;

  std::string m_title, m_example;
  std::vector<Section> m_sections;
  std::set<std::string> m_set;
};

/// True if this argument is the name of an option rather than a value such as -3.
bool is_option(const std::string& word);
/// The error text for an argument that is neither an option nor the value of one.
std::string no_option(const std::string& word);

/// The value of an option before a table is filled; "" if absent. For -io_transport, because output
/// servers fill no table. io/async/client.cpp checks that the table agrees.
std::string value_on_command_line(int argc, const char* const* argv, const std::string& name);

} // namespace nunatak
