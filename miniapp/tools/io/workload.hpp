// What a model writes: which variables, of which shape, in which order in memory, and which rank
// has what. For nunatak-io.
//
//   pism:G5km  y-x boxes, columns in z     cam:FV-D  latitudes x levels
//   |0|1|                                  |0|1|2|
//   |2|3|                                  |3|4|5|
//
//   mom:0.25   boxes, none on land         gcrm:6    the sphere, Morton order
//   |0|##|1|                               0000111122223333
//   |2|33|3|
//
// The order of a variable's dimensions here is that in memory, slowest first; schema_of() puts them
// in the order of the file. The systems: workloads.cpp. Neighbours: arrays.hpp (what the variables
// hold), turn.hpp (writes and reads them), docs/output.md.
#pragma once

#include "io/layouts/box.hpp"
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
  int cut_along =
      -1; ///< the axis of the grid of ranks that cuts it; -1: no rank has less than all of it
  bool vertical = false; ///< levels: slowest in the file with order zyx, fastest with yxz
  double spacing = 1.0;  ///< of its coordinate variable, in `units`; 0: it has none
};

enum class Content {
  coordinate, ///< multiples of the spacing; known to every rank
  pattern,    ///< variable, record and place, see arrays.hpp
  ocean,      ///< the same, and the fill value on land
};

struct WorkloadVariable {
  std::string name;
  io::Type type = io::Type::float64;
  std::vector<std::string> dimensions; ///< in memory, slowest first, without time
  Content content = Content::pattern;
  bool records = true; ///< one array per record; else one per file
};

/// Part of an array: dimensions in memory order.
using io::Box;

struct Workload {
  std::string name, text; ///< "pism:G5km"; where it comes from
  std::vector<WorkloadDimension> dimensions;
  std::vector<WorkloadVariable> variables;
  std::string order = "yxz"; ///< in the file, unless -io_order says otherwise
  std::size_t ghosts = 0;    ///< width of the ring around a rank's arrays, along cut dimensions
  /// How many parts the ranks are cut into along each axis: ranks -> numbers whose product is
  /// `ranks`.
  std::function<std::vector<std::size_t>(std::size_t ranks)> grid;
  std::function<bool(std::size_t j, std::size_t i)>
      is_land; ///< Content::ocean; the last two dimensions of a variable are j, i

  const WorkloadDimension& dimension(const std::string& name) const;
  std::vector<std::size_t> shape(const WorkloadVariable& variable) const;
  std::uint64_t bytes_per_record() const,
      fixed_bytes() const; ///< fixed: coordinates and what else has no records

private:
  std::uint64_t bytes(bool of_record) const;
};

/// A workload by its name, with horizontal lengths (and levels, if asked) times `scale`: at least
/// 2, odd ones stay odd. `variables`: only so many, evenly from the list, coordinates are added;
/// 0: all. Error for an unknown name, listing the known ones.
Workload make_workload(const std::string& name, double scale = 1.0, bool scale_levels = false,
                       std::size_t variables = 0);
/// One line per workload: name, sizes, bytes per record. For -help.
std::vector<std::string> workload_table();

/// The variables as they are in the file: `time`, then with zyx levels before, with yxz behind the
/// other dimensions.
io::Schema schema_of(const Workload& workload, const std::string& order);
/// For each dimension of the variable in the file (without time), which of its dimensions in memory
/// it is.
std::vector<std::size_t> file_order(const Workload& workload, const WorkloadVariable& variable,
                                    const std::string& order);

/// The boxes of variable v that a rank puts, at most; the same number on every rank, empty ones
/// included. A variable that lacks a cut dimension belongs to the ranks at index 0 of that axis.
/// With is_land: a rank whose box is all land has no cells, it puts nothing; the fill values of its
/// box are put by the nearest rank before it (around the end) that has ocean.
std::vector<Box> boxes_of(const Workload& workload, const WorkloadVariable& variable,
                          std::size_t rank, std::size_t ranks);

/// `detail` is what follows the colon of the name. Error if it is none of theirs.
Workload pism_workload(const std::string& detail, double scale, bool scale_levels);
Workload cam_workload(const std::string& detail, double scale, bool scale_levels);
Workload mom_workload(const std::string& detail, double scale, bool scale_levels);
Workload gcrm_workload(const std::string& detail, double scale, bool scale_levels);

} // namespace nunatak::tools
