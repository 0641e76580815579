// What an input file says of itself, held against what it holds: coordinates, valid ranges. Neighbour: input.hpp, which reads it.
#pragma once

#include "io/reader.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/grid.hpp"

#include <string>
#include <vector>

namespace nunatak {

/// Throws Error if a coordinate has not one dimension, its own: one of another length would place the fields wrongly. `what`
/// begins its text.
void check_own_dimension(const io::Reader& in, const std::string& name, const std::string& what);

/// The points of a coordinate in metres, increasing; `flip`: they decrease in the file. Collective. Throws Error if there is no
/// such variable, or if it is not regular, has fewer than two points or a spacing that no ice sheet has.
Axis read_axis(const io::Reader& in, const std::string& name, bool& flip);

/// Throws Error if a value of any rank is outside of valid_range, valid_min or valid_max of its variable. `values`: unpacked, not
/// converted. Collective.
void check_valid(const io::Reader& in, const std::string& variable, const std::vector<double>& values, MpiRanks& ranks);

} // namespace nunatak
