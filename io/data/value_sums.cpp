#include "io/data/value_sums.hpp"

#include "io/base/agree.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace nunatak::io {

std::string sum_text(std::uint64_t sum) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, sum);
  return text;
}

std::uint64_t share_in_digest(const std::string& variable, std::size_t record, std::uint64_t sum) {
  std::uint64_t name = 0xcbf29ce484222325; // FNV-1a
  for (const char c : variable) name = (name ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return (2 * (name ^ (record + 1) * ValueSum::K) + 1) * sum; // times an odd number
}

std::uint64_t digest_of(const Sums& sums, const Schema& schema) {
  std::uint64_t digest = 0;
  for (const Variable& v : schema.variables) {
    const auto found = sums.find(v.name);
    for (std::size_t n = 0; found != sums.end() && n < found->second.size(); ++n)
      digest += share_in_digest(v.name, schema.has_records(v) ? n : no_record, found->second[n]);
  }
  return digest;
}

std::string fingerprint(Schema schema) {
  for (Dimension& d : schema.dimensions) d.records = 0;
  for (Attribute& a : schema.attributes) {
    if (a.name == "history") a.value = "";
  }
  std::uint64_t sum = 0; // in any order: `define interleaved` defines as values come
  for (const std::string& line : schema.lines()) sum += share_in_digest(line, 0, ValueSum::K);
  return "schema:" + sum_text(sum);
}

void ValueSums::add(std::size_t v, std::size_t record, std::uint64_t sum) {
  const std::size_t n = record == no_record ? 0 : record;
  if (n < m_first) return; // put twice: an error of check_complete()
  auto& sums = m_sums[v];
  if (sums.size() <= n - m_first) sums.resize(n - m_first + 1, 0);
  sums[n - m_first] += sum;
}

Sums ValueSums::reduce(MPI_Comm comm, const Schema& schema, std::size_t records) const {
  const auto n_of = [&](std::size_t v) -> std::size_t {
    if (schema.has_records(schema.variables[v])) return records - m_first;
    return m_first == 0 ? 1 : 0;
  };
  std::vector<std::uint64_t> all;
  for (std::size_t v = 0; v < m_sums.size(); ++v) {
    const std::size_t end = all.size() + n_of(v);
    const auto n = static_cast<std::ptrdiff_t>(std::min(m_sums[v].size(), n_of(v)));
    all.insert(all.end(), m_sums[v].begin(), m_sums[v].begin() + n);
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
