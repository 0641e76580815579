// The options of nunatak-io, and the output methods that they name.
#pragma once

#include "io/options.hpp"
#include "io/read/options.hpp"
#include "miniapp/base/option_table.hpp"

#include <string>
#include <vector>

namespace nunatak::tools {

/// An output method as given: "netcdf4/zslab/order=zyx".
struct NamedWay {
  std::string text, order; ///< dimension order in the file
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

  /// -ways: a list "pnetcdf,netcdf4/chunk=y=8,x=8/order=zyx" of methods that begin with a format
  /// (no "=", up to the first "/"); without it one, from -io_<knob>. `usual_order`: default of
  /// -io_order. Throws Error for unknown names.
  std::vector<NamedWay> named_ways(const std::string& usual_order) const;
  /// Parses -read; empty: no reading. Throws Error for unknown names.
  std::vector<io::ReadBy> reads() const;
};

} // namespace nunatak::tools
