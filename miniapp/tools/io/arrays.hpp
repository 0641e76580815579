// The arrays of a workload as one rank holds them, and what they hold.
//
// Every value says where it belongs, so that what is read back can be checked without a second
// copy. With `place` the position in the model's whole array, counted in memory order:
//
//   doubles   2^43 record + 2^33 variable + place    (modulo 2^10, 2^10, 2^33: below 2^53, exact)
//   floats    24 bits of a hash of that number       (exact)
//   integers  31 or 7 bits of the hash
//
// Neighbours: workload.hpp (shapes, who has what), turn.hpp (writes and reads).
#pragma once

#include "io/writer.hpp"
#include "miniapp/tools/io/workload.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace nunatak::tools {

class Arrays {
public:
  /// `workload` must outlive it. Holds one record of all variables, with ghosts.
  Arrays(const Workload& workload, int rank, int ranks);

  const Workload& workload() const { return m_workload; }
  /// Of this rank's arrays.
  std::size_t bytes() const;

  /// Fill all arrays with those of a record, unless they hold it; those without records once.
  void fill(std::size_t record);

  /// Put all arrays of a record, and before record 0 the coordinates and what else has no records.
  void put(io::File& file, std::size_t record, const std::string& order) const;

  /// Of variable v: start and count for io::Reader, in the order of the file, for each box; with
  /// the record, if it has them.
  struct FileBox {
    std::vector<std::size_t> start, count;
  };
  std::vector<FileBox> file_boxes(std::size_t v, std::size_t record,
                                  const std::string& order) const;

  /// Compare what was read of box b of variable v, in the order of the file (NaN for fill values).
  /// The first wrong value in words.
  std::optional<std::string> first_difference(std::size_t v, std::size_t b, std::size_t record,
                                              const std::string& order,
                                              const std::vector<double>& found) const;
  std::optional<std::string> coordinate_difference(const WorkloadVariable& variable,
                                                   const std::vector<double>& found) const;

private:
  struct Array {
    Box box;                            ///< owned
    std::vector<std::ptrdiff_t> stride; ///< of each dimension, in elements
    std::ptrdiff_t first = 0;           ///< the first owned element
    std::vector<std::byte> data;
  };

  Array make_array(const WorkloadVariable& variable, const Box& box) const;
  std::vector<double> coordinates(const WorkloadVariable& variable) const;

  const Workload& m_workload;
  std::vector<std::vector<Array>> m_arrays; ///< by variable and box; coordinates have none
  std::optional<std::size_t> m_record;      ///< the one in memory
};

} // namespace nunatak::tools
