#include "io/data/exchange.hpp"

#include "io/base/agree.hpp"
#include "io/data/message_bytes.hpp"

#include <algorithm>
#include <utility>

namespace nunatak::io {

namespace {

void find_meetings(const std::vector<Box>& mine, Channel::Crossing& crossing) {
  const std::vector<Box>& written = *crossing.written;
  for (std::size_t n = 0; n < mine.size(); ++n) {
    for (std::size_t b = 0; b < written.size(); ++b) {
      if (!do_meet(mine[n], written[b])) continue;
      crossing.meetings.push_back({static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(b)});
      crossing.elements += meet(mine[n], written[b]).elements();
    }
  }
  crossing.meetings.shrink_to_fit();
}

/// The sender's boxes that have a part in a channel.
OwnBoxes boxes_in(const Channel& channel) {
  const std::vector<std::vector<Box>>& lists = channel.boxes->lists;
  std::vector<std::vector<bool>> is_used(lists.size());
  for (const Channel::Crossing& crossing : channel.crossings) {
    is_used[crossing.list].resize(lists[crossing.list].size(), false);
    for (const Channel::Meeting& m : crossing.meetings) is_used[crossing.list][m.from] = true;
  }
  OwnBoxes boxes{std::vector<std::vector<Box>>(lists.size()), channel.boxes->list_of};
  for (std::size_t l = 0; l < lists.size(); ++l) {
    for (std::size_t n = 0; n < is_used[l].size(); ++n) {
      if (is_used[l][n]) boxes.lists[l].push_back(lists[l][n]);
    }
  }
  return boxes;
}

// Boxes in a message: numbers in groups of 7 bits, lowest first, the last one below 128; start and
// count as differences to the box before, of either sign (fold): mostly 2 bytes per dimension.
std::uint64_t fold(std::uint64_t difference) { return (difference << 1) ^ -(difference >> 63); }
std::uint64_t unfold(std::uint64_t number) { return (number >> 1) ^ -(number & 1); }

/// f(number) for all numbers in their order; f may set them, and lengths of lists follow.
template <class F> void for_each_number(OwnBoxes& boxes, const F& f) {
  const auto size_of_list = [&](auto& list) {
    std::uint64_t n = list.size();
    f(n);
    list.resize(n);
  };
  const auto after = [&](std::size_t& number, std::size_t before) {
    std::uint64_t difference = fold(number - before);
    f(difference);
    number = before + unfold(difference);
  };
  size_of_list(boxes.lists);
  for (std::vector<Box>& list : boxes.lists) {
    size_of_list(list);
    std::uint64_t n = list.empty() ? 0 : list[0].start.size(); // dimensions
    f(n);
    Box before{Indices(n, 0), Indices(n, 0)};
    for (Box& box : list) {
      if (box.start.size() != n) box = before;
      for (std::size_t d = 0; d < n; ++d) {
        after(box.start[d], before.start[d]);
        after(box.count[d], before.count[d]);
      }
      before = box;
    }
  }
  size_of_list(boxes.list_of);
  for (std::size_t& list : boxes.list_of) after(list, 0);
}

Bytes packed(OwnBoxes boxes) {
  Bytes bytes;
  for_each_number(boxes, [&](std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes.push_back(static_cast<std::byte>(number | 128));
    bytes.push_back(static_cast<std::byte>(number));
  });
  return bytes;
}

OwnBoxes unpacked(const std::byte* next) {
  OwnBoxes boxes;
  for_each_number(boxes, [&](std::uint64_t& number) {
    number = 0;
    for (unsigned shift = 0, more = 1; more != 0; shift += 7, ++next) {
      number |= (static_cast<std::uint64_t>(*next) & 127) << shift;
      more = static_cast<unsigned>(*next) >> 7;
    }
  });
  return boxes;
}

std::size_t index_in(const std::vector<int>& aggregators, int rank) {
  const auto found = std::find(aggregators.begin(), aggregators.end(), rank);
  return static_cast<std::size_t>(found - aggregators.begin());
}

} // namespace

void OwnBoxes::add(std::vector<Box> boxes) {
  const auto found = std::find(lists.begin(), lists.end(), boxes);
  list_of.push_back(static_cast<std::size_t>(found - lists.begin()));
  if (found == lists.end()) lists.push_back(std::move(boxes));
}

std::size_t Plan::memory() const {
  std::size_t n_meetings = 0, n_boxes = 0;
  for (const auto* channels : {&sends, &receives}) {
    for (const Channel& c : *channels) {
      for (const Channel::Crossing& crossing : c.crossings) n_meetings += crossing.meetings.size();
    }
  }
  for (const Channel& c : receives) {
    for (const std::vector<Box>& list : c.boxes->lists) n_boxes += list.size();
  }
  std::size_t bytes = n_meetings * sizeof(Channel::Meeting);
  for (const std::vector<Target>& of_put : targets) {
    bytes += of_put.size() * sizeof(Target);
    for (const Target& t : of_put) n_boxes += t.parts.size();
  }
  return bytes + n_boxes * sizeof(Box);
}

Channel make_channel(int rank, const Round& round, std::shared_ptr<const OwnBoxes> boxes,
                     std::size_t a) {
  Channel channel;
  channel.rank = rank;
  for (std::size_t p = 0; p < round.boxes.size(); ++p) {
    const std::vector<Box>& written = (*round.boxes[p])[a];
    const std::size_t list = boxes->list_of[p];
    if (written.empty()) continue;
    auto c = std::find_if(
        channel.crossings.begin(), channel.crossings.end(),
        [&](const Channel::Crossing& o) { return o.list == list && *o.written == written; });
    if (c == channel.crossings.end()) {
      c = channel.crossings.insert(c, {list, &written, {}, 0});
      find_meetings(boxes->lists[list], *c);
    }
    if (c->elements == 0) continue;
    channel.segments.push_back(
        {p, static_cast<std::size_t>(c - channel.crossings.begin()), channel.bytes});
    channel.bytes += whole_words(c->elements * bytes_of(round.types[p]));
  }
  channel.boxes = std::move(boxes);
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
    out[r] = packed(boxes_in(c));
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
    receives.push_back(make_channel(m.rank, round,
                                    std::make_shared<const OwnBoxes>(unpacked(m.data)),
                                    index_in(aggregators, static_cast<int>(self))));
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
  // Each begins with another one.
  std::rotate(plan.sends.begin(),
              std::find_if(plan.sends.begin(), plan.sends.end(),
                           [&](const Channel& c) { return c.rank > rank; }),
              plan.sends.end());
  const std::size_t self = index_in(aggregators, rank);
  plan.targets.resize(round.boxes.size());
  for (std::size_t p = 0; p < round.boxes.size() && self < aggregators.size(); ++p) {
    for (const Box& box : (*round.boxes[p])[self]) plan.targets[p].push_back({box, 0, 0, {}});
  }
  const auto for_each_part = [&](const auto& f) {
    for (const Channel& c : plan.receives) {
      c.for_each([&](const Channel::Segment& s, const Transfer& t) {
        f(plan.targets[s.put][t.to], t.box);
      });
    }
  };
  for_each_part([](Target& target, const Box& part) { target.elements += part.elements(); });
  bool are_covered = true;
  for (std::size_t p = 0; p < plan.targets.size(); ++p) {
    for (Target& target : plan.targets[p]) {
      are_covered = are_covered && target.is_covered();
      target.offset = plan.target_bytes;
      if (target.is_covered()) target.parts = {target.box};
      if (target.elements > 0)
        plan.target_bytes += whole_words(target.box.elements() * bytes_of(round.types[p]));
    }
  }
  if (are_covered) return plan;
  for_each_part([](Target& target, const Box& part) {
    if (!target.is_covered()) target.parts.push_back(part);
  });
  return plan;
}

std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives,
                      const std::vector<Message>& sends, const OnMessage& fill,
                      const OnMessage& take, std::size_t largest) {
  constexpr int tag = 20614; // unique on this communicator
  std::vector<MPI_Request> in, out;
  std::vector<std::size_t> message_of;                                 // by request
  std::vector<std::size_t> parts(receives.size(), 0);                  // that have not come
  const auto for_each_part = [&](const Message& m, const auto& post) { // they arrive in order
    for (std::size_t at = 0; at < m.size; at += largest)
      post(m.data + at, static_cast<int>(std::min(largest, m.size - at)));
  };
  for (std::size_t n = 0; n < receives.size(); ++n) {
    for_each_part(receives[n], [&](std::byte* data, int size) {
      MPI_Irecv(data, size, MPI_BYTE, receives[n].rank, tag, comm, &in.emplace_back());
      message_of.push_back(n);
      parts[n] += 1;
    });
  }
  for (std::size_t n = 0; n < sends.size(); ++n) {
    if (fill) fill(n);
    for_each_part(sends[n], [&](const std::byte* data, int size) {
      MPI_Isend(data, size, MPI_BYTE, sends[n].rank, tag, comm, &out.emplace_back());
    });
  }
  std::vector<int> come(in.size());
  for (int n_come = 0;;) {
    MPI_Waitsome(static_cast<int>(in.size()), in.data(), &n_come, come.data(), MPI_STATUSES_IGNORE);
    if (n_come == MPI_UNDEFINED) break; // all have
    std::for_each(come.begin(), come.begin() + n_come, [&](int request) {
      const std::size_t n = message_of[static_cast<std::size_t>(request)];
      if (--parts[n] == 0 && take) take(n);
    });
  }
  MPI_Waitall(static_cast<int>(out.size()), out.data(), MPI_STATUSES_IGNORE);
  return static_cast<std::int64_t>(sends.size());
}

std::vector<Box> gather_boxes(MPI_Comm comm, const std::vector<Box>& mine) {
  std::vector<Box> all(mine.size() * static_cast<std::size_t>(size_of(comm)));
  const int bytes = static_cast<int>(mine.size() * sizeof(Box));
  MPI_Allgather(mine.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm);
  return all;
}

} // namespace nunatak::io
