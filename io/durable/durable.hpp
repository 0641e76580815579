// Files that survive: what to do on rank 0 between closing name.nc.tmp and telling the world that
// name.nc exists.
//
//   write name.nc.tmp, close       -> fsync(name.nc.tmp) -> intent -> rename            ->
//   fsync(folder)  -> committed write more records to name.nc  -> fsync(name.nc)     -> intent ->
//   number of records -> fsync(name.nc) -> committed
//
// Intent and committed are lines of manifest.jsonl (manifest.hpp). All functions are local. Used by
// file.cpp and sync_file.cpp.
#pragma once

#include "io/durable/manifest.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nunatak::io {

/// Flush a file or folder to the disk.
void fsync_path(const std::string& path);

/// Flush the folder of a file to the disk: afterwards its name is there.
void fsync_folder_of(const std::string& path);

/// Ask the system to begin writing a file to the disk, without waiting.
void start_writeback(const std::string& path);

/// CRC-32 (zlib's polynomial) of the bytes begin <= n < end of a file, streamed through a buffer of
/// 1 MiB.
std::uint32_t checksum_range(const std::string& path, std::uint64_t begin, std::uint64_t end);
/// "crc32:89abcdef"
std::string checksum_text(std::uint32_t checksum);
/// Of a whole file: name, size and checksum.
ManifestEntry checksum_file(const std::string& path);

/// A file that is complete under `temporary`, and is to be `path`.
struct Commit {
  std::string temporary, path;
  ManifestEntry entry;               ///< name and set are not looked at
  ManifestEntry named_entry() const; ///< with the name of `path`
};
/// The files of one write under the name `path`, on the disk: rename all, durably, with their lines
/// in the manifest of the folder. One fsync of the folder.
void commit_files(const std::string& path, const std::vector<Commit>& files);

/// More of a file that has its final name is on the disk: `count` makes it a part of the file, by
/// one write that is done or not done at whatever instant the run dies. With lines in the manifest
/// before and after it.
void commit_in_place(const Commit& file, const std::function<void()>& count);

/// A run that was killed while it renamed the files of one write has left some new and some old
/// ones under the name `path`: rename the others, too, if they are all there. Nothing to do if none
/// was renamed: the old ones stand.
void finish_commit(const std::string& path);

/// Write all of it to a descriptor of the file `path`. Error, naming it, if that is not possible.
void write_all(int fd, const std::string& path, const char* data, std::size_t size);

/// Copy a file, by reference where the file system can; returns its bytes.
std::uint64_t copy_file(const std::string& from, const std::string& to);

// Room on the disk for what will be written, asked for before it is sent. MPI-IO cannot report an
// error of one rank without hanging the others: ROMIO's collective writes leave the rank that
// fails, and the rest waits for it. So a full disk must be found earlier: rank 0 allocates the next
// record, and all ranks agree on the error.

/// Allocate the bytes begin <= n < end of a file that exists; its length does not change. Where the
/// file system cannot allocate (NFS, ZFS, some parallel ones), look at its free space instead.
/// Error, naming the file, what was expected and what was found: a full disk, a quota, a limit of
/// the length of files. Local.
void reserve_space(const std::string& path, std::uint64_t begin, std::uint64_t end);

/// Give back what was allocated beyond the end of the file. Local.
void release_space(const std::string& path);

/// Why a write of `bytes` to a file at `path` failed, to be put after what a library said, which
/// may be "unknown": ": " and the text of `error` (errno after the write) if it is about space;
/// else, if the file system has less than that free, ": no space left on device" and the numbers;
/// else nothing.
std::string cause_of_failed_write(int error, const std::string& path, std::int64_t bytes);

} // namespace nunatak::io
