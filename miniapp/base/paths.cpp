#include "miniapp/base/paths.hpp"

#include "common/error.hpp"
#include "common/names.hpp"
#include "common/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <regex>

namespace nunatak {

namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// Follows dangling symbolic links to the path that would be created.
fs::path resolved(fs::path path) {
  std::error_code none;
  for (int links = 0; links < 40 && fs::is_symlink(path, none) && !fs::exists(path, none); ++links)
    path = folder_of(path) / fs::read_symlink(path, none);
  return path;
}

/// Compares device and inode; false if one of the files does not exist.
bool is_one_place(const fs::path& a, const fs::path& b) {
  std::error_code none;
  return fs::equivalent(a, b, none) && !none;
}

bool is_regular_or_new(const fs::path& path) {
  std::error_code none;
  return !fs::exists(path, none) || fs::is_regular_file(path, none);
}

bool is_read(FileUse use) { return use == FileUse::read || use == FileUse::subfiles; }
bool is_prefix(FileUse use) { return use == FileUse::snapshots || use == FileUse::subfiles; }

bool is_same(const NamedFile& a, const NamedFile& b) {
  if (!is_regular_or_new(a.path) || !is_regular_or_new(b.path)) return false; // /dev/null twice
  const fs::path one = resolved(a.path), other = resolved(b.path);
  return is_one_place(one, other) ||
         (one.filename() == other.filename() && is_one_place(folder_of(one), folder_of(other)));
}

/// True if `of` also reads or writes the file `name` in its folder.
bool goes_with(const NamedFile& of, const std::string& name) {
  std::string own = fs::path(of.path).filename().string();
  if (of.use == FileUse::snapshots && ends_with(own, ".nc")) own.resize(own.size() - 3);
  if (name.compare(0, own.size(), own) != 0) return false;
  const char* const suffix = of.use == FileUse::text        ? R"(\.tmp)"
                             : of.use == FileUse::netcdf    ? R"(\.tmp|\.lock|\.\d{4,}(\.tmp)?)"
                             : of.use == FileUse::snapshots ? R"(_-?[\d.]{8,}\.nc)" // _00010.000.nc
                             : of.use == FileUse::subfiles  ? R"(\.\d{4,})"
                                                            : nullptr;
  return suffix != nullptr && std::regex_match(name.substr(own.size()), std::regex(suffix));
}

bool belongs_to(const NamedFile& of, const NamedFile& other) {
  return !is_prefix(other.use) && is_one_place(folder_of(of.path), folder_of(other.path)) &&
         goes_with(of, fs::path(other.path).filename().string());
}

void check_pair(const NamedFile& a, const NamedFile& b) {
  if (is_read(a.use) && is_read(b.use)) return;
  const std::string what =
      "options " + a.option + " '" + a.path + "' and " + b.option + " '" + b.path + "': expected ";
  const bool may_replace = a.may_replace == b.option || b.may_replace == a.option;
  if (!is_prefix(a.use) && !is_prefix(b.use) && is_same(a, b)) {
    if (may_replace) return;
    throw Error(what + "different files, found the same one twice");
  }
  // a run that continues from a snapshot writes later ones
  const bool goes_on = (a.use == FileUse::snapshots && b.use == FileUse::read) ||
                       (b.use == FileUse::snapshots && a.use == FileUse::read);
  if (!goes_on && (belongs_to(a, b) || belongs_to(b, a)))
    throw Error(what + "independent names, found one that belongs to the other");
}

/// What may follow the name that an option gives.
std::string suffix_of(FileUse use) {
  const std::string year = "_-10000000.000.nc"; // the earliest
  return use == FileUse::text        ? temporary_suffix
         : use == FileUse::snapshots ? year + longest_suffix
                                     : longest_suffix;
}

/// Refuses names that could not be written at the end of the run.
void check_name(const NamedFile& file) {
  const std::string what = "option " + file.option + ": '" + printable(file.path) + "': ";
  require_path(file.path, what);
  require_name(file.path, suffix_of(file.use), what);
  if (file.use == FileUse::netcdf && !is_regular_or_new(file.path))
    throw Error(what + "expected a file, found something that is not a regular one");
}

/// Refuses a folder, a file that is write-protected (unless `overwrite`), and a path in a folder
/// that does not exist or admits no new file.
void require_writable(const NamedFile& file, bool overwrite) {
  const std::string& path = file.path;
  const std::string what = "option " + file.option + ": cannot write '" + path + "': ";
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    throw Error(what + "expected a file, found a folder");
  if (!overwrite && (is_protected(path) || is_protected(path + ".0000"))) // subfiles
    throw Error(what + "the file is write-protected");
  const std::string folder = folder_of(path).string();
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(what + "no such folder, or no permission to write in '" + folder + "'");
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error("file '" + path + "': cannot be written: " + std::strerror(error));
}

} // namespace

bool lies_in(const std::string& path, const std::string& folder) {
  std::error_code none;
  const fs::path there = fs::weakly_canonical(resolved(path), none); // behind links, too
  return !path.empty() &&
         (is_one_place(folder_of(path), folder) || is_one_place(folder_of(there), folder));
}

bool is_protected(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const bool root_may = (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) != 0; // root may always
  return !root_may || access(path.c_str(), W_OK) != 0;
}

void check_files(const std::vector<NamedFile>& all, bool overwrite) {
  std::vector<NamedFile> files;
  std::copy_if(all.begin(), all.end(), std::back_inserter(files),
               [](const NamedFile& f) { return !f.path.empty(); });
  for (const NamedFile& file : files) {
    if (!is_read(file.use)) check_name(file);
  }
  for (auto a = files.begin(); a != files.end(); ++a) {
    for (auto b = a + 1; b != files.end(); ++b) check_pair(*a, *b);
  }
  for (const NamedFile& file : files) {
    if (file.is_written && !is_read(file.use)) require_writable(file, overwrite);
  }
}

void write_text_file(const std::string& path, const std::string& text) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  const bool through_temporary = !exists || S_ISREG(status.st_mode);
  const std::string written = through_temporary ? path + ".tmp" : path;
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC | O_NONBLOCK;
  if (through_temporary) { // a new file: it replaces links of that name instead of following them
    ::unlink(written.c_str());
    flags |= O_EXCL | O_NOFOLLOW;
  }
  const int fd = ::open(written.c_str(), flags, 0666);
  if (fd < 0) fail(path, errno); // ENXIO: a pipe that no process reads
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  std::FILE* const file = ::fdopen(fd, "w");
  if (file == nullptr) fail(path, errno);
  int error = std::fwrite(text.data(), 1, text.size(), file) == text.size() ? 0 : errno;
  if (std::fclose(file) != 0 && error == 0) error = errno; // the first to report a full disk
  if (error != 0 && through_temporary) ::unlink(written.c_str());
  if (error != 0) fail(path, error);
  if (through_temporary && std::rename(written.c_str(), path.c_str()) != 0) fail(path, errno);
}

} // namespace nunatak
