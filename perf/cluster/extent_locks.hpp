// The locks that one storage server grants on the extents of its objects, as Lustre's lock manager
// grants them (ldlm, type LDLM_EXTENT). An object is the part of a file that lies on this server.
//
//   client       server       holder         object  0 ......... 4 MiB ......... end
//     | ask        |            |                    [ asked  ]
//     |----------->| call back  |                    [ granted                    >  grown upwards
//     |            |----------->| flushes            <---- only if no other client has a lock
//     |            |     cancel |
//     |            |<-----------|            A write lock excludes all locks of other clients on
//     |      grant |            |            the same bytes, a read lock excludes write locks.
//     |<-----------|            |
//
// A request waits until no lock and no earlier request of another client excludes it; their holders
// are called back once. A granted lock is grown: upwards to the next lock or request that excludes
// it, at most 32 MiB from its begin if there are more than 32; downwards only if there is none.
// Locks of one client (a node) never exclude each other. Pure logic: no sockets, no threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace cluster {

enum class Mode : std::uint32_t { read, write };

/// Bytes of an object, without `end`.
struct Extent {
  static constexpr std::uint64_t no_end = ~std::uint64_t{0};
  std::uint64_t begin = 0, end = 0;

  bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
  bool contains(const Extent& other) const { return begin <= other.begin && other.end <= end; }
};

/// A request or a granted lock. A client numbers its own.
struct Lock {
  int client = 0;
  std::uint64_t number = 0, object = 0;
  Mode mode = Mode::write;
  Extent extent;
  bool called_back = false;

  bool excludes(const Lock& other) const {
    return client != other.client && (mode == Mode::write || other.mode == Mode::write);
  }
};

class LockTable {
public:
  static constexpr std::uint64_t most_grown = std::uint64_t{32} << 20;
  static constexpr std::size_t contended = 32;

  /// What the server sends: locks that are granted, grown, and locks that are called back.
  struct Answer {
    std::vector<Lock> granted, called_back;
  };

  Answer ask(const Lock& request) {
    m_objects[request.object].waiting.push_back(request);
    return serve(m_objects[request.object]);
  }
  Answer cancel(int client, std::uint64_t object, std::uint64_t number) {
    Object& of = m_objects[object];
    remove(of.granted, [&](const Lock& l) { return l.client == client && l.number == number; });
    return serve(of);
  }
  /// A client has gone with all that it has and wants.
  Answer forget(int client) {
    Answer answer;
    for (auto& [number, object] : m_objects) {
      for (std::vector<Lock>* locks : {&object.granted, &object.waiting})
        remove(*locks, [&](const Lock& lock) { return lock.client == client; });
      const Answer now = serve(object);
      answer.granted.insert(answer.granted.end(), now.granted.begin(), now.granted.end());
      answer.called_back.insert(answer.called_back.end(), now.called_back.begin(),
                                now.called_back.end());
    }
    return answer;
  }

private:
  struct Object {
    std::vector<Lock> granted, waiting; ///< waiting: in the order of arrival
  };

  template <class Condition> static void remove(std::vector<Lock>& locks, const Condition& is) {
    locks.erase(std::remove_if(locks.begin(), locks.end(), is), locks.end());
  }

  /// Grants what can be granted and calls back what stands against the rest.
  static Answer serve(Object& object) {
    Answer answer;
    for (std::size_t n = 0; n < object.waiting.size();) {
      const Lock request = object.waiting[n];
      const auto is_against = [&](const Lock& lock) {
        return lock.excludes(request) && lock.extent.meets(request.extent);
      };
      bool is_free =
          std::none_of(object.waiting.begin(), object.waiting.begin() + long(n), is_against);
      for (Lock& lock : object.granted) {
        if (!is_against(lock)) continue;
        is_free = false;
        if (!lock.called_back) answer.called_back.push_back(lock);
        lock.called_back = true;
      }
      if (!is_free) {
        ++n;
        continue;
      }
      object.waiting.erase(object.waiting.begin() + long(n));
      object.granted.push_back(grown(object, request));
      answer.granted.push_back(object.granted.back());
    }
    return answer;
  }

  static Lock grown(const Object& object, Lock lock) {
    std::size_t excluding = 0;
    std::uint64_t end = Extent::no_end;
    for (const std::vector<Lock>* others : {&object.granted, &object.waiting}) {
      for (const Lock& other : *others) {
        if (!other.excludes(lock)) continue;
        excluding += 1;
        if (other.extent.begin >= lock.extent.end) end = std::min(end, other.extent.begin);
      }
    }
    if (excluding == 0) lock.extent.begin = 0;
    if (excluding > contended)
      end = std::min(end, std::max(lock.extent.begin + most_grown, lock.extent.end));
    lock.extent.end = end;
    return lock;
  }

  std::map<std::uint64_t, Object> m_objects;
};

} // namespace cluster
