#include "io/methods/method.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/methods/registry.hpp"

#include <cstdlib>
#include <mpi.h>

namespace nunatak::io {

namespace {

constexpr std::size_t MiB = 1 << 20, GiB = MiB << 10;

using Hints = std::map<std::string, std::string>;

void read_hints(const std::string& text, const std::string& what, Hints& hints) {
  hints.clear();
  if (text.empty() || text == "none") return;
  for (const std::string& pair : split(text, ',')) {
    const std::size_t equal = pair.find('=');
    if (equal == 0 || equal == std::string::npos || equal + 1 == pair.size() ||
        equal >= MPI_MAX_INFO_KEY || pair.size() - equal > MPI_MAX_INFO_VAL ||
        (pair.find("buffer_size=") != std::string::npos && std::atoll(&pair[equal + 1]) < 1))
      throw Error(what + ": expected key=value,key=value, of at most " +
                  std::to_string(MPI_MAX_INFO_KEY - 1) + "=" +
                  std::to_string(MPI_MAX_INFO_VAL - 1) +
                  " characters, buffers of at least 1 byte, found '" + text + "'");
    hints[pair.substr(0, equal)] = pair.substr(equal + 1);
  }
}

/// Hints for MPI-IO.
Option hints_row(const std::string& name, Hints& hints, const std::string& doc) {
  const auto set = [&hints](const std::string& value, const std::string& what) {
    read_hints(value, what, hints);
  };
  const auto get = [&hints] {
    std::vector<std::string> pairs;
    for (const auto& [key, hint] : hints) pairs.push_back(key + "=" + hint);
    return nlohmann::json(joined(pairs, ","));
  };
  return {name, "", doc, "", false, set, get};
}

/// An option of one format: what is not set has its default.
Option own_row(const FormatOption& option, Options& options) {
  const auto set = [&](const std::string& value, const std::string& what) {
    if (option.words[0] != '\0') require_one_of(option.words, value, what);
    options.own[option.name] = value;
  };
  const auto get = [&] { return nlohmann::json(option.of(options)); };
  return {option.name, "", option.doc, option.words, false, set, get};
}

} // namespace

std::vector<Option> rows_of(Options& o) {
  std::vector<Option> rows = {
      choice("format", o.format, format_words(),
             "format of output files, by who writes them (" + format_writers() + ")"),
      choice("layout", o.layout, layout_words(),
             "redistribution of values before they are written (default: auto for direct, else "
             "native); N aggregators per node"),
      choice("transport", o.transport, "sync|async:N",
             "writing by the compute ranks (sync), or by N servers, ranks that do not compute")};
  for (const FormatRow& format : formats())
    for (const FormatOption& option : format.options) rows.push_back(own_row(option, o));
  rows.insert(
      rows.end(),
      {choice("define", o.define, "upfront|interleaved",
              "order of definitions: all before the first value, or each variable before its "
              "own"),
       choice("checksum", o.checksum, "values|none",
              "checksums in the manifest: values (a sum for each variable and record) or none"),
       size("header", o.header, "bytes kept free in the header of a classic file", 0, GiB),
       size("align", o.align,
            "alignment in bytes of the first value of fixed-size and of record variables, and "
            "of the objects of netcdf4",
            4, GiB),
       size("stripe", o.stripe,
            "segment of the layout morton, and alignment of the layout auto, in bytes (auto: "
            "of the file system if known, else 1MiB)",
            0, GiB, "auto"),
       size("buffer", o.buffer,
            "bytes of copies that a writing rank holds until the end of a record (auto: 8MiB), "
            "that a rank reads at a time for others (-io_read serial, direct; auto: 16MiB), "
            "and of a batch for a server (auto: 64MiB)",
            0, 1024 * GiB, "auto"),
       size("pool", o.pool, "bytes in flight to the servers, per rank (async)", MiB, 2 * GiB),
       count("aggregators", o.aggregators,
             "aggregators per node: of MPI-IO (cb_nodes) and of a layout without N (0: one; of "
             "native netcdf4 two)"),
       count("ranks_per_node", o.ranks_per_node,
             "ranks of a virtual node (0: the machine's nodes)"),
       hints_row("hints", o.hints, "hints for MPI-IO: key=value,key=value"),
       flag("ompio", o.ompio,
            "use of MPI-IO through OMPIO, although it reports success for writes that failed"),
       duration("patience", o.patience,
                "time that an output call may take before the run is ended (20s, 10min; none: "
                "no limit)",
                1.0)});
  return rows;
}

std::map<std::string, std::string> texts_of(Options options) {
  std::map<std::string, std::string> texts;
  for (const Option& row : rows_of(options)) texts[row.name] = row.value();
  return texts;
}

Options parse_method(const std::string& method, const Options& base, const std::string& also) {
  Options options = base;
  const std::vector<Option> rows = rows_of(options);
  const std::string what = "method of output '" + method + "'";
  int place = 0; // of values without a name: format, layout
  for (const std::string& word : split(method, '/')) {
    const std::size_t equal = word.find('=');
    const std::string name = equal != std::string::npos ? word.substr(0, equal)
                             : place == 0               ? "format"
                                                        : "layout";
    const std::string value = equal != std::string::npos ? word.substr(equal + 1) : word;
    if (equal == std::string::npos && ++place > 2) {
      throw Error(what + ": expected format/layout/name=value/..., found '" + word +
                  "' after them");
    }
    const Option* const row = find(rows, name);
    if (row == nullptr) {
      std::vector<std::string> names;
      if (!also.empty()) names.push_back(also);
      for (const Option& known : rows) names.push_back(known.name);
      throw Error(what + ": expected name=value, the name one of " + joined(names) + "; found '" +
                  name + "'");
    }
    row->set(value, what + ", " + name);
  }
  check(options);
  return options;
}

namespace {

/// The option of a program (miniapp/base/io_options.hpp).
std::string option_of(const std::string& name) { return "option -io_" + name; }

void refuse(bool is_wrong, const std::string& name, const std::string& why) {
  if (is_wrong) throw Error(option_of(name) + ": " + why);
}

/// What the rows of format and layout require of other options.
void check_rows(const Options& o) {
  const LayoutRow& layout = layout_row(o);
  const auto need = [&](bool is_asked, unsigned feature, const std::string& name,
                        const std::string& why) {
    refuse(is_asked && !has_features(o, feature), name,
           why + ": expected -io_format " +
               formats_that([=](const FormatRow& row) { return (row.features & feature) != 0; }) +
               ", found " + o.format);
  };
  refuse(layout.boxes != nullptr && !layout.subfiles && !has_features(o, many_writers), "layout",
         "format " + o.format +
             " gathers to rank 0 by itself: expected native or file-per-aggregator, found " +
             o.layout);
  need(layout.subfiles, subfiles, "layout", o.layout + " writes a NetCDF file per aggregator");
  need(o.define == "interleaved", late_define, "define",
       "only NetCDF-C and PnetCDF define variables between values");
  refuse(o.define == "interleaved" && layout.boxes != nullptr, "define",
         "interleaved writes variable by variable, a layout whole records: expected "
         "-io_layout native, found " +
             o.layout);
  for (const auto& [name, value] : o.own) { // of other formats they have their default
    const FormatOption* own = nullptr;
    const std::string owners = formats_that([&, option = name](const FormatRow& row) {
      const FormatOption* const found = find(row.options, option);
      if (found != nullptr) own = found;
      return found != nullptr;
    });
    refuse(own == nullptr, name, "no format has this option");
    refuse(value != own->value && find(format_row(o.format).options, name) == nullptr, name,
           "expected -io_format " + owners + ", found " + o.format);
  }
}

void check_transport(const Options& o) {
  if (o.transport == "sync") return;
  const std::string found = ", found " + o.transport + " with ";
  refuse(o.layout.find(':') != std::string::npos, "transport",
         "the servers are the aggregators: expected a layout without a number" + found + "layout " +
             o.layout);
  refuse(o.define == "interleaved", "transport",
         "the servers define a file before its first value comes: expected -io_define upfront" +
             found + "interleaved");
}

} // namespace

void check(const Options& o) {
  Options copy = o; // a program may set members itself
  for (const Option& row : rows_of(copy)) row.set(row.value(), option_of(row.name));
  check_rows(o);
  check_transport(o);
  refuse(o.align % 4 != 0, "align", "expected a multiple of 4, found " + std::to_string(o.align));
}

} // namespace nunatak::io
