#include "io/data/exchange.hpp"

#include "io/base/agree.hpp"
#include "io/data/message_bytes.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace nunatak::io {

namespace {

/// Those of `mine` that meet one of `boxes`.
std::vector<Transfer> transfers_between(const std::vector<Box>& mine,
                                        const std::vector<Box>& boxes) {
  std::vector<Transfer> transfers;
  std::size_t elements = 0;
  for (std::size_t n = 0; n < mine.size(); ++n) {
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      if (!do_meet(mine[n], boxes[b])) continue;
      transfers.push_back({n, b, meet(mine[n], boxes[b]), elements});
      elements += transfers.back().box.elements();
    }
  }
  return transfers;
}

/// Those of `mine` that have a part in a channel to another rank.
OwnBoxes boxes_in(const Channel& channel, const OwnBoxes& mine) {
  std::vector<std::set<std::size_t>> used(mine.lists.size());
  std::vector<bool> is_done(channel.lists.size(), false);
  for (const Channel::Segment& segment : channel.segments) {
    if (is_done[segment.list]) continue;
    is_done[segment.list] = true;
    for (const Transfer& transfer : channel.lists[segment.list])
      used[mine.list_of[segment.put]].insert(transfer.from);
  }
  OwnBoxes boxes{std::vector<std::vector<Box>>(used.size()), mine.list_of};
  for (std::size_t l = 0; l < used.size(); ++l) {
    for (const std::size_t n : used[l]) boxes.lists[l].push_back(mine.lists[l][n]);
  }
  return boxes;
}

std::size_t index_in(const std::vector<int>& aggregators, int rank) {
  const auto found = std::find(aggregators.begin(), aggregators.end(), rank);
  return static_cast<std::size_t>(found - aggregators.begin());
}

} // namespace

inline auto members(const OwnBoxes& o) { return std::tie(o.lists, o.list_of); }

void OwnBoxes::add(std::vector<Box> boxes) {
  const auto found = std::find(lists.begin(), lists.end(), boxes);
  list_of.push_back(static_cast<std::size_t>(found - lists.begin()));
  if (found == lists.end()) lists.push_back(std::move(boxes));
}

Channel make_channel(int rank, const Round& round, const OwnBoxes& boxes, std::size_t a) {
  Channel channel;
  channel.rank = rank;
  std::vector<std::size_t> puts; // the first of each list
  for (std::size_t p = 0; p < round.boxes.size(); ++p) {
    const std::vector<Box>& written = round.boxes[p][a];
    if (written.empty()) continue;
    const auto found = std::find_if(puts.begin(), puts.end(), [&](std::size_t q) {
      return boxes.list_of[q] == boxes.list_of[p] && round.boxes[q][a] == written;
    });
    const auto list = static_cast<std::size_t>(found - puts.begin());
    if (found == puts.end()) {
      puts.push_back(p);
      channel.lists.push_back(transfers_between(boxes.lists[boxes.list_of[p]], written));
    }
    if (channel.lists[list].empty()) continue;
    const Transfer& last = channel.lists[list].back();
    channel.segments.push_back({p, list, channel.bytes});
    channel.bytes += whole_words((last.before + last.box.elements()) * bytes_of(round.types[p]));
  }
  return channel;
}

std::vector<Channel> make_sends(const std::vector<int>& aggregators, const Round& round) {
  std::vector<Channel> sends;
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    Channel channel = make_channel(aggregators[a], round, round.mine, a);
    if (channel.bytes > 0) sends.push_back(std::move(channel));
  }
  return sends;
}

