// Checks of the files that the options of a run name: each has a place, and none destroys another.
#pragma once

#include <string>
#include <vector>

namespace nunatak {

/// What a run does with the file that an option names.
enum class FileUse {
  read,
  text,      ///< written at the end: a report, a table, a trace (and <path>.tmp)
  netcdf,    ///< written by io: also <path>.tmp, .lock, .json, .0000, ..., and manifest.jsonl
             ///< in its folder
  snapshots, ///< files <path without .nc>_00010.000.nc of the kind netcdf
  subfiles,  ///< files <path>.0000, ... are read
};

struct NamedFile {
  std::string option, path;
  FileUse use = FileUse::text;
  std::string may_replace =
      ""; ///< an option that may name the same file: it has been read when this one is written
};

/// Throws Error, naming options and files, if two of them are the same file or one belongs to what
/// the other writes, under whatever names: links, relative paths. Files are compared by device and
/// inode; names that are not there yet by that of their folder. Throws Error, too, for a name that
/// io reserves. Empty paths are left out. Not collective: rank 0 calls it.
void check_files(const std::vector<NamedFile>& files);

/// Throws Error, naming option and file, if `path` cannot be created: no such folder, no
/// permission, or it is a folder itself. Better before the run than after it. Nothing is created;
/// an empty path is fine. Not collective: rank 0 calls it.
void require_writable(const std::string& option, const std::string& path);

} // namespace nunatak
