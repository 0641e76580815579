// See bench_options.hpp.
#include "miniapp/tools/io/bench_options.hpp"

#include "io/error.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/words.hpp"

namespace nunatak::tools {

namespace {

/// Commas also stand within hints and chunks: a word that begins with name=value goes on with the way before it.
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

BenchOptions::BenchOptions() {
  for (const io::Knob& knob : io::knobs()) knobs.push_back(io::knob_text(io::Options(), knob));
}

void BenchOptions::add_to(OptionTable& table) {
  table.group("What is written");
  table.add("workload", &workload, "", "a model and a size, see below");
  table.add("scale", &scale, "", "horizontal lengths times this; odd ones stay odd");
  table.add("scale_levels", &scale_levels, "", "number of levels too");
  table.add("variables", &variables, "", "so many variables, evenly from the list (0: all)", 0);
  table.add("records", &records, "", "records per file", 1);
  table.add("compute", &compute, "s", "synthetic computation between records, not counted", 0.0);
  table.group("How");
  table.add("ways", &ways, "",
            "ways of writing that take turns: format/layout/knob=value/..., a list, each beginning with its format; "
            "also order=yxz|zyx (none: one way, by the options -io_...)");
  table.add("repeat", &repeat, "", "turns that count, after one that is dropped; 1: that one is not dropped", 1);
  table.add("io_order", &order, "", "of dimensions in the file: levels fastest (yxz) or slowest (zyx); none: the workload's own");
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    const io::Knob& knob = io::knobs()[k];
    const std::string words = knob.words;
    table.add(std::string("io_") + knob.name, &knobs[k], "", knob.doc + (words.empty() ? "" : ": " + words));
  }
  table.group("Reading");
  table.add("read", &read, "", "read each file again: no, or ways of reading, a list of each, serial, parallel");
  table.add("verify", &verify, "", "compare every value that is read: of the first turn, of all, or no: first|all|no");
  table.group("Where");
  table.add("o", &folder, "", "folder; the files are in its folder nunatak-io.files, which is removed");
  table.add("keep", &keep, "", "leave the files of the last turn there");
  table.add("json", &json, "", "JSON file of all that was measured");
  table.group("Traces");
  table.add("io_trace", &trace, "", "CSV of every call that the libraries make on the files written (perf/plot_trace.py)");
  table.add("replay", &replay, "", "do what this trace says, instead of all else");
  table.add("replay_think", &think, "", "with its pauses");
}

io::Options BenchOptions::base() const {
  io::Options options;
  for (std::size_t k = 0; k < knobs.size(); ++k) {
    const io::Knob& knob = io::knobs()[k];
    if (!knobs[k].empty()) io::set_knob(options, knob, knobs[k], std::string("option -io_") + knob.name);
  }
  return options;
}

std::vector<NamedWay> BenchOptions::named_ways(const std::string& usual_order) const {
  const io::Options standard = base();
  std::vector<NamedWay> named;
  for (const std::string& text : list_of_ways(ways.empty() ? standard.format + "/" + standard.layout : ways)) {
    NamedWay way{text, order.empty() ? usual_order : known_order(order, "option -io_order"), standard};
    std::string of_writer;
    for (const std::string& word : split(text, '/')) {
      if (word.rfind("order=", 0) == 0) {
        way.order = known_order(word.substr(6), "way of writing '" + text + "', order");
      } else {
        of_writer += (of_writer.empty() ? "" : "/") + word;
      }
    }
    way.options = io::parse_method(of_writer, standard);
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
    } catch (const io::Error& e) {
      throw Error(std::string("option -read: ") + e.what());
    }
  }
  return ways_of_reading;
}

} // namespace nunatak::tools
