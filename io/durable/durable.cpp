// fsync, rename, checksums and the manifest. See durable.hpp.
#include "io/durable/durable.hpp"

#include "io/durable/descriptor.hpp"
#include "io/error.hpp"
#include "io/formats/raw.hpp"
#include "io/reader.hpp"

#include <libdeflate.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

namespace nunatak::io {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw Error("file '" + path + "': " + what + "; found: " + std::strerror(errno));
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
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

/// Lines, in one write, on the disk afterwards. A line that an earlier crash cut off is ended first.
void append_lines(const std::string& manifest, std::string lines) {
  const bool is_new = !std::filesystem::exists(manifest);
  if (!is_new && std::filesystem::file_size(manifest) > 0) {
    std::ifstream in(manifest, std::ios::binary);
    in.seekg(-1, std::ios::end);
    if (in.get() != '\n') lines.insert(0, "\n");
  }
  const Descriptor fd(manifest, O_WRONLY | O_CREAT | O_APPEND, "expected to append to the manifest");
  write_all(fd, manifest, lines.data(), lines.size());
  if (::fsync(fd) != 0) fail(manifest, "fsync");
  if (is_new) fsync_path(folder_of(manifest));
}

std::string line_of(const ManifestEntry& e, const char* state) {
  return nlohmann::ordered_json{{"name", e.name}, {"size", e.size},       {"checksum", e.checksum},
                                {"step", e.step}, {"records", e.records}, {"state", state}}
             .dump() +
         "\n";
}

} // namespace

void fsync_path(const std::string& path) {
  const Descriptor fd(path, O_RDONLY, "expected to open it for fsync");
  if (::fsync(fd) != 0) fail(path, "fsync");
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
    const ssize_t n = ::pread(fd, buffer.data(), std::min<std::uint64_t>(buffer.size(), end - begin), static_cast<off_t>(begin));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "expected to read it for its checksum");
    if (n == 0) throw Error("file '" + path + "': expected " + std::to_string(end) + " bytes, found " + std::to_string(begin));
    crc = libdeflate_crc32(crc, buffer.data(), static_cast<std::size_t>(n));
    begin += static_cast<std::uint64_t>(n);
  }
  return crc;
}

std::uint32_t combine_checksums(std::uint32_t first, std::uint32_t second, std::uint64_t bytes) {
  return static_cast<std::uint32_t>(crc32_combine(first, second, static_cast<z_off_t>(bytes)));
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
  if (error) throw Error("file '" + path + "': expected to read it for its checksum; found: " + error.message());
  entry.checksum = checksum_text(checksum_range(path, 0, entry.size));
  return entry;
}

std::string manifest_of(const std::string& path) {
  return (std::filesystem::path(path).parent_path() / "manifest.jsonl").string();
}

void commit_files(const std::vector<Commit>& files) {
  std::string intents, committed;
  for (const Commit& file : files) {
    ManifestEntry entry = file.entry;
    entry.name = std::filesystem::path(file.path).filename().string();
    if (std::filesystem::exists(file.path)) intents += line_of(entry, "intent");
    committed += line_of(entry, "committed");
  }
  if (files.empty()) return;
  const std::string& path = files.front().path;
  if (!intents.empty()) append_lines(manifest_of(path), intents);
  for (const Commit& file : files) {
    if (std::rename(file.temporary.c_str(), file.path.c_str()) != 0)
      fail(file.path, "expected to rename '" + file.temporary + "' to it");
  }
  fsync_path(folder_of(path));
  append_lines(manifest_of(path), committed);
}

bool is_utf8(const std::string& name) {
  try {
    return !nlohmann::json(name).dump().empty();
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::uint64_t copy_file(const std::string& from, const std::string& to) {
  const Descriptor in(from, O_RDONLY, "expected to read it"), out(to, O_WRONLY | O_CREAT | O_TRUNC, "expected to create it");
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
    buffer.resize(1 << 20); // this file system cannot copy by itself: read and write, from where we are
    const ssize_t got = ::read(in, buffer.data(), buffer.size());
    if (got < 0) fail(from, "expected to read it");
    if (got == 0) return copied;
    write_all(out, to, buffer.data(), static_cast<std::size_t>(got));
    copied += static_cast<std::uint64_t>(got);
  }
}

std::string cause_of_failed_write(int error, const std::string& path, std::int64_t bytes) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) return std::string(": ") + std::strerror(error);
  std::error_code no_answer;
  const auto space = std::filesystem::space(path, no_answer);
  if (no_answer || space.available >= static_cast<std::uintmax_t>(bytes)) return "";
  return ": no space left on device: expected room for " + std::to_string(bytes) + " bytes, found " +
         std::to_string(space.available);
}

std::vector<std::string> verify_manifest(const std::string& manifest) {
  std::vector<std::string> complaints;
  std::map<std::string, std::vector<ManifestEntry>> valid; // for each name, what its file may be
  std::ifstream in(manifest, std::ios::binary);
  if (!in) return {"file '" + manifest + "': no such manifest"};
  std::string line;
  while (std::getline(in, line) && !in.eof()) { // eof: no newline after it, cut off by a crash
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) continue; // cut off by a crash, and ended by a later run
    try {
      const ManifestEntry entry{json.at("name"), json.at("size"), json.at("checksum"), json.at("step"), json.at("records")};
      auto& entries = valid[entry.name];
      if (json.at("state") == "committed") entries.clear();
      entries.push_back(entry);
    } catch (const nlohmann::json::exception& e) {
      complaints.push_back("file '" + manifest + "': expected name, size, checksum, step, records and state, found: " + line);
    }
  }
  for (const auto& [name, entries] : valid) {
    const auto path = (std::filesystem::path(manifest).parent_path() / name).string();
    try {
      const ManifestEntry found = checksum_file(path);
      bool matches = false;
      for (const auto& e : entries) matches = matches || (e.size == found.size && e.checksum == found.checksum);
      if (!matches) {
        complaints.push_back("file '" + path + "': expected " + std::to_string(entries.back().size) + " bytes, " +
                             entries.back().checksum + "; found " + std::to_string(found.size) + " bytes, " + found.checksum);
      }
      if (valid.count(name + ".json") > 0) {
        open_raw(path);
      } else if (std::filesystem::path(path).extension() != ".json") {
        const Reader opens(path, MPI_COMM_SELF);
      }
    } catch (const Error& e) {
      complaints.push_back(e.what());
    }
  }
  return complaints;
}

} // namespace nunatak::io
