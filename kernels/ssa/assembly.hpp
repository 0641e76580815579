// The discrete SSA over the local ranks of a process: which cells are unknowns, the load, the residual and the Jacobian. No
// solver: miniapp/model/ssa.hpp drives it with PETSc's. The equations are in kernels/ssa/element.hpp.
//
//   SsaAssembly assembly(ranks, dx, dy, glen, till);
//   assembly.set_input(inputs);                          // geometry: collective
//   ssa::residual(assembly.patch(n), u[n], v[n], r);     // and the other functions of loops.hpp: local rank by local rank
//
// Neighbours: unknowns.hpp (cells and elements), load.hpp (driving forces), loops.hpp (residual, Jacobian).
#pragma once

#include "kernels/ssa/load.hpp"
#include "kernels/ssa/loops.hpp"

#include <stdexcept>
#include <string>

namespace nunatak {

class SsaAssembly {
public:
  /// `ranks` must outlive this object. dx, dy: size of a cell, m. `till_subgrid`: see load.hpp.
  SsaAssembly(Ranks& ranks, double dx, double dy, const GlenLaw& glen, const TillLaw& till, bool till_subgrid = true)
      : m_ranks(ranks) {
    for (int n = 0; n < ranks.local_size(); ++n) m_patches.emplace_back(ranks.patch(n), dx, dy, glen, till, till_subgrid);
  }

  /// Reads the geometry, `inputs[local]` with valid ghosts: unknowns, load, coefficients. The arrays must stay as they are until
  /// the next call. Collective: R rounds of one exchange of ghosts and one sum each, where R - 1 is the largest number of seams
  /// that ice crosses on its way from what holds it; then one sum, one gather and two exchanges. invalid_argument if there is
  /// not one input per local rank.
  void set_input(const std::vector<SsaInput>& inputs) {
    if (inputs.size() != m_patches.size()) {
      throw std::invalid_argument("SSA: expected input of " + std::to_string(m_patches.size()) + " local ranks, found " +
                                  std::to_string(inputs.size()));
    }
    Kokkos::fence("ssa: input");
    for (std::size_t n = 0; n < inputs.size(); ++n) m_patches[n].set_input(inputs[n]);
    find_ice();
    number_unknowns();
    for (SsaPatch& p : m_patches) ssa::find_elements(p);
    for (SsaPatch& p : m_patches) ssa::set_coefficients(p);
    launch_ghosts(m_ranks, [this](std::size_t n) -> std::vector<Ghosted> { return {m_patches[n].rise}; });
    for (SsaPatch& p : m_patches) ssa::compute_load(p);
  }

  std::int64_t unknowns() const { return m_unknowns; } ///< unknown cells on all ranks
  std::int64_t excluded() const { return m_excluded; } ///< cells on all ranks without anything that holds them
  /// Are the unknowns others than before the last set_input? The same answer on all ranks.
  bool unknowns_changed() const { return m_changed; }

  SsaPatch& patch(int local) { return m_patches[static_cast<std::size_t>(local)]; }
  const SsaPatch& patch(int local) const { return m_patches[static_cast<std::size_t>(local)]; }

private:
  template <class F> void update_ghosts(const F& array_of) {
    std::vector<std::vector<Ghosted>> arrays;
    for (const SsaPatch& p : m_patches) arrays.push_back({array_of(p)});
    m_ranks.update_ghosts(arrays);
  }

  // Flood from everything that is held, through icy neighbours; what is not reached is excluded.
  void find_ice() {
    std::vector<std::vector<ssa::Cell>> fronts;
    std::vector<SharedArray2<int>> before;
    for (const SsaPatch& p : m_patches) {
      fronts.push_back(ssa::mark_ice(p, m_ranks.decomposition()));
      before.push_back(shared_array<int>("ssa_before", p.patch));
    }
    std::vector<std::vector<std::int64_t>> count(m_patches.size());
    do {
      for (std::size_t n = 0; n < m_patches.size(); ++n) {
        ssa::flood(m_patches[n], fronts[n]);
        Kokkos::deep_copy(before[n], m_patches[n].ice);
      }
      update_ghosts([](const SsaPatch& p) { return Ghosted(p.ice); });
      for (std::size_t n = 0; n < m_patches.size(); ++n) {
        fronts[n] = ssa::newly_held(m_patches[n], before[n]);
        count[n] = {static_cast<std::int64_t>(fronts[n].size())};
      }
      m_ranks.sum(count);
    } while (count[0][0] > 0);
    for (std::size_t n = 0; n < m_patches.size(); ++n) count[n] = {ssa::exclude_loose(m_patches[n])};
    m_ranks.sum(count);
    m_excluded = count[0][0];
  }

  void number_unknowns() {
    std::vector<std::vector<std::int64_t>> mine; // unknown cells; 1 if they have changed
    for (SsaPatch& p : m_patches) {
      const bool changed = ssa::find_unknowns(p);
      mine.push_back({p.unknowns(), changed ? 1 : 0});
    }
    const auto all = m_ranks.gather_all(mine, std::vector<int>(static_cast<std::size_t>(m_ranks.decomposition().size()), 2));
    m_unknowns = 0;
    m_changed = false;
    for (int r = 0; r < m_ranks.decomposition().size(); ++r) {
      const int local = r - m_ranks.first();
      if (local >= 0 && local < m_ranks.local_size()) patch(local).first = m_unknowns;
      m_unknowns += all[2 * static_cast<std::size_t>(r)];
      m_changed = m_changed || all[2 * static_cast<std::size_t>(r) + 1] != 0;
    }
    for (const SsaPatch& p : m_patches) ssa::number_unknowns(p);
    update_ghosts([](const SsaPatch& p) { return Ghosted(p.number); });
    for (const SsaPatch& p : m_patches) ssa::clear_numbers_of_others(p);
  }

  Ranks& m_ranks;
  std::vector<SsaPatch> m_patches;
  std::int64_t m_unknowns = 0, m_excluded = 0;
  bool m_changed = true;
};

} // namespace nunatak
