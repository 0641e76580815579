// See value_sums.hpp.
#include "io/durable/value_sums.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

namespace nunatak::io {

namespace {

constexpr std::uint64_t K = 0x9e3779b97f4a7c15;

struct Loop {
  std::size_t count;
  std::ptrdiff_t from;  ///< stride in memory
  std::uint64_t places; ///< stride in the variable, times K
};

template <class T> std::uint64_t bits_of(T value) {
  std::conditional_t<sizeof(T) == 8, std::uint64_t,
                     std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                        std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>
      bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline std::uint64_t permuted(std::uint64_t u) {
  const std::uint64_t w = u ^ (u >> 32);
  return w * (2 * w + 1);
}

template <class To, class From> std::uint64_t sum_of_row(const From* from, const Loop& row, std::uint64_t key) {
  std::uint64_t sum = 0;
  if (row.from == 1) {
    for (std::size_t n = 0; n < row.count; ++n, key += row.places) sum += permuted(bits_of(static_cast<To>(from[n])) + key);
  } else {
    for (std::size_t n = 0; n < row.count; ++n, key += row.places)
      sum += permuted(bits_of(static_cast<To>(from[static_cast<std::ptrdiff_t>(n) * row.from])) + key);
  }
  return sum;
}

/// `loops`: the one with the smallest steps in memory last. `key`: of the first element.
template <class To, class From> std::uint64_t sum_as(const std::byte* data, std::vector<Loop> loops, std::uint64_t key) {
  const Loop row = loops.back();
  loops.pop_back();
  std::vector<std::size_t> index(loops.size(), 0);
  std::uint64_t sum = 0;
  while (true) {
    const auto* from = reinterpret_cast<const From*>(data);
    std::uint64_t key_of_row = key;
    for (std::size_t d = 0; d < loops.size(); ++d) {
      from += static_cast<std::ptrdiff_t>(index[d]) * loops[d].from;
      key_of_row += index[d] * loops[d].places;
    }
    sum += sum_of_row<To>(from, row, key_of_row);
    std::size_t d = loops.size();
    while (d > 0 && ++index[d - 1] == loops[d - 1].count) index[--d] = 0;
    if (d == 0) return sum;
  }
}

} // namespace

std::uint64_t sum_of(const Hyperslab& slab, Type type, const std::vector<std::size_t>& shape) {
  if (slab.elements() == 0) return 0;
  const std::size_t lead = slab.count.size() - shape.size();
  std::vector<Loop> loops;
  std::uint64_t key = K, places = K;
  for (std::size_t d = shape.size(); d-- > 0; places *= shape[d]) {
    key += slab.start[lead + d] * places;
    if (slab.count[lead + d] > 1) loops.push_back({slab.count[lead + d], slab.stride[lead + d], places});
  }
  std::stable_sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return std::abs(a.from) > std::abs(b.from); });
  if (loops.empty()) loops.push_back({1, 1, K});
  if (slab.type == Type::float64 && type == Type::float32) return sum_as<float, double>(slab.data, loops, key);
  return with_type(slab.type, [&](auto zero) { return sum_as<decltype(zero), decltype(zero)>(slab.data, loops, key); });
}

std::string sum_text(std::uint64_t sum) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, sum);
  return text;
}

void ValueSums::add(std::size_t v, std::size_t record, std::uint64_t sum) {
  if (record < m_first) return; // put twice, which check_complete() finds
  auto& sums = m_sums[v];
  if (sums.size() <= record - m_first) sums.resize(record - m_first + 1, 0);
  sums[record - m_first] += sum;
}

std::uint64_t ValueSums::take(std::size_t v, std::size_t record) {
  auto& sums = m_sums[v];
  if (record < m_first || sums.size() <= record - m_first) return 0;
  return std::exchange(sums[record - m_first], 0);
}

Sums ValueSums::reduce(MPI_Comm comm, const Schema& schema, std::size_t records) const {
  const auto n_of = [&](std::size_t v) -> std::size_t {
    return schema.has_records(schema.variables[v]) ? records - m_first : m_first == 0 ? 1 : 0;
  };
  std::vector<std::uint64_t> all;
  for (std::size_t v = 0; v < m_sums.size(); ++v) {
    const std::size_t end = all.size() + n_of(v);
    all.insert(all.end(), m_sums[v].begin(), m_sums[v].begin() + static_cast<std::ptrdiff_t>(std::min(m_sums[v].size(), n_of(v))));
    all.resize(end, 0);
  }
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Reduce(rank == 0 ? MPI_IN_PLACE : all.data(), all.data(), static_cast<int>(all.size()), MPI_UINT64_T, MPI_SUM, 0, comm);
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
