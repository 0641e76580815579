// A storage server of the emulated parallel file system. It stores nothing: it receives or sends
// the bytes, answers, and keeps the locks. Its disk is as fast as its card.
#include "protocol.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace cluster;

namespace {

double now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void sleep_until(double when) {
  timespec t{};
  t.tv_sec = static_cast<time_t>(when);
  t.tv_nsec = static_cast<long>((when - static_cast<double>(t.tv_sec)) * 1e9);
  while (when > now() && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

/// Metadata requests take 0.1 ms each, one after another.
class Metadata {
public:
  double done() {
    constexpr double each = 1e-4;
    const std::lock_guard lock(m_mutex);
    return m_free = std::max(m_free, now()) + each;
  }

private:
  std::mutex m_mutex;
  double m_free = 0.0;
};

/// Receives or sends `size` meaningless bytes.
template <class Move>
bool move_bytes(std::size_t size, std::vector<char>& buffer, const Move& move) {
  for (; size > 0; size -= std::min(size, buffer.size())) {
    if (!move(buffer.data(), std::min(size, buffer.size()))) return false;
  }
  return true;
}

void serve(int fd, Metadata& metadata) {
  std::vector<char> buffer(buffer_size);
  Request request{};
  while (receive_all(fd, &request, sizeof request)) {
    const bool writes = request.operation == Operation::write,
               reads = request.operation == Operation::read;
    if (writes && !move_bytes(request.size, buffer,
                              [&](char* to, std::size_t n) { return receive_all(fd, to, n); }))
      break;
    if (request.operation == Operation::metadata) sleep_until(metadata.done());
    const Reply reply{request.operation, reads ? request.size : 0};
    if (!send_all(fd, &reply, sizeof reply)) break;
    if (!move_bytes(reply.size, buffer,
                    [&](const char* from, std::size_t n) { return send_all(fd, from, n); }))
      break;
  }
  ::close(fd);
}

/// The locks of this server: passes messages between the clients and the table.
class Locks {
public:
  void serve(int client) {
    LockMessage message{};
    while (receive_all(client, &message, sizeof message)) {
      const std::lock_guard lock(m_mutex);
      send(message.word == LockWord::ask
               ? m_table.ask({client, message.number, message.file, message.mode, message.extent})
               : m_table.cancel(client, message.file, message.number));
    }
    const std::lock_guard lock(m_mutex);
    send(m_table.forget(client));
    ::close(client);
  }

private:
  static void send(const LockTable::Answer& answer) {
    for (const Lock& lock : answer.granted) send(LockWord::grant, lock); // may be called back, too
    for (const Lock& lock : answer.called_back) send(LockWord::call_back, lock);
  }
  static void send(LockWord word, const Lock& lock) {
    const LockMessage message{word, lock.mode, lock.object, lock.number, lock.extent};
    send_all(lock.client, &message, sizeof message); // a client that has gone is forgotten soon
  }

  std::mutex m_mutex;
  LockTable m_table;
};

/// Serves each connection to this port in a thread.
template <class Serve> void listen_at(int at_port, const Serve& serve_one) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(at_port));
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 128) != 0) {
    std::perror("storage_server");
    std::exit(1);
  }
  while (true) {
    const int fd = ::accept(listener, nullptr, nullptr);
    if (fd < 0) continue;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::thread([fd, &serve_one] { serve_one(fd); }).detach();
  }
}

} // namespace

int main() {
  prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
  Metadata metadata;
  Locks locks;
  std::thread([&locks] { listen_at(lock_port, [&locks](int fd) { locks.serve(fd); }); }).detach();
  listen_at(port, [&metadata](int fd) { serve(fd, metadata); });
}
