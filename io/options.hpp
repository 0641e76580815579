// How files are written: every knob with its default, and the table that names them.
//
// `nunatak` and `nunatak-io` offer every knob as an option -io_<name>; the reports repeat them all.
// A method of output is a format (which ranks write, through what), a layout (which ranks the
// values move to first), a transport (when) and other knobs. check() refuses what does not go
// together, with the reason. Which formats and layouts exist: registry.hpp. docs/output.md explains
// each choice; what each knob means stands in the table of options.cpp, which is also the help.
#pragma once

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
  std::string access = "collective";
  std::string classic = "auto";
  std::string chunk = "auto";
  int deflate = 0;
  std::string checksum = "values";
  std::size_t header = 8192;
  std::size_t align = 4;
  std::size_t stripe = 0;
  std::size_t call_cost = 8 << 10;
  std::size_t buffer = 0; ///< 0: as the three functions below say
  std::size_t pool = 64 << 20;
  int aggregators = 0; ///< per node: cb_nodes of MPI-IO, and N of layouts without one; 0: 1, of
                       ///< native netcdf4 2
  int ranks_per_node = 0;
  std::map<std::string, std::string> hints;
  bool ompio = false;
  Seconds patience{600};

  /// Copies per writing rank that wait until they are written: as many as a cache holds.
  std::size_t copy_bytes() const { return buffer > 0 ? buffer : 8 << 20; }
  /// That a rank gathers at a time for other ranks; counts of MPI are ints.
  std::size_t gather_bytes() const {
    return std::min(buffer > 0 ? buffer : std::size_t{16} << 20, std::size_t{1} << 30);
  }
  /// A batch of a burst of output, on a server.
  std::size_t batch_bytes() const { return buffer > 0 ? buffer : 64 << 20; }
};

struct Knob {
  const char* name;
  std::variant<std::string Options::*, bool Options::*, int Options::*, std::size_t Options::*,
               Seconds Options::*, std::map<std::string, std::string> Options::*>
      member;
  const char* doc;
  const char* words; ///< what is allowed, separated by |; "" for any. "box:N" allows box:1, box:2,
                     ///< ... Of bytes: the word for 0
};

/// All knobs, in the order of help and report.
const std::vector<Knob>& knobs();

/// Set a knob from text. Bytes take B, KiB, MiB, GiB ("4MiB"), times s, min, h ("20s"), switches
/// what parse_switch() takes, hints "key=value,key=value". Error that names the knob as `what` (an
/// option of the command line), what was expected and what was found.
void set_knob(Options& options, const Knob& knob, const std::string& text, const std::string& what);
std::string knob_text(const Options& options, const Knob& knob);

/// "pnetcdf/box:2/chunk=record/deflate=4": format, layout, then knobs by name; what is absent is as
/// in `base`. Error as check(), and for an unknown name, with all known names: `also` is one that
/// the caller takes out before.
Options parse_method(const std::string& method, const Options& base, const std::string& also = "");

/// A layout and its N, aggregators per node ("box:2").
struct Layout {
  std::string name;        ///< of a row of the registry
  int per_node = 0;        ///< aggregators per node
  bool every_rank = false; ///< every rank is an aggregator (zslab without N)
};
Layout parse_layout(const Options& options);

/// Error, with the reason, if these choices do not work together.
void check(const Options& options);

} // namespace nunatak::io
