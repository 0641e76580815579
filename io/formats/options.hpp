// How files are written: the options that several formats have, with their defaults
// (methods/method.hpp names them). What one format alone has is in its row (format.hpp).
#pragma once

#include "io/disk/disk.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace nunatak::io {

/// The defaults suit a workstation. Sizes are bytes.
struct Options {
  std::string format = "direct", layout = "default", transport = "sync";
  std::string define = "upfront";
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
  double patience = 600.0;                ///< s; 0: no limit
  std::map<std::string, std::string> own; ///< of single formats: FormatRow::options
  /// Makes calls that wait for a disk; no option: an output server makes them in a thread.
  DiskCaller call_disk = call_at_once;

  /// Copies that wait on each writing rank; by default they fit in a cache.
  std::size_t copy_bytes() const { return buffer > 0 ? buffer : 8 << 20; }
  /// What one rank reads at a time for others; counts of MPI are ints.
  std::size_t slab_bytes() const {
    return std::min(buffer > 0 ? buffer : std::size_t{16} << 20, std::size_t{1} << 30);
  }
  std::size_t batch_bytes() const { return buffer > 0 ? buffer : 64 << 20; }
};

} // namespace nunatak::io
