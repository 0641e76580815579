// The ghost exchange with loops of the execution space that pack and unpack (-halo loops). On a GPU
// the host touches no array, and only the buffers are sent: from device memory if MPI is GPU-aware
// (-gpu_aware_mpi), else from pinned host memory that the loops access directly.
#pragma once

#include "kernels/grid/device/halo_loops.hpp"
#include "miniapp/base/mpi_ranks.hpp"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <array>
#include <memory>
#include <string>

namespace nunatak {

/// True if MPI accepts this memory. `wanted`: on, off, or auto (as MPI reports; a CPU: true).
inline bool sends_from_loops(const std::string& wanted) {
  if (loops_on_host || wanted != "auto") return loops_on_host || wanted == "on";
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return std::string(Exec::name()) == "Cuda" && MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

class LoopRanks final : public MpiRanks {
public:
  LoopRanks(MPI_Comm comm, const Decomposition& decomposition, bool gpu_aware)
      : MpiRanks(comm, decomposition), m_loops(decomposition, first()), m_gpu_aware(gpu_aware) {}

protected:
  /// Runs two loops, with a fence after the first if there are neighbours: MPI reads what it packs.
  void exchange_ghosts(const std::vector<Ghosted>& arrays) override {
    const std::size_t cell_bytes = bytes_per_cell(arrays);
    const std::size_t bytes = (static_cast<std::size_t>(m_loops.cells()) * cell_bytes + 7) / 8 * 8;
    std::byte *const in = buffers(2 * bytes), *const out = in + bytes;
    const auto at = [&](std::byte* buffer, const HaloLoops::Message& m) {
      return buffer + static_cast<std::size_t>(m.first) * cell_bytes;
    };
    const auto size = [&](const HaloLoops::Message& m) {
      return static_cast<int>(static_cast<std::size_t>(m.cells) * cell_bytes);
    };

    if (m_loops.cells() > 0) {
      m_loops.pack(arrays, out);
      Kokkos::fence("nunatak: ghosts are packed");
    }
    std::array<MPI_Request, 16> requests;
    int n_requests = 0;
    const auto next = [&] { return &requests[static_cast<std::size_t>(n_requests++)]; };
    for (const HaloLoops::Message& m :
         m_loops.incoming()) { // the sender tags with its own direction, the opposite
      MPI_Irecv(at(in, m), size(m), MPI_BYTE, m.rank, halo_tag(-m.dx, -m.dy), comm(), next());
    }
    for (const HaloLoops::Message& m : m_loops.outgoing()) {
      MPI_Isend(at(out, m), size(m), MPI_BYTE, m.rank, halo_tag(m.dx, m.dy), comm(), next());
      if (m.rank != first()) count_message(size(m));
    }
    MPI_Waitall(n_requests, requests.data(), MPI_STATUSES_IGNORE);
    m_loops.unpack(arrays, in);
    m_traffic.exchanges += 1;
  }

private:
  /// Memory for the send buffer followed by the receive buffer.
  std::byte* buffers(std::size_t bytes) {
    const std::size_t words = (bytes + 7) / 8;
    if (m_gpu_aware && m_device.size() < words)
      m_device = decltype(m_device)(
          Kokkos::view_alloc(shared_label("halo: buffers"), Kokkos::WithoutInitializing), words);
    if (!m_gpu_aware && m_pinned.size() < words)
      m_pinned = decltype(m_pinned)(
          Kokkos::view_alloc(shared_label("halo: buffers"), Kokkos::WithoutInitializing), words);
    return reinterpret_cast<std::byte*>(m_gpu_aware ? m_device.data() : m_pinned.data());
  }

  HaloLoops m_loops;
  bool m_gpu_aware;
  Kokkos::View<std::uint64_t*, WorkMem> m_device;
  Kokkos::View<std::uint64_t*, PinnedMem> m_pinned;
};

/// Ranks whose ghosts are exchanged where loops run: by loops on a GPU, by the host on a CPU.
/// gpu_aware: as for sends_from_loops().
inline std::unique_ptr<MpiRanks> ranks_of_loops(MPI_Comm comm, const Decomposition& decomposition,
                                                const std::string& gpu_aware = "auto") {
  if (loops_on_host) return std::make_unique<MpiRanks>(comm, decomposition);
  return std::make_unique<LoopRanks>(comm, decomposition, sends_from_loops(gpu_aware));
}

} // namespace nunatak
