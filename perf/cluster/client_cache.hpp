// The page cache and the locks of a node, as a client of Lustre has them (llite, osc, ldlm). Used
// by striped_fs.cpp; the server's side is extent_locks.hpp.
//
//   write:  lock of its pages (asked for unless one is held) -> a page that is written in part, is
//           in the file and not in the cache is read first -> pages are dirty
//   dirty:  sent when a whole MiB of the object is there, when the node has too many, at fsync, and
//           when a lock is called back: then the node sends what is dirty under it, waits until
//           that has arrived, forgets its pages, and cancels the lock
//   read:   lock of its pages -> what is not in the cache is read; a sequential reader gets the
//           rest of the MiB as well
//
// The bytes themselves are those of the shared content; here are their places and their time. One
// mutex guards all; nothing waits for the network while it has it.
#pragma once

#include "striped_servers.hpp"

#include <map>
#include <set>

namespace cluster {

constexpr std::uint64_t page = 4096, most_sent = std::uint64_t{1} << 20;

inline Extent whole(Extent bytes, std::uint64_t unit) {
  return {bytes.begin / unit * unit, (bytes.end + unit - 1) / unit * unit};
}

/// Where the file ends as a place in the object, had the stripe of this piece no end.
inline std::uint64_t end_of_file(const Piece& piece, std::uint64_t size) {
  const std::uint64_t before = piece.in_file - piece.extent.begin;
  return size > before ? size - before : 0;
}

/// Disjoint extents; adjacent ones are merged.
class Extents {
public:
  void add(Extent one) {
    for (const Extent& old : take({std::max<std::uint64_t>(one.begin, 1) - 1, one.end + 1}, false))
      one = {std::min(one.begin, old.begin), std::max(one.end, old.end)};
    m_ends[one.begin] = one.end;
    m_bytes += one.end - one.begin;
  }
  /// Removes what lies in `part`, and returns it.
  std::vector<Extent> take(Extent part) { return take(part, true); }
  bool contains(Extent part) const {
    const auto after = m_ends.upper_bound(part.begin);
    return after != m_ends.begin() && std::prev(after)->second >= part.end;
  }
  std::uint64_t bytes() const { return m_bytes; }

private:
  /// Removes the extents that meet `part`; `cut`: what lies outside of it stays.
  std::vector<Extent> take(Extent part, bool cut) {
    std::vector<Extent> taken;
    auto at = m_ends.upper_bound(part.begin);
    if (at != m_ends.begin()) --at;
    while (at != m_ends.end() && at->first < part.end) {
      Extent one{at->first, at->second};
      if (!one.meets(part)) {
        ++at;
        continue;
      }
      at = m_ends.erase(at);
      if (cut && one.end > part.end) at = m_ends.emplace(part.end, one.end).first;
      if (cut && one.begin < part.begin) m_ends.emplace(one.begin, part.begin);
      if (cut) one = {std::max(one.begin, part.begin), std::min(one.end, part.end)};
      m_bytes -= one.end - one.begin;
      taken.push_back(one);
    }
    return taken;
  }
  std::map<std::uint64_t, std::uint64_t> m_ends; ///< by begin
  std::uint64_t m_bytes = 0;
};

class ClientCache {
public:
  struct Counts {
    long asked = 0, called_back = 0;                                         ///< locks
    long partial_pages_read = 0, reads = 0, sent = 0, sent_at_call_back = 0; ///< the last: bytes
  };

  ClientCache(std::uint64_t most_dirty, const std::vector<std::string>& addresses,
              const std::vector<std::unique_ptr<Server>>& servers)
      : m_most_dirty(most_dirty), m_servers(servers) {
    for (const std::string& address : addresses)
      m_lock_fds.push_back(connect_to(address, lock_port));
    for (std::size_t s = 0; s < addresses.size(); ++s) std::thread([this, s] { hear(s); }).detach();
  }

