#include "io/formats/quota.hpp"

#include "io/agree.hpp"

#include <algorithm>

namespace nunatak::io {

constexpr std::int64_t largest_call = std::int64_t{1} << 30; // bytes of one rank
constexpr std::int64_t small = std::int64_t{1} << 20;        // below: no reduction

Quota::Quota(MPI_Comm comm, const Schema& schema, std::size_t buffer)
    : m_comm(comm), m_schema(schema), m_copied{1}, m_most{largest_call} {
  m_copied.limit = std::max<std::int64_t>(1, static_cast<std::int64_t>(buffer) * size_of(comm));
}

std::size_t Quota::begin(std::size_t v, const Hyperslab& slab) {
  const Variable& variable = m_schema.variables[v];
  const auto bytes = static_cast<std::int64_t>(bytes_of(variable.type));
  // over all ranks
  const auto whole = static_cast<std::int64_t>(m_schema.bytes(variable));
  std::int64_t most = whole; // an upper bound of the rank with most
  if (whole > small) {
    most = static_cast<std::int64_t>(slab.elements()) * bytes;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, m_comm);
  }
  const std::int64_t copied = slab.lasting ? 0 : whole;
  const std::int64_t n = std::max(m_copied.parts(copied), m_most.parts(most));
  m_part_copied = copied / n;
  m_part_most = most / n;
  m_part_whole = (whole + n - 1) / n;
  return static_cast<std::size_t>(n);
}

bool Quota::is_full() const {
  return m_whole > 0 && !(m_copied.has_room(m_part_copied) && m_most.has_room(m_part_most));
}

void Quota::add() {
  m_copied.bytes += m_part_copied;
  m_most.bytes += m_part_most;
  m_whole += m_part_whole;
}

} // namespace nunatak::io
