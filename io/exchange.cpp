// See exchange.hpp.
#include "io/exchange.hpp"

#include <algorithm>

namespace nunatak::io {

std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives, const std::vector<Message>& sends,
                      std::size_t largest) {
  constexpr int tag = 20614; // nobody else's on this communicator
  std::vector<MPI_Request> requests;
  const auto start = [&](const std::vector<Message>& messages, const auto& begin) {
    for (const Message& m : messages) { // parts of one message arrive in order
      for (std::size_t at = 0; at < m.size; at += largest) {
        requests.push_back(MPI_REQUEST_NULL);
        begin(m.data + at, static_cast<int>(std::min(largest, m.size - at)), m.rank, &requests.back());
      }
    }
  };
  start(receives, [&](std::byte* data, int size, int rank, MPI_Request* request) {
    MPI_Irecv(data, size, MPI_BYTE, rank, tag, comm, request);
  });
  const std::size_t n_receives = requests.size();
  start(sends, [&](const std::byte* data, int size, int rank, MPI_Request* request) {
    MPI_Isend(data, size, MPI_BYTE, rank, tag, comm, request);
  });
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return static_cast<std::int64_t>(requests.size() - n_receives);
}

} // namespace nunatak::io
