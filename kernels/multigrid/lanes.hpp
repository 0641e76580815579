// Arrays of the multigrid, in which a vector register of a CPU holds one value of eight cells. A
// loop over the lanes of a block does in each lane what it would do for a single cell.
//
//   position      c = j stride + i, over a patch and its ghosts (halo.hpp); the rows of the arrays
//                 end with unused cells, so that the stride is a multiple of 8
//   block, lane   c / 8, c % 8
//   matrices      (c / 8, n, c % 8): the n values of the cells of a block are contiguous
//   vectors       (n, c): a plane of u and one of v, a neighbour is at c + dj stride + di
#pragma once

#include "kernels/grid/array.hpp"

#include <cstddef>
#include <string>

namespace nunatak {

constexpr int lanes = 8; ///< cells in a block
constexpr unsigned all_lanes = (1u << lanes) - 1;

/// Cells in a row of the arrays over a patch and its ghosts.
inline int row_length(const Patch& p) { return (p.xm + 1 + lanes) / lanes * lanes; }

/// Numbers of cells with such rows, 0.
inline Array2<int> make_marks(const Patch& p) {
  return Array2<int>("marks", p.ym + 2, row_length(p));
}

/// `from`, over `p` and its ghosts, with such rows and over a patch that contains `p`; itself if it
/// is so.
inline Array2<int> with_lanes(const Patch& p, const Array2<int>& from, const Patch& array) {
  if (from.extent_int(0) == array.ym + 2 && from.extent_int(1) == row_length(array)) return from;
  const auto to = make_marks(array);
  const int rows = p.ys - array.ys, columns = p.xs - array.xs;
  for_each_cell_and_ghost(
      "multigrid: marks", p,
      KOKKOS_LAMBDA(int j, int i) { to(j + rows, i + columns) = from(j, i); });
  return to;
}

/// Access to value n of the cell at position c.
template <class T> struct CellValues {
  using value_type = T;
  T* first = nullptr;
  std::ptrdiff_t block = lanes; ///< from a block to the next
  std::ptrdiff_t value = 0;     ///< from a value of a cell to the next
  KOKKOS_INLINE_FUNCTION T& operator()(int c, int n) const {
    return first[c / lanes * block + c % lanes + n * value];
  }
  /// The same of a vector, in fewer instructions.
  KOKKOS_INLINE_FUNCTION T& in_plane(int c, int n) const { return first[c + n * value]; }
};
inline CellValues<int> values_of(const Array2<int>& marks) { return {marks.data()}; }

/// The same over the cells of a patch, (j, i): view indices.
template <class Real> struct Rows : CellValues<Real> {
  Kokkos::View<Real*, Mem> memory;
  int stride = 0, start = 0; ///< positions in a row; the position of (0, 0)

  Rows() = default;
  /// A matrix of n values per cell, 0.
  Rows(const std::string& label, const Patch& p, int n)
      : memory(label, static_cast<std::size_t>(n) * static_cast<std::size_t>(p.ym + 2) *
                          static_cast<std::size_t>(row_length(p))),
        stride(row_length(p)) {
    this->first = memory.data();
    this->block = n * lanes;
    this->value = lanes;
  }
  /// A vector: two planes in `memory_`, the second one after `plane` numbers.
  Rows(const Kokkos::View<Real*, Mem>& memory_, std::ptrdiff_t plane, int stride_)
      : CellValues<Real>{memory_.data(), lanes, plane}, memory(memory_), stride(stride_) {}

  KOKKOS_INLINE_FUNCTION int position(int j, int i) const { return start + j * stride + i; }
  using CellValues<Real>::operator();
  KOKKOS_INLINE_FUNCTION Real& operator()(int j, int i, int n) const {
    return (*this)(position(j, i), n);
  }
};

/// A cell: a lane of a block, and its row.
struct Lane {
  int first, lane, row; ///< first: position of lane 0
  KOKKOS_INLINE_FUNCTION int position() const { return first + lane; }
};

/// Cells that a thread computes at once: a block on a CPU, one cell on a GPU.
constexpr int lanes_at_once = loops_on_host ? lanes : 1;
struct CellBlock {
  int first, row;    ///< position of its first cell, and its row
  unsigned unknowns; ///< bit k: its cell k is an unknown, and is computed
  KOKKOS_INLINE_FUNCTION bool is(int k) const { return (unknowns >> k & 1u) != 0; }
};

} // namespace nunatak
