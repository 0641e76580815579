// The options of nunatak-io, and the ways of writing that they name. Used by nunatak_io.cpp.
#pragma once

#include "io/options.hpp"
#include "io/read/options.hpp"
#include "miniapp/base/option_table.hpp"

#include <string>
#include <vector>

namespace nunatak::tools {

/// A way of writing as it was given: "netcdf4/zslab/order=zyx".
struct NamedWay {
  std::string text, order; ///< order of the dimensions in the file
  io::Options options;
};

struct BenchOptions {
  std::string workload = "pism:G5km", ways, order, read = "no", verify = "first", folder = ".",
              json;
  double scale = 0.1, compute = 0.0;
  bool scale_levels = false, keep = false;
  int repeat = 7, records = 1, variables = 0;
  io::Options io; ///< -io_<knob>

  void add_to(OptionTable& table);

  /// -ways, a list "pnetcdf,netcdf4/chunk=y=8,x=8/order=zyx": each way begins with its format (a
  /// word without "=" up to its first
  /// "/"). Without -ways one, of -io_<knob>. `usual_order`: where neither way nor -io_order says
  /// one. Error for what is unknown.
  std::vector<NamedWay> named_ways(const std::string& usual_order) const;
  /// -read; empty: no. Error for an unknown word.
  std::vector<io::ReadBy> reads() const;
};

} // namespace nunatak::tools
