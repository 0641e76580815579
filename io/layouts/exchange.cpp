#include "io/layouts/exchange.hpp"

#include "io/agree.hpp"
#include "io/packer.hpp"

#include <algorithm>
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
      const Box both = meet(mine[n], boxes[b]);
      if (both.elements() == 0) continue;
      transfers.push_back({n, b, both, elements});
      elements += both.elements();
    }
  }
  return transfers;
}

} // namespace

std::vector<Channel> make_sends(const std::vector<int>& aggregators, const Round& round) {
  const std::size_t n_puts = round.mine.size();
  const auto find = [](const std::vector<std::size_t>& puts, const auto& is_same) {
    const auto found = std::find_if(puts.begin(), puts.end(), is_same);
    return static_cast<std::size_t>(found - puts.begin());
  };
  std::vector<std::size_t> first, decomposition; // the first put of each; of each put
  for (std::size_t p = 0; p < n_puts; ++p) {
    decomposition.push_back(
        find(first, [&](std::size_t q) { return round.mine[q] == round.mine[p]; }));
    if (decomposition[p] == first.size()) first.push_back(p);
  }
  std::vector<Channel> sends;
  for (std::size_t a = 0; a < aggregators.size(); ++a) {
    Channel channel;
    channel.rank = aggregators[a];
    std::vector<std::size_t> puts; // the first of each list
    for (std::size_t p = 0; p < n_puts; ++p) {
      const std::vector<Box>& boxes = round.boxes[p][a];
      if (boxes.empty()) continue;
      const std::size_t list = find(puts, [&](std::size_t q) {
        return decomposition[q] == decomposition[p] && round.boxes[q][a] == boxes;
      });
      if (list == puts.size()) {
        puts.push_back(p);
        channel.lists.push_back(transfers_between(round.mine[p], boxes));
      }
      if (channel.lists[list].empty()) continue;
      const Transfer& last = channel.lists[list].back();
      channel.segments.push_back({p, list, channel.bytes});
      channel.bytes += whole_words((last.before + last.box.elements()) * bytes_of(round.types[p]));
    }
    if (channel.bytes > 0) sends.push_back(std::move(channel));
  }
  return sends;
}

inline auto members(const Channel& c) { return std::tie(c.bytes, c.lists, c.segments); }

std::vector<Channel> trade(MPI_Comm comm, const std::vector<Channel>& sends) {
  const auto size = static_cast<std::size_t>(size_of(comm)),
             self = static_cast<std::size_t>(rank_in(comm));
  std::vector<std::uint64_t> n_out(size, 0), n_in(size); // bytes, by rank
  std::vector<Bytes> out(size), in(size);
  for (const Channel& c : sends) {
    const auto r = static_cast<std::size_t>(c.rank);
    if (r == self) continue;
    out[r] = Packer(c).bytes();
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
  for (std::size_t r = 0; r < size; ++r) {
    if (n_in[r] == 0) continue;
    receives.push_back(Unpacker(in[r].data()).take<Channel>());
    receives.back().rank = static_cast<int>(r);
  }
  return receives;
}

Plan make_plan(int rank, const std::vector<int>& aggregators, const Round& round,
               std::vector<Channel> sends, std::vector<Channel> receives) {
  Plan plan{std::move(sends), std::move(receives), {}, {}, 0};
  const auto own = std::find_if(plan.sends.begin(), plan.sends.end(),
                                [&](const Channel& c) { return c.rank == rank; });
  if (own != plan.sends.end()) {
    plan.receives.push_back(std::move(*own));
    plan.sends.erase(own);
  }
  const auto self = std::find(aggregators.begin(), aggregators.end(), rank);
  for (std::size_t p = 0; p < round.boxes.size() && self != aggregators.end(); ++p) {
    plan.first_target.push_back(plan.targets.size());
    for (const Box& box : round.boxes[p][static_cast<std::size_t>(self - aggregators.begin())])
      plan.targets.push_back({p, box, 0, false, {}});
  }
  std::vector<std::size_t> filled(plan.targets.size(), 0);
  const auto for_each_transfer = [&](const auto& f) {
    for (const Channel& c : plan.receives) {
      c.for_each([&](const Channel::Segment& s, const Transfer& t) {
        f(plan.first_target[s.put] + t.to, t.box);
      });
    }
  };
  for_each_transfer([&](std::size_t n, const Box& part) { filled[n] += part.elements(); });
  for (std::size_t n = 0; n < filled.size(); ++n) {
    Target& target = plan.targets[n];
    target.is_covered = filled[n] == target.box.elements();
    target.offset = plan.target_bytes;
    if (filled[n] > 0)
      plan.target_bytes += whole_words(target.box.elements() * bytes_of(round.types[target.put]));
  }
  for_each_transfer([&](std::size_t n, const Box& part) {
    if (!plan.targets[n].is_covered) plan.targets[n].parts.push_back(part);
  });
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

std::vector<Box> gather_boxes(MPI_Comm comm, const std::vector<Box>& mine) {
  std::vector<Box> all(mine.size() * static_cast<std::size_t>(size_of(comm)));
  const int bytes = static_cast<int>(mine.size() * sizeof(Box));
  MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm);
  return all;
}

} // namespace nunatak::io
