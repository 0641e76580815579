// What distances cost, by a model of the machine (LogGP, loggp.hpp): `auto` chooses by it (distance/auto.hpp).
//
//   buckets   visits of a patch + rounds * round            round  = 4 messages sent and received = 8 o + L
//   gather    patches encoded, all cells of a field visited   tree   = ceil(log2 members) (L + 2 o), and the bytes
//             on its root + 4 trees per field
//
// How many rounds there will be is not known before: as many as a path crosses seams. So `auto` starts with buckets, and goes
// over to gather when the rounds have cost as much as gather will: never more than twice what the better of both costs, by
// this model. (Karlin, Manasse, Rudolph & Sleator 1988, Algorithmica 3, 79: rent skis until you could have bought them.) If
// even the fewest rounds cost more than gather, `auto` starts with gather.
#pragma once

#include "kernels/grid/loggp.hpp"

namespace nunatak {

struct DistanceCost {
  LogGP machine;
  int members = 0;        ///< ranks that own cells of the domain
  std::int64_t cells = 0; ///< of the domain, over all ranks

  double patch = 0.0; ///< cells of a patch

  static constexpr double bytes_per_cell = 0.2; ///< of the domain, each way: runs (gather.hpp)

  /// Seconds of a round: short messages to and from four neighbours.
  double round() const { return 8.0 * machine.o + machine.L; }

  /// Rounds that a reduction which does not block takes, at least 1.
  int lag() const { return std::max(1, static_cast<int>(std::ceil(machine.reduction(members, 16.0) / round()))); }

  /// Seconds of buckets: even shares of the visits, and the fewest rounds: a maximum is asked for after the first one.
  double fewest_rounds(int fields) const {
    return members < 2 ? visits(fields) : visits(fields) / members + (1 + lag()) * round();
  }

  /// Seconds of gather: per field, a patch is encoded and decoded; lengths and contents travel twice; fields are searched at
  /// the same time, each on its root.
  double gather(int fields) const {
    const double lengths = machine.gather(members, 4.0 * members);
    const double contents = machine.gather(members, bytes_per_cell * static_cast<double>(cells));
    return fields * (2.0 * machine.visit * patch + 2.0 * (lengths + contents)) +
           visits(fields) / std::max(std::min(members, fields), 1);
  }

  /// The number of rounds that cost as much as gather.
  int guard(int fields) const { return static_cast<int>(std::min(std::ceil(gather(fields) / round()), 1e9)); }

private:
  double visits(int fields) const { return machine.visit * static_cast<double>(cells) * fields; }
};

} // namespace nunatak