std::vector<Channel> trade(MPI_Comm comm, const std::vector<int>& aggregators, const Round& round,
                           const std::vector<Channel>& sends) {
  const auto size = static_cast<std::size_t>(size_of(comm)),
             self = static_cast<std::size_t>(rank_in(comm));
  std::vector<std::uint64_t> n_out(size, 0), n_in(size); // bytes, by rank
  std::vector<Bytes> out(size), in(size);
  for (const Channel& c : sends) {
    const auto r = static_cast<std::size_t>(c.rank);
    if (r == self) continue;
    out[r] = Packer(boxes_in(c, round.mine)).bytes();
    n_out[r] = out[r].size();
  }
  MPI_Alltoall(n_out.data(), 1, MPI_UINT64_T, n_in.data(), 1, MPI_UINT64_T, comm);
  std::vector<Message> from, to;
  for (std::size_t r = 0; r < size; ++r) {
    in[r].resize(n_in[r]);
    if (n_in[r] > 0) from.push_back({static_cast<int>(r), in[r].data(), in[r].size()});
    if (n_out[r] > 0) to.push_back({static_cast<int>(r), out[r].data(), out[r].size()});
  }
  exchange(comm, from, to);
  std::vector<Channel> receives;
  for (const Message& m : from) {
    const auto boxes = Unpacker(m.data).take<OwnBoxes>();
    receives.push_back(
        make_channel(m.rank, round, boxes, index_in(aggregators, static_cast<int>(self))));
  }
  return receives;
}

Plan make_plan(int rank, const std::vector<int>& aggregators, const Round& round,
               std::vector<Channel> sends, std::vector<Channel> receives) {
  Plan plan{std::move(sends), std::move(receives), {}, 0};
  const auto own = std::find_if(plan.sends.begin(), plan.sends.end(),
                                [&](const Channel& c) { return c.rank == rank; });
  if (own != plan.sends.end()) {
    plan.receives.push_back(std::move(*own));
    plan.sends.erase(own);
  }
  const std::size_t self = index_in(aggregators, rank);
  plan.targets.resize(round.boxes.size());
  for (std::size_t p = 0; p < round.boxes.size() && self < aggregators.size(); ++p) {
    for (const Box& box : round.boxes[p][self]) plan.targets[p].push_back({box, 0, 0, {}});
  }
  const auto for_each_part = [&](const auto& f) {
    for (const Channel& c : plan.receives) {
      c.for_each([&](const Channel::Segment& s, const Transfer& t) {
        f(plan.targets[s.put][t.to], t.box);
      });
    }
  };
  for_each_part([](Target& target, const Box& part) { target.elements += part.elements(); });
  for (std::size_t p = 0; p < plan.targets.size(); ++p) {
    for (Target& target : plan.targets[p]) {
      target.offset = plan.target_bytes;
      if (target.is_covered()) target.parts = {target.box};
      if (target.elements > 0)
        plan.target_bytes += whole_words(target.box.elements() * bytes_of(round.types[p]));
    }
  }
  for_each_part([](Target& target, const Box& part) {
    if (!target.is_covered()) target.parts.push_back(part);
  });
  return plan;
}

std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives,
                      const std::vector<Message>& sends, std::size_t largest) {
  constexpr int tag = 20614; // unique on this communicator
  std::vector<MPI_Request> requests;
  for (const bool are_sends : {false, true}) {
    for (const Message& m : are_sends ? sends : receives) { // parts of a message arrive in order
      for (std::size_t at = 0; at < m.size; at += largest) {
        const int size = static_cast<int>(std::min(largest, m.size - at));
        MPI_Request* const request = &requests.emplace_back(MPI_REQUEST_NULL);
        are_sends ? MPI_Isend(m.data + at, size, MPI_BYTE, m.rank, tag, comm, request)
                  : MPI_Irecv(m.data + at, size, MPI_BYTE, m.rank, tag, comm, request);
      }
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return static_cast<std::int64_t>(sends.size());
}

std::vector<Box> gather_boxes(MPI_Comm comm, const std::vector<Box>& mine) {
  std::vector<Box> all(mine.size() * static_cast<std::size_t>(size_of(comm)));
  const int bytes = static_cast<int>(mine.size() * sizeof(Box));
  MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm);
  return all;
}

} // namespace nunatak::io
