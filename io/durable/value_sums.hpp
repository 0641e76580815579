// Checksums (value_sum.hpp) of all variables and records, put or in a file.
//
// Sums of put values are made only in summed(), around the call that hands a hyperslab to a format.
// What the format packs (pack.hpp) is summed while it is in cache; if that is not exactly the
// hyperslab (a library took strided memory, or packed a part twice) the sum is computed again.
#pragma once

#include "io/pack.hpp"
#include "io/read/contents.hpp"
#include "io/schema.hpp"

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nunatak::io {

/// By name of the variable: one sum per record, or one if it has no records.
using Sums = std::map<std::string, std::vector<std::uint64_t>>;

/// "0123456789abcdef"
std::string sum_text(std::uint64_t sum);

/// Run write(slab); returns the sum of its values, written as `type` to a variable of this `shape`.
template <class F>
std::uint64_t summed(Hyperslab slab, Type type, const std::vector<std::size_t>& shape,
                     const F& write) {
  ValueSum sum(shape);
  slab.sum = &sum;
  write(slab);
  if (sum.elements() == slab.elements()) return sum.value();
  ValueSum again(shape);
  slab.sum = &again;
  add_to_sum(slab, type);
  return again.value();
}

/// Lengths of the dimensions of a variable without the record dimension.
std::vector<std::size_t> shape_of_record(const Schema& schema, std::size_t v);

/// This rank's part of the sums that the manifest does not have yet.
class ValueSums {
public:
  explicit ValueSums(const Schema& schema) : m_sums(schema.variables.size()) {}

  /// `record`: no_record for a variable without records.
  void add(std::size_t v, std::size_t record, std::uint64_t sum);

  /// Earlier records have been committed and, if it is not 0, also variables without records.
  std::size_t first_record() const { return m_first; }
  /// The sums over all ranks, up to `records`, on rank 0. Collective: one reduction.
  Sums reduce(MPI_Comm comm, const Schema& schema, std::size_t records) const;
  /// The first `records` records are in the manifest now.
  void forget(std::size_t records);

private:
  std::vector<std::vector<std::uint64_t>> m_sums; ///< of each variable, by record from m_first on
  std::size_t m_first = 0;
};

struct FoundSums {
  Sums sums;
  std::string metadata; ///< fingerprint()
};

/// The sums of the first `records` records of a file, read by all ranks or, on several nodes, by
/// one of each. Error on all ranks if it cannot be read. Collective; the same result on all ranks.
FoundSums find_sums(MPI_Comm comm, const std::string& path, std::size_t records);

/// Hash of dimensions, variables and attributes, except what a continued series changes.
std::string fingerprint(Contents contents);

} // namespace nunatak::io
