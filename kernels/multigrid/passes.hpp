// Passes over the unknowns of a part of a level of multigrid.hpp: as a wavefront over rows on one
// thread of a CPU, one loop after another elsewhere.
//
// A pass computes values of a cell from values of it and its eight neighbours. In a wavefront each
// pass follows the one before it at a distance of one row (numbers: order of the rows):
//
//   row      0   1   2   3   4      Rows of two passes that are at most one apart are in the same
//   pass 0   1   2   4   7  10      order as loop by loop: row 2 of pass 1 (8) follows row 3 of
//   pass 1   3   5   8  11          pass 0 (7) and precedes row 1 of pass 2 (9). So every cell
//   pass 2   6   9  12              finds what it would find then, bit by bit, also in arrays that
//                                   one pass reads and the next but one writes.
//
// All passes read a row of the matrix while it is in cache, if about as many rows as there are
// passes fit: it comes from memory once, not once per pass.
#pragma once

#include "kernels/multigrid/hats.hpp"
#include "kernels/multigrid/nine_point.hpp"

#include <functional>
#include <vector>

namespace nunatak {

template <class Real> class Passes {
public:
  explicit Passes(NinePoint<Real>& part) : m_part(&part) {}
  NinePoint<Real>& part() const { return *m_part; }

  /// A pass f(c) over the unknowns in rings `first` (0: owned) to `last`, before or in run(). One
  /// over ghosts alone (first > 0) goes with the next pass, and neither may need the other.
  template <class F> void add(const char* label, int first, int last, const F& f) {
    if (!keep(*m_part, HatAxis{}, first, last, f)) for_each_unknown(label, *m_part, first, last, f);
  }
  /// A pass f(c) over the owned unknowns of the next coarser grid, `y` the axis between both. It
  /// computes values at a coarse point from values at the fine point below and around it.
  template <class F>
  void add_coarse(const char* label, const NinePoint<Real>& coarse, const HatAxis& y, const F& f) {
    if (!keep(coarse, y, 0, 0, f)) for_each_unknown(label, coarse, 0, 0, f);
  }

  /// Runs the passes that were added since the last call. No communication may be needed between.
  void run() {
    if constexpr (loops_on_host) {
      if (m_passes.empty()) return;
      const auto once = [this](int) {
        const int rows = m_part->active.extent_int(0);
        for (int time = 0; time < rows + m_passes.back().delay; ++time) {
          for (const Pass& pass : m_passes) pass.run(time - pass.delay);
        }
      };
      Kokkos::parallel_for("multigrid: passes", Kokkos::RangePolicy<Exec>(0, 1), once);
      m_passes.clear();
      m_delay = -1;
    }
  }

private:
  struct Pass {
    const NinePoint<Real>* part;
    HatAxis y; ///< from rows of the level to rows of `part`
    int delay, first, last;
    std::function<void(const int*, const int*)> stretch;

    void run(int fine_row) const {
      const int j = y.parent(fine_row);
      if (fine_row < 0 || y.centre(j) != fine_row) return; // between two rows of a coarser grid
      if (j < 0 || j >= part->active.extent_int(0)) return;
      const auto [begin, end] = part->row(j, last);
      if (first == 0) return stretch(begin, end);
      const auto [inner, outer] = part->row(j, first - 1);
      stretch(begin, inner == outer ? end : inner);
      if (inner != outer) stretch(outer, end);
    }
  };

  /// True if run() will do it.
  template <class F>
  bool keep(const NinePoint<Real>& part, const HatAxis& y, int first, int last, const F& f) {
    if constexpr (loops_on_host) {
      if (!m_part->has_rows()) return false;
      m_delay += first > 0 ? 0 : 1;
      m_passes.push_back({&part, y, first > 0 ? m_delay + 1 : m_delay, first, last,
                          [f](const int* begin, const int* end) {
                            const F g = f; // a local copy: stores of the loop cannot alias it
                            for (const int* c = begin; c != end; ++c) g(*c);
                          }});
      return true;
    }
    return false;
  }

  NinePoint<Real>* m_part;
  std::vector<Pass> m_passes;
  int m_delay = -1; ///< of the last pass
};

} // namespace nunatak
