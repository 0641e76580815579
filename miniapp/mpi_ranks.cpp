#include "miniapp/mpi_ranks.hpp"

#include "kernels/halo_strips.hpp"

#include <array>
#include <stdexcept>

namespace nunatak {

namespace {
constexpr int halo_tag = 17; // plus the direction 0..8

int direction(int dx, int dy) { return (dy + 1) * 3 + dx + 1; }
} // namespace

MpiRanks::MpiRanks(MPI_Comm comm, Decomposition decomposition) : Ranks(std::move(decomposition)), m_comm(comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &m_rank);
  if (size != m_decomposition.size()) {
    throw std::invalid_argument("decomposition into " + std::to_string(m_decomposition.size()) + " patches, but there are " +
                                std::to_string(size) + " ranks");
  }
}

void MpiRanks::update_ghosts(const std::vector<std::vector<Ghosted>>& arrays) {
  Kokkos::fence("nunatak: before the ghost exchange");
  const Patch p = patch();
  const std::vector<Ghosted>& mine = arrays[0];
  std::size_t cell_bytes = 0;
  for (const Ghosted& a : mine) cell_bytes += a.cell_bytes;

  std::array<std::vector<std::byte>, 9> outgoing, incoming;
  std::array<MPI_Request, 18> requests;
  int n_requests = 0;
  const auto for_each_neighbour = [&](auto&& f) {
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int other = m_decomposition.neighbour(m_rank, dx, dy);
        if ((dx != 0 || dy != 0) && other >= 0) f(dx, dy, other);
      }
    }
  };

  for_each_neighbour([&](int dx, int dy, int other) {
    auto& buffer = incoming[static_cast<std::size_t>(direction(dx, dy))];
    buffer.resize(ghost_strip(p, dx, dy).cells() * cell_bytes);
    // the sender names the message by its own direction, which is opposite to ours
    MPI_Irecv(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, other, halo_tag + direction(-dx, -dy), m_comm,
              &requests[static_cast<std::size_t>(n_requests++)]);
  });
  for_each_neighbour([&](int dx, int dy, int other) {
    auto& buffer = outgoing[static_cast<std::size_t>(direction(dx, dy))];
    const Strip strip = owned_strip(p, dx, dy);
    buffer.resize(strip.cells() * cell_bytes);
    std::byte* at = buffer.data();
    for (const Ghosted& a : mine) at = pack(p, strip, a.data, a.cell_bytes, at);
    MPI_Isend(buffer.data(), static_cast<int>(buffer.size()), MPI_BYTE, other, halo_tag + direction(dx, dy), m_comm,
              &requests[static_cast<std::size_t>(n_requests++)]);
    if (other != m_rank) m_traffic.messages += 1, m_traffic.bytes += static_cast<std::int64_t>(buffer.size());
  });
  MPI_Waitall(n_requests, requests.data(), MPI_STATUSES_IGNORE);
  for_each_neighbour([&](int dx, int dy, int) {
    const Strip strip = ghost_strip(p, dx, dy);
    const std::byte* at = incoming[static_cast<std::size_t>(direction(dx, dy))].data();
    for (const Ghosted& a : mine) at = unpack(p, strip, a.data, a.cell_bytes, at);
  });
  for (const Ghosted& a : mine) replicate_edges(m_decomposition, p, a.data, a.cell_bytes);
  m_traffic.exchanges += 1;
}

void MpiRanks::sum(std::vector<std::vector<std::int64_t>>& values) {
  MPI_Allreduce(MPI_IN_PLACE, values[0].data(), static_cast<int>(values[0].size()), MPI_INT64_T, MPI_SUM, m_comm);
  m_traffic.collectives += 1;
}

void MpiRanks::max(std::vector<std::vector<std::int64_t>>& values) {
  MPI_Allreduce(MPI_IN_PLACE, values[0].data(), static_cast<int>(values[0].size()), MPI_INT64_T, MPI_MAX, m_comm);
  m_traffic.collectives += 1;
}

std::vector<std::int64_t> MpiRanks::gather_all(const std::vector<std::vector<std::int64_t>>& contributions) {
  const int count = static_cast<int>(contributions[0].size());
  std::vector<int> counts(static_cast<std::size_t>(m_decomposition.size()));
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, m_comm);
  m_traffic.collectives += 1;
  return gather_all(contributions, counts);
}

std::vector<std::int64_t> MpiRanks::gather_all(const std::vector<std::vector<std::int64_t>>& contributions,
                                               const std::vector<int>& lengths) {
  std::vector<int> starts(lengths.size());
  int total = 0;
  for (std::size_t r = 0; r < lengths.size(); ++r) starts[r] = total, total += lengths[r];
  std::vector<std::int64_t> all(static_cast<std::size_t>(total));
  MPI_Allgatherv(contributions[0].data(), static_cast<int>(contributions[0].size()), MPI_INT64_T, all.data(), lengths.data(),
                 starts.data(), MPI_INT64_T, m_comm);
  m_traffic.collectives += 1;
  return all;
}

} // namespace nunatak
