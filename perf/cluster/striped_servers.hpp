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
  void expect(std::uint64_t bytes) {
    const std::lock_guard lock(m_mutex);
    m_expected += 1, m_bytes += bytes;
  }
  void arrived(std::uint64_t bytes) {
    const std::lock_guard lock(m_mutex);
    m_expected -= 1, m_bytes -= bytes;
    m_change.notify_all(); // under the lock: a woken waiter may destroy this object
  }
  void wait() {
    std::unique_lock lock(m_mutex);
    m_change.wait(lock, [this] { return m_expected == 0; });
  }
  void wait_for_room(std::uint64_t bytes, std::uint64_t limit) {
    std::unique_lock lock(m_mutex);
    m_change.wait(lock, [&] { return m_bytes == 0 || m_bytes + bytes <= limit; });
  }

private:
  std::mutex m_mutex;
  std::condition_variable m_change;
  int m_expected = 0;
  std::uint64_t m_bytes = 0;
};

/// The connection to one storage server: one thread sends requests, one receives replies, in order.
class Server {
public:
  explicit Server(const std::string& address) : m_fd(::socket(AF_INET, SOCK_STREAM, 0)) {
    const int yes = 1;
    setsockopt(m_fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    inet_pton(AF_INET, address.c_str(), &to.sin_addr);
    for (int attempt = 0; ::connect(m_fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0;
         ++attempt) {
      if (attempt == 50) {
        std::perror(("striped_fs: " + address).c_str());
        std::exit(1);
      }
      ::usleep(100000);
    }
    std::thread([this] { send_requests(); }).detach();
    std::thread([this] { take_replies(); }).detach();
  }

  void ask(const Request& request, Answers& answers) {
    answers.expect(request.size);
    const std::lock_guard lock(m_mutex);
    m_to_send.push_back({request, &answers});
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

  static void require(bool connected) {
    if (!connected) std::_Exit(1); // without a server this node has no file system
  }

  int m_fd;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<Job> m_to_send, m_sent;
};

struct FileSystem {
  std::string content;
  std::uint64_t stripe = 1 << 20, most_dirty = 0;
  mutable Answers dirty; ///< written and in flight
  std::vector<std::string> addresses;
  std::vector<std::unique_ptr<Server>> servers;

  std::string path(const char* name) const { return content + name; }

  void metadata() const {
    Answers answers;
    servers[0]->ask({Operation::metadata, 0, 0, 0}, answers);
    answers.wait();
  }

  void read(std::uint64_t file, std::uint64_t begin, std::uint64_t size) const {
    Answers answers;
    ask(Operation::read, file, begin, size, answers);
    answers.wait();
  }
  void write(std::uint64_t file, std::uint64_t begin, std::uint64_t size) const {
    Answers answers;
    if (most_dirty > 0) dirty.wait_for_room(size, most_dirty);
    ask(Operation::write, file, begin, size, most_dirty > 0 ? dirty : answers);
    answers.wait();
  }

  void sync() const {
    dirty.wait();
    Answers answers;
    for (const auto& server : servers) server->ask({Operation::sync, 0, 0, 0}, answers);
    answers.wait();
  }

private:
  void ask(Operation operation, std::uint64_t file, std::uint64_t begin, std::uint64_t size,
           Answers& answers) const {
    const std::uint64_t n = servers.size();
    for (const std::uint64_t end = begin + size; begin < end;) {
      const std::uint64_t number = begin / stripe, in_stripe = begin % stripe,
                          bytes = std::min(stripe - in_stripe, end - begin);
      const Request request{operation, static_cast<std::uint32_t>(bytes), file,
                            number / n * stripe + in_stripe};
      servers[(file + number) % n]->ask(request, answers);
      begin += bytes;
    }
  }
};

} // namespace cluster
