// What a tool has found, in the cells of one process: compared with another answer. Files: netcdf.hpp.
#pragma once

#include "kernels/grid/ranks.hpp"

#include <optional>
#include <string>
#include <vector>

namespace nunatak::tools {

struct Answer {
  struct Field {
    std::string name, long_name; ///< of the variable
    std::vector<int> values;     ///< of the rectangle, in raster order
  };
  std::string who;         ///< "bfs on 2 x 2 ranks", or the file that it comes from
  std::string metric = ""; ///< answers of different metrics are not compared; "": with all
  Patch rectangle;         ///< of this process
  std::vector<Field> fields;
};

/// Values of all local ranks in the cells of `rectangle`.
std::vector<int> collect(const Ranks& ranks, const Patch& rectangle, const std::vector<Array2<int>>& local);

/// Where two answers first differ: the smallest cell in raster order, the first field in it, both values. The same on all ranks.
/// Both have the same rectangle and the same fields. Collective.
std::optional<std::string> first_difference(const Answer& expected, const Answer& found);

} // namespace nunatak::tools
