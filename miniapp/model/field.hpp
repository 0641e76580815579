// A field of the model as output sees it: an array, its name in files, and where the cells that a
// rank owns lie in both. The label of the View is for profilers only.
//
// Arrays are (j, i) or (j, i, k) with one ring of ghosts; files are (y, x), and (y, x, z) or (z, y,
// x) by -io_order: the first is the order of memory, the second the one that tools want. The
// formats reorder values while they copy.
#pragma once

#include "io/writer.hpp"

#include "kernels/grid/array.hpp"
#include "kernels/grid/patch.hpp"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace nunatak {

using FieldArray = std::variant<Array2<double>, Array2<int>, Array3<double>>;

struct Field {
  std::string name; ///< a variable of variables.hpp
  FieldArray array;
  bool restart = false; ///< a restart reads it: state, or forcing that was given; else a diagnostic
};

/// Names are unique, but for diagnostics that repeat forcing: the first field of a name counts.
using FieldList = std::vector<Field>;

/// nullptr if there is none of that name.
inline const Field* find(const FieldList& fields, const std::string& name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

/// A block of the file with the strides of an array; `columns`: the file has a dimension of levels.
template <class Array>
io::Block field_block(const Patch& p, bool columns, const Array& array, bool levels_first) {
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  const auto stride = [&](int n) { return static_cast<std::ptrdiff_t>(array.stride(n)); };
  io::Block block{{size(p.ys), size(p.xs)}, {size(p.ym), size(p.xm)}, {stride(0), stride(1)}};
  if (columns) {
    const auto at = levels_first ? 0 : 2;
    block.start.insert(block.start.begin() + at, 0);
    block.count.insert(block.count.begin() + at, array.extent(2));
    block.stride.insert(block.stride.begin() + at, array.extent(2) > 1 ? stride(2) : 1);
  }
  return block;
}

/// The value of the owned cell (1, 1), at level 0: what a block of the file starts with.
template <class Array> const typename Array::value_type* first_owned(const Array& array) {
  return array.data() + array.stride(0) + array.stride(1);
}

} // namespace nunatak
