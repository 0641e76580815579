// Sums of the values of all variables and records (value_sum.hpp) on their way to the manifest.
// Used by file.cpp, sync_file.cpp and async_file.cpp (writing); found_sums.cpp has those of a file
// that is there.
#pragma once

#include "io/schema.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

/// By name of the variable: a sum for each record, or one if it has no records.
using Sums = std::map<std::string, std::vector<std::uint64_t>>;

/// "0123456789abcdef"
std::string sum_text(std::uint64_t sum);

/// This rank's shares of the sums that the manifest does not have yet.
class ValueSums {
public:
  explicit ValueSums(const Schema& schema) : m_sums(schema.variables.size()) {}

  /// `record`: no_record of a variable without records.
  void add(std::size_t v, std::size_t record, std::uint64_t sum);
  /// What has been added for a record, which is then no more there.
  std::uint64_t take(std::size_t v, std::size_t record);

  /// The records before this one have been committed, and what has no records, too, if it is not 0.
  std::size_t first_record() const { return m_first; }
  /// Those of all ranks, up to `records`, on rank 0. Collective: one reduction.
  Sums reduce(MPI_Comm comm, const Schema& schema, std::size_t records) const;
  /// So many records are in the manifest now.
  void forget(std::size_t records);

private:
  /// The place of a record in m_sums[v]; none if it is in the manifest.
  std::optional<std::size_t> place_of(std::size_t record) const;

  std::vector<std::vector<std::uint64_t>> m_sums; ///< of each variable, by record from m_first on
  std::size_t m_first = 0;
};

} // namespace nunatak::io