  /// `size`: that of the file before.
  void write(std::uint64_t file, const Piece& piece, std::uint64_t size) {
    Object& object = object_of(file, piece.server);
    const Extent pages = whole(piece.extent, page);
    const std::uint64_t number = hold(object, Mode::write, pages);
    read_partial_pages(object, piece, size);
    std::unique_lock lock(m_mutex);
    object.cached.add(pages);
    m_unsent -= object.dirty.bytes();
    object.dirty.add(piece.extent);
    m_unsent += object.dirty.bytes();
    const Extent around = whole(pages, most_sent);
    for (std::uint64_t at = around.begin; at < around.end; at += most_sent) {
      if (object.dirty.contains({at, at + most_sent})) send(object, {at, at + most_sent});
    }
    release(object, number);
    if (m_unsent > m_most_dirty) send_dirty();
    lock.unlock();
    m_in_flight.wait_until_at_most(m_most_dirty);
  }

  void read(std::uint64_t file, const Piece& piece, std::uint64_t size) {
    Object& object = object_of(file, piece.server);
    Extent pages = whole(piece.extent, page);
    const std::uint64_t number = hold(object, Mode::read, pages);
    std::unique_lock lock(m_mutex);
    const bool is_there = object.cached.contains(pages), is_next = object.read_to == pages.begin;
    if (is_next)
      pages.end = std::min({whole(pages, most_sent).end, object.locks.at(number).extent.end,
                            whole({0, end_of_file(piece, size)}, page).end});
    object.read_to = pages.end;
    if (!is_there) object.cached.add(pages);
    lock.unlock();
    if (!is_there) fetch(object, pages);
    lock.lock();
    release(object, number);
  }

  /// All that this node has written of the file is on its servers.
  void flush(std::uint64_t file) {
    std::unique_lock lock(m_mutex);
    const std::vector<Object*> objects = objects_of(file);
    for (Object* object : objects) send(*object, Extent{0, Extent::no_end});
    lock.unlock();
    for (Object* object : objects) object->in_flight.wait();
  }

  /// The object of the file on server s ends at end(s): no more of it is dirty or cached.
  template <class End> void forget(std::uint64_t file, const End& end) {
    const std::lock_guard lock(m_mutex);
    for (Object* object : objects_of(file)) {
      const Extent gone{end(object->server), Extent::no_end};
      for (const Extent& run : object->dirty.take(gone)) m_unsent -= run.end - run.begin;
      object->cached.take({whole({0, gone.begin}, page).end, Extent::no_end});
    }
  }

  Counts counts() {
    const std::lock_guard lock(m_mutex);
    return m_counts;
  }

private:
  struct Held {
    Mode mode;
    Extent extent;
    int users; ///< calls in progress
    bool granted = false, called_back = false;
  };
  struct Object {
    std::uint64_t file;
    std::size_t server;
    Answers in_flight;                   ///< writes
    std::map<std::uint64_t, Held> locks; ///< by number
    Extents cached, dirty;
    std::uint64_t read_to = 0;

    Object(std::uint64_t f, std::size_t s, Answers* total) : file(f), server(s), in_flight(total) {}
  };

  Object& object_of(std::uint64_t file, std::size_t server) {
    const std::lock_guard lock(m_mutex);
    return m_objects.try_emplace({file, server}, file, server, &m_in_flight).first->second;
  }

  /// The objects of a file that this node has used, with the mutex.
  std::vector<Object*> objects_of(std::uint64_t file) {
    std::vector<Object*> found;
    for (auto at = m_objects.lower_bound({file, 0}); at != m_objects.end(); ++at) {
      if (at->first.first != file) break;
      found.push_back(&at->second);
    }
    return found;
  }

  /// Waits for a lock of these pages; returns its number.
  std::uint64_t hold(Object& object, Mode mode, Extent pages) {
    std::unique_lock lock(m_mutex);
    for (auto& [number, held] : object.locks) {
      const bool serves = held.granted && !held.called_back && held.extent.contains(pages);
      if (!serves || (mode == Mode::write && held.mode == Mode::read)) continue;
      held.users += 1;
      return number;
    }
    const std::uint64_t number = ++m_last_number;
    const Held& held = object.locks.try_emplace(number, Held{mode, pages, 1}).first->second;
    m_counts.asked += 1;
    say(object, {LockWord::ask, mode, object.file, number, pages});
    m_change.wait(lock, [&] { return held.granted; });
    return number;
  }

