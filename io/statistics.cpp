// Sums and reductions of statistics. See statistics.hpp.
#include "io/statistics.hpp"

namespace nunatak::io {

Statistics& Statistics::operator+=(const Statistics& other) {
  for (std::size_t p = 0; p < n_phases; ++p) {
    phases[p].seconds += other.phases[p].seconds;
    phases[p].bytes += other.phases[p].bytes;
    phases[p].operations += other.phases[p].operations;
  }
  written_bytes += other.written_bytes;
  written_operations += other.written_operations;
  return *this;
}

Summary summarize(MPI_Comm comm, const Statistics& statistics) {
  constexpr int n = static_cast<int>(n_phases);
  int size = 1;
  MPI_Comm_size(comm, &size);
  std::array<double, n_phases> seconds{}, sum{};
  std::array<double, 2 * n_phases> extremes{}; // -minimum and maximum in one reduction
  std::array<std::int64_t, 2 * n_phases + 2> counts{};
  for (std::size_t p = 0; p < n_phases; ++p) {
    seconds[p] = statistics.phases[p].seconds;
    extremes[p] = -seconds[p];
    extremes[n_phases + p] = seconds[p];
    counts[p] = statistics.phases[p].bytes;
    counts[n_phases + p] = statistics.phases[p].operations;
  }
  counts[2 * n_phases] = statistics.written_bytes;
  counts[2 * n_phases + 1] = statistics.written_operations;
  MPI_Allreduce(seconds.data(), sum.data(), n, MPI_DOUBLE, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2 * n, MPI_DOUBLE, MPI_MAX, comm);
  MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2 * n + 2, MPI_INT64_T, MPI_SUM, comm);
  Summary result;
  for (std::size_t p = 0; p < n_phases; ++p) {
    result.phases[p] = {-extremes[p], sum[p] / size, extremes[n_phases + p], counts[p], counts[n_phases + p]};
  }
  result.written_bytes = counts[2 * n_phases];
  result.written_operations = counts[2 * n_phases + 1];
  return result;
}

} // namespace nunatak::io
