// The files named by options: each can be created, and none overwrites another; text files.
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
  bool is_written = true; ///< false: only after a failure
};

/// Throws Error, naming options and files, if two of them are the same file or one belongs to the
/// output of another, also through links and relative paths, if io reserves a name, or if one
/// cannot be created: no such folder, no permission, or a folder. Compares device and inode; new
/// files by folder and name. Refuses to replace a write-protected file unless `overwrite`. Creates
/// nothing. Ignores empty paths. On rank 0.
void check_files(const std::vector<NamedFile>& files, bool overwrite = false);

/// The file is in this folder itself, by whatever names. False where one does not exist.
bool lies_in(const std::string& path, const std::string& folder);

/// Nobody may write the file, or not this user. rename() would replace it all the same.
bool is_protected(const std::string& path);

/// Writes a report or a table as <path>.tmp and renames it, so that it is complete under its name.
/// Special files (/dev/stdout, a pipe) are written directly. On rank 0; Errors name file and cause.
void write_text_file(const std::string& path, const std::string& text);

/// JSON in indented lines. Bytes that are not UTF-8, as names of files may have, are replaced.
template <class Json> std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace nunatak
