// The preconditioner `chebyshev`: the smoother of the multigrid (smoother.hpp) from x = 0, on the
// grid itself. With degree 1 it is Jacobi's method with 2 x 2 blocks, each scaled by S. An
// iteration reaches as many cells as the degree, so that their number grows with the grid: the
// cost of a local preconditioner, which multigrid is made to avoid.
//
// Communication of apply(): an exchange of d before each product with A, as many as the degree with
// the residual, else one fewer; of smooth(): one; of set_operator(): none. Nothing is collective.
#pragma once

#include "kernels/multigrid/preconditioner.hpp"
#include "kernels/multigrid/smoother.hpp"

#include <numeric>
#include <string>
#include <vector>

namespace nunatak {

template <class Real> class OneLevel final : public Preconditioner<Real> {
public:
  OneLevel(Ranks& ranks, double /*dx*/, double /*dy*/, const std::vector<Array2<int>>& active,
           const MultigridOptions& options)
      : m_grid(ranks, ranks.decomposition(), all_of(ranks)), m_polynomial{options.smoothing},
        m_halo(halo(m_grid, 1)) {
    std::vector<Array2<int>> cells;
    for (const int n : m_grid.locals())
      cells.push_back(with_lanes(m_grid.patch(n), active[n], m_grid.patch(n)));
    m_halo.keep(cells, cells);
    for (const int n : m_grid.locals()) m_parts.emplace_back(m_grid.patch(n), cells[n]);
    for (NinePoint<Real>& part : m_parts) m_passes.emplace_back(part);
  }

  NinePoint<Real>& finest(int n) override { return m_parts[n]; }

  void set_operator() override {
    for (const int n : m_grid.locals()) {
      invert_diagonal(m_passes[n], 0);
      m_passes[n].run();
    }
    work(visits_of_product);
  }

  void apply(bool with_residual) override {
    const auto steps = [this](std::size_t n) -> CellValues<Real> { return m_parts[n].d; };
    smooth_from_zero(m_grid, m_passes, m_polynomial, with_residual, [&] {
      for (const int n : m_grid.locals()) m_passes[n].run();
      const StepShare share(m_grid.all(), "SSA: ghosts");
      m_halo.move(2, steps, steps);
    });
    work(visits_of_smoothing(m_polynomial));
  }

  void smooth(const std::vector<Kokkos::View<int*, Mem>>& chosen,
              const std::vector<int>& counts) override {
    smooth_chosen(m_grid, m_halo, m_parts, chosen, counts);
  }

  std::string describe() const override {
    return "Chebyshev's polynomial of degree " + std::to_string(m_polynomial.degree) +
           " on the grid alone";
  }

private:
  /// Reports `visits` (Work::ssa) per unknown cell.
  void work(std::int64_t visits) {
    for (int n = 0; n < m_grid.local_size(); ++n)
      m_grid.all().work(m_grid.place(n), visits * m_parts[n].size());
  }
  static std::vector<int> all_of(const Ranks& ranks) {
    std::vector<int> members(static_cast<std::size_t>(ranks.decomposition().size()));
    std::iota(members.begin(), members.end(), 0);
    return members;
  }

  Holders m_grid;
  Chebyshev m_polynomial;
  Route m_halo;
  std::vector<NinePoint<Real>> m_parts; ///< on the local ranks
  std::vector<Passes<Real>> m_passes;   ///< of the parts
};

} // namespace nunatak
