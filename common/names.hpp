// Names of the files that the programs write, and of those that io keeps next to them.
#pragma once

#include <cstddef>
#include <string>

namespace nunatak {

/// What follows a name while its file is written.
constexpr const char *temporary_suffix = ".tmp", *lock_suffix = ".lock",
                     *longest_suffix = ".0000.tmp";
constexpr const char* subfiles_attribute = "NumFilesInSet"; ///< of subfiles: how many there are

std::string manifest_of(const std::string& path); ///< that of its folder

/// The name of a file that belongs to `path`: the suffix comes before an ending ".tmp".
std::string with_suffix(const std::string& path, const std::string& suffix);
/// The suffix of subfile n: ".0000".
std::string subfile_suffix(std::size_t n);
/// "run.nc.0001" is a subfile of "run.nc".
bool is_subfile_of(const std::string& name, const std::string& whole);

/// Error, which begins with `what`, unless a file may be written under the name at the end of
/// `path`, with `suffix` appended: UTF-8 without control characters, not longer than file systems
/// allow, and none that io takes itself (manifest.jsonl, NAME.tmp, NAME.lock).
void require_name(const std::string& path, const std::string& suffix, const std::string& what);

/// Error, which begins with `what`, where NetCDF-C would skip a blank or find an address (://).
void require_path(const std::string& path, const std::string& what);

} // namespace nunatak
