// The STREAM triad a = b + s c on arrays far larger than any cache: the memory bandwidth at this
// moment. Benchmarks report their times in passes of it.
#pragma once

#include "kernels/grid/array.hpp"
#include "miniapp/base/records.hpp"
#include "miniapp/base/world.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace nunatak::bench {

using SteadyClock = std::chrono::steady_clock;
inline double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

/// Runs on all processes together, in the memory nearest to the loops: on a GPU its own.
class Triad {
public:
  Triad() : m_ranks(World().size()), m_words(std::max((1 << 24) / m_ranks, 1)) {
    m_a = View("a", m_words);
    m_b = View("b", m_words);
    m_c = View("c", m_words);
    Kokkos::deep_copy(m_b, 1.0);
    Kokkos::deep_copy(m_c, 2.0);
    run();
    m_GB_per_s.clear(); // drops the warm-up
  }

  /// One pass; records 24 bytes per element over the time of the slowest rank.
  void run() {
    const View a = m_a, b = m_b, c = m_c;
    World().barrier();
    const auto begin = SteadyClock::now();
    Kokkos::parallel_for(
        "triad", Kokkos::RangePolicy<Exec>(0, m_words),
        KOKKOS_LAMBDA(int n) { a(n) = b(n) + 3.0 * c(n); });
    Kokkos::fence("triad");
    m_GB_per_s.push_back(24e-9 * m_words * m_ranks / World().max(seconds_since(begin)));
  }
  double GB_per_s() const { return median(m_GB_per_s); }
  double best_GB_per_s() const { return *std::max_element(m_GB_per_s.begin(), m_GB_per_s.end()); }

private:
  using View = Kokkos::View<double*, WorkMem>;
  int m_ranks, m_words;
  View m_a, m_b, m_c;
  std::vector<double> m_GB_per_s;
};

} // namespace nunatak::bench
