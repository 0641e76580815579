// The options of a program: one table of rows, each bound to a variable that holds its default
// until options are read.
//
//   int columns = 201;
//   bool compare = false;
//   OptionTable table("nunatak-x: what it does", "nunatak-x -grid_Mx 101 -compare");
//   table.section("Grid");
//   table.add(number("grid_Mx", columns, "", "number of columns", 1));
//   table.add(flag("compare", compare, "comparison with a reference solver"));
//   table.read(argc, argv);
//
// Numbers with a unit may be given in any unit that converts (-grid_dx 16km); a flag alone is true,
// or has a value (-compare no). An unknown option is an Error that suggests the nearest name.
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

/// A row: made by number(), word(), ... below. The variable that it is bound to must outlive the
/// table.
struct Option {
  std::string name, unit, doc;
  std::string words; ///< printed after `doc`: what the value may be
  bool is_flag;      ///< may stand alone: "yes"
  /// `what` begins the text of an Error.
  std::function<void(const std::string& value, const std::string& what)> set;
  std::function<nlohmann::json()> get;
};

constexpr double no_bound = std::numeric_limits<double>::infinity();

/// `T`: int or double; `unit`: "" if it has none.
template <class T>
Option number(const std::string& name, T& target, const std::string& unit, const std::string& doc,
              double min = -no_bound, double max = no_bound);
/// One of `words`, which are separated by |.
Option word(const std::string& name, std::string& target, const std::string& words,
            const std::string& doc);
Option text(const std::string& name, std::string& target, const std::string& doc);
Option flag(const std::string& name, bool& target, const std::string& doc);
/// A bool that is `yes` or `no`, two words.
Option one_of_two(const std::string& name, bool& target, const std::string& yes,
                  const std::string& no, const std::string& doc);

/// Columns of standard output: of the terminal (at least 60), or 100.
std::size_t help_columns();

class OptionTable {
public:
  OptionTable(std::string title, std::string example)
      : m_title(std::move(title)), m_example(std::move(example)) {}

  /// Options that are added from now on stand under this title.
  void section(const std::string& title) { m_sections.push_back({title, {}}); }
  void add(Option option);

  /// The command line. Throws Error that names the option, what was expected and what was found.
  /// -help prints the table to standard output of rank 0; then the result is false, and the program
  /// has nothing more to do. `words` takes words that belong to no option; without it they are an
  /// error.
  [[nodiscard]] bool read(int argc, const char* const* argv,
                          std::vector<std::string>* words = nullptr);

  /// One option; `value` is nullptr for a flag that stands alone. The same errors.
  void set(const std::string& name, const std::string* value);
  bool knows(const std::string& name) const { return find(name) != nullptr; }
  const std::set<std::string>& names_set() const { return m_set; } ///< of the options that were set
  /// The option that was perhaps meant; "" if none is near.
  std::string nearest_name(const std::string& name) const;
  [[noreturn]] void fail_unknown(const std::string& name) const;

  /// All options with defaults and descriptions, in lines of at most `columns` where words allow
  /// it.
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

/// Is this word of a command line the name of an option, and no value such as -3?
bool is_option(const std::string& word);
/// What is wrong with a word that is neither an option nor the value of one.
std::string no_option(const std::string& word);

/// The value of an option that has to be known before a table is filled; "" if the command line
/// does not have it. Used for -io_transport: the model's table is filled after PETSc starts, and
/// output servers do not start it. io/async/client.cpp checks that the table says the same.
std::string value_on_command_line(int argc, const char* const* argv, const std::string& name);

} // namespace nunatak
