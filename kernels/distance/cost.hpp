// What distances cost, in counts: `auto` chooses by it (distance/auto.hpp). The unit is a round of
// messages to and from four neighbours.
//
//   buckets   visits of a patch + rounds
//   gather    patches encoded and decoded, all cells of a field visited on its root + 2 trees per
//   field
//
// Two numbers turn all of it into rounds: a step of a tree, in which a rank has one message instead
// of four, is half a round, and a round takes as long as 1500 visits of cells. Such are fast
// networks (5 us beside 3 ns). No network is asked: numbers of rounds, and with them messages and
// collectives, are the same everywhere. Where messages are dearer beside a visit, a round is worth
// more visits; `auto` then stays with buckets for longer than it should, by `guard` rounds at most.
//
// How many rounds there will be is not known before: as many as a path crosses seams. So `auto`
// starts with buckets, and goes over to gather when there have been as many rounds as gather is
// worth: by these counts never more than twice what the better of both costs. (Karlin, Manasse,
// Rudolph & Sleator 1988, Algorithmica 3, 79: rent skis until you could have bought them.) If even
// the fewest rounds cost more than gather, `auto` starts with gather.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace nunatak {

struct DistanceCost {
  int members = 0;        ///< ranks that own cells of the domain
  std::int64_t cells = 0; ///< of the domain, over all ranks
  double patch = 0.0;     ///< cells of a patch

  static constexpr double visits_per_round = 1500.0, rounds_per_step = 0.5;

  /// Rounds that a reduction which does not block takes, at least 1.
  int lag() const { return std::max(1, static_cast<int>(std::ceil(tree()))); }

  /// Rounds that buckets are worth: even shares of the visits, and the fewest rounds: a maximum is
  /// asked for after the first one.
  double fewest_rounds(int fields) const {
    return members < 2 ? visits(fields) : visits(fields) / members + 1.0 + lag();
  }

  /// Rounds that gather is worth: a patch of every field is encoded and decoded; it travels to the
  /// root and back, where only the root waits; fields are searched at the same time, each on its
  /// root.
  double gather(int fields) const {
    return fields * (2.0 * patch / visits_per_round + 2.0 * tree()) +
           visits(fields) / std::max(std::min(members, fields), 1);
  }

  /// As a whole number.
  int guard(int fields) const { return static_cast<int>(std::min(std::ceil(gather(fields)), 1e9)); }

private:
  double tree() const {
    return members > 1 ? rounds_per_step * std::ceil(std::log2(members)) : 0.0;
  }
  double visits(int fields) const { return static_cast<double>(cells) * fields / visits_per_round; }
};

} // namespace nunatak
