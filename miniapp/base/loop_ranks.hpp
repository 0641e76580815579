// The ghost exchange packed and unpacked by loops of the execution space (-halo loops): on a GPU no
// array is touched by the host, and only the buffers are sent. From the memory of the device where
// MPI takes it (-gpu_aware_mpi), else from memory of the host that is pinned, which loops write and
// read in place. On a CPU the buffers are its memory.
#pragma once

#include "kernels/grid/device/halo_loops.hpp"
#include "miniapp/base/mpi_ranks.hpp"

#include <memory>
#include <string>

namespace nunatak {

/// Does MPI take pointers to the memory of this execution space? `wanted`: on, off, auto (what MPI
/// says of itself; a CPU: yes).
bool sends_from_loops(const std::string& wanted);

class LoopRanks final : public MpiRanks {
public:
  LoopRanks(MPI_Comm comm, const Decomposition& decomposition, bool gpu_aware)
      : MpiRanks(comm, decomposition), m_loops(decomposition, first()), m_gpu_aware(gpu_aware) {}

protected:
  std::unique_ptr<Ranks> make_over(const Decomposition& decomposition) const override {
    return std::make_unique<LoopRanks>(comm(), decomposition, m_gpu_aware);
  }
  /// Two loops; waits for the first one, if there are neighbours, because MPI reads what it has
  /// packed.
  void exchange_ghosts(const std::vector<Ghosted>& arrays) override;

private:
  /// Both buffers, one after the other, in one of the two.
  std::byte* buffers(std::size_t bytes);

  HaloLoops m_loops;
  bool m_gpu_aware;
  Kokkos::View<std::uint64_t*, WorkMem> m_device;
  Kokkos::View<std::uint64_t*, PinnedMem> m_pinned;
};

} // namespace nunatak
