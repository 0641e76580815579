// Multigrid for a 9-point operator on a masked grid: one cycle is an approximation of A^-1. Made
// for the SSA on an ice sheet: margins of any shape, islands and tongues one cell wide, viscosity
// and drag that jump by orders of magnitude.
//
//  levels       hats on every second point, restricted to the unknowns (hats.hpp): a hat exists if
//               it is nonzero on an unknown. Hats sum to 1 at any margin, so translations, linear
//               fields and thus the rotation are represented exactly (except where a periodic axis
//               with an odd number of points closes, and on an axis of one point). An axis with a
//               spacing above 1.5 times the other's keeps its points (semicoarsening).
//  operators    Galerkin, A_coarse = P^T A P (transfer.hpp): again 9 points, symmetric, positive
//               semidefinite (restricted hats may be linearly dependent; systems stay consistent)
//  cycle        b goes down to the last level, x comes up; each level corrects it by smoother.hpp,
//               one degree more on coarse grids, where a cycle is less accurate the more levels
//               there are. A V-cycle with half of the steps on each side converges about as fast,
//               but reads the matrix twice. It is symmetric, of which flexible conjugate gradients
//               have no need (except in long strips of long cells: dx/dy of 10, 15 and 60 take 13,
//               44 and 117 iterations to 1e-8).
//  ghosts       halo.hpp: as many rings as the smoother reaches, computed redundantly
//  fewer ranks  halo.hpp: where a rank has few unknowns, or would have no point of the next level,
//               blocks of neighbouring patches go to one rank each; levels of few unknowns go to
//               rank 0. The other ranks wait.
//  last level   last_level.hpp: its inverse, in double precision
//  on a GPU     coarse levels of one rank are computed in one launch (coarse_levels.hpp)
//
// In single precision (Real = float) within a Krylov method in double, memory traffic is halved. On
// one thread of a CPU the loops of a level run row by row together, so that the matrix is read once
// per cycle (passes.hpp).
//
// Communication of one cycle: per level that is smoothed on several ranks two ghost exchanges, of b
// and of x (finest level: of b). A merge of patches costs a round of messages in each direction (of
// the finest grid, two for x and the residual), and saves one exchange. Nothing is collective. A
// level with patches smaller than its rings (only the finest: others are merged before), and all
// levels of a periodic grid, have one ring and k exchanges (k: degree of the smoother; one more if
// an axis is periodic, and one for the residual). Arithmetic is cell by cell in an order
// independent of the decomposition: the result is bitwise the same for every number of ranks. Hats
// and semicoarsening: Trottenberg, Oosterlee and Schueller (2001), sections 2.3 and 5.4.
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/multigrid/coarse_levels.hpp"
#include "kernels/multigrid/preconditioner.hpp"
#include "kernels/multigrid/smoother.hpp"
#include "kernels/multigrid/transfer.hpp"

#include <array>
#include <string>
#include <vector>

namespace nunatak {

template <class Real> class Multigrid final : public Preconditioner<Real> {
public:
  /// `ranks` must outlive this object. dx, dy: grid spacing (m; only the ratio matters), for
  /// semicoarsening. active[local]: 1 in unknown cells, in owned cells and ghosts. Collective: two
  /// reductions, an exchange per level on several ranks, a round of messages per merge.
  Multigrid(Ranks& ranks, double dx, double dy, const std::vector<Array2<int>>& active,
            const MultigridOptions& options);

  /// Members of Preconditioner; x of apply() is of one cycle, without extra communication for the
  /// residual unless the finest level has one ring or is merged.
  NinePoint<Real>& finest(int n) override { return m_levels[0].parts[n]; }
  /// Coarse operators and last inverse: an exchange per level on several ranks, a round per merge.
  void set_operator() override;
  void apply(bool with_residual) override { cycle(0, with_residual); }
  /// One exchange.
  void smooth(const std::vector<Kokkos::View<int*, Mem>>& chosen,
              const std::vector<int>& counts) override;
  std::string describe() const override;

  /// "381 x 381 (52925) on 64 ranks, 191 x 191 (13760), ...": points and unknown cells of each
  /// level, and its number of ranks where it changes. Levels of this process: on rank 0 all.
  std::string levels() const;

private:
  enum class Next { coarser, merged, none };
  struct Level {
    Holders holders;
    Chebyshev polynomial;
    int rings = 1; ///< of ghosts
    Route halo;
    std::vector<NinePoint<Real>> parts; ///< on the local ranks
    std::vector<Passes<Real>> passes;   ///< of the parts
    Next next = Next::none;
    std::vector<HatAxis> x, y; ///< if coarser: to the next level, on the local ranks
    Merge merge;               ///< if merged
  };

  /// cells[n]: on a local patch of the level, without ghosts, in rows of lanes.hpp.
  void add_level(const Holders& holders, bool finest, int rings,
                 const std::vector<Array2<int>>& cells);
  void add_finest(const Holders& holders, const std::vector<Array2<int>>& active);
  void add_coarser(Halving halving);
  void add_merged(int side);
  /// Rings of ghosts for one exchange of b and one of x per cycle, if patches are large enough.
  int rings_wanted(bool finest) const { return degree(finest) + (finest ? 1 : 0); }
  int degree(bool finest) const { return m_options.smoothing + (finest ? 0 : 1); }
  int rings_of(const Decomposition& d, bool finest) const;
  /// Side of the blocks of patches to merge next; 1: none. `least`: lower bound of unknown cells.
  int side_of_blocks(std::int64_t least, Halving halving) const;
  void count_unknowns(Ranks& ranks);
  void put_coarse_levels_together();

  void cycle(std::size_t l, bool with_residual);
  /// Later steps of the smoother, after one that is valid in rings 0 to `ring`; then r, if wanted.
  void relax(Level& level, int ring, bool with_residual);

  /// Reports `visits` (Work::ssa) per local unknown cell in these rings.
  void work(Level& level, int visits, int first = 0, int last = 0);
  static constexpr int visits_of_bottom = 17;
  static constexpr int visits_of_inverse = 1;
  static constexpr int visits_of_operator = 50;

  /// Runs the passes of the level first, unless it has no neighbour.
  void update_ghosts(Level& level, int width, Rows<Real> NinePoint<Real>::*rows);
  void update_solution(Level& level);
  static auto data(const Level& level, Rows<Real> NinePoint<Real>::*rows) {
    return [&level, rows](std::size_t n) -> CellValues<Real> { return level.parts[n].*rows; };
  }

  MultigridOptions m_options;
  Ranks& m_all;
  std::vector<Level> m_levels;
  std::array<std::int64_t, 64> m_unknown_cells{}; ///< per grid
  std::size_t m_first_coarse = 0; ///< the first of the levels in m_coarse, if this rank has them
  CoarseLevels<Real> m_coarse;
};

extern template class Multigrid<float>; // multigrid.cpp
extern template class Multigrid<double>;

} // namespace nunatak
