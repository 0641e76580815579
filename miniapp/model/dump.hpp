// dump_buffer("nuH", nuH): a field into a file from anywhere in the model, in one line; for looking
// at things.
//
//   dump_buffer("nuH", nuH);            // any Array2<double>, Array2<int>, Array3<double> with its
//   ring of ghosts mpiexec -n 4 nunatak ... -dump look_ // look_nuH.nc, with one record per call;
//   without -dump nothing happens
//
// The users of GCRM's output library asked for just this (Palmer et al. 2011). To be callable from
// everywhere it needs what nothing else here has: a pointer to the current object, in dump.cpp, set
// while a Dumps lives. Collective: call it on all ranks.
#pragma once

#include "io/writer.hpp"
#include "miniapp/model/field.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/output_schema.hpp"

#include <map>
#include <memory>
#include <string>

namespace nunatak {

/// Append the owned cells of `array` to the file of that name. The name is that of a NetCDF
/// variable. Throws Error if a later call of the same name brings another type or number of levels,
/// or if the array is not one of the grid.
void dump_buffer(const std::string& name, const FieldArray& array);

/// main has one. Every file has the dimensions call, y, x (and level), and for each call the model
/// time.
class Dumps {
public:
  Dumps(const Options& options, const Grid& grid, const Patch& patch, MPI_Comm comm,
        std::string history);
  ~Dumps();
  Dumps(const Dumps&) = delete;
  Dumps& operator=(const Dumps&) = delete;

  void set_time(double time) { m_time = time; } ///< s
  void append(const std::string& name, const FieldArray& array);
  /// Close all files: durable on return. Collective.
  void finish();

private:
  struct Dump {
    std::unique_ptr<io::File> file;
    std::size_t calls = 0;
    int levels = 1;
    io::Type type = io::Type::float64;
  };
  Dump open(const std::string& name, int levels, bool columns, io::Type type);

  const Options& m_options;
  const Grid& m_grid;
  Patch m_patch;
  Coordinates m_coordinates;
  std::string m_history;
  double m_time = 0.0;
  std::unique_ptr<io::Writer> m_writer;
  std::map<std::string, Dump> m_dumps;
};

} // namespace nunatak
