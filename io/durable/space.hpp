// Room on the disk for what will be written, asked for before it is sent.
//
// MPI-IO cannot report an error of one rank without hanging the others: ROMIO's collective writes leave the rank that fails, and
// the rest waits for it. So a full disk must be found earlier: rank 0 allocates the next record, and all ranks agree on the
// error. Used by sync_file.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace nunatak::io {

/// Allocate the bytes begin <= n < end of a file that exists; its length does not change. Where the file system cannot allocate
/// (NFS, ZFS, some parallel ones), look at its free space instead. Error, naming the file, what was expected and what was found:
/// a full disk, a quota, a limit of the length of files. Local.
void reserve_space(const std::string& path, std::uint64_t begin, std::uint64_t end);

/// Give back what was allocated beyond the end of the file. Local.
void release_space(const std::string& path);

} // namespace nunatak::io
