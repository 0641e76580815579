// Words for the ways to read, and sums of their cost. See read/options.hpp.
#include "io/read/options.hpp"

#include "io/error.hpp"

#include <array>

namespace nunatak::io {

std::string word_of(ReadBy by) {
  switch (by) {
  case ReadBy::each:
    return "each";
  case ReadBy::serial:
    return "serial";
  case ReadBy::parallel:
    return "parallel";
  }
  return "";
}

ReadBy read_by(const std::string& word) {
  for (const ReadBy by : {ReadBy::each, ReadBy::serial, ReadBy::parallel}) {
    if (word == word_of(by)) return by;
  }
  throw Error("way to read: expected each, serial or parallel, found '" + word + "'");
}

ReadSummary summarize(MPI_Comm comm, const ReadStatistics& s) {
  int size = 1;
  MPI_Comm_size(comm, &size);
  // a maximum of negative values is a minimum
  std::array<double, 6> extremes = {s.open_seconds,  s.read_seconds,  s.scatter_seconds,
                                    -s.open_seconds, -s.read_seconds, -s.scatter_seconds};
  std::array<double, 3> sums = {s.open_seconds, s.read_seconds, s.scatter_seconds};
  std::array<std::int64_t, 3> counts = {s.bytes, s.operations, s.sent_bytes};
  MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 6, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 3, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), 3, MPI_INT64_T, MPI_SUM, comm);
  const auto seconds = [&](std::size_t n) { return ReadSummary::Seconds{-extremes[n + 3], sums[n] / size, extremes[n]}; };
  return {seconds(0), seconds(1), seconds(2), counts[0], counts[1], counts[2]};
}

} // namespace nunatak::io
