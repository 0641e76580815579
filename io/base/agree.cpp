#include "io/base/agree.hpp"

#include "io/base/watchdog.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace nunatak::io {

void agree(MPI_Comm comm, const std::function<void()>& f) {
  const int rank = rank_in(comm), size = size_of(comm);
  std::string message;
  int failed = size; // the lowest rank that failed; size means none
  try {
    f();
  } catch (const std::bad_alloc&) {
    message = "rank " + std::to_string(rank) + ": out of memory";
    failed = rank;
  } catch (const std::exception& e) {
    message = e.what();
    failed = rank;
  }
  Watchdog::of_process().wait_with(message);
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm);
  Watchdog::of_process().wait_with(std::nullopt);
  if (failed == size) return;
  broadcast(message, comm, failed);
  throw Error(message);
}

void on_rank_0(MPI_Comm comm, const std::function<void()>& f) {
  const int rank = rank_in(comm);
  agree(comm, [&] {
    if (rank == 0) f();
  });
}

void broadcast(std::string& text, MPI_Comm comm, int root) {
  std::uint64_t size = text.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, root, comm);
  text.resize(size);
  for (std::uint64_t begin = 0; begin < size; begin += 1 << 30) // MPI counts by int
    MPI_Bcast(text.data() + begin, static_cast<int>(std::min<std::uint64_t>(1 << 30, size - begin)),
              MPI_CHAR, root, comm);
}

std::string gather(const std::string& text, MPI_Comm comm) {
  const int size = static_cast<int>(text.size());
  std::vector<int> sizes(static_cast<std::size_t>(size_of(comm)));
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm);
  std::vector<int> starts(sizes.size(), 0);
  std::partial_sum(sizes.begin(), sizes.end() - 1, starts.begin() + 1);
  std::string all;
  if (rank_in(comm) == 0) all.resize(static_cast<std::size_t>(starts.back() + sizes.back()));
  MPI_Gatherv(text.data(), size, MPI_CHAR, all.data(), sizes.data(), starts.data(), MPI_CHAR, 0,
              comm);
  return all;
}

} // namespace nunatak::io
