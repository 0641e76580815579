// Which part of which rank's values is sent to which aggregator, and the messages that carry them.
//
//   boxes of ranks 0, 1 | 2, 3     slabs of aggregators 0, 2        messages
//     0 0 1 1                         0 0 0 0
//     0 0 1 1                         0 0 0 0                        1 -> 0, 3 -> 2
//     2 2 3 3                         2 2 2 2                        (copied: 0 -> 0, 2 -> 2)
//     2 2 3 3                         2 2 2 2
//
// A round is what is moved at once: puts, each of one variable and record, the same on every rank.
// No rank knows the boxes of all. Each sends an aggregator those of its own that go there
// (trade()), and both sides find the same transfers from them (make_channel()). Models write
// hundreds of variables in the same boxes, which are kept and sent once. Models of scattered cells
// have a box for each cell: a plan keeps it once for these variables, 128 bytes on both sides, and
// 8 bytes for each part that it sends.
#pragma once

#include "io/data/box.hpp"
#include "io/data/schema.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace nunatak::io {

/// What a rank has of each put, in any number of boxes.
struct OwnBoxes {
  std::vector<std::vector<Box>> lists; ///< all different
  std::vector<std::size_t> list_of;    ///< of each put

  void add(std::vector<Box> boxes); ///< those of the next put
  bool operator==(const OwnBoxes& other) const {
    return list_of == other.list_of && lists == other.lists;
  }
};

/// The puts of a round.
struct Round {
  std::vector<Type> types;
  std::shared_ptr<const OwnBoxes> mine;
  std::vector<const Boxes*> boxes; ///< of each put what is written, by aggregator; outlive plans
};

/// The part of a box of the sender in a box of the receiver.
struct Transfer {
  std::size_t from = 0, to = 0; ///< which box of the sender's list, and of those written
  const Box& mine;              ///< the sender's
  Box box;                      ///< the part
  std::size_t before = 0;       ///< elements in the message before it, of the same put
};

/// One message: of some puts what one rank has in the boxes of another one.
struct Channel {
  struct Meeting {
    std::uint32_t from = 0, to = 0;
  };
  /// A list of the sender's boxes and what is written, with all of both that meet.
  struct Crossing {
    std::size_t list = 0; ///< of OwnBoxes
    const std::vector<Box>* written = nullptr;
    std::vector<Meeting> meetings;
    std::size_t elements = 0;
  };
  struct Segment {
    std::size_t put = 0, crossing = 0, offset = 0; ///< bytes, a multiple of 8
  };
  int rank = 0; ///< of the other side
  std::size_t bytes = 0;
  std::shared_ptr<const OwnBoxes> boxes; ///< the sender's; of another rank those that come here
  std::vector<Crossing> crossings;
  std::vector<Segment> segments; ///< by put

  /// f(segment, transfer) in the order of the message.
  template <class F> void for_each(const F& f) const {
    for (const Segment& segment : segments) {
      const Crossing& c = crossings[segment.crossing];
      std::size_t before = 0;
      for (const Meeting& m : c.meetings) {
        const Box& mine = boxes->lists[c.list][m.from];
        const Transfer transfer{m.from, m.to, mine, meet(mine, (*c.written)[m.to]), before};
        f(segment, transfer);
        before += transfer.box.elements();
      }
    }
  }
};

/// The next multiple of the largest element.
inline std::size_t whole_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

/// What `rank`, which has `boxes`, sends to or receives from aggregator `a`. Local.
Channel make_channel(int rank, const Round& round, std::shared_ptr<const OwnBoxes> boxes,
                     std::size_t a);

/// What this rank sends, also to itself, by aggregator: `aggregators` are their ranks. Local.
std::vector<Channel> make_sends(const std::vector<int>& aggregators, const Round& round);

/// What other ranks send to this one. Collective: one all-to-all of a number, and boxes.
std::vector<Channel> trade(MPI_Comm comm, const std::vector<int>& aggregators, const Round& round,
                           const std::vector<Channel>& sends);

/// A box that an aggregator assembles.
struct Target {
  Box box;
  std::size_t elements = 0, offset = 0; ///< that come; of its values in a buffer, bytes
  std::vector<Box> parts;               ///< what is written: the box, or what comes if it has gaps

  bool is_covered() const { return elements == box.elements(); }
};

struct Plan {
  std::vector<Channel> sends;               ///< none to itself
  std::vector<Channel> receives;            ///< what the rank has itself is copied, not sent
  std::vector<std::vector<Target>> targets; ///< by put
  std::size_t target_bytes = 0;

  std::size_t memory() const; ///< bytes that are kept, without the boxes of what is sent
};

/// From what make_sends() and trade() have found. Local.
Plan make_plan(int rank, const std::vector<int>& aggregators, const Round& round,
               std::vector<Channel> sends, std::vector<Channel> receives);

struct Message {
  int rank = 0; ///< of the other side
  std::byte* data = nullptr;
  std::size_t size = 0; ///< bytes, known to both sides
};

/// Open MPI sends over TCP up to 64 KiB without asking the receiver first. The answers to larger
/// messages would wait behind the values that go the same way, while cards rest.
constexpr std::size_t largest_part = 60 << 10;

/// What is done with message n of a list.
using OnMessage = std::function<void(std::size_t n)>;

/// Receive and send all; at most one message to and from each rank, none to itself, none of size 0.
/// A message above `largest` bytes is sent in parts. `fill` is called before a message is sent,
/// while the ones before it are on their way; `take` once a message has come, in any order. Returns
/// the number of messages sent. Nonblocking point to point; returns when all are complete.
std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives,
                      const std::vector<Message>& sends, const OnMessage& fill = {},
                      const OnMessage& take = {}, std::size_t largest = largest_part);

/// The boxes of all ranks, one after the other; as many, of as many dimensions, on every rank.
/// Collective: one gather to all.
std::vector<Box> gather_boxes(MPI_Comm comm, const std::vector<Box>& mine);

} // namespace nunatak::io
