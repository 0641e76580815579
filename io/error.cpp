// agree(): the same exception on every rank. See error.hpp.
#include "io/error.hpp"

#include <algorithm>
#include <vector>

namespace nunatak::io {

void agree(MPI_Comm comm, const std::function<void()>& f) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  std::string message;
  int failed = size; // the lowest rank that failed; size means none
  try {
    f();
  } catch (const std::exception& e) {
    message = e.what();
    failed = rank;
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, comm);
  if (failed == size) return;
  int length = static_cast<int>(message.size());
  MPI_Bcast(&length, 1, MPI_INT, failed, comm);
  message.resize(static_cast<std::size_t>(length));
  MPI_Bcast(message.data(), length, MPI_CHAR, failed, comm);
  throw Error(message);
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t n = 0; n < row.size(); ++n) row[n] = n;
  for (std::size_t m = 1; m <= a.size(); ++m) {
    std::size_t diagonal = row[0];
    row[0] = m;
    for (std::size_t n = 1; n <= b.size(); ++n) {
      const std::size_t replace = diagonal + (a[m - 1] == b[n - 1] ? 0 : 1);
      diagonal = row[n];
      row[n] = std::min({replace, row[n] + 1, row[n - 1] + 1});
    }
  }
  return row.back();
}

} // namespace nunatak::io
