// The subfiles of the layout file-per-aggregator (split_files.hpp), read together: checks that they
// belong together and cover everything, and finds the part of each variable in each. See join.cpp.
//
//   run.nc.0000  x 1..6      thk:   boxes (y 0..6, x 0..5) of 0, (y 0..6, x 6..10) of 1
//   run.nc.0001  x 7..11     y, z:  in both; read from 0
#pragma once

#include "io/box.hpp"
#include "io/read/source.hpp"
#include "io/schema.hpp"

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nunatak::io {

class SubfileSet {
public:
  /// Collective: subfile n is read by rank n modulo the number of ranks. Error on every rank if a
  /// subfile is missing or differs in anything but its place, or if they overlap or leave gaps.
  SubfileSet(MPI_Comm comm, const std::string& path);

  std::size_t size() const { return m_size; }
  std::size_t records() const { return m_records; }
  /// Of the whole: global lengths, no decomposition attributes; cut dimensions are distributed.
  const Schema& schema() const { return m_schema; }

  struct Part {
    std::size_t subfile;
    Box box; ///< in the whole, without records
  };
  /// Where the values of variable v are, each once, in the order of the subfiles.
  const std::vector<Part>& parts(std::size_t v) const { return m_parts[v]; }

  /// Values, as stored, of a box (of the whole, in a part of v) from a subfile, row-major. Local.
  void read(std::size_t v, std::size_t record, std::size_t subfile, const Box& box,
            std::byte* values);

private:
  struct Range {
    std::int64_t whole = 0, first = 0, last = -1; ///< from 0
  };
  std::string path_of(std::size_t subfile) const;
  [[noreturn]] void fail(std::size_t subfile, const std::string& what) const;
  ReadSource& source(std::size_t subfile);
  Range range_of(std::size_t subfile, const Contents& contents, std::size_t dimension) const;
  void compare(std::size_t subfile, const Contents& contents) const;
  void make_schema();
  void find_parts();
  void check_cover(std::size_t v) const;

  std::string m_path;
  std::size_t m_size = 0, m_records = 0;
  Contents m_first;               ///< of subfile 0
  std::vector<std::size_t> m_cut; ///< dimensions that are cut
  std::vector<Range> m_ranges;    ///< by subfile and index in m_cut
  Schema m_schema;
  std::vector<std::vector<Part>> m_parts;
  std::map<std::size_t, std::unique_ptr<ReadSource>> m_open;
};

} // namespace nunatak::io
