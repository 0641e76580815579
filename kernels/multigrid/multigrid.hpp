// Multigrid for a 9-point operator on the cells of a masked grid: one V-cycle is a symmetric approximation of A^-1.
//
// Made for the SSA on an ice sheet: unknowns only where there is ice, margins of any shape, islands and tongues one cell wide,
// viscosity and drag that jump by orders of magnitude.
//
//   levels         hats on every second point, cut to the unknowns (kernels/multigrid/hats.hpp): a hat exists where it is not
//                  0 on at least one unknown. Whatever the margin, the hats sum to 1, so that translations, linear fields and
//                  with them the rotation are represented exactly (not where a periodic axis with an odd number of points
//                  closes, nor on an axis of one point). An axis whose spacing is more than 1.5 times that of the other keeps
//                  its points (semicoarsening).
//   operators      Galerkin, A_coarse = P^T A P: 9 points again. Symmetric, positive semidefinite (hats cut to few cells may be
//                  linearly dependent; the systems stay consistent).
//   smoother       kernels/multigrid/smoother.hpp, the same before and after the coarser level
//   few unknowns   are gathered: every rank then solves the coarser levels by itself, with the same numbers
//   last level     Cholesky, in double; dependent unknowns (a pivot that is 0 to rounding) stay 0
//
// In single precision (Real = float) it moves half the bytes; the Krylov method around it works in double.
//
// Communication of one cycle: per level that is smoothed on many ranks 2 k + 1 exchanges of ghosts (k: degree of the smoother;
// one more where an axis is periodic), then one gather.
// All arithmetic is cell by cell in an order that does not depend on the decomposition: the result is bitwise the same for every
// number of ranks (Trottenberg, Oosterlee and Schueller 2001, sections 2.3 and 5.4 for hats and semicoarsening).
#pragma once

#include "kernels/grid/ranks.hpp"
#include "kernels/grid/virtual_ranks.hpp"
#include "kernels/multigrid/cholesky.hpp"
#include "kernels/multigrid/smoother.hpp"
#include "kernels/multigrid/transfer.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace nunatak {

struct MultigridOptions {
  int smoothing = 2;                ///< degree of the smoother, 1 or more
  std::int64_t gather_below = 3000; ///< unknown cells of a level that is gathered, if its grid is small, too
  std::int64_t bottom = 60;         ///< at most N unknown cells on the last level, if a coarser grid exists
};

template <class Real> class Multigrid {
public:
  /// `ranks` must outlive this object. dx, dy: grid spacing (m; only the ratio matters), for semicoarsening. active[local]: 1
  /// where a cell is an unknown, in owned cells and ghosts, 0 beyond the edges of the domain. Collective: one exchange and one
  /// reduction per distributed level, three collectives more where a level is gathered.
  Multigrid(Ranks& ranks, double dx, double dy, const std::vector<Array2<int>>& active, const MultigridOptions& options);

  /// The finest level of local rank n: fill A in its unknowns, then call set_operator(); set b, call cycle(), read x.
  NinePoint<Real>& finest(int n) { return m_levels[0].parts[static_cast<std::size_t>(n)]; }
  /// Coarse operators and the factors of the last one. Collective: one exchange per level that is coarsened on its ranks, one
  /// gather.
  void set_operator();
  /// x = (approximate inverse of A) b on the finest level. Collective, see above.
  void cycle() { cycle(0, false); }
  /// The same, and r = b - A x there: one exchange more, and what a Krylov method needs of A.
  void cycle_with_residual() { cycle(0, true); }

  int levels() const { return static_cast<int>(m_levels.size()); }
  std::int64_t unknown_cells(int level) const { return m_levels[static_cast<std::size_t>(level)].unknown_cells; }
  /// "381 x 381 (52925), 191 x 191 (13760), ...": points and unknown cells of each level.
  std::string describe() const;
  /// What the coarser levels have sent so far; `ranks` counts what the finest one sends. Gathered levels send nothing.
  Traffic traffic() const;

private:
  enum class Next { coarser, gathered, none };
  struct Level {
    Ranks* ranks = nullptr;
    std::unique_ptr<Ranks> own;
    std::vector<NinePoint<Real>> parts; ///< of the local ranks
    std::int64_t unknown_cells = 0;
    Next next = Next::none;
    std::vector<HatAxis> x, y; ///< to the next level, of the local ranks
    std::vector<int> lengths;  ///< if gathered: unknowns of each rank, and where they lie in the gathered arrays
    std::vector<int> places;
  };

  Level make_level(Ranks& ranks, std::unique_ptr<Ranks> own, const std::vector<Array2<int>>& active);
  Level gathered(Level& fine);

  void factorise();
  void cycle(std::size_t l, bool with_residual);
  void relax(Level& level, bool with_residual);
  void solve_bottom(const NinePoint<Real>& part) const;

  /// Reports so many visits per unknown cell of the local ranks (Ranks::work). The numbers: perf/bench_ssa at 8 km, in 3 ns.
  void work(Level& level, int visits);
  static constexpr int visits_of_cycle = 36, visits_of_operator = 50;

  template <class F> void update_ghosts(Level& level, const F& rows_of);
  /// `width` numbers of every unknown of every rank, in the order of `places`.
  template <class F> std::vector<double> gather(Level& level, int width, const F& rows_of);
  void scatter(const Rows<Real>& b, const std::vector<int>& places, const std::vector<double>& values) const;

  MultigridOptions m_options;
  Chebyshev m_polynomial;
  std::vector<Level> m_levels;
  Cholesky m_bottom;
};

} // namespace nunatak

#include "kernels/multigrid/cycle.hpp"
#include "kernels/multigrid/levels.hpp"
