// Communication of a parallel algorithm: the only interface of kernels to other ranks.
//
// An algorithm is written for the *local ranks* of a process and a `Ranks`. With MPI there is one
// local rank per process (miniapp/base/mpi_ranks.hpp); VirtualRanks
// (kernels/grid/virtual/virtual_ranks.hpp) holds P x Q in one process, so that the same code is
// tested at 4096 ranks on a laptop. All traffic is counted.
//
// Functions that communicate are collective over all ranks, in the same order, unless stated
// otherwise: Ranks::exchange involves the ranks of its packets, a Group its members.
#pragma once

#include "kernels/grid/array.hpp"
#include "kernels/grid/reproducible_sum.hpp"
#include "kernels/grid/sums.hpp"
#include "kernels/grid/watch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <type_traits>
#include <vector>

namespace nunatak {

/// A ghosted array of any type, as bytes.
struct Ghosted {
  std::byte* data = nullptr;
  /// Contiguous bytes: sizeof(T), times Mz for columns unless levels lie apart (memory.hpp).
  std::size_t cell_bytes = 0;
  int levels = 1; ///< maps of cell_bytes per cell, one after another

  template <class T, class Layout, class Memory>
  Ghosted(const Kokkos::View<T, Layout, Memory>& a)
      : data(reinterpret_cast<std::byte*>(a.data())), cell_bytes(sizeof(*a.data()) * a.extent(2)) {
    if (std::is_same_v<Layout, Kokkos::LayoutStride>) {
      levels = a.extent_int(2);
      cell_bytes /= a.extent(2);
    }
  }
  template <class T, class Layout, class Memory>
  Ghosted(const Kokkos::View<T, Layout, Memory>&&) = delete; ///< non-owning
};

/// The traffic of an algorithm so far, on this process.
struct Traffic {
  std::int64_t exchanges = 0;        ///< rounds of ghost exchange and messages
  std::int64_t messages = 0;         ///< point-to-point messages sent
  std::int64_t bytes = 0;            ///< payload of these messages
  std::int64_t collectives = 0;      ///< reductions and gathers
  std::int64_t collective_bytes = 0; ///< contributed by this process
  std::int64_t lagged = 0;           ///< non-blocking reductions (Group::start_max)
  std::int64_t work = 0;             ///< visits of cells reported by algorithms (Ranks::work)
};

struct Packet {
  int rank = 0;
  std::vector<int> words;
  std::size_t read = 0; ///< words that the receiver has read; not sent
};

/// A subset of the ranks, known to its members. All functions are collective over the members.
/// Arguments have an entry per local rank; those of non-members are ignored.
class Group {
public:
  explicit Group(std::vector<int> members) : m_members(std::move(members)) {}
  virtual ~Group() = default;
  const std::vector<int>& members() const { return m_members; } ///< global ranks, ascending

  /// Start the maximum of `values[local]` over the members without waiting. One at a time.
  virtual void start_max(const std::vector<std::int64_t>& values) = 0;
  virtual std::int64_t finish_max() = 0;

private:
  std::vector<int> m_members;
};

/// Loops whose visits of cells cost different times (Ranks::work). Those of the SSA are
/// weighted, so that all cost the same.
enum class Work {
  ssa,
  sweep,
  bfs,
  buckets,
  fmm,
  labels,
  segments,
  pico,
  till,
  sia,
  velocity,
  energy,
  transport
};
constexpr const char* work_names[] = {"ssa",      "sweep",    "bfs",      "buckets", "fmm",
                                      "labels",   "segments", "pico",     "till",    "sia",
                                      "velocity", "energy",   "transport"};
constexpr std::size_t work_kinds = std::size(work_names);

class Ranks;

/// The local ranks, for a loop. Each pass is the turn of a rank: its time is that rank's
/// (Ranks::end_turn).
class Turns {
public:
  class Iterator {
  public:
    Iterator(const Turns& turns, int n) : m_turns(turns), m_n(n) {}
    int operator*() const { return m_n; }
    bool operator!=(const Iterator& other) const { return m_n != other.m_n; }
    Iterator& operator++();

  private:
    const Turns& m_turns;
    int m_n;
  };

  /// Numbers from 0 to `size` - 1: turns of the global ranks first + n, or members[n].
  Turns(Ranks& ranks, int size, int first, const int* members = nullptr)
      : m_ranks(ranks), m_size(size), m_first(first), m_members(members) {}
  Iterator begin() const;
  Iterator end() const { return {*this, m_size}; }

private:
  Ranks& m_ranks;
  int m_size, m_first;
  const int* m_members;
};

class Ranks {
public:
  explicit Ranks(Decomposition decomposition) : m_decomposition(std::move(decomposition)) {}
  virtual ~Ranks() = default;

  const Decomposition& decomposition() const { return m_decomposition; }
  const Traffic& traffic() const { return m_traffic; }

  /// Local ranks: `local_size()` of them, from global rank `first()` on. One with MPI.
  virtual int local_size() const = 0;
  virtual int first() const = 0;
  Patch patch(int local) const { return m_decomposition.patch(first() + local); }
  Patch patch(std::size_t local) const { return patch(static_cast<int>(local)); }
  /// `for (const int n : ranks.locals())`
  Turns locals() { return {*this, local_size(), first()}; }

  /// Fill the ghosts of `arrays[local]`, the same arrays in the same order on every rank: one
  /// message to each of up to eight neighbours, regardless of the number of arrays. Ghosts beyond a
  /// domain edge copy the nearest owned cell (zero gradient), or the opposite side where the
  /// decomposition is periodic. Waits: host code may read them.
  void update_ghosts(const std::vector<std::vector<Ghosted>>& arrays) {
    launch_ghosts(arrays);
    Kokkos::fence("ghosts");
  }
  /// The same without waiting, like a loop (array.hpp).
  virtual void launch_ghosts(const std::vector<std::vector<Ghosted>>& arrays) = 0;

