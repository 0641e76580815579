// Which part of a variable belongs to which aggregator: pure functions of a schema, no MPI.
//
//   zslab                    box                        morton (tiles of a stripe, along a Z curve)
//   z  0 0 0 0 0 0           y  0 0 0 1 1 1             y  0 0 0 0 1 1
//   |  1 1 1 1 1 1           |  0 0 0 1 1 1             |  0 0 0 0 1 1
//   |  2 2 2 2 2 2           |  2 2 2 3 3 3             |  1 1 2 2 3 3
//   v  3 3 3 3 3 3           v  2 2 2 3 3 3             v  1 1 2 2 3 3
//      ------------> y, x       ------------> x            ------------> x
//
// Sources: slabs along the slowest dimension: W. Yang and C. Ding, ZioLib: a parallel I/O library,
// LBNL-53521 (2003), and its use in CAM. Morton order in segments of a stripe: B. Palmer et al.,
// Efficient data IO for a parallel global cloud resolving model, Environ. Model. Softw. 26 (2011).
#pragma once

#include "io/data/box.hpp"
#include "io/data/schema.hpp"

#include <cstddef>
#include <vector>

namespace nunatak::io {

/// Which dimensions of a variable are distributed, without the record dimension.
std::vector<std::size_t> distributed_places(const Schema& schema, std::size_t v);

/// Equal slabs along the slowest dimension other than the record; a scalar on aggregator 0.
Boxes slab_boxes(const Schema& schema, std::size_t v, std::size_t aggregators);

/// Tiles of about `stripe` bytes (at least one cell) in the distributed dimensions, whole in all
/// others, in Morton order, cut into runs of nearly equal bytes, one run per aggregator; one box
/// per tile. Without distributed dimensions all is on aggregator 0.
Boxes morton_boxes(const Schema& schema, std::size_t v, std::size_t aggregators,
                   std::size_t stripe);

/// Order along the Z curve: bits are interleaved, the first index most significant.
bool morton_less(const Indices& a, const Indices& b);

/// How distributed dimensions are cut into a rectangle per aggregator, for all variables alike.
///
/// The variable with most distributed dimensions is cut into the grid of aggregators with the
/// shortest subdomain boundaries; its dimensions are the axes. The n-th dimension of another
/// variable has the n-th axis (staggered grids: xt and xu are cut alike); one that never occurs
/// together with another (cells, edges, corners of a geodesic grid) is cut among all aggregators.
class Rectangles {
public:
  Rectangles(const Schema& schema, std::size_t aggregators); ///< `schema` must outlive it

  struct Range {
    std::size_t first = 0, count = 0;
  };
  /// Indices of dimension d on aggregator `a`: all if it is not distributed.
  Range range(std::size_t d, std::size_t a) const;
  bool is_cut(std::size_t d) const { return m_axis[d] != uncut; }

  /// The part of variable v in the rectangle of each aggregator. A variable that lacks an axis of
  /// the grid belongs to index 0 of that axis or, with `repeated`, to all (a copy in each file).
  Boxes boxes(std::size_t v, bool repeated) const;

  /// The most aggregators, up to `aggregators`, with a cell each; 0 if no dimension is distributed.
  static std::size_t most(const Schema& schema, std::size_t aggregators);

private:
  static constexpr int uncut = -2, alone = -1;
  std::size_t index(int axis, std::size_t a) const;

  const Schema& m_schema;
  std::size_t m_aggregators = 1;
  /// By dimension: number of its axis, `alone` (cut among all aggregators) or `uncut`.
  std::vector<int> m_axis;
  std::vector<std::size_t> m_grid; ///< aggregators along each axis; the last index runs fastest
  bool m_cuts_something = false;
  bool m_fits = true; ///< every aggregator has at least one cell
};

// The stripe length if -io_stripe is not given: st_blksize of the folder, if it is plausible, as on
// parallel file systems. A disk reports a page of 4 KiB, which is no stripe.
constexpr std::size_t default_stripe = std::size_t{1} << 20; ///< where the file system has none

/// `given` (-io_stripe) if not 0; else `reported`, if it is 64 KiB to 1 GiB; else default_stripe.
inline std::size_t stripe_of(std::size_t given, std::size_t reported = 0) {
  if (given > 0) return given;
  const bool is_plausible = reported >= std::size_t{64} << 10 && reported <= std::size_t{1} << 30;
  return is_plausible ? reported : default_stripe;
}

/// Total number of elements.
std::size_t elements_of(const std::vector<Box>& boxes);

/// One of `n_parts` nearly equal parts of a list of boxes, in its order; boxes are cut if needed.
std::vector<Box> part_of(const std::vector<Box>& boxes, std::size_t part, std::size_t n_parts);

} // namespace nunatak::io
