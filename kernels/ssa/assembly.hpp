// The discrete SSA over the local ranks of a process: unknowns, load, residual and Jacobian,
// without a solver. The equations are in element.hpp.
//
//   SsaAssembly assembly(ranks, dx, dy, glen, till);
//   assembly.set_input(inputs);                       // geometry: collective
//   ssa::residual(assembly.patch(n), u[n], v[n], r);  // and the other functions of loops.hpp, for
//                                                     // each local rank
#pragma once

#include "kernels/ssa/load.hpp"
#include "kernels/ssa/loops.hpp"
#include "kernels/ssa/unknowns.hpp"

#include <stdexcept>
#include <string>

namespace nunatak {

class SsaAssembly {
public:
  /// `ranks` must outlive this object. dx, dy: size of a cell, m. `till_subgrid`: see load.hpp.
  SsaAssembly(Ranks& ranks, double dx, double dy, const GlenLaw& glen, const TillLaw& till,
              bool till_subgrid = true)
      : m_ranks(ranks) {
    for (const int n : ranks.locals())
      m_patches.emplace_back(ranks.patch(n), dx, dy, glen, till, till_subgrid);
  }

  /// Reads the geometry, `inputs[local]` with valid ghosts: unknowns, load, coefficients. The
  /// arrays must not change until the next call. Waits for the number of unknowns, but not for the
  /// load. Collective: one sum and one ghost exchange; if a rank has ice that nothing on its patch
  /// holds, also R rounds of one exchange and one sum, where R is the largest number of subdomain
  /// boundaries between ice and what holds it, plus 1 if some ice is not held at all. Throws
  /// invalid_argument unless there is one input per local rank.
  void set_input(const std::vector<SsaInput>& inputs) {
    if (inputs.size() != m_patches.size()) {
      throw std::invalid_argument("SSA: expected input of " + std::to_string(m_patches.size()) +
                                  " local ranks, found " + std::to_string(inputs.size()));
    }
    for (const int n : m_ranks.locals()) m_patches[n].input = inputs[n];
    find_ice();
    for (const int n : m_ranks.locals()) ssa::mark_unknowns(m_patches[n]);
    for (const int n : m_ranks.locals()) ssa::set_coefficients(m_patches[n]);
    launch_ghosts(m_ranks,
                  [this](std::size_t n) -> std::vector<Ghosted> { return {m_patches[n].rise}; });
    for (const int n : m_ranks.locals()) ssa::compute_load(m_patches[n]);
  }

  std::int64_t unknowns() const { return m_unknowns; } ///< unknown cells on all ranks
  std::int64_t excluded() const { return m_excluded; } ///< cells on all ranks that nothing holds
  /// True if the last set_input has changed the unknowns. The same on all ranks.
  bool unknowns_changed() const { return m_changed; }

  SsaPatch& patch(int local) { return m_patches[local]; }
  const SsaPatch& patch(int local) const { return m_patches[local]; }

private:
  // First as if all ice were held; then, if necessary, ranks exchange the marks of held ice.
  void find_ice() {
    for (const int n : m_ranks.locals()) {
      ssa::mark_ice(m_patches[n], m_ranks.decomposition());
      ssa::join_loose(m_patches[n]);
      ssa::count(m_patches[n], true);
      ssa::list_unknowns(m_patches[n]);
    }
    std::int64_t before = 0, loose = sum_counts();
    m_excluded = 0;
    if (loose == 0) return read_lengths();
    do {
      before = loose;
      for (const int n : m_ranks.locals()) ssa::settle(m_patches[n], false);
      launch_ghosts(m_ranks,
                    [this](std::size_t n) -> std::vector<Ghosted> { return {m_patches[n].ice}; });
      for (const int n : m_ranks.locals()) {
        ssa::take_ghosts(m_patches[n]);
        ssa::count(m_patches[n], false);
      }
      loose = sum_counts();
    } while (loose > 0 && loose < before);
    m_excluded = loose;
    // once all ice is held, so are the remaining loose ghosts
    for (const int n : m_ranks.locals()) {
      ssa::settle(m_patches[n], loose > 0);
      ssa::list_unknowns(m_patches[n]);
    }
    Kokkos::fence("ssa: number of unknowns");
    read_lengths();
  }
  void read_lengths() {
    for (SsaPatch& p : m_patches) p.lengths = p.found();
  }

  // Returns the number of cells of loose ice on all ranks. Waits.
  std::int64_t sum_counts() {
    Kokkos::fence("ssa: number of unknowns");
    std::vector<std::vector<std::int64_t>> counts;
    for (const SsaPatch& p : m_patches)
      counts.push_back({p.counts().loose, p.counts().unknowns, p.counts().changed});
    m_ranks.sum(counts);
    m_unknowns = counts[0][1];
    m_changed = counts[0][2] > 0;
    return counts[0][0];
  }

  Ranks& m_ranks;
  std::vector<SsaPatch> m_patches;
  std::int64_t m_unknowns = 0, m_excluded = 0;
  bool m_changed = true;
};

} // namespace nunatak
