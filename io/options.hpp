// How files are written: every knob with its default, and the table that names them.
//
// `nunatak` and `nunatak-io` offer every knob as an option -io_<name>; the reports repeat them all.
// A method of output is a format (who writes the file), a layout (which ranks the values move to
// before), a transport (when) and knobs. check() refuses what does not go together, with the
// reason. Which formats and layouts exist: registry.hpp. docs/output.md explains each choice.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace nunatak::io {

/// The defaults suit a workstation.
struct Options {
  std::string format = "direct";
  std::string layout = "default";
  std::string transport = "sync";
  std::string define = "upfront";    ///< or interleaved: each variable just before its values (what
                                     ///< PISM 0.5 did at first)
  std::string access = "collective"; ///< or independent
  std::string classic =
      "auto"; ///< kind of a classic file: auto, cdf2 or cdf5 (formats/classic.hpp)
  std::string chunk =
      "auto";      ///< netcdf4: auto, record, or lengths by dimension "y=64,x=64"; others whole
  int deflate = 0; ///< netcdf4: level of zlib, 0 is off
  bool shuffle = false; ///< netcdf4
  bool fill = false;    ///< write fill values before the values (the default of the libraries)
  std::string checksum = "values"; ///< in the manifest: sums of values, or none
  std::size_t header = 8192;       ///< bytes kept free in the header of a classic file (h_minfree)
  std::size_t align =
      4; ///< bytes: of the first value of fixed-size and of record data; netcdf4: of large objects
  std::size_t stripe =
      0; ///< bytes: segments of the layout morton, borders of auto; 0, auto: see layouts/stripe.hpp
  std::size_t call = 0; ///< bytes that could be sent in the time of a call, for the layout auto; 0,
                        ///< auto: see layouts/call_cost.hpp
  std::size_t slab = 16 << 20; ///< bytes that rank 0 gathers at a time (serial)
  std::size_t buffer = 0; ///< mean bytes of copies per writing rank that wait, bytes of a batch for
                          ///< a server; 0 (auto): below
  std::size_t pool = 64 << 20; ///< async, thread, overlap: bytes on their way, per rank
  bool overlap = true;         ///< a thread writes what a layout has moved, while the next is moved
                               ///< (formats without MPI)
  int aggregators =
      0; ///< per node: cb_nodes of MPI-IO, and N of layouts without one; 0: 1, of native netcdf4 2
  int ranks_per_node = 0; ///< virtual nodes of that many consecutive ranks; 0: the machine's
  std::map<std::string, std::string> hints; ///< MPI-IO
  bool ompio = false;                       ///< MPI-IO through OMPIO, too, which loses errors
  int patience =
      600; ///< seconds that a collective call may take before the run is ended; 0: for ever

  /// Copies that are written while a cache still holds them; what servers may hold of a burst of
  /// output.
  std::size_t copy_bytes() const { return buffer > 0 ? buffer : 8 << 20; }
  std::size_t batch_bytes() const { return buffer > 0 ? buffer : 64 << 20; }
};

struct Knob {
  const char* name;
  std::variant<std::string Options::*, bool Options::*, int Options::*, std::size_t Options::*,
               std::map<std::string, std::string> Options::*>
      member;
  const char* doc;
  const char* words; ///< what is allowed, separated by |; "" for any. "box:N" allows box:1, box:2,
                     ///< ... Of bytes: the word for 0
};

/// All knobs, in the order of help and report.
const std::vector<Knob>& knobs();

/// Set a knob from text. Bytes take KiB, MiB, GiB ("4MiB"), switches what parse_switch() takes,
/// hints "key=value,key=value". Error that names the knob as `what` (an option of the command
/// line), what was expected and what was found.
void set_knob(Options& options, const Knob& knob, const std::string& text, const std::string& what);
std::string knob_text(const Options& options, const Knob& knob);

/// "pnetcdf/box:2/chunk=record/deflate=4": format, layout, then knobs by name; what is absent is as
/// in `base`. Error as check(), and for an unknown name, with all that are known: `also` is one
/// that the caller takes out before.
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
