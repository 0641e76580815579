// fsync, rename and checksums. See durable.hpp.
#include "io/durable/durable.hpp"

#include "io/durable/descriptor.hpp"
#include "io/error.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("file '" + path + "': " + what + "; found: " + std::strerror(errno));
}

void rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0)
    fail(to, "expected to rename '" + from + "' to it");
}

[[noreturn]] void fail_for_room(const std::string& path, std::uint64_t bytes,
                                const std::string& found) {
  throw Error("file '" + path + "': expected room for " + std::to_string(bytes) +
              " bytes; found: " + found);
}

/// What the file system says is free; it may be gone when it is needed.
void look_for_space(const std::string& path, std::uint64_t end, std::uint64_t allocated) {
  std::error_code no_answer;
  const auto space = std::filesystem::space(path, no_answer);
  if (no_answer || allocated + space.available >= end) return;
  fail_for_room(path, end,
                std::string(std::strerror(ENOSPC)) + " (" +
                    std::to_string(allocated + space.available) + ")");
}

/// The bytes of a file are those of an entry.
bool is_file(const std::string& path, const ManifestEntry& entry) {
  std::error_code none;
  return std::filesystem::file_size(path, none) == entry.size && !none &&
         same_bytes(checksum_file(path), entry);
}

} // namespace

ManifestEntry Commit::named_entry() const {
  ManifestEntry named = entry;
  named.name = std::filesystem::path(path).filename().string();
  return named;
}

void write_all(int fd, const std::string& path, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "expected to write " + std::to_string(size) + " bytes");
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

void fsync_path(const std::string& path) {
  const Descriptor fd(path, O_RDONLY, "expected to open it for fsync");
  if (::fsync(fd) != 0) fail(path, "fsync");
}

void fsync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  fsync_path(folder.empty() ? "." : folder);
}

void start_writeback(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY);
  if (fd < 0) return; // advice: where it fails, fsync does all
  ::sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
  ::close(fd);
}

std::uint32_t checksum_range(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  const Descriptor fd(path, O_RDONLY, "expected to read it for its checksum");
  std::vector<unsigned char> buffer(1 << 20);
  std::uint32_t crc = libdeflate_crc32(0, nullptr, 0);
  while (begin < end) {
    const ssize_t n =
        ::pread(fd, buffer.data(), std::min<std::uint64_t>(buffer.size(), end - begin),
                static_cast<off_t>(begin));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "expected to read it for its checksum");
    if (n == 0)
      throw Error("file '" + path + "': expected " + std::to_string(end) + " bytes, found " +
                  std::to_string(begin));
    crc = libdeflate_crc32(crc, buffer.data(), static_cast<std::size_t>(n));
    begin += static_cast<std::uint64_t>(n);
  }
  return crc;
}

std::string checksum_text(std::uint32_t checksum) {
  char text[32];
  std::snprintf(text, sizeof text, "crc32:%08x", static_cast<unsigned>(checksum));
  return text;
}

ManifestEntry checksum_file(const std::string& path) {
  ManifestEntry entry;
  entry.name = std::filesystem::path(path).filename().string();
  std::error_code error;
  entry.size = std::filesystem::file_size(path, error);
  if (error)
    throw Error("file '" + path +
                "': expected to read it for its checksum; found: " + error.message());
  entry.checksum = checksum_text(checksum_range(path, 0, entry.size));
  return entry;
}

void commit_files(const std::string& path, const std::vector<Commit>& files) {
  std::vector<ManifestEntry> entries;
  for (const Commit& file : files) entries.push_back(file.named_entry());
  if (files.empty()) return;
  make_set(path, entries);
  append_to_manifest(manifest_of(path), entries, "intent");
  for (const Commit& file : files) rename_file(file.temporary, file.path);
  fsync_folder_of(path);
  append_to_manifest(manifest_of(path), entries, "committed");
}

