#include "io/layouts/call_cost.hpp"

#include "io/agree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

namespace nunatak::io {

namespace {

constexpr std::size_t nodes_that_measure = 8, calls_each = 8, bytes_of_call = 2 << 10,
                      bytes_of_ring = 32 << 10;

/// The lowest ranks of nodes that lie far apart; rank 0 among them.
std::vector<int> measuring_ranks(const Topology& topology) {
  const std::vector<int> first = aggregators(topology, 1);
  std::vector<int> ranks;
  const std::size_t n = std::min(first.size(), nodes_that_measure);
  for (std::size_t k = 0; k < n; ++k) ranks.push_back(first[k * first.size() / n]);
  return ranks;
}

/// Median seconds of a call of this rank; negative if the file cannot be written. Collective over
/// `comm`.
double seconds_of_call(MPI_Comm comm, const std::string& path, std::size_t stripe) {
  const auto rank = static_cast<std::size_t>(rank_in(comm)),
             size = static_cast<std::size_t>(size_of(comm));
  int file = -1;
  if (rank == 0) file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  MPI_Barrier(comm);
  if (rank != 0) file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  bool is_written = file >= 0;
  const std::vector<char> values(bytes_of_call, 1);
  std::array<double, calls_each> seconds{};
  MPI_Barrier(comm);
  for (std::size_t k = 0; k < calls_each && is_written; ++k) {
    const std::size_t begin = (rank + k) % size * stripe + (k * size + rank) * bytes_of_call;
    const double start = MPI_Wtime();
    is_written = ::pwrite(file, values.data(), bytes_of_call, static_cast<off_t>(begin)) ==
                 static_cast<ssize_t>(bytes_of_call);
    seconds[k] = MPI_Wtime() - start;
  }
  if (file >= 0) is_written = ::close(file) == 0 && is_written;
  MPI_Barrier(comm);
  if (rank == 0) ::unlink(path.c_str());
  std::nth_element(seconds.begin(), seconds.begin() + calls_each / 2, seconds.end());
  return is_written ? seconds[calls_each / 2] : -1.0;
}

/// Each to the next one.
double seconds_of_ring(MPI_Comm comm) {
  const int rank = rank_in(comm), size = size_of(comm), next = (rank + 1) % size,
            last = (rank + size - 1) % size;
  std::vector<char> sent(bytes_of_ring, 1), received(bytes_of_ring);
  const auto pass = [&](int bytes) {
    MPI_Sendrecv(sent.data(), bytes, MPI_CHAR, next, 0, received.data(), bytes, MPI_CHAR, last, 0,
                 comm, MPI_STATUS_IGNORE);
  };
  pass(1); // connections are made
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  pass(bytes_of_ring);
  return MPI_Wtime() - start;
}

} // namespace

CallCost call_cost_of(double seconds, double rate) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "measured: %.2g s, %.1f MB/s", seconds, 1e-6 * rate);
  return {static_cast<std::size_t>(
              std::lround(std::clamp(seconds * rate, CallCost::least, CallCost::most))),
          text.data()};
}

CallCost call_cost_at(MPI_Comm comm, const Topology& topology, const std::string& path,
                      const Options& options, std::size_t stripe) {
  if (options.call > 0) return {options.call, "-io_call"};
  const std::vector<int> ranks = measuring_ranks(topology);
  if (ranks.size() < 2 || path.empty()) return {};
  const int rank = rank_in(comm);
  const bool measures = std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(comm, measures ? 0 : MPI_UNDEFINED, rank, &some);
  double found[2] = {-1.0, 0.0}; // seconds of a call, bytes per second
  if (measures) {
    const double mine = seconds_of_call(some, path, stripe), ring = seconds_of_ring(some);
    double worst = 0.0, sum = 0.0, slowest = 0.0;
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MIN, some);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, some);
    MPI_Allreduce(&ring, &slowest, 1, MPI_DOUBLE, MPI_MAX, some);
    if (worst >= 0.0) found[0] = sum / static_cast<double>(ranks.size());
    const double per_node = static_cast<double>(topology.node_of.size()) / topology.n_nodes;
    found[1] = static_cast<double>(bytes_of_ring) / std::max(slowest, 1e-9) / per_node;
    MPI_Comm_free(&some);
  }
  MPI_Bcast(found, 2, MPI_DOUBLE, 0, comm); // rank 0 measures: it is the lowest of its node
  return found[0] < 0.0 ? CallCost{} : call_cost_of(found[0], found[1]);
}

} // namespace nunatak::io