  /// Replaces `values[local]` (equal sizes) by sums (maxima) over all ranks. One collective.
  virtual void sum(std::vector<std::vector<std::int64_t>>& values) = 0;
  virtual void max(std::vector<std::vector<std::int64_t>>& values) = 0;
  virtual void sum(std::vector<std::vector<ReproducibleSum>>& values) = 0;

  /// The contributions of all ranks, in rank order. Two collectives (lengths, contents).
  virtual std::vector<std::int64_t>
  gather_all(const std::vector<std::vector<std::int64_t>>& contributions) = 0;
  /// Point-to-point messages: `out[local]` names the receivers (each at most once), `in[local]` the
  /// senders; both sides know of each message. On entry `words` in `in` has the largest size
  /// possible; on return it holds the message. Not collective: ranks without packets need not call
  /// it.
  virtual void exchange(const std::vector<std::vector<Packet>>& out,
                        std::vector<std::vector<Packet>>& in) = 0;

  /// The ranks `members` (ascending, the same list on all members) as a group, which this object
  /// must outlive. Collective over the members; others may call it, but must not use the result.
  virtual std::unique_ptr<Group> group(std::vector<int> members) = 0;

  /// The time since the last of these calls belongs at the end of a turn to a rank, by its global
  /// number, or to every one (of work that each does for itself); at its start to all of this
  /// process together. For virtual clocks; not collective.
  static constexpr int every_rank = -1;
  virtual void start_turn() {}
  virtual void end_turn(int rank) { (void)rank; }

  /// The observer of the parts of a step; it must outlive these ranks.
  void set_watch(StepWatch& watch) { m_watch = &watch; }
  StepWatch* watch() const { return m_watch; }

  /// Reports the work on a local rank, in visits of cells, for virtual clocks. Not collective.
  virtual void work(int local, std::int64_t visits, Work loop = Work::ssa) {
    (void)local, (void)loop;
    m_traffic.work += visits;
  }

protected:
  Decomposition m_decomposition;
  Traffic m_traffic;

private:
  StepWatch* m_watch = nullptr;
};

inline Turns::Iterator& Turns::Iterator::operator++() {
  m_turns.m_ranks.end_turn(m_turns.m_members ? m_turns.m_members[m_n] : m_turns.m_first + m_n);
  m_n += 1;
  return *this;
}
inline Turns::Iterator Turns::begin() const {
  m_ranks.start_turn();
  return {*this, 0};
}

/// A turn to the end of the block.
class Turn {
public:
  explicit Turn(Ranks& ranks, int rank = Ranks::every_rank) : m_ranks(ranks), m_rank(rank) {
    ranks.start_turn();
  }
  ~Turn() { m_ranks.end_turn(m_rank); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

private:
  Ranks& m_ranks;
  int m_rank;
};

/// Marks a part of the step, or a share of a part, for the watch of `ranks`, if there is one, to
/// the end of the block. A null name marks nothing.
template <void (StepWatch::*begin)(const char*), void (StepWatch::*end)()> class Watched {
public:
  Watched(const Ranks& ranks, const char* name)
      : m_watch(name != nullptr ? ranks.watch() : nullptr) {
    if (m_watch != nullptr) (m_watch->*begin)(name);
  }
  ~Watched() {
    if (m_watch != nullptr) (m_watch->*end)();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

private:
  StepWatch* m_watch;
};
using StepPart = Watched<&StepWatch::begin, &StepWatch::end>;
using StepShare = Watched<&StepWatch::begin_share, &StepWatch::end_share>;

/// Ranks::launch_ghosts for the arrays returned by arrays_of(local).
template <class F> void launch_ghosts(Ranks& ranks, const F& arrays_of) {
  std::vector<std::vector<Ghosted>> arrays;
  for (int local = 0; local < ranks.local_size(); ++local)
    arrays.push_back(arrays_of(static_cast<std::size_t>(local)));
  ranks.launch_ghosts(arrays);
}

/// The exact sum over all ranks of structs of FixedSums and int64s. One collective.
template <class T> T sum_over_ranks(Ranks& ranks, const std::vector<T>& parts) {
  static_assert(sizeof(T) % sizeof(std::int64_t) == 0 && std::is_trivially_copyable_v<T>,
                "T is made of 64-bit integers");
  std::vector<std::vector<std::int64_t>> words(
      parts.size(), std::vector<std::int64_t>(sizeof(T) / sizeof(std::int64_t)));
  for (std::size_t r = 0; r < parts.size(); ++r) std::memcpy(words[r].data(), &parts[r], sizeof(T));
  ranks.sum(words);
  T total;
  std::memcpy(static_cast<void*>(&total), words[0].data(), sizeof(T));
  return total;
}

/// Element-wise maximum over all ranks of non-negative values[local], equal sizes, whose bits have
/// the order of their values. One collective.
inline void max_over_ranks(Ranks& ranks, std::vector<std::vector<double>>& values) {
  std::vector<std::vector<std::int64_t>> bits(values.size());
  for (std::size_t r = 0; r < values.size(); ++r) {
    for (double x : values[r]) // 0.0: no negative zero
      bits[r].push_back(Kokkos::bit_cast<std::int64_t>(x + 0.0));
  }
  ranks.max(bits);
  for (std::size_t r = 0; r < values.size(); ++r) {
    std::transform(bits[r].begin(), bits[r].end(), values[r].begin(),
                   [](std::int64_t n) { return Kokkos::bit_cast<double>(n); });
  }
}

} // namespace nunatak
