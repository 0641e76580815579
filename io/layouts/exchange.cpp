#include "io/layouts/exchange.hpp"

#include "io/agree.hpp"

#include <algorithm>

namespace nunatak::io {

namespace {

bool do_meet(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.start.size(); ++d) {
    if (a.start[d] >= b.start[d] + b.count[d] || b.start[d] >= a.start[d] + a.count[d])
      return false;
  }
  return true;
}

/// What `rank` sends to aggregator `a`. `first_target`: first target of `a` in each group.
std::vector<Transfer> transfers_between(int rank, std::size_t a, const Round& round,
                                        const std::vector<std::size_t>& first_target = {}) {
  std::vector<Transfer> transfers;
  const auto& given = round.given[static_cast<std::size_t>(rank)];
  for (std::size_t n = 0; n < given.size(); ++n) {
    if (!given[n]) continue;
    const std::vector<Box>& boxes = round.boxes[round.groups[n]][a];
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      if (!do_meet(*given[n], boxes[b])) continue;
      const std::size_t target = first_target.empty() ? 0 : first_target[round.groups[n]] + b;
      transfers.push_back({n, target, meet(*given[n], boxes[b]), 0});
    }
  }
  return transfers;
}

Channel make_channel(int rank, std::vector<Transfer> transfers, const Round& round) {
  Channel channel{rank, std::move(transfers), 0};
  for (Transfer& t : channel.transfers) {
    t.offset = channel.bytes;
    channel.bytes += message_bytes(t.box, round.types[round.groups[t.put]]);
  }
  return channel;
}

/// Replaces boxes with gaps by the parts that were put; assigns offsets in the buffer.
void finish_targets(Plan& plan, const Round& round) {
  std::vector<std::vector<Transfer*>> into(plan.targets.size());
  for (Channel& channel : plan.receives) {
    for (Transfer& t : channel.transfers) into[t.target].push_back(&t);
  }
  std::vector<Target> targets;
  for (std::size_t n = 0; n < into.size(); ++n) {
    const Target& target = plan.targets[n];
    std::size_t filled = 0;
    for (const Transfer* t : into[n]) filled += t->box.elements();
    if (filled == target.box.elements()) {
      for (Transfer* t : into[n]) t->target = targets.size();
      targets.push_back(target);
      continue;
    }
    for (Transfer* t : into[n]) {
      t->target = targets.size();
      targets.push_back({target.group, t->box, 0});
    }
  }
  for (Target& target : targets) {
    target.offset = plan.target_bytes;
    plan.target_bytes += message_bytes(target.box, round.types[target.group]);
  }
  plan.targets = std::move(targets);
}

} // namespace

Plan make_plan(int rank, const std::vector<int>& aggregators, const Round& round) {
  Plan plan;
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    if (aggregators[a] == rank) continue;
    Channel channel = make_channel(aggregators[a], transfers_between(rank, a, round), round);
    if (channel.bytes > 0) plan.sends.push_back(std::move(channel));
  }
  const auto self = std::find(aggregators.begin(), aggregators.end(), rank);
  if (self == aggregators.end()) return plan;
  const auto a = static_cast<std::size_t>(self - aggregators.begin());
  std::vector<std::size_t> first_target;
  for (std::size_t g = 0; g < round.boxes.size(); ++g) {
    first_target.push_back(plan.targets.size());
    for (const Box& box : round.boxes[g][a]) plan.targets.push_back({g, box, 0});
  }
  for (int r = 0; r < static_cast<int>(round.given.size()); ++r) {
    Channel channel = make_channel(r, transfers_between(r, a, round, first_target), round);
    if (channel.bytes > 0) plan.receives.push_back(std::move(channel));
  }
  finish_targets(plan, round);
  return plan;
}

std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives,
                      const std::vector<Message>& sends, std::size_t largest) {
  constexpr int tag = 20614; // unique on this communicator
  std::vector<MPI_Request> requests;
  const auto start = [&](const std::vector<Message>& messages, const auto& begin) {
    for (const Message& m : messages) { // parts of one message arrive in order
      for (std::size_t at = 0; at < m.size; at += largest) {
        requests.push_back(MPI_REQUEST_NULL);
        begin(m.data + at, static_cast<int>(std::min(largest, m.size - at)), m.rank,
              &requests.back());
      }
    }
  };
  start(receives, [&](std::byte* data, int size, int rank, MPI_Request* request) {
    MPI_Irecv(data, size, MPI_BYTE, rank, tag, comm, request);
  });
  start(sends, [&](const std::byte* data, int size, int rank, MPI_Request* request) {
    MPI_Isend(data, size, MPI_BYTE, rank, tag, comm, request);
  });
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return static_cast<std::int64_t>(sends.size());
}

std::vector<std::vector<std::optional<Box>>>
gather_boxes(MPI_Comm comm, const std::vector<std::optional<Box>>& mine,
             const std::vector<std::size_t>& dimensions) {
  std::vector<std::int64_t> numbers; // of each box: 1 if it is present, start, count
  for (std::size_t n = 0; n < mine.size(); ++n) {
    numbers.push_back(mine[n] ? 1 : 0);
    for (std::size_t d = 0; d < dimensions[n]; ++d)
      numbers.push_back(mine[n] ? static_cast<std::int64_t>(mine[n]->start[d]) : 0);
    for (std::size_t d = 0; d < dimensions[n]; ++d)
      numbers.push_back(mine[n] ? static_cast<std::int64_t>(mine[n]->count[d]) : 0);
  }
  std::vector<std::vector<std::optional<Box>>> boxes(static_cast<std::size_t>(size_of(comm)));
  std::vector<std::int64_t> all(numbers.size() * boxes.size());
  const int size = static_cast<int>(numbers.size());
  MPI_Allgather(numbers.data(), size, MPI_INT64_T, all.data(), size, MPI_INT64_T, comm);
  auto next = all.cbegin();
  for (auto& of_rank : boxes) {
    for (const std::size_t d : dimensions) {
      const auto start = next + 1, count = start + static_cast<std::ptrdiff_t>(d),
                 end = count + static_cast<std::ptrdiff_t>(d);
      of_rank.emplace_back();
      if (*next == 1) of_rank.back() = Box{{start, count}, {count, end}};
      next = end;
    }
  }
  return boxes;
}

} // namespace nunatak::io
