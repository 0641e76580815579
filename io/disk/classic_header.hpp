// The header of a classic NetCDF file (CDF-1, 2, 5): where values lie, its least length, its gaps.
//
// NetCDF-C reads zeros beyond the end of a truncated classic file; with the offsets in the header
// it can be refused, as by HDF5. Reference: NetCDF Users Guide, appendix B.
//
// The parser is our own because files are not trusted. NetCDF-C does not say where values lie.
// PnetCDF 1.12.3 does (ncmpi_inq_varoffset), but opening takes 160 to 750 us, and 6 to 8 here; of
// 2000 headers with one to three wrong bytes 14 kept it busy for over 5 s, and 3 ended it by a
// signal (2026-11-30).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

/// Bytes of the external types 1 to 11: byte char short int float double, then unsigned, 64 bits.
constexpr std::uint64_t classic_type_bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

/// Where the values of a file lie.
struct ClassicLayout {
  struct Extent {
    std::uint64_t begin, size; ///< bytes without padding; of a record variable in the first record
    bool is_record;
  };
  std::uint64_t header_end = 0, records = 0, record_size = 0;
  std::size_t count_bytes = 4;   ///< of the number of records, which follows the magic number
  std::vector<Extent> variables; ///< in the order of definition

  /// Bytes up to the end of the last value with this many records, without the padding after it.
  std::uint64_t size(std::uint64_t of_records) const;
  std::uint64_t padded_size(std::uint64_t of_records) const; ///< with that padding
};

/// nullopt without a classic magic number. Error if the header is cut off or has impossible sizes.
std::optional<ClassicLayout> read_classic_layout(const std::string& path);

/// Bytes of values that a library has moved to make space for new definitions in the file at
/// `path` since it had `layout`, which becomes the present one. NetCDF-C moves only what changes
/// its place; PnetCDF (`all_records`) rewrites every record as soon as one grows.
std::int64_t count_moved(ClassicLayout& layout, const std::string& path, bool all_records);

/// End a classic file, which may have more, behind this many records. Does nothing to other files.
/// Error if it has fewer.
void end_after(const std::string& path, std::uint64_t records);

/// Write zeros to all bytes of a classic file that belong to no value: header space, alignment,
/// padding to four bytes. ROMIO writes uninitialised memory there, PnetCDF omits the last padding;
/// afterwards all formats have written the same bytes. One small write per gap and record.
void zero_padding(const std::string& path);

} // namespace nunatak::io
