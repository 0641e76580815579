// The preconditioner `chebyshev`: the smoother of the multigrid (smoother.hpp) from x = 0, on the
// grid itself. With degree 1 it is Jacobi's method with 2 x 2 blocks. What is far away is reached
// in as many iterations as it is cells away, so that their number grows with the grid: the cost of
// a local preconditioner, which multigrid is made to avoid.
//
// Communication: an exchange of d before each product with A, as many as the degree with the
// residual, else one fewer. Nothing is collective. The same bits on every decomposition.
#pragma once

#include "kernels/multigrid/preconditioner.hpp"
#include "kernels/multigrid/smoother.hpp"

#include <numeric>
#include <string>
#include <vector>

namespace nunatak {

/// x = p(A) b by the polynomial and, if wanted, r = b - A x, in the owned unknowns of `grid`, with
/// no pass pending. `exchange` runs the passes and moves the ghosts of d.
template <class Real, class F>
void smooth_from_zero(const Holders& grid, std::vector<Passes<Real>>& passes,
                      const Chebyshev& polynomial, bool with_residual, const F& exchange) {
  ChebyshevSteps factors(polynomial);
  for (const int n : grid.locals()) start_from_zero(passes[n], polynomial);
  for (int k = 1; k < polynomial.degree; ++k) {
    factors.next();
    exchange();
    for (const int n : grid.locals()) step(passes[n], factors, 0);
  }
  if (with_residual) exchange();
  for (const int n : grid.locals()) {
    with_residual ? finish(passes[n]) : move(passes[n]);
    passes[n].run();
  }
}

/// Preconditioner::smooth() for parts of one grid with their `route` of ghosts.
template <class Real>
void smooth_chosen(const Holders& grid, Route& route, std::vector<NinePoint<Real>> parts,
                   const std::vector<Kokkos::View<int*, Mem>>& chosen,
                   const std::vector<int>& counts) {
  constexpr int degree = 2;
  std::vector<Passes<Real>> passes(parts.begin(), parts.end()); // of the same arrays
  for (const int n : grid.locals()) {
    parts[n].choose(chosen[n], counts[n]);
    Kokkos::deep_copy(Exec(), parts[n].d.memory, Real(0)); // given a space it does not wait
    Kokkos::deep_copy(Exec(), parts[n].e.memory, Real(0));
    invert_diagonal(passes[n], 0);
  }
  const auto steps = [&parts](std::size_t n) -> CellValues<Real> { return parts[n].d; };
  smooth_from_zero(grid, passes, Chebyshev{degree}, false, [&] {
    for (const int n : grid.locals()) passes[n].run();
    route.move(2, steps, steps);
  });
}

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
  }

  void apply(bool with_residual) override {
    const auto steps = [this](std::size_t n) -> CellValues<Real> { return m_parts[n].d; };
    smooth_from_zero(m_grid, m_passes, m_polynomial, with_residual, [&] {
      for (const int n : m_grid.locals()) m_passes[n].run();
      const StepShare share(m_grid.all(), "SSA: ghosts");
      m_halo.move(2, steps, steps);
    });
    for (int n = 0; n < m_grid.local_size(); ++n)
      m_grid.all().work(m_grid.place(n),
                        std::int64_t{visits_of_smoothing(m_polynomial)} * m_parts[n].size());
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
