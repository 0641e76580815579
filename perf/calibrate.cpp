// calibrate: measures the constants of a LogGP machine (kernels/grid/virtual/loggp.hpp) on its
// ranks. Prints JSON for -machine of nunatak-distance, nunatak-labels and nunatak-step.
//
//   mpiexec -n 8 calibrate > machine.json
//   mpiexec -n 8 calibrate -o /scratch > machine.json     also those of output, into files there
//
// Operations are measured in rows, as the mean over ranks: a late rank finds the next messages
// waiting, so that the slowest rank's time of a single operation would count some waits twice. The
// constants are medians.
#include "common/error.hpp"
#include "io/write/writer.hpp"
#include "miniapp/base/machine.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/program.hpp"
#include "perf/bandwidth.hpp"

#include <mpi.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <iostream>
#include <numeric>
#include <unistd.h>

using namespace nunatak;
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

/// Seconds of a write of `bytes` by rank 0 alone, at places of their own: median of `repeat`.
double write_time(const std::string& path, std::size_t bytes, int repeat) {
  const std::vector<char> values(bytes, 1);
  std::vector<double> seconds;
  World().on_rank_0([&] {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
    for (int n = 0; n <= repeat; ++n) {
      const double begin = MPI_Wtime();
      const ssize_t written = ::pwrite(fd, values.data(), bytes, static_cast<off_t>(n * bytes));
      if (n > 0) seconds.push_back(MPI_Wtime() - begin);
      if (written != static_cast<ssize_t>(bytes))
        throw Error("file '" + path + "': cannot write it: " + std::strerror(errno));
    }
    ::close(fd);
    std::filesystem::remove(path);
  });
  return seconds.empty() ? 0.0 : median(seconds);
}

/// What nunatak-step -output needs; the rate of the storage servers is given there.
Json output_constants(const std::string& folder, int repeat) {
  constexpr std::size_t long_call = std::size_t{1} << 20;
  const std::string scratch = folder + "/calibrate.files", path = scratch + "/x.nc";
  World().on_rank_0([&] { // it is removed at the end
    std::error_code error;
    if (!std::filesystem::create_directory(scratch, error))
      throw Error("option -o: expected to create the folder '" + scratch +
                  "', found: " + (error ? error.message() : "one that is there"));
  });
  const double call = write_time(path, 1, 5 * repeat), whole = write_time(path, long_call, repeat);
  std::vector<double> copies, files;
  const std::vector<char> from(std::size_t{64} << 20, 1);
  std::vector<char> to(2 << 20);
  for (int n = 0; n < repeat; ++n) {
    MPI_Barrier(world_comm());
    const double begin = MPI_Wtime();
    for (std::size_t at = 0; at < from.size(); at += to.size())
      std::memcpy(to.data(), from.data() + at, to.size());
    copies.push_back(World().max(MPI_Wtime() - begin) + 1e-300 * to[static_cast<std::size_t>(n)]);
    MPI_Barrier(world_comm());
    const double opened = MPI_Wtime();
    io::Writer writer(world_comm(), io::Options());
    const auto file = writer.open(path, {{}, {{"number", io::Type::float64, {}, {}}}, {}});
    file->put_all("number", std::vector<double>{1.0});
    file->end_record();
    file->close();
    files.push_back(World().max(MPI_Wtime() - opened));
  }
  World().on_rank_0([&] { std::filesystem::remove_all(scratch); });
  return {{"write_call_s", call},
          {"card_rate", long_call / (whole - call)},
          {"copy_rate", static_cast<double>(from.size()) / median(copies)},
          {"file_s", median(files)}};
}

Json run(int ranks, int repeat) {
  Calibration c(repeat);
  Json json = {{"ranks", ranks}};
  for (const int bytes : {8, 4096, 32768}) { // Open MPI splits longer ones in two parts
    json["ping_pong"].push_back({{"bytes", bytes}, {"seconds", c.ping_pong(bytes)}});
  }
  const double round = c.time([&] { c.round(); });
  LogGP m;
  m.o = m.g = c.overhead();
  m.L = std::max(round - 3.0 * m.o, 0.0); // two sends, the way of the second one, its receipt
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
    std::string folder;
    OptionTable table("calibrate: the constants of a LogGP machine, measured; prints JSON",
                      "mpiexec -n 8 calibrate > machine.json");
    table.section("Measurement");
    table.add(number("repeat", repeat, "", "rows that count, of each operation", 1));
    table.add(text("o", folder, "folder for files, to measure the constants of output, too"));
    if (!table.read(argc, argv)) return;
    const World world;
    if (world.size() < 2) throw Error("calibrate: expected 2 processes at least, found 1");
    Json json = run(world.size(), repeat);
    if (!folder.empty()) json["output"] = output_constants(folder, repeat);
    if (world.rank() == 0) std::cout << json.dump(1) << std::endl;
  });
}