void commit_in_place(const Commit& file, const std::function<void()>& count) {
  const std::string manifest = manifest_of(file.path);
  append_to_manifest(manifest, {file.named_entry()}, "intent");
  count();
  fsync_path(file.path);
  append_to_manifest(manifest, {file.named_entry()}, "committed");
}

void finish_commit(const std::string& path) {
  const std::string manifest = manifest_of(path),
                    name = std::filesystem::path(path).filename().string();
  std::vector<ManifestEntry> intended; // the last set of that name
  for (const auto& [file, expected] : parse_manifest(read_manifest(manifest)).files) {
    const ManifestEntry& last = expected.entries.back();
    const bool is_intent = !expected.committed || expected.entries.size() > 1;
    if (is_intent && last.files > 1 && last.of == name) intended.push_back(last);
  }
  std::vector<std::pair<std::string, std::string>> renames;
  for (const ManifestEntry& entry : intended) {
    const std::string final_name = beside(manifest, entry.name),
                      suffix = entry.name.substr(name.size());
    if (entry.set != intended.front().set || intended.size() < entry.files) return;
    if (is_file(final_name, entry)) continue;
    const std::string temporary = path + ".tmp" + suffix, copy = path + ".commit" + suffix;
    if (!is_file(temporary, entry) && !is_file(copy, entry)) return;
    renames.emplace_back(is_file(temporary, entry) ? temporary : copy, final_name);
  }
  if (renames.empty() || renames.size() == intended.size()) return;
  for (const auto& [from, to] : renames) rename_file(from, to);
  fsync_folder_of(path);
  append_to_manifest(manifest, intended, "committed");
}

std::uint64_t copy_file(const std::string& from, const std::string& to) {
  const Descriptor in(from, O_RDONLY, "expected to read it"),
      out(to, O_WRONLY | O_CREAT | O_TRUNC, "expected to create it");
  std::vector<char> buffer;
  std::uint64_t copied = 0;
  while (true) {
    const ssize_t n = ::copy_file_range(in, nullptr, out, nullptr, std::size_t{1} << 30, 0);
    if (n == 0) return copied;
    if (n > 0) {
      copied += static_cast<std::uint64_t>(n);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)
      fail(to, "expected to copy '" + from + "' to it");
    buffer.resize(
        1 << 20); // this file system cannot copy by itself: read and write, from where we are
    const ssize_t got = ::read(in, buffer.data(), buffer.size());
    if (got < 0) fail(from, "expected to read it");
    if (got == 0) return copied;
    write_all(out, to, buffer.data(), static_cast<std::size_t>(got));
    copied += static_cast<std::uint64_t>(got);
  }
}

void reserve_space(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  const Descriptor fd(path, O_WRONLY, "expected to open it");
  struct stat now {};
  if (::fstat(fd, &now) != 0 || !S_ISREG(now.st_mode)) return;
  const auto allocated = static_cast<std::uint64_t>(now.st_blocks) * 512;
  int status = 0;
  do {
    status = ::fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
                         static_cast<off_t>(end - begin));
  } while (status != 0 && errno == EINTR);
  if (status == 0) return;
  if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == ENODEV)
    return look_for_space(path, end, allocated);
  fail_for_room(path, end, std::strerror(errno));
}

void release_space(const std::string& path) {
  const Descriptor fd(path, O_WRONLY, "expected to open it");
  struct stat now {};
  if (::fstat(fd, &now) != 0 || ::ftruncate(fd, now.st_size) != 0)
    fail(path, "expected to end it at its length");
}

std::string cause_of_failed_write(int error, const std::string& path, std::int64_t bytes) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    return std::string(": ") + std::strerror(error);
  std::error_code no_answer;
  const auto space = std::filesystem::space(path, no_answer);
  if (no_answer || space.available >= static_cast<std::uintmax_t>(bytes)) return "";
  return ": no space left on device: expected room for " + std::to_string(bytes) +
         " bytes, found " + std::to_string(space.available);
}

} // namespace nunatak::io
