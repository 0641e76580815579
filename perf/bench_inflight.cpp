// What does it cost to write runs of a file one after another, several at a time by threads, or several at a time by io_uring?
//
//   bench_inflight FOLDER RUN_BYTES RUNS PROCESSES TURNS WAY...       bench_inflight . 1048576 256 2 9 p1b t4b u4b u16d
//
// A way is p (pwrite), t (threads that pwrite) or u (io_uring), how many runs are under way, and b (through the page cache) or d
// (O_DIRECT, runs of a multiple of 4096 bytes). Run k belongs to process k modulo PROCESSES, as records of a model's patches do.
// Ways take turns, of which the first does not count; a turn ends after fsync. docs/output.md has what came out.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t page = 4096, n_buffers = 8;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what + "; found: " + std::strerror(errno)); }

/// Runs of one file, those of one process.
struct Runs {
  int fd;
  std::size_t bytes, n, first, step; ///< of a run; of the file; of this process
  const std::byte* data;

  const std::byte* data_of(std::size_t k) const { return data + k % n_buffers * bytes; }
  void write(std::size_t k) const {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t m = ::pwrite(fd, data_of(k) + done, bytes - done, static_cast<off_t>(k * bytes + done));
      if (m < 0) fail("expected to write a run");
      done += static_cast<std::size_t>(m);
    }
  }
};

