// How files are written: every option of the output with its default, and the table of options.
//
// `nunatak` and `nunatak-io` offer each Knob as an option -io_<name>, and reports list all of them.
// An output method is a format (which ranks write, and by which library), a layout (which ranks the
// values move to first), a transport (synchronous or by servers) and further knobs
// (docs/explanation/output.md). The table in options.cpp defines each and is the help.
#pragma once

#include "io/durable/durable.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace nunatak::io {

struct Seconds {
  int count = 0;
};

/// The defaults suit a workstation. Sizes are bytes.
struct Options {
  std::string format = "direct", layout = "default", transport = "sync";
  std::string calls = "posix";
  std::string define = "upfront";
  std::string chunk = "auto";
  int deflate = 0;
  std::string checksum = "values";
  std::size_t header = 8192;
  std::size_t align = 4;
  std::size_t stripe = 0;
  std::size_t buffer = 0; ///< 0: see the three functions below
  std::size_t pool = 64 << 20;
  /// Per node: cb_nodes of MPI-IO, and N of layouts without one; 0: 1 (native netcdf4: 2).
  int aggregators = 0;
  int ranks_per_node = 0;
  std::map<std::string, std::string> hints;
  bool ompio = false;
  Seconds patience{600};
  /// Makes calls that wait for a disk; no knob: an output server makes them in a thread.
  DiskCaller call_disk = call_at_once;

  /// Copies that wait on each writing rank; by default they fit in a cache.
  std::size_t copy_bytes() const { return buffer > 0 ? buffer : 8 << 20; }
  /// What one rank reads at a time for others; counts of MPI are ints.
  std::size_t slab_bytes() const {
    return std::min(buffer > 0 ? buffer : std::size_t{16} << 20, std::size_t{1} << 30);
  }
  std::size_t batch_bytes() const { return buffer > 0 ? buffer : 64 << 20; }
};

struct Knob {
  const char* name;
  std::variant<std::string Options::*, bool Options::*, int Options::*, std::size_t Options::*,
               Seconds Options::*, std::map<std::string, std::string> Options::*>
      member;
  const char* doc;
  /// Allowed values, separated by |; "": any. "box:N": box:1, box:2, ... Sizes: the word for 0.
  const char* words;
};

const std::vector<Knob>& knobs();
const Knob* find_knob(const std::string& name); ///< nullptr if there is none

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
