// The output of a model for nunatak-io: variables, their shape and order in memory, and ownership.
//
//   pism:G5km  y-x boxes, columns in z     cam:FV-D  latitudes x levels
//   |0|1|                                  |0|1|2|
//   |2|3|                                  |3|4|5|
//
//   mom:0.25   boxes, none on land         gcrm:6    the sphere, Morton order
//   |0|##|1|                               0000111122223333
//   |2|33|3|
//
//   e3sm:F     columns, scattered          icon:R2B4 triangles, scattered in runs
//   01010101232323230101                   0000100011110222222023333
//
// Dimensions are in memory order, slowest first; schema_of() reorders them for the file. Systems:
// workloads.cpp. Neighbours: arrays.hpp (values), repetition.hpp (writes and reads).
#pragma once

#include "io/box.hpp"
#include "io/schema.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nunatak::tools {

struct WorkloadDimension {
  std::string name, units;
  std::size_t length = 0;
  /// Axis of the rank grid that decomposes it; -1: every rank has all of it.
  int cut_along = -1;
  bool vertical = false; ///< levels: slowest in the file with order zyx, fastest with yxz
  double spacing = 1.0;  ///< of its coordinate variable, in `units`; 0: none
};

enum class Content {
  coordinate, ///< multiples of the spacing; known to every rank
  pattern,    ///< variable, record and place, see arrays.hpp
  masked,     ///< pattern, with fill values where Workload::is_missing
};

struct WorkloadVariable {
  std::string name;
  io::Type type = io::Type::float64;
  std::vector<std::string> dimensions; ///< memory order, slowest first, without time
  Content content = Content::pattern;
  bool records = true; ///< one array per record; otherwise one per file
};

using io::Box;
using io::Indices;
using io::Strides;

struct Workload {
  std::string name, text; ///< "pism:G5km"; source
  std::vector<WorkloadDimension> dimensions;
  std::vector<WorkloadVariable> variables;
  std::string order = "yxz"; ///< file order, unless -io_order is given
  std::size_t ghosts = 0;    ///< width of the ring, along decomposed dimensions
  /// The rank grid: number of ranks -> parts along each axis, whose product is `ranks`. Unset: one.
  std::function<std::vector<std::size_t>(std::size_t ranks)> grid;
  /// Scattered workloads, instead of the grid: the rank of each cell, by its number in the file.
  /// The cells of a variable are those of its cut dimensions, of which the first is named.
  std::function<std::vector<std::size_t>(const std::string& dimension, std::size_t ranks)> owners;
  /// For Content::masked; (j, i) are the last two dimensions of a variable.
  std::function<bool(std::size_t j, std::size_t i)> is_missing;

  const WorkloadDimension& dimension(const std::string& name) const;
  Indices shape(const WorkloadVariable& variable) const;
  /// fixed: coordinates and arrays without records
  std::uint64_t bytes_per_record() const, fixed_bytes() const;

private:
  std::uint64_t bytes(bool of_record) const;
};

/// A workload with horizontal lengths (and levels, if asked) times `scale`: at least 2, odd ones
/// stay odd. `variables`: that many, evenly from the list, plus coordinates; 0: all. Throws Error
/// for an unknown name, listing the known ones.
Workload make_workload(const std::string& name, double scale = 1.0, bool scale_levels = false,
                       std::size_t variables = 0);
/// One line per workload for -help: name, sizes, bytes per record.
std::vector<std::string> workload_table();

/// The variables as in the file: `time` first; levels next with zyx, last with yxz.
io::Schema schema_of(const Workload& workload, const std::string& order);
/// The memory dimension of each file dimension of the variable (without time).
std::vector<std::size_t> file_order(const Workload& workload, const WorkloadVariable& variable,
                                    const std::string& order);

/// A box of memory order in the order of the file.
Box in_file_order(const Workload& workload, const WorkloadVariable& variable,
                  const std::string& order, const Box& box);

/// The boxes of variable v that a rank writes: as many on every rank, some empty. Without a
/// decomposed dimension it belongs to the ranks at index 0 of that axis. Where all values of a rank
/// are missing, it writes nothing; the nearest rank before it (cyclically) with values writes its
/// fill values. Scattered: a box, with all levels, for each run of cells of one rank.
std::vector<Box> boxes_of(const Workload& workload, const WorkloadVariable& variable,
                          std::size_t rank, std::size_t ranks);

} // namespace nunatak::tools
