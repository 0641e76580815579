// manifest.jsonl, in the folder of the files: one line, appended, for each commit of a file there.
//
//   {"name":"ex.nc","size":1234,"step":10,"records":3,"sums":{"thk":["0123456789abcdef",...],...},
//    "metadata":"schema:89abcdef01234567","state":"committed"}
//   {"name":"ts.nc","size":9000,"step":12,"records":4,"grows":true,"first_record":3,"sums":...}
//
// `sums`: by variable and record (value_sums.hpp) from `first_record` on; earlier records are in
// earlier lines. `metadata`: a fingerprint of dimensions, variables and attributes. For a file that
// grows in place, `size` is the end of the last record counted; more may follow.
//
// The line of a new file is written when the file is complete and durable as NAME.tmp, just before
// the rename. So after a crash at any time a file matches its last line or, while NAME.tmp exists,
// the line before it. A file that grows in place has at least the records of its last line.
//
// A file that is committed only when it is closed may be saved before (File::commit()): its line
// says what NAME.tmp has, if the run is killed, up to the next line of NAME (recover()).
//
//   {"name":"sp.nc","step":20,"records":5,"digest":"0123456789abcdef","state":"saved"}
//
// A line cut off by a crash is ignored. Lines are untrusted input: names with a folder or control
// characters are refused. All functions are local, except those that compare files with it.
#pragma once

#include "io/data/value_sums.hpp"

#include <mpi.h>

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
  std::size_t first_record = 0; ///< of `sums`; 0 after parsing, which fills in earlier sums
  std::optional<Sums> sums = {};
  std::string metadata = ""; ///< fingerprint(); "": none
};

constexpr std::size_t longest_manifest = std::size_t{1} << 30; ///< bytes

std::string line_of(const ManifestEntry& entry);
/// Append lines, in one write; durable on return. Error if that fails. Other writers wait.
void append_to_manifest(const std::string& manifest, const std::string& lines);
/// Error if the manifest in the folder of `path` exists and cannot be appended to.
void require_manifest(const std::string& path);

/// What a run that was killed has left in NAME.tmp.
struct SavedEntry {
  std::string name;
  std::int64_t step = -1;
  std::size_t records = 0;
  std::uint64_t digest = 0; ///< digest_of() these records and of variables without
};
std::string saved_line_of(const SavedEntry& entry);

struct Manifest {
  /// By name, the last two lines, the later at the back.
  std::map<std::string, std::vector<ManifestEntry>> files;
  std::map<std::string, SavedEntry> saved; ///< by name, later than all lines of `files`
  std::vector<std::string> bad_lines;      ///< printable
};

/// The whole text; "" if there is none. Error if it is not a readable regular file up to 1 GiB.
std::string read_manifest(const std::string& manifest);
Manifest parse_manifest(const std::string& text);

struct FoundSums {
  Sums sums;
  std::string metadata; ///< fingerprint()
  Schema schema;
};

/// The sums of the first `records` records of a file, read by all ranks or, on several nodes, by
/// one of each. Error on all ranks if it cannot be read. Collective; the same result on all ranks.
FoundSums find_sums(MPI_Comm comm, const std::string& path, std::size_t records);

struct Verification {
  std::size_t files = 0;
  std::uint64_t bytes = 0;             ///< of the files
  std::vector<std::string> complaints; ///< empty: all files are intact
};

/// Compare the files of a manifest with their lines: length, sums of values, fingerprint of the
/// metadata. `name`: only that file and its subfiles; "": all. Collective; the result is the same
/// on all ranks. Error on all ranks if there is no such manifest.
Verification verify(MPI_Comm comm, const std::string& manifest, const std::string& name = "");

/// Error on all ranks, with what was expected and found, if a file does not match its lines in the
/// manifest of its folder; `subfiles`: one of path.0000, path.0001, ... A file without lines, or a
/// missing file, passes. Collective.
void require_intact(MPI_Comm comm, const std::string& path, bool subfiles = false);

} // namespace nunatak::io
