#include "miniapp/tools/io/bench_options.hpp"

#include "io/registry.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/io_options.hpp"
#include "miniapp/base/words.hpp"

namespace nunatak::tools {

namespace {

/// Hints and chunks contain commas: an item that begins with name=value continues the previous
/// method.
std::vector<std::string> list_of_ways(const std::string& text) {
  std::vector<std::string> ways;
  for (const std::string& word : split(text, ',')) {
    const bool goes_on = word.substr(0, word.find('/')).find('=') != std::string::npos;
    if (goes_on && !ways.empty()) {
      ways.back() += "," + word;
    } else {
      ways.push_back(word);
    }
  }
  return ways;
}

std::string known_order(const std::string& order, const std::string& what) {
  if (order == "yxz" || order == "zyx") return order;
  throw Error(what + ": expected yxz or zyx, found '" + order + "'");
}

} // namespace

void BenchOptions::add_to(OptionTable& table) {
  table.section("What is written");
  table.add(text("workload", workload, "model and size, see below"));
  table.add(number("scale", scale, "", "factor of horizontal lengths; odd ones stay odd"));
  table.add(flag("scale_levels", scale_levels,
                 "the factor of -scale is applied to the number of levels, too"));
  table.add(
      number("variables", variables, "", "number of variables, evenly from the list (0: all)", 0));
  table.add(number("records", records, "", "records per file", 1));
  table.add(
      number("compute", compute, "s", "synthetic computation between records, not counted", 0.0));
  table.section("How");
  table.add(text("ways", ways,
                 "methods of output that take turns, a list: format/layout/name=value/..., where a "
                 "name is one of the options "
                 "-io_... without io_, as in direct,netcdf4/zslab/deflate=1/order=zyx; what a "
                 "method does not say is as these "
                 "options say (none: one method, as they say)"));
  table.add(number("repeat", repeat, "",
                   "turns that count, after one that is dropped; 1: that one is not dropped", 1));
  table.add(word(
      "io_order", order, "yxz|zyx",
      "order of dimensions in the file, levels fastest or slowest (none: the workload's own)"));
  add_io_options(table, io);
  table.section("Reading");
  table.add(text("read", read,
                 "methods of reading each file again: no, or a list of " + io::reader_words()));
  table.add(word("verify", verify, "first|all|no",
                 "comparison of every value that is read: of the first turn, of all, or none"));
  table.section("Where");
  table.add(
      text("o", folder, "folder; the files are in its folder nunatak-io.files, which is removed"));
  table.add(flag("keep", keep, "the files of the last turn stay there"));
  table.add(text("report", json, "JSON file of all measurements"));
}

std::vector<NamedWay> BenchOptions::named_ways(const std::string& usual_order) const {
  const io::Options& standard = io;
  std::vector<NamedWay> named;
  for (const std::string& name :
       list_of_ways(ways.empty() ? standard.format + "/" + standard.layout : ways)) {
    NamedWay way{name, order.empty() ? usual_order : known_order(order, "option -io_order"),
                 standard};
    std::string of_writer;
    for (const std::string& word : split(name, '/')) {
      if (word.rfind("order=", 0) == 0) {
        way.order = known_order(word.substr(6), "method of output '" + name + "', order");
      } else {
        of_writer += (of_writer.empty() ? "" : "/") + word;
      }
    }
    way.options = io::parse_method(of_writer, standard, "order");
    named.push_back(way);
  }
  return named;
}

std::vector<io::ReadBy> BenchOptions::reads() const {
  std::vector<io::ReadBy> ways_of_reading;
  if (read == "no") return ways_of_reading;
  for (const std::string& word : split(read, ',')) {
    try {
      ways_of_reading.push_back(io::read_by(word));
    } catch (const Error& e) {
      throw Error(std::string("option -read: ") + e.what());
    }
  }
  return ways_of_reading;
}

} // namespace nunatak::tools
