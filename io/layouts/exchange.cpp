#include "io/layouts/exchange.hpp"

#include "io/agree.hpp"

#include <algorithm>

namespace nunatak::io {

std::int64_t exchange(MPI_Comm comm, const std::vector<Message>& receives,
                      const std::vector<Message>& sends, std::size_t largest) {
  constexpr int tag = 20614; // unique on this communicator
  std::vector<MPI_Request> requests;
  const auto start = [&](const std::vector<Message>& messages, const auto& begin) {
    for (const Message& m : messages) { // parts of one message arrive in order
      for (std::size_t at = 0; at < m.size; at += largest) {
        requests.push_back(MPI_REQUEST_NULL);
        begin(m.data + at, static_cast<int>(std::min(largest, m.size - at)), m.rank,
              &requests.back());
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

std::vector<std::vector<std::optional<Box>>>
gather_boxes(MPI_Comm comm, const std::vector<std::optional<Box>>& mine,
             const std::vector<std::size_t>& dimensions, int root) {
  const int rank = rank_in(comm), n_ranks = size_of(comm);
  const bool gets_all = root < 0 || rank == root;
  std::vector<std::int64_t> numbers; // of each box: 1 if it is present, start, count
  for (std::size_t n = 0; n < mine.size(); ++n) {
    numbers.push_back(mine[n] ? 1 : 0);
    for (std::size_t d = 0; d < dimensions[n]; ++d)
      numbers.push_back(mine[n] ? static_cast<std::int64_t>(mine[n]->start[d]) : 0);
    for (std::size_t d = 0; d < dimensions[n]; ++d)
      numbers.push_back(mine[n] ? static_cast<std::int64_t>(mine[n]->count[d]) : 0);
  }
  std::vector<std::vector<std::optional<Box>>> boxes(gets_all ? static_cast<std::size_t>(n_ranks)
                                                              : 0);
  std::vector<std::int64_t> all(numbers.size() * boxes.size());
  const int size = static_cast<int>(numbers.size());
  if (root < 0) {
    MPI_Allgather(numbers.data(), size, MPI_INT64_T, all.data(), size, MPI_INT64_T, comm);
  } else {
    MPI_Gather(numbers.data(), size, MPI_INT64_T, all.data(), size, MPI_INT64_T, root, comm);
  }
  auto next = all.cbegin();
  for (auto& of_rank : boxes) {
    for (const std::size_t d : dimensions) {
      const auto start = next + 1, count = start + static_cast<std::ptrdiff_t>(d),
                 end = count + static_cast<std::ptrdiff_t>(d);
      of_rank.emplace_back();
      if (*next == 1) of_rank.back() = Box{{start, count}, {count, end}};
      next = end;
    }
  }
  return boxes;
}

} // namespace nunatak::io
