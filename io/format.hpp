// The seam between a File (writer.hpp), which checks and times, and the formats, which touch the disk.
//
// To add a format: write one file like serial.cpp or pnetcdf.cpp, declare its open function below, and list it in backends.cpp.
// One Format object is one open file. Every function is called by all ranks of the communicator, in the same order. A function
// may throw on some ranks only, but then must have taken part in its own collective calls first: the File lets the ranks agree
// on the error afterwards.
#pragma once

#include "io/pack.hpp"
#include "io/schema.hpp"

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace nunatak::io {

struct Options; // writer.hpp

/// What this rank has handed to the file system so far, and in how many library calls.
struct Written {
  std::int64_t bytes = 0;
  std::int64_t operations = 0;
};

class Format {
public:
  virtual ~Format() = default;

  /// Declare all dimensions, variables and attributes; afterwards the file takes values. `schema` outlives this object.
  virtual void define(const Schema& schema) = 0;
  /// Take a copy of (send, write) the piece of variable `v`: the caller changes the array afterwards. Pieces of one variable and
  /// record do not overlap.
  virtual void post(std::size_t v, const Piece& piece) = 0;
  /// Everything posted is in the file as far as the library goes.
  virtual void wait() = 0;
  /// Everything in the file, the number of records included, is with the operating system: another process can read it.
  virtual void flush() = 0;
  virtual void close() = 0;

  virtual Written written() const = 0;
  /// The MPI-IO hints in effect, as far as the libraries tell them, and "mpi_io": ROMIO or OMPIO. Empty without MPI-IO.
  virtual std::map<std::string, std::string> hints() const { return {}; }
  /// False if nothing is written to disk: then there is nothing to rename or to list in the manifest.
  virtual bool has_file() const { return true; }
};

/// Create (or overwrite) a file.
using OpenFormat = std::unique_ptr<Format> (*)(MPI_Comm comm, const std::string& path, const Options& options);

std::unique_ptr<Format> open_null(MPI_Comm comm, const std::string& path, const Options& options);
std::unique_ptr<Format> open_serial(MPI_Comm comm, const std::string& path, const Options& options);
std::unique_ptr<Format> open_pnetcdf(MPI_Comm comm, const std::string& path, const Options& options);

/// The format that `options` name. Error naming what exists if the format, layout or transport is not there. See backends.cpp.
OpenFormat find_format(const Options& options);

} // namespace nunatak::io
