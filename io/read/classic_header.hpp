// Where the values of a classic NetCDF file (CDF-1, CDF-2, CDF-5) lie, from its header: how long
// the file must be, and its gaps.
//
// NetCDF-C reads zeros beyond the end of a truncated classic file and says nothing. The header
// states where the data of every variable begin, so that a file which is too short can be refused.
// HDF5 does the same check by itself. Used by contents.cpp, and by durable/sync_file.cpp for the
// padding. Reference: NetCDF classic format specification, appendix B of the NetCDF Users Guide.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

/// Bytes of the external types, which NetCDF numbers from 1: byte char short int float double, then
/// unsigned and 64 bits.
constexpr std::uint64_t classic_type_bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

/// Where the values of a file lie.
struct ClassicLayout {
  struct Place {
    std::uint64_t begin,
        size; ///< bytes, padding not counted; of a record variable in the first record
    bool is_record;
  };
  std::uint64_t header_end = 0, records = 0, record_size = 0;
  std::size_t count_bytes = 4;  ///< of the number of records, which stands behind the magic number
  std::vector<Place> variables; ///< in the order of definition

  /// Bytes up to the end of the last value of so many records, padding after it not counted.
  std::uint64_t size(std::uint64_t of_records) const;
};

/// nullopt if the file at `path` does not begin with a classic magic number. Throws Error if the
/// header is cut off, promises what no file holds, or does not state the number of records.
std::optional<ClassicLayout> read_classic_layout(const std::string& path);

/// Counts the bytes of values that a library moves when it makes room for new definitions. Used by
/// serial.cpp and pnetcdf.cpp.
class MovedBytes {
public:
  /// The file at `path` has just got a definition: bytes moved since the last call. NetCDF-C moves
  /// what changes its place. PnetCDF
  /// (`all_records`) reads and writes every record as soon as one grows, also those that stay where
  /// they are.
  std::int64_t count(const std::string& path, bool all_records);
  const ClassicLayout& layout() const { return m_before; } ///< at the last call

private:
  ClassicLayout m_before;
};

/// Write zeros to all bytes of a classic file that belong to no value: padding to four bytes and
/// alignment. ROMIO leaves what it had in memory there, PnetCDF leaves the last padding out;
/// afterwards all formats have written the same bytes. Other files stay as they are. Cost: one
/// small write per gap and record; gaps are the free bytes of the header, alignment, and padding of
/// variables of one and two bytes.
void zero_padding(const std::string& path);

} // namespace nunatak::io
