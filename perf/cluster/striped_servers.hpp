// The storage servers as seen by a node of the emulated cluster. Used by striped_fs.cpp (see
// there).
#pragma once

#include "protocol.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace cluster {

/// Waits until all expected requests are answered, or until few enough bytes are in flight.
class Answers {
public:
  explicit Answers(Answers* total = nullptr) : m_total(total) {} ///< total: counts these, too

  void expect(std::uint64_t bytes) {
    if (m_total != nullptr) m_total->expect(bytes);
    const std::lock_guard lock(m_mutex);
    m_expected += 1;
    m_bytes += bytes;
  }
  void arrived(std::uint64_t bytes) {
    if (m_total != nullptr) m_total->arrived(bytes);
    const std::lock_guard lock(m_mutex);
    m_expected -= 1;
    m_bytes -= bytes;
    m_change.notify_all(); // under the lock: a woken waiter may destroy this object
  }
  void wait() {
    std::unique_lock lock(m_mutex);
    m_change.wait(lock, [this] { return m_expected == 0; });
  }
  void wait_until_at_most(std::uint64_t bytes) {
    std::unique_lock lock(m_mutex);
    m_change.wait(lock, [&] { return m_bytes <= bytes; });
  }

private:
  Answers* m_total;
  std::mutex m_mutex;
  std::condition_variable m_change;
  int m_expected = 0;
  std::uint64_t m_bytes = 0;
};

/// A connection to a server of the file system, which may still be starting.
inline int connect_to(const std::string& address, int at_port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(at_port));
  inet_pton(AF_INET, address.c_str(), &to.sin_addr);
  for (int attempt = 0; ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0;
       ++attempt) {
    if (attempt == 50) {
      std::perror(("striped_fs: " + address).c_str());
      std::exit(1);
    }
    ::usleep(100000);
  }
  return fd;
}

/// Without a server a node has no file system.
inline void require(bool connected) {
  if (!connected) std::_Exit(1);
}

/// The connection to one storage server: one thread sends requests, one receives replies, in order.
class Server {
public:
  explicit Server(const std::string& address) : m_fd(connect_to(address, port)) {
    std::thread([this] { send_requests(); }).detach();
    std::thread([this] { take_replies(); }).detach();
  }

  void ask(const Request& request, Answers& answers) {
    answers.expect(request.size);
    const std::lock_guard lock(m_mutex);
    const bool is_small = request.operation == Operation::read ||
                          request.operation == Operation::metadata; // overtakes waiting writes
    m_to_send.insert(is_small ? m_to_send.begin() : m_to_send.end(), {request, &answers});
    m_changed.notify_all();
  }

private:
  struct Job {
    Request request;
    Answers* answers;
  };

  void send_requests() {
    const std::vector<char> nothing(buffer_size, 0);
    while (true) {
      std::unique_lock lock(m_mutex);
      m_changed.wait(lock, [this] { return !m_to_send.empty(); });
      const Job job = m_to_send.front();
      m_to_send.pop_front();
      m_sent.push_back(job); // before sending: the reply may come at once
      lock.unlock();
      require(send_all(m_fd, &job.request, sizeof job.request));
      if (job.request.operation != Operation::write) continue;
      for (std::size_t left = job.request.size; left > 0; left -= std::min(left, nothing.size()))
        require(send_all(m_fd, nothing.data(), std::min(left, nothing.size())));
    }
  }

  void take_replies() {
    std::vector<char> buffer(buffer_size);
    Reply reply{};
    while (true) {
      require(receive_all(m_fd, &reply, sizeof reply));
      for (std::size_t left = reply.size; left > 0; left -= std::min(left, buffer.size()))
        require(receive_all(m_fd, buffer.data(), std::min(left, buffer.size())));
      std::unique_lock lock(m_mutex);
      const Job job = m_sent.front();
      m_sent.pop_front();
      lock.unlock();
      job.answers->arrived(job.request.size);
    }
  }

  int m_fd;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Job> m_to_send, m_sent;
};

/// A part of a call within one stripe.
struct Piece {
  std::size_t server;
  Extent extent;         ///< of the object
  std::uint64_t in_file; ///< its first byte
};

/// Stripe s of file f is on server (f + s) mod n, in the object of that file.
template <class F>
void for_each_piece(std::uint64_t file, Extent bytes, std::uint64_t stripe, std::uint64_t servers,
                    const F& f) {
  for (std::uint64_t at = bytes.begin; at < bytes.end;) {
    const std::uint64_t number = at / stripe, end = std::min(bytes.end, (number + 1) * stripe),
                        begin = number / servers * stripe + at % stripe;
    f(Piece{(file + number) % servers, {begin, begin + end - at}, at});
    at = end;
  }
}

/// Bytes of a file of `size` that are in its object on server s.
inline std::uint64_t size_of_object(std::uint64_t file, std::uint64_t size, std::uint64_t stripe,
                                    std::uint64_t servers, std::uint64_t s) {
  const std::uint64_t first = (s + servers - file % servers) % servers, // its first stripe
      whole = size / stripe, rounds = whole / servers, last = whole % servers;
  return rounds * stripe + (first < last ? stripe : first == last ? size % stripe : 0);
}

} // namespace cluster
