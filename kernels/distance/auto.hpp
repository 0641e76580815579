// Distances by buckets or by gather, whichever costs less by the counts of distance/cost.hpp:
// solver `auto` (see distance.hpp).
#pragma once

#include "kernels/distance/buckets.hpp"
#include "kernels/distance/gather.hpp"

namespace nunatak {

/// Buckets, unless even their fewest rounds cost more than gather; they give up for gather after
/// DistanceOptions::guard rounds. Communicates what the two do; see distance/members.hpp, too.
inline SolveDistances make_auto(Ranks& ranks, const DistanceOptions& options) {
  return [&ranks, options,
          members = std::make_shared<DistanceMembers>(ranks)](const DistanceProblem& problem) {
    const DistanceCost cost = members->find(problem);
    const int fields = static_cast<int>(problem.fields.size());
    const bool by_counts = options.guard == DistanceOptions::by_counts;
    bool gather = by_counts && cost.gather(fields) < cost.fewest_rounds(fields);
    DistanceReport report;
    report.solver = "buckets";
    if (Group* group = members->group()) {
      if (!gather) {
        DistanceSeeds found;
        BucketDistances buckets(ranks, *group, cost.lag(),
                                by_counts ? cost.guard(fields) : options.guard);
        gather = !buckets.solve(problem.fields, seeds_of(ranks, problem, found));
        report.rounds = buckets.rounds();
      }
      if (gather) gather_distances(ranks, *group, problem);
    }
    share_report(ranks, problem.maxima, report, gather);
    return report;
  };
}

} // namespace nunatak