  /// With the mutex. Also on behalf of a lock that was called back meanwhile.
  void release(Object& object, std::uint64_t number) {
    Held& held = object.locks.at(number);
    held.users -= 1;
    give_up_if_unused(object, number, held);
  }

  void give_up_if_unused(Object& object, std::uint64_t number, const Held& held) {
    if (held.users > 0 || !held.called_back) return;
    std::thread([this, &object, number, extent = held.extent] {
      std::unique_lock lock(m_mutex);
      m_counts.sent_at_call_back += send(object, extent);
      lock.unlock();
      object.in_flight.wait();
      lock.lock();
      object.cached.take(extent);
      object.locks.erase(number);
      say(object, {LockWord::cancel, Mode::write, object.file, number, extent});
    }).detach();
  }

  /// Takes what a server says of locks.
  void hear(std::size_t server) {
    LockMessage message{};
    while (true) {
      require(receive_all(m_lock_fds[server], &message, sizeof message));
      Object& object = object_of(message.file, server);
      const std::lock_guard lock(m_mutex);
      Held& held = object.locks.at(message.number);
      if (message.word == LockWord::grant) {
        held.extent = message.extent;
        held.granted = true;
        m_change.notify_all();
      } else {
        m_counts.called_back += 1;
        held.called_back = true;
        give_up_if_unused(object, message.number, held);
      }
    }
  }

  void say(const Object& object, const LockMessage& message) const {
    require(send_all(m_lock_fds[object.server], &message, sizeof message));
  }

  /// Sends what is dirty in `part`, with the mutex; returns its bytes.
  long send(Object& object, Extent part) {
    std::uint64_t bytes = 0;
    for (const Extent& run : object.dirty.take(part)) {
      const Extent pages = whole(run, page);
      m_unsent -= run.end - run.begin;
      bytes += pages.end - pages.begin;
      ask(Operation::write, object, pages, object.in_flight);
    }
    m_counts.sent += static_cast<long>(bytes);
    return static_cast<long>(bytes);
  }
  void send_dirty() {
    for (auto& [key, object] : m_objects) send(object, Extent{0, Extent::no_end});
  }

  /// Requests of at most a MiB.
  void ask(Operation operation, const Object& object, Extent run, Answers& answers) {
    for (; run.begin < run.end; run.begin += most_sent) {
      const std::uint64_t bytes = std::min(most_sent, run.end - run.begin);
      m_servers[object.server]->ask(
          {operation, static_cast<std::uint32_t>(bytes), object.file, run.begin}, answers);
    }
  }

  void fetch(Object& object, Extent run) {
    Answers answers;
    ask(Operation::read, object, run, answers);
    answers.wait();
    const std::lock_guard lock(m_mutex);
    m_counts.reads += 1;
  }

  void read_partial_pages(Object& object, const Piece& piece, std::uint64_t size) {
    const std::uint64_t end = end_of_file(piece, size);
    const Extent& written = piece.extent;
    std::set<std::uint64_t> pages{written.begin / page * page, (written.end - 1) / page * page};
    for (const std::uint64_t at : pages) {
      const Extent there{at, std::min(at + page, end)};
      if (there.begin >= there.end || written.contains(there)) continue;
      std::unique_lock lock(m_mutex);
      if (object.cached.contains({at, at + page})) continue;
      m_counts.partial_pages_read += 1;
      lock.unlock();
      fetch(object, {at, at + page});
    }
  }

  std::uint64_t m_most_dirty, m_unsent = 0, m_last_number = 0;
  const std::vector<std::unique_ptr<Server>>& m_servers;
  std::vector<int> m_lock_fds;
  std::mutex m_mutex;
  std::condition_variable m_change;
  std::map<std::pair<std::uint64_t, std::size_t>, Object> m_objects;
  Answers m_in_flight;
  Counts m_counts;
};

} // namespace cluster
