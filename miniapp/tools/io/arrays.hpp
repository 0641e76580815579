// The arrays of a workload on one rank. Every value encodes its position, so that data read back is
// checked without a copy. With `place` the index in the model's whole array, in memory order:
//
//   doubles   2^43 record + 2^33 variable + place    (modulo 2^10, 2^10, 2^33: below 2^53, exact)
//   floats    24 bits of a hash of that number       (exact)
//   integers  31 or 7 bits of the hash
//
// Neighbours: workload.hpp (shapes and ownership), repetition.hpp (writes and reads).
#pragma once

#include "io/writer.hpp"
#include "miniapp/tools/io/workload.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace nunatak::tools {

class Arrays {
public:
  /// Holds one record of all variables, with ghosts. `workload` must outlive this object.
  Arrays(const Workload& workload, int rank, int ranks);

  const Workload& workload() const { return m_workload; }
  /// The memory of this rank's arrays.
  std::size_t bytes() const;

  /// Fills all arrays with a record, unless they hold it; arrays without records are filled once.
  void fill(std::size_t record);

  /// Writes all arrays of a record; before record 0 also coordinates and arrays without records.
  void put(io::File& file, std::size_t record, const std::string& order) const;

  /// The blocks of variable v that this rank owns, in file order, without the record.
  std::vector<io::Block> blocks(std::size_t v, const std::string& order) const;
  std::vector<double> coordinates(const WorkloadVariable& variable) const;

  /// The first wrong value of those read for block b of v (file order, NaN for fill); "": none.
  std::string difference(std::size_t v, std::size_t b, std::size_t record, const std::string& order,
                         const std::vector<double>& found) const;

private:
  struct Array {
    Box box;                            ///< owned
    std::vector<std::ptrdiff_t> stride; ///< per dimension, in elements
    std::ptrdiff_t first = 0;           ///< first owned element
    std::vector<std::byte> data;
  };

  Array make_array(const WorkloadVariable& variable, const Box& box) const;

  const Workload& m_workload;
  std::vector<std::vector<Array>> m_arrays; ///< by variable and box; none for coordinates
  std::optional<std::size_t> m_record;      ///< the record in memory
};

} // namespace nunatak::tools
