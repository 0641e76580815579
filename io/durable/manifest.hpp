// manifest.jsonl, beside the files: what was written there. It is only appended to.
//
//   {"name":"ex.nc","size":1234,"checksum":"crc32:89abcdef","step":10,"records":3,"state":"committed"}
//   {"name":"ex.nc.0001",...,"of":"ex.nc","files":2,"set":"crc32:01234567","state":"committed"} of
//   several files of one write
//   {"name":"ts.nc","size":9000,...,"records":4,"grows":true,"state":"committed"} in place: more
//   may follow
//   {"name":"ts.nc",...,"records":4,...,"first_record":3,"sums":{"ice_area":["0123456789abcdef"],...},"metadata":"crc32:..."}
//
// `sums` are those of the values of each variable (value_sums.hpp), by record from `first_record`
// on; those before it are in the lines before, of which the last that is committed counts.
// `metadata` is a checksum of dimensions, variables and attributes. A line with sums has no
// checksum of bytes, unless there are several files of one write. Then the line of the first has
// the sums, over all of them, and no `metadata`.
//
// Before files get their final names, or one in place the number of its records, each gets a line
// with the state "intent"; afterwards one with "committed". So whatever instant a run dies at, a
// file is what its last committed line says or an intent after it. A name that has only intents may
// have no file: nothing was committed. A line that a crash cut off does not count. Of a file that
// grows, size and checksum are those of its first bytes, up to the end of the last record that is
// committed. `set` is a checksum of the lines of all files of a write: those of a set belong
// together. Local functions. Used by durable.cpp (writes) and verify.cpp (reads).
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
  std::string checksum; ///< "crc32:" and eight hexadecimal digits (zlib's crc32) of the bytes; ""
                        ///< if there is none
  std::int64_t step = -1, records = 0;
  std::string of = "",
              set =
                  ""; ///< of several files: the name that they share, and a checksum of all of them
  std::size_t files = 1; ///< written together
  bool grows = false;    ///< the file may be longer than `size`
  std::size_t first_record =
      0; ///< of `sums`; as it is parsed 0: the sums of earlier lines stand before
  std::optional<Sums> sums = {}; ///< of the values
  std::string metadata = "";     ///< with sums of one file
};

/// The same bytes.
inline bool same_bytes(const ManifestEntry& a, const ManifestEntry& b) {
  return a.size == b.size && a.checksum == b.checksum;
}

/// manifest.jsonl in the folder of `path`.
std::string manifest_of(const std::string& path);
/// The path of a file of the same folder.
std::string beside(const std::string& manifest, const std::string& name);

/// A name of other bytes has no place in JSON.
bool is_utf8(const std::string& name);

/// `of`, `set` and `files` of entries that are written together under the name `path`.
void make_set(const std::string& path, std::vector<ManifestEntry>& entries);

/// Append a line for each, in one write; on the disk when it returns. Error if that is not
/// possible.
void append_to_manifest(const std::string& manifest, const std::vector<ManifestEntry>& entries,
                        const std::string& state);

/// Error if the manifest in the folder of `path` is there and cannot be appended to: before a run,
/// not after it.
void require_manifest(const std::string& path);

/// What a file may be.
struct Expected {
  std::vector<ManifestEntry>
      entries;            ///< the last that was committed, and intents after it; never empty
  bool committed = false; ///< else the file may be absent
};

struct Manifest {
  std::map<std::string, Expected> files; ///< by name
  std::map<std::string, std::vector<std::string>>
      sets; ///< names of the files that were written together, by ManifestEntry::set
  std::vector<std::string> bad_lines;
};

/// All of it as text; "" if there is none. Error if it is there and cannot be read.
std::string read_manifest(const std::string& manifest);
/// Files of a set of which another was replaced are not in the result: they are left over.
Manifest parse_manifest(const std::string& text);

} // namespace nunatak::io
