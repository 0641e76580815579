// The table of the options of the output.
//
// `nunatak` and `nunatak-io` offer each Knob as an option -io_<name>, and reports list all of them.
// An output method is a format (which ranks write, and by which library), a layout (which ranks the
// values move to first), a transport (synchronous or by servers) and further knobs
// (docs/explanation/output.md). The table in knobs.cpp defines each and is the help.
#pragma once

#include "io/formats/format.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace nunatak::io {

struct Knob {
  const char* name;
  std::variant<std::string Options::*, bool Options::*, int Options::*, std::size_t Options::*,
               Seconds Options::*, std::map<std::string, std::string> Options::*,
               const FormatOption*>
      member;
  const char* doc;
  /// Allowed values, separated by |; "": any. "box:N": box:1, box:2, ... Sizes: the word for 0.
  const char* words;
};

const std::vector<Knob>& knobs();

/// Set a knob from text. Sizes take B, KiB, MiB, GiB ("4MiB"), times s, min, h ("20s"), switches
/// what parse_switch() takes, hints "key=value,key=value". Error naming the knob as `what` (a
/// command-line option), what was expected and what was found.
void set_knob(Options& options, const Knob& knob, const std::string& text, const std::string& what);
std::string knob_text(const Options& options, const Knob& knob);

/// "pnetcdf/box:2/chunk=record/deflate=4": format, layout, then knobs by name; the rest is as in
/// `base`. Error as check(), or listing all names and `also`, which the caller takes out before.
Options parse_method(const std::string& method, const Options& base, const std::string& also = "");

/// Error, with the reason, if these options do not work together.
void check(const Options& options);

} // namespace nunatak::io
