// The output of a model for nunatak-io: variables, their shape and order in memory, and ownership,
// from the header of a NetCDF file or its text (cdl.cpp) and a decomposition, statements in the
// attribute nunatak_io or in -decomposition (perf/README.md has all of them):
//
//   blocks y x  |0|1|    factors lat lev  |0|1|2|    owners ncells FILE:NAME  01010101232323230101
//               |2|3|                     |3|4|5|    runs ncells 4            000011112222000011
//
// inputs/workloads/*.cdl are those with a name. Neighbours: decompositions.cpp, arrays.hpp.
#pragma once

#include "io/read/reader.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace nunatak::bench {

using io::Box;
using io::Indices;
using io::Strides;

/// The dimensions that are cut together, one for each axis.
struct Ownership {
  std::string name;
  bool scattered = true;
  /// Ranks -> parts along each axis of a grid of ranks or, if scattered, the rank of each cell of a
  /// variable with these lengths, row by row.
  std::function<std::vector<std::size_t>(const Indices& shape, std::size_t ranks)> deal;
  std::size_t axes = 0;
  Indices dimensions = {};
};
/// All that there are; `axes`: at most; without `deal`: with a parameter.
const std::vector<Ownership>& decompositions();
using Deal = decltype(Ownership::deal);
Deal deal_runs(std::size_t length);
/// By a map of the ranks of another run, whose cells have the shape `whole`.
Deal deal_owners(const std::vector<double>& map, const Indices& whole);
/// Such a map from lists of E3SM-IO: NAME.nreqs runs of each rank, their first cells and lengths,
/// in a map with the lengths NAME.dims: those of `shape`, with levels before or behind, of which
/// the first counts. Collective; Error, beginning with `where`, unless each cell has one rank.
std::vector<double> owners_by_runs(const io::Reader& in, const std::string& name,
                                   const Indices& shape, const std::string& where);
/// The product, which may be too large for an integer.
template <class Numbers> double cells_of(const Numbers& lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), 1.0, std::multiplies<double>());
}
bool is_continent(double y, double x); ///< three rectangles, a third of the unit square: mom.cdl

constexpr auto none = static_cast<std::size_t>(-1);

struct WorkloadDimension {
  std::string name;
  std::size_t length = 0;           ///< 0: of records
  double spacing = 0.0;             ///< of its coordinate variable; 0: none
  bool vertical = false;            ///< levels
  std::size_t decomposition = none; ///< none: every rank has all of it
  std::size_t axis = 0;             ///< of the decomposition
  std::size_t memory = 0;           ///< place in memory
};

enum class Content {
  coordinate, ///< multiples of the spacing, or days
  pattern,    ///< variable, record and place, see arrays.hpp
  masked,     ///< pattern, with fill values where Workload::is_missing
};

struct WorkloadVariable {
  std::string name;
  io::Type type = io::Type::float64;
  Indices dimensions = {}, memory = {}; ///< without record, slowest first: in the file, in memory
  bool records = false;                 ///< one array per record; otherwise one per file
  Content content = Content::pattern;
  std::size_t decomposition = none; ///< none: rank 0 writes it
  std::size_t number = 0;           ///< in its values
  std::vector<io::Attribute> attributes = {};
};

struct WorkloadOptions {
  std::string name = "pism:G5km", decomposition, scale = "1";
  int variables = 0; ///< that many, evenly from the list, and coordinates; 0: all
};

struct Workload {
  std::string name, text;         ///< "pism:G5km"; sizes
  std::vector<std::string> files; ///< that were read
  std::size_t record = none;      ///< dimension
  std::vector<WorkloadDimension> dimensions;
  std::vector<Ownership> decompositions;
  std::vector<WorkloadVariable> variables;
  std::string order;      ///< of the file: "yxz", "zyx" or, if it is another, "file"
  std::size_t ghosts = 0; ///< width of the ring, along cut dimensions
  Indices mask;           ///< y, x: the last two dimensions in memory of masked variables
  bool ocean_is_missing = false;

  Indices lengths(const Indices& along) const;
  Box box(const WorkloadVariable& v) const; ///< all of it, in the order of the file
  bool is_scattered(const WorkloadVariable& v) const {
    return v.decomposition != none && decompositions[v.decomposition].scattered;
  }
  bool is_missing(std::size_t j, std::size_t i) const; ///< for Content::masked
  std::uint64_t bytes(bool of_record) const;           ///< of a record, or of what is written once
};

/// Words between blanks.
std::vector<std::string> words_of(const std::string& text);
/// Numbers of attributes as doubles. Error with `name`, line, what was expected and found.
io::Schema parse_cdl(const std::string& text, const std::string& name);

/// `name`: file:FILE or one of inputs/workloads. Collective; throws Error on all ranks.
Workload make_workload(const WorkloadOptions& options, MPI_Comm comm);
/// With another order of dimensions in the file: levels last (yxz) or first (zyx).
Workload in_order(Workload workload, const std::string& order);
/// Texts of inputs/workloads, by name and size.
extern const std::map<std::string, std::string> named_workloads;

io::Schema schema_of(const Workload& workload);

/// The boxes, in the order of the file, that a rank writes of a variable with a decomposition: as
/// many on every rank, some empty. Without the dimension of an axis it belongs to the ranks at
/// index 0 of that axis. Where all values of a rank are missing, it writes nothing; the nearest
/// rank before it (cyclically) with values writes its fill values. Scattered: a box, with all
/// levels, for each run of cells of one rank.
std::vector<Box> boxes_of(const Workload& workload, const WorkloadVariable& variable,
                          std::size_t rank, std::size_t ranks);

} // namespace nunatak::bench
