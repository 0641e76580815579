// The ghost exchange with loops of the execution space that pack and unpack (-halo loops). On a GPU
// the host touches no array, and only the buffers are sent: from device memory if MPI is GPU-aware
// (-gpu_aware_mpi), else from pinned host memory that the loops access directly.
#pragma once

#include "kernels/grid/device/halo_loops.hpp"
#include "miniapp/base/mpi_ranks.hpp"

#include <memory>
#include <string>

namespace nunatak {

/// True if MPI accepts this memory. `wanted`: on, off, or auto (as MPI reports; a CPU: true).
bool sends_from_loops(const std::string& wanted);

class LoopRanks final : public MpiRanks {
public:
  LoopRanks(MPI_Comm comm, const Decomposition& decomposition, bool gpu_aware)
      : MpiRanks(comm, decomposition), m_loops(decomposition, first()), m_gpu_aware(gpu_aware) {}

protected:
  std::unique_ptr<Ranks> make_over(const Decomposition& decomposition) const override {
    return std::make_unique<LoopRanks>(comm(), decomposition, m_gpu_aware);
  }
  /// Runs two loops, with a fence after the first if there are neighbours: MPI reads what it packs.
  void exchange_ghosts(const std::vector<Ghosted>& arrays) override;

private:
  /// Memory for the send buffer followed by the receive buffer.
  std::byte* buffers(std::size_t bytes);

  HaloLoops m_loops;
  bool m_gpu_aware;
  Kokkos::View<std::uint64_t*, WorkMem> m_device;
  Kokkos::View<std::uint64_t*, PinnedMem> m_pinned;
};

} // namespace nunatak
