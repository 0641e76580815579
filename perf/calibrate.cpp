// calibrate: measures the constants of a LogGP machine (kernels/grid/virtual/loggp.hpp) on its
// ranks. Prints JSON for -machine of nunatak-distance, nunatak-labels, nunatak-step and bench_pico.
//
//   mpiexec -n 8 calibrate > machine.json
//
// Operations are measured in rows, as the mean over ranks: a late rank finds the next messages
// waiting, so that the slowest rank's time of a single operation would count some waits twice. The
// constants are medians.
#include "miniapp/base/error.hpp"
#include "miniapp/base/machine.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/world_comm.hpp"
#include "perf/bandwidth.hpp"

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iostream>
#include <numeric>

using namespace nunatak;
using bench::median;
using Json = nlohmann::ordered_json;

namespace {

constexpr int row = 10; // consecutive operations
// bytes of a long sum, as for a table of a hundred shelves
constexpr int table = 16384;
constexpr double busy = 1e-4; // s before each: idle.cpp shortens the sleep of a busy rank

class Calibration {
public:
  explicit Calibration(int repeat) : m_repeat(repeat) {
    MPI_Comm_rank(world_comm(), &m_rank);
    MPI_Comm_size(world_comm(), &m_size);
    m_buffer.resize(1 << 20);
  }

  double time(const std::function<void()>& operation) const {
    std::vector<double> seconds;
    for (int n = 0; n <= m_repeat; ++n) {
      MPI_Barrier(world_comm());
      double mine = 0.0, sum = 0.0;
      for (int k = 0; k < row; ++k) {
        const double pause = MPI_Wtime();
        while (MPI_Wtime() - pause < busy) {
        }
        const double begin = MPI_Wtime();
        operation();
        mine += (MPI_Wtime() - begin) / row;
      }
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, world_comm());
      if (n > 0) seconds.push_back(sum / m_size); // the first one opens connections
    }
    return median(seconds);
  }

  /// One-way time between the first rank and the last.
  double ping_pong(int bytes) {
    const int last = m_size - 1;
    const double both = time([&] {
      if (m_rank == 0) send(last, bytes), receive(last, bytes);
      if (m_rank == last) receive(0, bytes), send(0, bytes);
    });
    // the other ranks are idle
    return 0.5 * both * m_size / std::min(m_size, 2);
  }

  /// Every rank exchanges messages with its two neighbours in a ring.
  void round() {
    const int left = (m_rank + m_size - 1) % m_size, right = (m_rank + 1) % m_size;
    std::array<MPI_Request, 4> requests;
    std::array<char, 16> in{};
    MPI_Irecv(in.data(), 8, MPI_BYTE, left, 0, world_comm(), &requests[0]);
    MPI_Irecv(in.data() + 8, 8, MPI_BYTE, right, 1, world_comm(), &requests[1]);
    const double begin = MPI_Wtime();
    MPI_Isend(m_buffer.data(), 8, MPI_BYTE, right, 0, world_comm(), &requests[2]);
    MPI_Isend(m_buffer.data(), 8, MPI_BYTE, left, 1, world_comm(), &requests[3]);
    m_sending.push_back(0.5 * (MPI_Wtime() - begin));
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
  }

  /// Median time of rank 0 in a send call.
  double overhead() const { return median(m_sending); }

  void reduction(int numbers = 1) const {
    std::vector<std::int64_t> mine(static_cast<std::size_t>(numbers)), all(mine);
    MPI_Allreduce(mine.data(), all.data(), numbers, MPI_INT64_T, MPI_SUM, world_comm());
  }
  void lagged() const {
    std::int64_t mine = 1, all = 0;
    MPI_Request request;
    MPI_Iallreduce(&mine, &all, 1, MPI_INT64_T, MPI_MAX, world_comm(), &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  /// Lengths, then contents, as two collectives.
  void gather_all() {
    std::vector<int> lengths(static_cast<std::size_t>(m_size)), starts(lengths);
    auto* all = reinterpret_cast<int*>(m_buffer.data());
    const int one = 1;
    MPI_Allgather(&one, 1, MPI_INT, lengths.data(), 1, MPI_INT, world_comm());
    std::iota(starts.begin(), starts.end(), 0);
    MPI_Allgatherv(&m_rank, 1, MPI_INT, all, lengths.data(), starts.data(), MPI_INT, world_comm());
  }

private:
  void send(int to, int bytes) { MPI_Send(m_buffer.data(), bytes, MPI_BYTE, to, 0, world_comm()); }
  void receive(int from, int bytes) {
    MPI_Recv(m_buffer.data(), bytes, MPI_BYTE, from, 0, world_comm(), MPI_STATUS_IGNORE);
  }

  int m_repeat, m_rank = 0, m_size = 1;
  std::vector<char> m_buffer;
  std::vector<double> m_sending;
};

Json run(int ranks, int repeat) {
  Calibration c(repeat);
  Json json = {{"ranks", ranks}};
  for (const int bytes : {8, 4096, 32768}) { // Open MPI splits longer ones in two parts
    json["ping_pong"].push_back({{"bytes", bytes}, {"seconds", c.ping_pong(bytes)}});
  }
  const double round = c.time([&] { c.round(); });
  LogGP m;
  m.o = m.g = c.overhead();
  m.L = std::max(round - 4.0 * m.o, 0.0);
  const Json &shortest = json["ping_pong"].front(), &longest = json["ping_pong"].back();
  m.G = (longest["seconds"].get<double>() - shortest["seconds"].get<double>()) /
        (longest["bytes"].get<double>() - 8.0);
  const double steps = LogGP::steps(ranks);
  m.step.reduction = c.time([&] { c.reduction(); }) / steps;
  const double longer = c.time([&] { c.reduction(table / 8); }) / steps;
  m.step.reduction_byte = std::max(longer - m.step.reduction, 0.0) / table;
  // cost in addition to the blocking reduction that always follows (distance/buckets.hpp)
  const double both = c.time([&] {
    c.lagged();
    c.reduction();
  });
  m.step.lagged = std::max(both / steps - m.step.reduction, 0.0);
  m.step.gather_all = 0.5 * c.time([&] { c.gather_all(); }) / steps;
  json["machine"] = to_json(m);
  return json;
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "calibrate", [&](Libraries&) {
    int repeat = 9;
    OptionTable table("calibrate: the constants of a LogGP machine, measured; prints JSON",
                      "mpiexec -n 8 calibrate > machine.json");
    table.section("Measurement");
    table.add(number("repeat", repeat, "", "rows that count, of each operation", 1));
    if (!table.read(argc, argv)) return;
    const World world;
    if (world.size() < 2) throw Error("calibrate: expected 2 processes at least, found 1");
    const Json json = run(world.size(), repeat);
    if (world.rank() == 0) std::cout << json.dump(1) << std::endl;
  });
}
