// The arrays of a workload on one rank. Every value encodes its position, so that data read back is
// checked without a copy. With `place` the index in the model's whole array, in memory order:
//
//   doubles   2^43 record + 2^33 variable + place    (modulo 2^10, 2^10, 2^33: below 2^53, exact)
//   floats    24 bits of a hash of that number       (exact)
//   integers  31 or 7 bits of the hash
//
// Neighbours: workload.hpp (shapes and ownership), repetition.hpp (writes and reads).
#pragma once

#include "io/write/plan.hpp"
#include "io/write/writer.hpp"
#include "miniapp/bench/workload.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace nunatak::bench {

class Arrays {
public:
  /// Holds one record of the variables that are cut, with ghosts.
  Arrays(Workload workload, int rank, int ranks);

  const Workload& workload() const { return m_workload; }
  /// The memory of this rank's arrays; their blocks and, in a record, runs of the file.
  std::size_t bytes() const { return m_bytes; }
  std::size_t n_blocks() const { return m_blocks; }
  std::size_t runs() const { return m_runs; }

  /// Fills all arrays with a record, unless they hold it; arrays without records are filled once.
  void fill(std::size_t record);

  /// Writes all arrays of a record; before record 0 also those without records.
  void put(io::File& file, std::size_t record) const;

  /// What all ranks put of each variable of schema_of(), for the plan of a writer. Collective.
  std::vector<io::Parts> parts(MPI_Comm comm) const;
  /// What this rank reads of v: its boxes or, if they are scattered or rank 0 writes v, an equal
  /// part.
  std::vector<Box> read_boxes(std::size_t v) const;

  /// The first wrong value of those read for a box of v (NaN for fill); "": none.
  std::string difference(std::size_t v, const Box& box, std::size_t record,
                         const std::vector<double>& found) const;

private:
  /// The parts of variables with the same dimensions and content.
  struct Parts {
    std::vector<Box> boxes;
    std::vector<io::Block> blocks;      ///< these, in memory
    std::size_t elements = 0, runs = 0; ///< with ghosts; of the file
  };
  Parts make_parts(const WorkloadVariable& variable) const;
  template <class T> std::vector<T> values(std::size_t v, const Box& box, std::size_t record) const;

  Workload m_workload;
  std::size_t m_rank, m_ranks, m_bytes = 0, m_blocks = 0, m_runs = 0;
  std::map<std::pair<Indices, Content>, Parts> m_parts;
  std::vector<const Parts*> m_of;             ///< by variable; nullptr: rank 0 writes it
  std::vector<std::vector<std::byte>> m_data; ///< by variable
  std::optional<std::size_t> m_record;        ///< the record in memory
};

} // namespace nunatak::bench
