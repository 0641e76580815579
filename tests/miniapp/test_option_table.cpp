// The table of options: the example of its header, values, errors, help.
#include "miniapp/base/io_options.hpp"
#include "miniapp/base/option_table.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sstream>

using namespace nunatak;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Values {
  int columns = 201;
  double dx = 1000.0;
  bool compare = false, verbose = true;
  std::string solver = "bfs", output;
};

OptionTable table_of(Values& v) {
  OptionTable table("nunatak-x: what it does", "nunatak-x -grid_Mx 101 -compare");
  table.section("Grid");
  table.add(number("grid_Mx", v.columns, "", "number of columns", 1));
  table.add(number("grid_dx", v.dx, "m", "width of a cell", 1e-6, 1e6));
  table.section("Other");
  table.add(flag("compare", v.compare, "comparison with a reference solver"));
  table.add(flag("verbose", v.verbose, "one line per step"));
  table.add(choice("solver", v.solver, "bfs|sweep", "distance solver"));
  table.add(text("o", v.output, "file of the result"));
  return table;
}

Values values_of(std::vector<const char*> words) {
  Values v;
  words.insert(words.begin(), "nunatak-x");
  const bool no_help =
      table_of(v).read(static_cast<int>(words.size()), words.data()); // outside of CHECK: may throw
  CHECK(no_help);
  return v;
}

} // namespace

TEST_CASE("options: values of every kind, units converted") {
  const Values v = values_of({"-grid_dx", "16km", "-compare", "-grid_Mx", "7", "-verbose", "no",
                              "-solver", "sweep", "-o", "-3.nc"});
  CHECK(v.columns == 7);
  CHECK(v.dx == 16000.0);
  CHECK(v.compare);
  CHECK_FALSE(v.verbose);
  CHECK(v.solver == "sweep");
  CHECK(v.output == "-3.nc");
  CHECK(values_of({"-o", "none"}).output.empty()); // as help shows it
}

TEST_CASE("options: a switch is on or off in any of four words, of the model and of output") {
  const auto check = [](const std::string& word, bool on) {
    CHECK(values_of({"-compare", word.c_str()}).compare == on);
    CHECK(io::parse_method("direct/ompio=" + word, {}).ompio == on);
  };
  for (const char* word : {"yes", "true", "on", "1", "TRUE", "On"}) check(word, true);
  for (const char* word : {"no", "false", "off", "0", "False", "OFF"}) check(word, false);
  CHECK_THROWS_WITH(io::parse_method("direct/ompio=always", {}),
                    ContainsSubstring("ompio: expected yes or no, found 'always'"));
}

TEST_CASE("options: bytes that are chosen by the program are called auto") {
  io::Options options;
  OptionTable table("nunatak-x: what it does", "nunatak-x");
  add_io_options(table, options);
  for (const std::string name : {"io_buffer", "io_stripe"}) {
    CHECK(table.to_json()[name] == "auto");
    const std::string size = "64KiB", none = "auto";
    table.set(name, &size);
    CHECK(table.to_json()[name] == size);
    table.set(name, &none);
    CHECK(table.to_json()[name] == "auto");
  }
  CHECK((options.buffer == 0 && options.stripe == 0));
  const std::string soon = "20s", later = "10min", odd = "20 parsecs";
  table.set("io_patience", &soon);
  CHECK((options.patience == 20.0 && table.to_json()["io_patience"] == soon));
  table.set("io_patience", &later);
  CHECK((options.patience == 600.0 && table.to_json()["io_patience"] == "600s"));
  CHECK_THROWS_WITH(table.set("io_patience", &odd),
                    ContainsSubstring("option -io_patience: expected a time such as"));
  const std::string none = "auto";
  CHECK_THROWS_WITH(table.set("io_pool", &none),
                    ContainsSubstring("option -io_pool: expected a number of bytes"));
}

TEST_CASE("options: an error says what was expected and what was found") {
  const auto refused = [](std::vector<const char*> words, const std::string& message) {
    CHECK_THROWS_WITH(values_of(std::move(words)), ContainsSubstring(message));
  };
  refused({"-grid_Mx", "0"}, "option -grid_Mx: expected a whole number of at least 1, found '0'");
  refused({"-grid_Mx", "2.5"},
          "option -grid_Mx: expected a whole number of at least 1, found '2.5'");
  refused({"-grid_Mx", "3e9"}, "expected a whole number");
  refused({"-grid_dx", "2e6"},
          "option -grid_dx: expected a value of at least 1e-06 and at most 1e+06 m, found '2e6'");
  refused({"-grid_dx", "3s"}, "option -grid_dx: units 's' cannot be converted to 'm'");
  refused({"-grid_Mx"}, "option -grid_Mx: expected a value, found none");
  refused({"-compare", "perhaps"}, "option -compare: expected yes or no, found 'perhaps'");
  refused({"-solver", "dfs"}, "option -solver: expected one of bfs|sweep, found 'dfs'");
  refused({"-sovler", "bfs"}, "unknown option -sovler; did you mean -solver?");
  refused({"bfs"}, "'bfs' on the command line belongs to no option (expected: -option value)");
  refused({"--solver", "bfs"}, "'--solver' on the command line belongs to no option (expected: "
                               "-option value, with one dash: -solver)");
  refused({"-solver=bfs"}, "unknown option -solver=bfs; did you mean -solver bfs?");
  refused({"-helpp"}, "unknown option -helpp; did you mean -help?");
}

TEST_CASE("options: help has the defaults, JSON the values; the table knows what was set") {
  Values v;
  OptionTable table = table_of(v);
  const std::string value = "5";
  table.set("grid_Mx", &value);
  CHECK(table.names_set() == std::set<std::string>{"grid_Mx"});
  CHECK(table.to_json()["grid_Mx"] == 5);
  CHECK(table.to_json()["solver"] == "bfs");
  std::ostringstream help;
  table.print_help(help);
  CHECK_THAT(help.str(), ContainsSubstring("-grid_Mx") && ContainsSubstring("201") &&
                             ContainsSubstring("distance solver: bfs|sweep"));
}

TEST_CASE("options: what a table will read is known before there is one") {
  const auto value = [](std::vector<const char*> words) {
    words.insert(words.begin(), "nunatak-x");
    return value_on_command_line(static_cast<int>(words.size()), words.data(), "solver");
  };
  CHECK(value({"-grid_Mx", "7", "-solver", "sweep"}) == "sweep");
  CHECK(value({"-solver", "sweep", "-solver", "bfs"}) == "bfs"); // as in a table
  CHECK(value({"-solver", "-compare"}).empty());
  CHECK(value({"-solver"}).empty());
  CHECK(value({"-solver2", "sweep"}).empty());
}
