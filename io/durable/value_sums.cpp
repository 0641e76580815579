#include "io/durable/value_sums.hpp"

#include "io/agree.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace nunatak::io {

std::string sum_text(std::uint64_t sum) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, sum);
  return text;
}

std::optional<std::size_t> ValueSums::place_of(std::size_t record) const {
  const std::size_t n = record == no_record ? 0 : record;
  return n < m_first ? std::nullopt : std::optional(n - m_first);
}

void ValueSums::add(std::size_t v, std::size_t record, std::uint64_t sum) {
  const auto place = place_of(record);
  if (!place) return; // put twice, which check_complete() finds
  auto& sums = m_sums[v];
  if (sums.size() <= *place) sums.resize(*place + 1, 0);
  sums[*place] += sum;
}

std::uint64_t ValueSums::take(std::size_t v, std::size_t record) {
  const auto place = place_of(record);
  return place && *place < m_sums[v].size() ? std::exchange(m_sums[v][*place], 0) : 0;
}

Sums ValueSums::reduce(MPI_Comm comm, const Schema& schema, std::size_t records) const {
  const auto n_of = [&](std::size_t v) -> std::size_t {
    return schema.has_records(schema.variables[v]) ? records - m_first : m_first == 0 ? 1 : 0;
  };
  std::vector<std::uint64_t> all;
  for (std::size_t v = 0; v < m_sums.size(); ++v) {
    const std::size_t end = all.size() + n_of(v);
    all.insert(all.end(), m_sums[v].begin(),
               m_sums[v].begin() +
                   static_cast<std::ptrdiff_t>(std::min(m_sums[v].size(), n_of(v))));
    all.resize(end, 0);
  }
  const int rank = rank_in(comm);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : all.data(), all.data(), static_cast<int>(all.size()),
             MPI_UINT64_T, MPI_SUM, 0, comm);
  Sums sums;
  auto next = all.begin();
  for (std::size_t v = 0; rank == 0 && v < m_sums.size(); ++v) {
    const auto end = next + static_cast<std::ptrdiff_t>(n_of(v));
    if (n_of(v) > 0) sums[schema.variables[v].name].assign(next, end);
    next = end;
  }
  return sums;
}

void ValueSums::forget(std::size_t records) {
  m_first = records;
  for (auto& sums : m_sums) sums.clear();
}

} // namespace nunatak::io
