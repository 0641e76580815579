// Multigrid for a 9-point operator on the cells of a masked grid: one V-cycle is a symmetric
// approximation of A^-1. Made for the SSA on an ice sheet: unknowns only where there is ice,
// margins of any shape, islands and tongues one cell wide, viscosity and drag that jump by orders
// of magnitude.
//
//  levels       hats on every second point, cut to the unknowns (hats.hpp): a hat exists where it
//               is not 0 on at least one unknown. Whatever the margin, the hats sum to 1, so that
//               translations, linear fields and with them the rotation are represented exactly (not
//               where a periodic axis with an odd number of points closes, nor on an axis of one
//               point). An axis whose spacing is more than 1.5 times that of the other keeps its
//               points (semicoarsening).
//  operators    Galerkin, A_coarse = P^T A P (transfer.hpp): 9 points again; symmetric, positive
//               semidefinite (hats cut to few cells may be linearly dependent; the systems stay
//               consistent)
//  smoother     smoother.hpp, the same before and after the coarser level; one degree more on
//               coarse grids, since a V-cycle solves their problems the less well the more levels
//               there are
//  ghosts       halo.hpp: as many rings as the smoother reaches, computed redundantly
//  fewer ranks  halo.hpp: where a rank has few unknowns, or would have no point of the next level,
//               blocks of neighbouring patches go to one rank each; levels of few unknowns go to
//               rank 0. The other ranks wait
//  last level   last_level.hpp: its inverse, in double
//
// In single precision (Real = float) it moves half the bytes; the Krylov method around it works in
// double.
//
// Communication of one cycle: per level that is smoothed on several ranks two exchanges of ghosts,
// of b and of x (the finest level: of b); where patches are merged one round of messages there and
// one back (of the finest grid, of x and of the residual: two), and one exchange less. Nothing is
// collective. A level that is cut into patches of fewer cells than it has rings (the finest one:
// the others are merged before), and all levels of a periodic grid, have one ring, and 2 k + 1
// exchanges (k: degree of its smoother; one more where an axis is periodic). All arithmetic is cell
// by cell in an order that does not depend on the decomposition: the result is bitwise the same for
// every number of ranks (Trottenberg, Oosterlee and Schueller 2001, sections 2.3 and 5.4 for hats
// and semicoarsening).
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/multigrid/last_level.hpp"
#include "kernels/multigrid/smoother.hpp"
#include "kernels/multigrid/transfer.hpp"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace nunatak {

struct MultigridOptions {
  int smoothing = 2; ///< degree of the smoother on the finest grid, 1 or more; one more on others
  int gather = 200;  ///< one rank has a level of at most N unknown cells, if its grid is small, too
  int bottom = 25;   ///< at most N unknown cells on the last level, if a coarser grid exists
  int share = 4;     ///< unknown cells per rank below which patches are merged
};

template <class Real> class Multigrid {
public:
  /// `ranks` must outlive this object. dx, dy: grid spacing (m; only the ratio matters), for
  /// semicoarsening. active[local]: 1 where a cell is an unknown, in owned cells and ghosts, 0
  /// beyond the edges of the domain. Collective: two reductions, and an exchange per level that
  /// several ranks have; a round of messages where patches are merged.
  Multigrid(Ranks& ranks, double dx, double dy, const std::vector<Array2<int>>& active,
            const MultigridOptions& options);

  /// The finest level of local rank n: fill A in its owned unknowns, then call set_operator(); set
  /// b, call cycle(), read x.
  NinePoint<Real>& finest(int n) { return m_levels[0].parts[n]; }
  /// Coarse operators and the inverse of the last one. One exchange per level that several ranks
  /// have, one round of messages where patches are merged.
  void set_operator();
  /// x = (approximate inverse of A) b on the finest level. Communicates, see above.
  void cycle() { cycle(0, false); }
  /// The same, and r = b - A x there, what a Krylov method needs of A: no exchange more, unless the
  /// finest level has one ring.
  void cycle_with_residual() { cycle(0, true); }

  /// "381 x 381 (52925) on 64 ranks, 191 x 191 (13760), ...": points and unknown cells of each
  /// level, and how many ranks have it where it is not as many as before. Of the levels that this
  /// process knows of: on rank 0 of all.
  std::string describe() const;

private:
  enum class Next { coarser, merged, none };
  struct Level {
    Holders holders;
    Chebyshev polynomial;
    int rings = 1; ///< of ghosts
    Route halo;
    std::vector<NinePoint<Real>> parts; ///< of the local ranks
    Next next = Next::none;
    std::vector<HatAxis> x, y; ///< if coarser: to the next level, of the local ranks
    Merge merge;               ///< if merged
  };

  /// cells[n]: of a local patch of the level, without ghosts.
  void add_level(const Holders& holders, bool finest, int rings,
                 const std::vector<Array2<int>>& cells);
  void add_finest(const Holders& holders, const std::vector<Array2<int>>& active);
  void add_coarser(Halving halving);
  void add_merged(int side);
  /// Rings of ghosts for a cycle with one exchange of b and one of x (a finest grid: and for the
  /// residual at its end); of a level.
  int rings_wanted(bool finest) const {
    return std::max(degree(finest) + 1, 2 * degree(finest) - (finest ? 0 : 1));
  }
  /// Of the smoother.
  int degree(bool finest) const { return m_options.smoothing + (finest ? 0 : 1); }
  int rings_of(const Decomposition& d, bool finest) const;
  /// The side of the blocks of patches that are merged next; 1: none. `least`: unknown cells of the
  /// level, or fewer.
  int side_of_blocks(std::int64_t least, Halving halving) const;
  void count_unknowns(Ranks& ranks);

  void cycle(std::size_t l, bool with_residual);
  /// The smoother's steps after the first one, which is right in rings 0 to `ring`; then r in ring
  /// 0 to `residual`, -1: nowhere.
  void relax(Level& level, int ring, int residual);

  /// Reports so many visits per unknown cell of the local ranks in rings `first` to `last`
  /// (Ranks::work). The numbers: perf/bench_ssa at 8 km, in 3 ns.
  void work(Level& level, int visits, int first = 0, int last = 0);
  static constexpr int visits_of_bottom = 17, visits_of_inverse = 1, visits_of_operator = 50,
                       visits_of_product = 8;
  /// Before the coarser level, or after it.
  static int visits_of_smoothing(const Level& level) {
    return 2 + visits_of_product * level.polynomial.degree;
  }

  void update_ghosts(Level& level, int width, Rows<Real> NinePoint<Real>::*rows);
  void update_solution(Level& level);
  /// The numbers of an array of a patch, for Merge.
  static auto data(const Level& level, Rows<Real> NinePoint<Real>::*rows) {
    return [&level, rows](std::size_t n) { return (level.parts[n].*rows).data(); };
  }

  MultigridOptions m_options;
  std::unique_ptr<Ranks> m_all; ///< carries what merged patches send
  std::vector<Level> m_levels;
  std::array<std::int64_t, 64> m_unknown_cells{}; ///< of each grid
  LastLevel<Real> m_last;
};

extern template class Multigrid<float>; // multigrid.cpp
extern template class Multigrid<double>;

} // namespace nunatak
