#include "miniapp/base/loop_ranks.hpp"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <array>

namespace nunatak {

bool sends_from_loops(const std::string& wanted) {
  if (loops_on_host || wanted != "auto") return loops_on_host || wanted == "on";
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  return std::string(Exec::name()) == "Cuda" && MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

std::byte* LoopRanks::buffers(std::size_t bytes) {
  const std::size_t words = (bytes + 7) / 8;
  if (m_gpu_aware && m_device.size() < words)
    m_device = decltype(m_device)(
        Kokkos::view_alloc(shared_label("halo: buffers"), Kokkos::WithoutInitializing), words);
  if (!m_gpu_aware && m_pinned.size() < words)
    m_pinned = decltype(m_pinned)(
        Kokkos::view_alloc(shared_label("halo: buffers"), Kokkos::WithoutInitializing), words);
  return reinterpret_cast<std::byte*>(m_gpu_aware ? m_device.data() : m_pinned.data());
}

void LoopRanks::exchange_ghosts(const std::vector<Ghosted>& arrays) {
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
    if (m.rank == first()) continue;
    count([&](Traffic& t) {
      t.messages += 1;
      t.bytes += size(m);
    });
  }
  MPI_Waitall(n_requests, requests.data(), MPI_STATUSES_IGNORE);
  m_loops.unpack(arrays, in);
  count([](Traffic& t) { t.exchanges += 1; });
}

} // namespace nunatak
