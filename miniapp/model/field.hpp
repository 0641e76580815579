// A field as output sees it: an array, its name in files, its owned cells in both.
//
// Arrays are (j, i) or (j, i, k) with one ring of ghosts. Files are (y, x), and (y, x, z) or (z, y,
// x) by -io_order: memory order, or that of most tools. Formats reorder while copying.
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
  bool restart = false; ///< read by a restart: state, or given forcing; otherwise a diagnostic
};

/// Names are unique, except that diagnostics may repeat forcing: the first field of a name counts.
using FieldList = std::vector<Field>;

/// The field of that name, or nullptr.
inline const Field* find(const FieldList& fields, const std::string& name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

/// A block of the file with the strides of an array; `columns`: the file has a level dimension.
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

/// Pointer to the owned cell (1, 1) at level 0, the first value of a block.
template <class Array> const typename Array::value_type* first_owned(const Array& array) {
  return array.data() + array.stride(0) + array.stride(1);
}

} // namespace nunatak
