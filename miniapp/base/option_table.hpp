// The options of a tool: each is bound to a variable, which holds its default until the command line is read.
//
//   OptionTable table("nunatak-x: does x", "nunatak-x -mask full");
//   table.group("Grid");
//   table.add("grid_Mx", options.Mx, "", "cells along x", 1);
//   table.read(argc, argv);
//
// The manners are those of the model's options (miniapp/model/options.hpp): numbers with a unit in any unit that converts, -help
// prints the table, an unknown option is an error. PETSc has no part in it: its names do not tell -loggp_g from -loggp_G.
#pragma once

#include <nlohmann/json.hpp>

#include <iosfwd>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace nunatak::tools {

class OptionTable {
public:
  using Target = std::variant<bool*, int*, double*, std::string*>;

  OptionTable(std::string title, std::string example) : m_title(std::move(title)), m_example(std::move(example)) {}

  /// Those that are added from now on stand under this title.
  void group(const std::string& title) { m_groups.push_back({title, {}}); }

  /// `target` must outlive the table. `unit`: of numbers, "" if none. A bool is true if the option is there.
  void add(const std::string& name, Target target, const std::string& unit, const std::string& doc,
           double min = -std::numeric_limits<double>::infinity());

  /// Throws Error that names the option, what was expected and what was found; for an unknown name it suggests the nearest.
  /// -help is understood: see help_wanted().
  void read(int argc, const char* const* argv);

  bool help_wanted() const { return m_help_wanted; }
  void print_help(std::ostream& out) const;
  nlohmann::json to_json() const; ///< all options with their values

private:
  struct Entry {
    std::string name;
    Target target;
    std::string unit, doc, default_text;
    double min;
  };
  struct Group {
    std::string title;
    std::vector<Entry> entries;
  };

  const Entry& find(const std::string& name) const;
  static std::string text_of(const Target& target);
  static void set(const Entry& entry, const std::string& value);

  std::string m_title, m_example;
  std::vector<Group> m_groups;
  bool m_help_wanted = false;
};

} // namespace nunatak::tools
