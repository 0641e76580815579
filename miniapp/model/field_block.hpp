// Where the cells that a rank owns lie in an array of the model and in a file.
//
// Arrays are (j, i) or (j, i, k) with one ring of ghosts; files are (y, x), and (y, x, z) or (z, y,
// x) by -io_order: the second is the order that tools want, the first the order of memory. The
// formats reshuffle while they copy.
#pragma once

#include "io/writer.hpp"
#include "kernels/grid/array.hpp"
#include "kernels/grid/patch.hpp"

#include <type_traits>

namespace nunatak {

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

/// Values per cell of a model array.
template <class Array> int levels_of(const Array& array) {
  if constexpr (std::is_same_v<Array, Array3<double>>) {
    return static_cast<int>(array.extent(2));
  } else {
    return 1;
  }
}

/// The value of the owned cell (1, 1), at level 0: what a block of the file starts with.
template <class Array> const typename Array::value_type* first_owned(const Array& array) {
  return array.data() + array.stride(0) + array.stride(1);
}

} // namespace nunatak
