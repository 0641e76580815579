#include "io/methods/knobs.hpp"

#include "io/base/error.hpp"
#include "io/methods/registry.hpp"

#include <cstdlib>
#include <mpi.h>
#include <tuple>

namespace nunatak::io {

namespace {

/// A whole number and the text after it; -1 if there is none.
std::pair<long long, std::string> leading_number(const std::string& text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return {-1, text};
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  return {number, end};
}

/// "box:2" fits "box:N", "async:2+1" fits "async:N+N".
bool fits(const std::string& word, const std::string& form) {
  const std::size_t n = form.find('N');
  if (n == std::string::npos) return word == form;
  if (word.substr(0, n) != form.substr(0, n)) return false;
  const auto [number, rest] = leading_number(word.substr(std::min(n, word.size())));
  return number >= 1 && number <= 1000000 && fits(rest, form.substr(n + 1));
}

struct Unit {
  const char* name;
  long long size;
};
constexpr Unit byte_units[] = {{"GiB", 1LL << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};
constexpr Unit time_units[] = {{"h", 3600}, {"min", 60}, {"s", 1}};

/// A whole number with one of these units, or without: the last one.
template <std::size_t n>
long long parse_size(const std::string& text, const Unit (&units)[n], long long most,
                     const std::string& expected) {
  const auto [number, name] = leading_number(text);
  for (const Unit& unit : units) {
    const bool is_it = name == unit.name || (name.empty() && unit.size == 1);
    if (is_it && number >= 0 && number <= most / unit.size) return number * unit.size;
  }
  throw Error(expected + ", found '" + text + "'");
}

template <std::size_t n> std::string size_text(long long size, const Unit (&units)[n]) {
  for (const Unit& unit : units) {
    if (size > 0 && size % unit.size == 0) return std::to_string(size / unit.size) + unit.name;
  }
  return "0" + std::string(units[n - 1].name);
}

std::vector<Knob> make_knobs() {
  static const std::string format_names = format_words(), layouts = layout_words(),
                           format_doc = "format of output files, by who writes them (" +
                                        format_writers() + ")";
  std::vector<Knob> table = {
      {"format", &Options::format, format_doc.c_str(), format_names.c_str()},
      {"layout", &Options::layout,
       "redistribution of values before they are written (default: auto for direct on several "
       "ranks, else native); N aggregators per node",
       layouts.c_str()},
      {"transport", &Options::transport,
       "writing by the compute ranks (sync), or by N servers, ranks that do not compute (N+N: "
       "others "
       "for files that grow)",
       "sync|async:N|async:N+N"},
      {"define", &Options::define,
       "order of definitions: all before the first value, or each variable before its own",
       "upfront|interleaved"},
      {"checksum", &Options::checksum,
       "checksums in the manifest: values (a sum for each variable and record) or none",
       "values|none"},
      {"header", &Options::header, "bytes kept free in the header of a classic file", ""},
      {"align", &Options::align,
       "alignment in bytes of the first value of fixed-size and of record variables, and of the "
       "objects of netcdf4",
       ""},
      {"stripe", &Options::stripe,
       "segment of the layout morton, and alignment of the layout auto, in bytes (auto: of the "
       "file system if known, else 1MiB)",
       "auto"},
      {"buffer", &Options::buffer,
       "bytes of copies that a writing rank holds until the end of a record (auto: 8MiB), that a "
       "rank reads at a time for others (-io_read serial, direct; auto: 16MiB), and of a batch for "
       "a server (auto: 64MiB)",
       "auto"},
      {"pool", &Options::pool, "bytes in flight to the servers, per rank (async)", ""},
      {"aggregators", &Options::aggregators,
       "aggregators per node: of MPI-IO (cb_nodes) and of a layout without N (0: one; of native "
       "netcdf4 two)",
       ""},
      {"ranks_per_node", &Options::ranks_per_node,
       "ranks of a virtual node (0: the machine's nodes)", ""},
      {"hints", &Options::hints, "hints for MPI-IO: key=value,key=value", ""},
      {"ompio", &Options::ompio,
       "use of MPI-IO through OMPIO, although it reports success for writes that failed", ""},
      {"patience", &Options::patience,
       "time that an output call may take before the run is ended (20s, 10min; 0s: no limit)", ""}};
  auto place = table.begin() + 3; // behind the transport
  for (const FormatRow& row : formats()) {
    for (const FormatOption& option : row.options)
      place = table.insert(place, {option.name, &option, option.doc, option.words}) + 1;
  }
  return table;
}

} // namespace

const std::vector<Knob>& knobs() {
  static const std::vector<Knob> table = make_knobs();
  return table;
}

namespace {

void require_word(const Knob& knob, const std::string& text, const std::string& what) {
  if (knob.words[0] == '\0') return;
  for (const std::string& form : split(knob.words, '|')) {
    if (fits(text, form)) return;
  }
  throw Error(what + ": expected one of " + knob.words + ", found '" + text + "'");
}

/// "order, format, layout, ..."
std::string knob_names(const std::string& also) {
  std::string names = also;
  for (const Knob& knob : knobs()) names += (names.empty() ? "" : ", ") + std::string(knob.name);
  return names;
}

/// A value as text, of a knob; `what` names it in errors.
struct Given {
  const Knob& knob;
  const std::string& text;
  const std::string& what;
};
bool has_word_for_0(const Knob& knob) { return knob.words[0] != '\0'; } ///< sizes

void read(const Given& given, std::string& value) {
  require_word(given.knob, given.text, given.what);
  value = given.text;
}
void read(const Given& given, bool& value) { value = parse_switch(given.text, given.what); }
void read(const Given& given, int& value) {
  const auto [number, rest] = leading_number(given.text);
  if (number < 0 || number > 1000000000 || !rest.empty())
    throw Error(given.what + ": expected a whole number, at least 0, found '" + given.text + "'");
  value = static_cast<int>(number);
}
void read(const Given& given, std::size_t& value) {
  value = 0;
  if (has_word_for_0(given.knob) && given.text == given.knob.words) return;
  value = static_cast<std::size_t>(
      parse_size(given.text, byte_units, 1LL << 50,
                 given.what + ": expected a number of bytes (65536, 64KiB, 1MiB)"));
}
void read(const Given& given, Seconds& value) {
  value.count = static_cast<int>(parse_size(given.text, time_units, 1000000000,
                                            given.what + ": expected a time (20s, 10min, 1h)"));
}
void read(const Given& given, std::map<std::string, std::string>& hints) {
  hints.clear();
  if (given.text.empty() || given.text == "none") return;
  for (const std::string& pair : split(given.text, ',')) {
    const std::size_t equal = pair.find('=');
    if (equal == 0 || equal == std::string::npos || equal + 1 == pair.size() ||
        equal >= MPI_MAX_INFO_KEY || pair.size() - equal > MPI_MAX_INFO_VAL ||
        (pair.find("buffer_size=") != std::string::npos && std::atoll(&pair[equal + 1]) < 1))
      throw Error(given.what + ": expected key=value,key=value, of at most " +
                  std::to_string(MPI_MAX_INFO_KEY - 1) + "=" +
                  std::to_string(MPI_MAX_INFO_VAL - 1) +
                  " characters, buffers of at least 1 byte, found '" + given.text + "'");
    hints[pair.substr(0, equal)] = pair.substr(equal + 1);
  }
}

std::string text_of(const Knob&, const std::string& value) { return value; }
std::string text_of(const Knob&, bool value) { return value ? "yes" : "no"; }
std::string text_of(const Knob&, int value) { return std::to_string(value); }
std::string text_of(const Knob&, Seconds value) { return size_text(value.count, time_units); }
std::string text_of(const Knob& knob, std::size_t value) {
  if (value == 0 && has_word_for_0(knob)) return knob.words;
  return size_text(static_cast<long long>(value), byte_units);
}
std::string text_of(const Knob&, const std::map<std::string, std::string>& hints) {
  std::string text;
  for (const auto& [key, hint] : hints) text += (text.empty() ? "" : ",") + key + "=" + hint;
  return text;
}

template <class Member> auto& value_in(Options& options, Member member) { return options.*member; }
std::string& value_in(Options& options, const FormatOption* own) { return options.own[own->name]; }

template <class Member>
std::string text_in(const Options& options, const Knob& knob, Member member) {
  return text_of(knob, options.*member);
}
std::string text_in(const Options& options, const Knob&, const FormatOption* own) {
  return own->of(options);
}

} // namespace

void set_knob(Options& options, const Knob& knob, const std::string& text,
              const std::string& what) {
  std::visit(
      [&](auto member) {
        read({knob, text, what}, value_in(options, member));
      },
      knob.member);
}

std::string knob_text(const Options& options, const Knob& knob) {
  return std::visit([&](auto member) { return text_in(options, knob, member); }, knob.member);
}

Options parse_method(const std::string& method, const Options& base, const std::string& also) {
  Options options = base;
  const std::string what = "method of output '" + method + "'";
  int place = 0; // of values without a name: format, layout
  for (const std::string& word : split(method, '/')) {
    const std::size_t equal = word.find('=');
    const std::string name = equal != std::string::npos ? word.substr(0, equal)
                             : place == 0               ? "format"
                                                        : "layout";
    const std::string value = equal != std::string::npos ? word.substr(equal + 1) : word;
    if (equal == std::string::npos && ++place > 2) {
      throw Error(what + ": expected format/layout/knob=value/..., found '" + word +
                  "' after them");
    }
    const Knob* const knob = find(knobs(), name);
    if (knob == nullptr)
      throw Error(what + ": expected name=value, the name one of " + knob_names(also) +
                  "; found '" + name + "'");
    set_knob(options, *knob, value, what + ", " + name);
  }
  check(options);
  return options;
}

namespace {

/// The option of a program for a knob (miniapp/base/io_options.hpp).
std::string option_of(const std::string& knob) { return "option -io_" + knob; }

void refuse(bool is_wrong, const std::string& knob, const std::string& why) {
  if (is_wrong) throw Error(option_of(knob) + ": " + why);
}

/// What the rows of format and layout require of other options.
void check_rows(const Options& o) {
  const LayoutRow& layout = layout_row(o);
  const auto need = [&](bool is_asked, unsigned feature, const std::string& knob,
                        const std::string& why) {
    refuse(is_asked && !has_features(o, feature), knob,
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
    const auto has_it = [&, option = name](const FormatRow& row) {
      return find(row.options, option) != nullptr;
    };
    const Knob* const knob = find(knobs(), name);
    refuse(knob == nullptr, name, "no format has this option");
    const char* const usual = std::get<const FormatOption*>(knob->member)->value;
    refuse(value != usual && !has_it(format_row(o.format)), name,
           "expected -io_format " + formats_that(has_it) + ", found " + o.format);
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

void check_bytes(const Options& o) {
  constexpr std::size_t GiB = std::size_t{1} << 30;
  const auto text = [](std::size_t bytes) {
    return size_text(static_cast<long long>(bytes), byte_units);
  };
  refuse(o.align == 0 || o.align % 4 != 0, "align",
         "expected a multiple of 4, found " + std::to_string(o.align));
  for (const auto& [knob, value, most] : {std::tuple{"align", o.align, GiB},
                                          {"header", o.header, GiB},
                                          {"stripe", o.stripe, GiB},
                                          {"buffer", o.buffer, 1024 * GiB},
                                          {"pool", o.pool, 2 * GiB}})
    refuse(value > most, knob, "expected at most " + text(most) + ", found " + text(value));
  refuse(o.pool < GiB / 1024, "pool", "expected at least 1MiB, found " + text(o.pool));
}

} // namespace

void check(const Options& o) {
  for (const Knob& knob : knobs()) { // a program may set members without set_knob()
    if (!std::holds_alternative<std::size_t Options::*>(knob.member))
      require_word(knob, knob_text(o, knob), option_of(knob.name));
  }
  check_rows(o);
  check_transport(o);
  check_bytes(o);
}

} // namespace nunatak::io
