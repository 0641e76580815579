// Ghost exchange and collectives of kernels/grid/ranks.hpp through MPI: one local rank per process.
#pragma once

#include "kernels/grid/ranks.hpp"

#include <mpi.h>

namespace nunatak {

class MpiRanks : public Ranks {
public:
  /// `decomposition.size()` must be the size of `comm`, which must outlive this object.
  MpiRanks(MPI_Comm comm, Decomposition decomposition);

  int local_size() const override { return 1; }
  int first() const override { return m_rank; }
  MPI_Comm comm() const { return m_comm; }
  Patch patch() const { return Ranks::patch(0); }

  /// The ghost exchanges of this process, a part of traffic().
  const Traffic& halo() const { return m_halo; }

  void launch_ghosts(const std::vector<std::vector<Ghosted>>& arrays) final;
  void sum(std::vector<std::vector<std::int64_t>>& values) override { reduce(values[0], MPI_SUM); }
  void max(std::vector<std::vector<std::int64_t>>& values) override { reduce(values[0], MPI_MAX); }
  void sum(std::vector<std::vector<ReproducibleSum>>& values) override;
  std::vector<std::int64_t>
  gather_all(const std::vector<std::vector<std::int64_t>>& contributions) override;
  void exchange(const std::vector<std::vector<Packet>>& out,
                std::vector<std::vector<Packet>>& in) override;
  std::unique_ptr<Group> group(std::vector<int> members) override;

  /// Update for the one local rank, with mixed types and one message per neighbour.
  using Ranks::update_ghosts;
  void update_ghosts(const std::vector<Ghosted>& arrays) {
    update_ghosts(std::vector<std::vector<Ghosted>>{arrays});
  }

protected:
  /// Updates all ghosts and counts the exchange. This version packs on the host.
  virtual void exchange_ghosts(const std::vector<Ghosted>& arrays);
  /// Fills the ghosts that neighbours own and counts what is sent: here one message per neighbour.
  virtual void fill_ghosts(const std::vector<Ghosted>& arrays);
  /// The tag of a ghost message in the direction (dx, dy), each -1, 0 or 1.
  static int halo_tag(int dx, int dy) { return 17 + (dy + 1) * 3 + dx + 1; }
  void count_message(std::int64_t bytes) {
    m_traffic.messages += 1;
    m_traffic.bytes += bytes;
  }

private:
  class MpiGroup;
  void reduce(std::vector<std::int64_t>& values, MPI_Op op);
  void count_collective(std::size_t bytes) {
    m_traffic.collectives += 1;
    m_traffic.collective_bytes += static_cast<std::int64_t>(bytes);
  }
  MPI_Comm m_comm;
  int m_rank = 0;
  Traffic m_halo;
  std::vector<std::byte> m_buffer;     // ghosts received and sent; reused
  std::vector<MPI_Request> m_requests; // used by exchange()
  std::vector<MPI_Status> m_statuses;
};

/// The communicator of World: the compute processes, while run_program() runs.
MPI_Comm world_comm();

/// Replaces `sums` by the sums over all ranks of `comm`. One collective.
void sum_over_ranks(MPI_Comm comm, ReproducibleSum* sums, int n);

} // namespace nunatak