/// An io_uring by the calls of the system, without a library.
class Ring {
public:
  explicit Ring(unsigned depth) {
    io_uring_params p{};
    m_fd = static_cast<int>(::syscall(__NR_io_uring_setup, depth, &p));
    if (m_fd < 0) fail("expected io_uring");
    std::byte* const sent = map(p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    std::byte* const done = map(p.cq_off.cqes + p.cq_entries * sizeof(io_uring_cqe), IORING_OFF_CQ_RING);
    m_entries = reinterpret_cast<io_uring_sqe*>(map(p.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
    const auto number = [](std::byte* at, unsigned offset) { return reinterpret_cast<unsigned*>(at + offset); };
    m_sent_end = number(sent, p.sq_off.tail), m_sent_mask = number(sent, p.sq_off.ring_mask),
    m_order = number(sent, p.sq_off.array);
    m_done_begin = number(done, p.cq_off.head), m_done_end = number(done, p.cq_off.tail);
    m_done_mask = number(done, p.cq_off.ring_mask), m_done = reinterpret_cast<io_uring_cqe*>(done + p.cq_off.cqes);
  }
  ~Ring() { ::close(m_fd); }

  void send(const Runs& runs, std::size_t k) {
    const unsigned end = *m_sent_end, place = end & *m_sent_mask;
    io_uring_sqe& entry = m_entries[place];
    std::memset(&entry, 0, sizeof entry);
    entry.opcode = IORING_OP_WRITE, entry.fd = runs.fd, entry.off = k * runs.bytes;
    entry.addr = reinterpret_cast<std::uintptr_t>(runs.data_of(k)), entry.len = static_cast<unsigned>(runs.bytes);
    m_order[place] = place;
    __atomic_store_n(m_sent_end, end + 1, __ATOMIC_RELEASE);
    if (::syscall(__NR_io_uring_enter, m_fd, 1, 0, 0, nullptr, 0) < 0) fail("expected io_uring to take a run");
  }
  void wait_for_one(std::size_t bytes) {
    while (__atomic_load_n(m_done_end, __ATOMIC_ACQUIRE) == *m_done_begin)
      if (::syscall(__NR_io_uring_enter, m_fd, 0, 1, IORING_ENTER_GETEVENTS, nullptr, 0) < 0) fail("expected to wait");
    const int result = m_done[*m_done_begin & *m_done_mask].res;
    if (result != static_cast<int>(bytes)) errno = result < 0 ? -result : EIO, fail("expected to write a run");
    __atomic_store_n(m_done_begin, *m_done_begin + 1, __ATOMIC_RELEASE);
  }

private:
  std::byte* map(std::size_t bytes, off_t offset) const {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m_fd, offset);
    if (at == MAP_FAILED) fail("expected to map io_uring");
    return static_cast<std::byte*>(at);
  }
  int m_fd = -1;
  io_uring_sqe* m_entries = nullptr;
  io_uring_cqe* m_done = nullptr;
  unsigned *m_sent_end = nullptr, *m_sent_mask = nullptr, *m_order = nullptr, *m_done_begin = nullptr, *m_done_end = nullptr,
           *m_done_mask = nullptr;
};

struct Way {
  char how;
  unsigned depth;
  bool direct;
  std::string name;
};

Way parse(const std::string& word) {
  const Way way{word[0], static_cast<unsigned>(std::atoi(word.c_str() + 1)), word.back() == 'd', word};
  if (std::strchr("ptu", way.how) == nullptr || way.depth == 0 || (way.how == 'p' && way.depth > 1))
    throw std::runtime_error("way: expected p1b, t4b, u16d, ..., found '" + word + "'");
  return way;
}

void write_all(const Way& way, const Runs& runs) {
  if (way.how == 'u') {
    Ring ring(way.depth);
    std::size_t under_way = 0;
    for (std::size_t k = runs.first; k < runs.n; k += runs.step) {
      if (under_way == way.depth) ring.wait_for_one(runs.bytes), under_way -= 1;
      ring.send(runs, k), under_way += 1;
    }
    for (; under_way > 0; --under_way) ring.wait_for_one(runs.bytes);
    return;
  }
  std::atomic<std::size_t> next{runs.first};
  const auto work = [&] {
    for (std::size_t k; (k = next.fetch_add(runs.step)) < runs.n;) runs.write(k);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < way.depth; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

/// From open until the file is on the disk.
double turn(const Way& way, const std::string& path, std::size_t bytes, std::size_t n, std::size_t processes,
            const std::byte* data) {
  ::sync();
  const auto begin = std::chrono::steady_clock::now();
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | (way.direct ? O_DIRECT : 0), 0666);
  if (fd < 0) fail("file '" + path + "': expected to create it");
  if (::fallocate(fd, 0, 0, static_cast<off_t>(n * bytes)) != 0 && errno != EOPNOTSUPP) fail("expected room for it");
  for (std::size_t p = 0; p < processes; ++p) {
    if (::fork() != 0) continue;
    try {
      write_all(way, {fd, bytes, n, p, processes, data});
      ::_exit(::fsync(fd) == 0 ? 0 : 1);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "bench_inflight: error: %s: %s\n", way.name.c_str(), e.what());
      ::_exit(1);
    }
  }
  bool all_right = true;
  for (int status = 0; ::wait(&status) > 0;) all_right = all_right && status == 0;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ::close(fd);
  ::unlink(path.c_str());
  if (!all_right) throw std::runtime_error("a process has failed");
  return seconds;
}

std::string in_words(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  char text[64];
  const std::size_t n = values.size();
  std::snprintf(text, sizeof text, "%6.3f (%.3f, %.3f)", values[n / 2], values[n / 4], values[3 * n / 4]);
  return text;
}

void run(const std::vector<std::string>& words) {
  if (words.size() < 7) throw std::runtime_error("expected FOLDER RUN_BYTES RUNS PROCESSES TURNS WAY...");
  std::size_t numbers[4];
  for (std::size_t k = 0; k < 4; ++k) {
    numbers[k] = std::strtoul(words[k + 2].c_str(), nullptr, 10);
    if (numbers[k] == 0) throw std::runtime_error("expected a number above 0, found '" + words[k + 2] + "'");
  }
  const auto [bytes, n, processes, turns] = numbers;
  std::vector<Way> ways;
  for (std::size_t w = 6; w < words.size(); ++w) ways.push_back(parse(words[w]));
  const std::size_t buffer = (n_buffers * bytes + page - 1) / page * page;
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(page, buffer));
  if (data == nullptr) fail("expected memory");
  for (std::size_t k = 0; k < buffer; ++k) data[k] = static_cast<std::byte>(k * 7);
  std::vector<std::vector<double>> seconds(ways.size()), ratios(ways.size());
  for (std::size_t t = 0; t <= turns; ++t) {
    std::vector<double> of_turn(ways.size());
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const std::size_t w = (k + t) % ways.size();
      of_turn[w] = turn(ways[w], words[1] + "/bench_inflight." + std::to_string(::getpid()), bytes, n, processes, data);
    }
    for (std::size_t w = 0; w < ways.size() && t > 0; ++w)
      seconds[w].push_back(of_turn[w]), ratios[w].push_back(of_turn[w] / of_turn[0]);
  }
  std::printf("%zu runs of %zu bytes, %zu process(es), %zu turns: median (first, third quartile)\n", n, bytes, processes, turns);
  for (std::size_t w = 0; w < ways.size(); ++w) {
    std::printf("  %-5s %s s, over %s by turns %s\n", ways[w].name.c_str(), in_words(seconds[w]).c_str(), ways[0].name.c_str(),
                in_words(ratios[w]).c_str());
  }
  std::free(data);
}

} // namespace

int main(int argc, char** argv) {
  try {
    run({argv, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench_inflight: error: %s\n", e.what());
    return 1;
  }
}
