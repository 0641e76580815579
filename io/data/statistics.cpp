#include "io/data/statistics.hpp"

#include "io/base/agree.hpp"

namespace nunatak::io {

constexpr std::int64_t Work::*counters[] = {&Work::written_bytes, &Work::written_operations,
                                            &Work::moved_bytes,   &Work::messages,
                                            &Work::message_bytes, &Work::off_node_bytes};

Work& operator+=(Work& a, const Work& b) {
  for (const auto counter : counters) a.*counter += b.*counter;
  a.exchange_seconds += b.exchange_seconds;
  a.stall_seconds += b.stall_seconds;
  return a;
}

Work operator-(Work a, const Work& b) {
  for (const auto counter : counters) a.*counter -= b.*counter;
  a.exchange_seconds -= b.exchange_seconds;
  a.stall_seconds -= b.stall_seconds;
  return a;
}

Statistics& Statistics::operator+=(const Statistics& other) {
  for (std::size_t p = 0; p < n_phases; ++p) {
    phases[p].seconds += other.phases[p].seconds;
    phases[p].bytes += other.phases[p].bytes;
    phases[p].operations += other.phases[p].operations;
  }
  work += other.work;
  return *this;
}

std::vector<OverRanks> over_ranks(MPI_Comm comm, const std::vector<double>& numbers) {
  const int size = size_of(comm);
  // extremes: maxima, and of the negated numbers minima
  std::vector<double> sums = numbers, extremes = numbers;
  for (const double number : numbers) extremes.push_back(-number);
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                comm);
  MPI_Allreduce(MPI_IN_PLACE, extremes.data(), static_cast<int>(extremes.size()), MPI_DOUBLE,
                MPI_MAX, comm);
  std::vector<OverRanks> result;
  for (std::size_t n = 0; n < sums.size(); ++n)
    result.push_back({-extremes[sums.size() + n], sums[n] / size, extremes[n]});
  return result;
}

Summary summarize(MPI_Comm comm, const Statistics& statistics) {
  std::vector<double> seconds;
  std::array<std::int64_t, 2 * n_phases + std::size(counters)> counts{};
  for (std::size_t p = 0; p < n_phases; ++p) {
    seconds.push_back(statistics.phases[p].seconds);
    counts[p] = statistics.phases[p].bytes;
    counts[n_phases + p] = statistics.phases[p].operations;
  }
  for (std::size_t c = 0; c < std::size(counters); ++c)
    counts[2 * n_phases + c] = statistics.work.*counters[c];
  const std::vector<OverRanks> reduced = over_ranks(comm, seconds);
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM,
                comm);
  Summary result;
  for (std::size_t p = 0; p < n_phases; ++p)
    result.phases[p] = {reduced[p], counts[p], counts[n_phases + p]};
  for (std::size_t c = 0; c < std::size(counters); ++c)
    result.work.*counters[c] = counts[2 * n_phases + c];
  return result;
}

ReadSummary summarize(MPI_Comm comm, const ReadStatistics& s) {
  const std::vector<OverRanks> seconds =
      over_ranks(comm, {s.open_seconds, s.read_seconds, s.scatter_seconds});
  std::array<std::int64_t, 4> counts = {s.bytes, s.operations, s.sent_bytes, s.openers};
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), 4, MPI_INT64_T, MPI_SUM, comm);
  return {seconds[0], seconds[1], seconds[2], counts[0], counts[1], counts[2], counts[3]};
}

} // namespace nunatak::io
