// Checks of the files named by options: each can be created, and none overwrites another.
#pragma once

#include <string>
#include <vector>

namespace nunatak {

/// How a run uses the file named by an option.
enum class FileUse {
  read,
  text,      ///< written at the end: a report, a table (and <path>.tmp)
  netcdf,    ///< written by io with <path>.tmp, .lock, .0000, ...; manifest.jsonl
  snapshots, ///< files <path without .nc>_00010.000.nc of the kind netcdf
  subfiles,  ///< files <path>.0000, ... are read
};

struct NamedFile {
  std::string option, path;
  FileUse use = FileUse::text;
  /// An option that may name the same file, which is read before this one is written.
  std::string may_replace = "";
};

/// Throws Error, naming options and files, if two of them are the same file or one belongs to the
/// output of another, also through links and relative paths, or if io reserves a name. Compares
/// device and inode; new files by folder and name. Ignores empty paths. On rank 0.
void check_files(const std::vector<NamedFile>& files);

/// Throws Error, naming option and file, if `path` cannot be created: no such folder, no
/// permission, or a folder. Creates nothing; accepts an empty path. On rank 0.
void require_writable(const std::string& option, const std::string& path);

} // namespace nunatak
