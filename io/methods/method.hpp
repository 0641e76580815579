// A method of output as text, and its options one by one.
//
// A method is a format (which ranks write, and by which library), a layout (which ranks the values
// move to first), a transport (synchronous or by servers) and further options
// (docs/explanation/output.md). The list in method.cpp defines each and is the help: `nunatak` and
// `nunatak-io` offer them as -io_<name>, and reports have all of them.
#pragma once

#include "common/option.hpp"
#include "io/formats/format.hpp"

#include <string>
#include <vector>

namespace nunatak::io {

/// The options of output, without -io_, bound to `options`, which must outlive them.
std::vector<Option> rows_of(Options& options);

/// Their values as text, by name.
std::map<std::string, std::string> texts_of(Options options);

/// "pnetcdf/box:2/chunk=record/deflate=4": format, layout, then options by name; the rest is as in
/// `base`. Error as check(), or listing all names and `also`, which the caller takes out before.
Options parse_method(const std::string& method, const Options& base, const std::string& also = "");

/// Error, with the reason, if these options do not work together.
void check(const Options& options);

} // namespace nunatak::io
