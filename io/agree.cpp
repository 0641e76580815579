#include "io/agree.hpp"

#include <atomic>
#include <new>

namespace nunatak::io {

namespace {

std::atomic<bool> agreeing{false};

} // namespace

bool is_agreeing() { return agreeing; }

void agree(MPI_Comm comm, const std::function<void()>& f) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::string message;
  int failed = size; // the lowest rank that failed; size means none
  try {
    f();
  } catch (const std::bad_alloc&) {
    message = "rank " + std::to_string(rank) + ": expected memory, found none";
    failed = rank;
  } catch (const std::exception& e) {
    message = e.what();
    failed = rank;
  }
  agreeing = true;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm);
  agreeing = false;
  if (failed == size) return;
  int length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, failed, comm);
  message.resize(static_cast<std::size_t>(length));
  MPI_Bcast(message.data(), length, MPI_CHAR, failed, comm);
  throw Error(message);
}

void on_rank_0(MPI_Comm comm, const std::function<void()>& f) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  agree(comm, [&] {
    if (rank == 0) f();
  });
}

} // namespace nunatak::io
