// A file that serial NetCDF-C has opened for reading on this rank alone, and what it says about its
// contents.
#pragma once

#include "io/data/schema.hpp"

#include <string>

namespace nunatak::io {

class NcFile {
public:
  /// Error if the file is missing, unreadable, not NetCDF or shorter than its header requires.
  explicit NcFile(const std::string& path);
  ~NcFile();
  NcFile(const NcFile&) = delete;
  NcFile& operator=(const NcFile&) = delete;

  int id() const { return m_id; }
  bool is_hdf5() const { return !m_is_classic; } ///< NetCDF-4
  /// Its variables in the order of NetCDF-C's and PnetCDF's numbers.
  Schema schema() const;

private:
  std::string m_path;
  int m_id = -1;
  bool m_is_classic = false;
};

} // namespace nunatak::io
