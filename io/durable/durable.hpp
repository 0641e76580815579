// Files that survive: what to do on rank 0 between closing name.nc.tmp and telling the world that name.nc exists.
//
//   write name.nc.tmp, close -> fsync(name.nc.tmp) -> rename -> fsync(folder) -> one line in manifest.jsonl
//
// A line of the manifest: {"name":"ex.nc","size":1234,"checksum":"crc32:89abcdef","step":10,"records":3,"state":"committed"}.
// If a file of that name exists already (append-type files, a second run), a line with the state "intent" goes before the
// rename, so that whatever instant the run dies at, the file under the final name matches a line. The last committed line of a
// name and the intents after it count; a line cut off by a crash does not. All functions are local. Used by file.cpp and
// sync_file.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nunatak::io {

struct ManifestEntry {
  std::string name; ///< without folder
  std::uint64_t size = 0;
  std::string checksum; ///< "crc32:" and eight hexadecimal digits (zlib's crc32)
  std::int64_t step = -1, records = 0;
};

/// Flush a file or folder to the disk.
void fsync_path(const std::string& path);

/// Ask the system to begin writing a file to the disk, without waiting.
void start_writeback(const std::string& path);

/// CRC-32 (zlib's polynomial) of the bytes begin <= n < end of a file, streamed through a buffer of 1 MiB.
std::uint32_t checksum_range(const std::string& path, std::uint64_t begin, std::uint64_t end);
/// Of two neighbouring ranges, the second of `bytes`.
std::uint32_t combine_checksums(std::uint32_t first, std::uint32_t second, std::uint64_t bytes);
/// "crc32:89abcdef"
std::string checksum_text(std::uint32_t checksum);
/// Of a whole file: name, size and checksum.
ManifestEntry checksum_file(const std::string& path);

/// A file that is complete under `temporary`, and is to be `path`.
struct Commit {
  std::string temporary, path;
  ManifestEntry entry; ///< its name is not looked at
};
/// Rename all, durably, and append their lines to manifest.jsonl in the same folder, durably. One fsync of the folder.
void commit_files(const std::vector<Commit>& files);

/// A name of other bytes has no place in JSON.
bool is_utf8(const std::string& name);

/// Copy a file, by reference where the file system can; returns its bytes.
std::uint64_t copy_file(const std::string& from, const std::string& to);

/// Why a write of `bytes` to a file at `path` failed, to be put after what a library said, which may be "unknown": ": " and the
/// text of `error` (errno after the write) if it is about space; else, if the file system has less than that free, ": no space
/// left on device" and the numbers; else nothing.
std::string cause_of_failed_write(int error, const std::string& path, std::int64_t bytes);

/// manifest.jsonl in the folder of `path`.
std::string manifest_of(const std::string& path);

/// Check every name of a manifest: the file exists, has size and checksum, and opens. The complaints; none if all is well.
std::vector<std::string> verify_manifest(const std::string& manifest);

} // namespace nunatak::io
