// Sums that tell whether a variable has the values that were put, whatever wrote them and wherever they lie.
//
//   sum = sum over the elements of f(b + (n + 1) K)  mod 2^64        f(u) = w (2 w + 1),  w = u xor (u >> 32)
//
// n: the element's place in the variable (in one record of it), row-major; b: the bits of the value in the type of the file, as a
// number; K: 2^64 over the golden ratio, odd. f is a permutation of the numbers of 64 bits, so that one changed value always
// changes the sum, whatever its place; of two or more that change, about one pair in 2^60 is not seen. Order, ranks, layout,
// format and compression do not matter. So the ranks that compute make it from what the model puts, and what messages,
// libraries, file system and disk did to the values later is seen by whoever reads them. Used by file.cpp, sync_file.cpp,
// async_file.cpp (writing) and found_sums.cpp (reading).
#pragma once

#include "io/pack.hpp"
#include "io/schema.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nunatak::io {

/// By name of the variable: a sum for each record, or one if it has no records.
using Sums = std::map<std::string, std::vector<std::uint64_t>>;

/// This slab's share of the sum of its variable. `shape`: of the variable in the file, without the dimension of the records, which
/// the slab may have before it; `type`: in the file. Cost: one pass over the slab, in the order of memory.
std::uint64_t sum_of(const Hyperslab& slab, Type type, const std::vector<std::size_t>& shape);

/// "0123456789abcdef"
std::string sum_text(std::uint64_t sum);

/// This rank's shares of the sums that the manifest does not have yet.
class ValueSums {
public:
  explicit ValueSums(const Schema& schema) : m_sums(schema.variables.size()) {}

  /// `record`: 0 of a variable without records.
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
  std::vector<std::vector<std::uint64_t>> m_sums; ///< of each variable, by record from m_first on
  std::size_t m_first = 0;
};

} // namespace nunatak::io
