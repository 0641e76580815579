// The ranks that a program without PETSc runs on, processes or virtual ones, one set after the
// other (-virtual_ranks), and what a run on them costs.
#pragma once

#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "miniapp/base/machine.hpp"
#include "miniapp/base/records.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace nunatak {

struct RankOptions {
  std::string virtual_ranks; // -virtual_ranks
  Halo halo = default_halo;  ///< of virtual ranks
  MachineOptions machine;

  void add_to(OptionTable& table);
  /// As require_one_process(); throws Error, too, if the machine file cannot be read.
  void check() const;
};

/// Throws Error if virtual ranks are combined with several processes.
void require_one_process(const std::string& virtual_ranks);

/// Ranks of a run: the processes of mpiexec, or virtual ones in one process.
struct RankSet {
  std::unique_ptr<Ranks> ranks;
  VirtualRanks* machine = nullptr; ///< `ranks` if virtual: it has a clock

  std::string name() const; ///< "2 x 3 virtual ranks"
};

/// The decomposition named by an entry of -virtual_ranks. Throws Error if malformed or impossible.
Decomposition decomposition_of(const std::string& text, int Mx, int My);

/// Calls f for each set of -virtual_ranks ("2x2,8x8"; "6": as a DMDA), or once for the processes.
/// `recut` may move the subdomain boundaries. Throws Error for an impossible decomposition.
using Recut = std::function<Decomposition(Decomposition)>;
void for_each_rank_set(const RankOptions& options, int Mx, int My,
                       const std::function<void(RankSet&)>& f, const Recut& recut = nullptr);

/// Runs `prepare` and `run` once for the counts and, if -repeat exceeds 1, that many times for the
/// times. Messages, bytes and work are sums over ranks, other counts maxima; times are those of the
/// slowest rank. Keys: docs/reference/tools.md. Collective.
Record measure(RankSet& set, int repeat, const std::function<void()>& prepare,
               const std::function<void()>& run);

/// Sum and maximum of a number over local ranks and processes.
struct Spread {
  std::int64_t sum = 0, max = 0;
  int ranks = 1;
  Record imbalance() const; ///< maximum over mean; null if all are 0
};
Spread spread_of(const RankSet& set, const std::vector<std::int64_t>& values); // collective

} // namespace nunatak
