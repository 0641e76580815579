// A network switch in user space, with a latency and a rate per port towards the host.
//
//   switch LATENCY_US PORTS READY      PORTS: a file with a line per port, "number mac rate"
//                                      (rate as for tc: 50mbit); READY: a file that appears when
//                                      the TAP devices tap1, tap2, ... exist
//
// A frame that is read at time t leaves port j at
//   free_j = max(t + latency, free_j) + bits / rate_j
// in virtual time, so that a late wake-up does not delay later frames. The sender's rate is a tbf
// queue on the host's side, so that packets wait where TCP sees them. One thread; sleeps while
// idle.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <linux/if_tun.h>
#include <memory>
#include <net/if.h>
#include <sstream>
#include <string>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <vector>

namespace {

using Nanoseconds = std::int64_t;
using Mac = std::array<unsigned char, 6>;

constexpr std::size_t longest_frame = 9216, longest_queue = 8192;
constexpr int overhead = 24;        // bytes per frame on the wire: preamble, checksum, gap
constexpr Nanoseconds early = 5000; // timers are not exact

Nanoseconds now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * Nanoseconds{1000000000} + t.tv_nsec;
}

struct Frame {
  Nanoseconds due;
  std::shared_ptr<const std::vector<unsigned char>> data;
};

struct Port {
  int fd;
  Mac mac;
  double ns_per_byte;
  Nanoseconds free = 0;
  std::deque<Frame> queue;
};

double bits_per_second(const std::string& rate) {
  char* unit = nullptr;
  const double number = std::strtod(rate.c_str(), &unit);
  const std::string name = unit;
  const double one = name == "gbit" ? 1e9 : name == "mbit" ? 1e6 : name == "kbit" ? 1e3 : 0.0;
  if (!(number * one > 0.0)) {
    std::fprintf(stderr, "switch: expected a rate like 50mbit, found '%s'\n", rate.c_str());
    std::exit(1);
  }
  return number * one;
}

int open_tap(const std::string& name) {
  const int fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK);
  ifreq request{};
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  std::strncpy(request.ifr_name, name.c_str(), IFNAMSIZ - 1);
  if (fd < 0 || ::ioctl(fd, TUNSETIFF, &request) < 0) {
    std::perror(("switch: " + name).c_str());
    std::exit(1);
  }
  return fd;
}

std::vector<Port> read_ports(const char* path) {
  std::vector<Port> ports;
  std::ifstream in(path);
  int number = 0;
  std::string mac, rate;
  while (in >> number >> mac >> rate) {
    Port port{open_tap("tap" + std::to_string(number)), {}, 8e9 / bits_per_second(rate), 0, {}};
    std::replace(mac.begin(), mac.end(), ':', ' ');
    std::istringstream bytes(mac);
    for (unsigned char& byte : port.mac) {
      unsigned value = 0;
      bytes >> std::hex >> value;
      byte = static_cast<unsigned char>(value);
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

class Switch {
public:
  Switch(Nanoseconds latency, std::vector<Port> ports)
      : m_latency(latency), m_ports(std::move(ports)), m_epoll(epoll_create1(0)) {
    m_timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    listen(m_timer, m_ports.size());
    for (std::size_t p = 0; p < m_ports.size(); ++p) listen(m_ports[p].fd, p);
  }

  [[noreturn]] void run() {
    while (true) {
      set_timer(deliver());
      epoll_event events[64];
      const int n = epoll_wait(m_epoll, events, 64, -1);
      for (int k = 0; k < n; ++k) {
        if (events[k].data.u64 < m_ports.size()) receive(events[k].data.u64);
        std::uint64_t expired = 0;
        if (events[k].data.u64 == m_ports.size() && ::read(m_timer, &expired, sizeof expired) < 0)
          continue;
      }
    }
  }

private:
  void listen(int fd, std::size_t number) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = number;
    epoll_ctl(m_epoll, EPOLL_CTL_ADD, fd, &event);
  }

  void receive(std::size_t from) {
    for (int k = 0; k < 64; ++k) {
      const Nanoseconds t = now();
      const ssize_t size = ::read(m_ports[from].fd, m_buffer.data(), m_buffer.size());
      if (size < 14) return;
      const auto data = std::make_shared<const std::vector<unsigned char>>(m_buffer.begin(),
                                                                           m_buffer.begin() + size);
      const bool to_all = (m_buffer[0] & 1) != 0; // a group address
      for (std::size_t p = 0; p < m_ports.size(); ++p) {
        const bool to_this =
            std::equal(m_ports[p].mac.begin(), m_ports[p].mac.end(), m_buffer.begin());
        if (p != from && (to_all || to_this)) enqueue(m_ports[p], data, t + m_latency);
      }
    }
  }

  static void enqueue(Port& port, const std::shared_ptr<const std::vector<unsigned char>>& data,
                      Nanoseconds arrival) {
    if (port.queue.size() >= longest_queue) return; // dropped, as by a real switch
    const double bytes = static_cast<double>(data->size() + overhead);
    port.free = std::max(arrival, port.free) + static_cast<Nanoseconds>(bytes * port.ns_per_byte);
    port.queue.push_back({port.free, data});
  }

  /// Delivers frames that are due; returns the time of the next one, or -1.
  Nanoseconds deliver() {
    Nanoseconds next = -1;
    const Nanoseconds t = now();
    for (Port& port : m_ports) {
      while (!port.queue.empty() && port.queue.front().due <= t + early) {
        const auto& data = *port.queue.front().data;
        if (::write(port.fd, data.data(), data.size()) < 0 && errno == EAGAIN)
          break; // the host is behind: retry
        port.queue.pop_front();
      }
      if (port.queue.empty()) continue;
      const Nanoseconds due = std::max(port.queue.front().due, t + early);
      if (next < 0 || due < next) next = due;
    }
    return next;
  }

  void set_timer(Nanoseconds when) const {
    itimerspec timer{};
    if (when >= 0) timer.it_value = {when / 1000000000, when % 1000000000};
    timerfd_settime(m_timer, TFD_TIMER_ABSTIME, &timer, nullptr);
  }

  Nanoseconds m_latency;
  std::vector<Port> m_ports;
  int m_epoll, m_timer;
  std::array<unsigned char, longest_frame> m_buffer{};
};

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
  Switch the_switch(static_cast<Nanoseconds>(std::atof(argv[1]) * 1000), read_ports(argv[2]));
  std::ofstream ready(argv[3]);
  ready.close();
  the_switch.run();
}
