// Sums and reductions of statistics. See statistics.hpp.
#include "io/statistics.hpp"

namespace nunatak::io {

namespace {

constexpr std::int64_t Work::*counters[] = {&Work::written_bytes, &Work::written_operations, &Work::moved_bytes,
                                            &Work::messages,      &Work::message_bytes,      &Work::off_node_bytes};

} // namespace

Work& operator+=(Work& a, const Work& b) {
  for (const auto counter : counters) a.*counter += b.*counter;
  a.exchange_seconds += b.exchange_seconds;
  return a;
}

Work operator-(Work a, const Work& b) {
  for (const auto counter : counters) a.*counter -= b.*counter;
  a.exchange_seconds -= b.exchange_seconds;
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

Summary summarize(MPI_Comm comm, const Statistics& statistics) {
  constexpr int n = static_cast<int>(n_phases);
  int size = 1;
  MPI_Comm_size(comm, &size);
  std::array<double, n_phases> seconds{}, sum{};
  std::array<double, 2 * n_phases> extremes{}; // -minimum and maximum in one reduction
  std::array<std::int64_t, 2 * n_phases + std::size(counters)> counts{};
  for (std::size_t p = 0; p < n_phases; ++p) {
    seconds[p] = statistics.phases[p].seconds;
    extremes[p] = -seconds[p];
    extremes[n_phases + p] = seconds[p];
    counts[p] = statistics.phases[p].bytes;
    counts[n_phases + p] = statistics.phases[p].operations;
  }
  for (std::size_t c = 0; c < std::size(counters); ++c) counts[2 * n_phases + c] = statistics.work.*counters[c];
  MPI_Allreduce(seconds.data(), sum.data(), n, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2 * n, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_INT64_T, MPI_SUM, comm);
  Summary result;
  for (std::size_t p = 0; p < n_phases; ++p) {
    result.phases[p] = {-extremes[p], sum[p] / size, extremes[n_phases + p], counts[p], counts[n_phases + p]};
  }
  for (std::size_t c = 0; c < std::size(counters); ++c) result.work.*counters[c] = counts[2 * n_phases + c];
  return result;
}

} // namespace nunatak::io
