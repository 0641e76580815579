// manifest.jsonl, in the folder of the files: what was written there, a line for each commit of a
// file. Lines are only appended.
//
//   {"name":"ex.nc","size":1234,"step":10,"records":3,"sums":{"thk":["0123456789abcdef",...],...},
//    "metadata":"89abcdef01234567","state":"committed"}
//   {"name":"ts.nc","size":9000,"step":12,"records":4,"grows":true,"first_record":3,"sums":...}
//
// `sums` are those of the values of each variable (value_sums.hpp), by record from `first_record`
// on; those of earlier records stand in earlier lines. `metadata` is a fingerprint of dimensions,
// variables and attributes. Of a file that grows in place, `size` is the end of the last record
// that the line counts; records and bytes behind it may follow.
//
// The line of a new file is written when the file is complete and durable as NAME.tmp, just before
// it gets its name. So, whenever a run dies: a file is what its last line says, or, as long as
// NAME.tmp is there, what the line before it says (or absent, if there is none). A file that grows
// in place is at least what its last line says.
//
// A line that a crash cut off does not count. Lines are read as input that anyone may have written:
// names with a folder or control characters are refused. Local functions.
#pragma once

#include "io/durable/value_sums.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

struct ManifestEntry {
  std::string name; ///< without folder
  std::uint64_t size = 0;
  std::int64_t step = -1;
  std::size_t records = 0;
  bool grows = false;           ///< the file may be longer than `size`
  std::size_t first_record = 0; ///< of `sums`; after parsing 0: earlier sums are filled in
  std::optional<Sums> sums = {};
  std::string metadata = ""; ///< fingerprint(); "": none
};

/// manifest.jsonl in the folder of `path`.
std::string manifest_of(const std::string& path);
/// The path of a file of the same folder.
std::string beside(const std::string& manifest, const std::string& name);

/// A name of other bytes has no place in JSON.
bool is_utf8(const std::string& name);

/// Text from a file, as it can be printed: control characters as \x1b, at most 200 bytes.
std::string printable(const std::string& text);

/// With its newline.
std::string line_of(const ManifestEntry& entry);
/// Append lines, in one write; on the disk when it returns. Error if that is not possible.
void append_to_manifest(const std::string& manifest, const std::string& lines);
/// Error if the manifest in the folder of `path` is there and cannot be appended to: before a run,
/// not after it.
void require_manifest(const std::string& path);

struct Manifest {
  /// By name the last two lines, the last one at the back.
  std::map<std::string, std::vector<ManifestEntry>> files;
  std::vector<std::string> bad_lines; ///< printable
};

/// All of it as text; "" if there is none. Error if it is there and is no regular file of at most 1
/// GiB that can be read.
std::string read_manifest(const std::string& manifest);
Manifest parse_manifest(const std::string& text);

} // namespace nunatak::io
