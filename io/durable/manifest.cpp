#include "io/durable/manifest.hpp"

#include "io/durable/descriptor.hpp"
#include "io/durable/durable.hpp"
#include "io/error.hpp"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>

namespace nunatak::io {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* appending = "expected to append to the manifest";

std::string line_of(const ManifestEntry& e, const std::string& state) {
  Json line = {{"name", e.name}, {"size", e.size}};
  if (!e.checksum.empty()) line["checksum"] = e.checksum;
  line["step"] = e.step, line["records"] = e.records;
  if (e.files > 1) line["of"] = e.of, line["files"] = e.files, line["set"] = e.set;
  if (e.grows) line["grows"] = true;
  if (e.sums) {
    if (e.first_record > 0) line["first_record"] = e.first_record;
    Json& sums = line["sums"] = Json::object();
    for (const auto& [variable, of_records] : *e.sums) {
      for (const std::uint64_t sum : of_records) sums[variable].push_back(sum_text(sum));
    }
    if (!e.metadata.empty()) line["metadata"] = e.metadata;
  }
  line["state"] = state;
  return line.dump() + "\n";
}

ManifestEntry entry_of(const Json& line) {
  ManifestEntry e{line.at("name"), line.at("size"), line.value("checksum", ""), line.at("step"),
                  line.at("records")};
  e.of = line.value("of", ""), e.set = line.value("set", ""),
  e.files = line.value("files", std::size_t{1});
  e.grows = line.value("grows", false);
  if (!line.contains("sums")) return e;
  e.first_record = line.value("first_record", std::size_t{0}),
  e.metadata = line.value("metadata", "");
  e.sums.emplace();
  for (const auto& [variable, texts] : line.at("sums").items()) {
    for (const std::string text : texts)
      (*e.sums)[variable].push_back(std::stoull(text, nullptr, 16));
  }
  return e;
}

/// The sums of earlier records before those of this line. False if they are not there.
bool complete_sums(ManifestEntry& entry, const Expected& earlier) {
  if (!entry.sums || entry.first_record == 0) return true;
  if (!earlier.committed || !earlier.entries.front().sums) return false;
  Sums all = *earlier.entries.front().sums;
  for (auto& [variable, sums] : all) sums.resize(std::min(sums.size(), entry.first_record));
  for (const auto& [variable, sums] : *entry.sums) {
    auto& of_all = all[variable];
    if (of_all.size() < entry.first_record) return false;
    of_all.resize(entry.first_record);
    of_all.insert(of_all.end(), sums.begin(), sums.end());
  }
  entry.sums = std::move(all), entry.first_record = 0;
  return true;
}

/// Files of a set of which another was replaced since are not expected to be anything.
void forget_left_over(Manifest& manifest) {
  for (const auto& [name, expected] : manifest.files) {
    for (const ManifestEntry& e : expected.entries) {
      if (e.files == 1) continue;
      auto& names = manifest.sets[e.set];
      if (names.empty() || names.back() != name)
        names.push_back(name); // the same bytes may have been written twice
    }
  }
  const auto is_left_over = [&](const ManifestEntry& e) {
    return e.files > 1 && manifest.sets[e.set].size() < e.files;
  };
  for (auto file = manifest.files.begin(); file != manifest.files.end();) {
    auto& entries = file->second.entries;
    entries.erase(std::remove_if(entries.begin(), entries.end(), is_left_over), entries.end());
    file = entries.empty() ? manifest.files.erase(file) : std::next(file);
  }
}

} // namespace

std::string manifest_of(const std::string& path) {
  return (std::filesystem::path(path).parent_path() / "manifest.jsonl").string();
}

std::string beside(const std::string& manifest, const std::string& name) {
  return (std::filesystem::path(manifest).parent_path() / name).string();
}

bool is_utf8(const std::string& name) {
  try {
    return !Json(name).dump().empty();
  } catch (const Json::exception&) {
    return false;
  }
}

void make_set(const std::string& path, std::vector<ManifestEntry>& entries) {
  if (entries.size() < 2) return;
  std::string all;
  for (const ManifestEntry& e : entries) all += line_of(e, "");
  const auto checksum =
      crc32(0, reinterpret_cast<const Bytef*>(all.data()), static_cast<uInt>(all.size()));
  for (ManifestEntry& e : entries) {
    e.of = std::filesystem::path(path).filename().string();
    e.set = checksum_text(static_cast<std::uint32_t>(checksum)), e.files = entries.size();
  }
}

/// A line that an earlier crash cut off is ended first.
void append_to_manifest(const std::string& manifest, const std::vector<ManifestEntry>& entries,
                        const std::string& state) {
  std::string lines;
  std::error_code none;
  const bool is_new = !std::filesystem::exists(manifest, none);
  if (!is_new && std::filesystem::file_size(manifest, none) > 0) {
    std::ifstream in(manifest, std::ios::binary);
    in.seekg(-1, std::ios::end);
    if (in.get() != '\n') lines = "\n";
  }
  for (const ManifestEntry& e : entries) lines += line_of(e, state);
  const Descriptor fd(manifest, O_WRONLY | O_CREAT | O_APPEND, appending);
  write_all(fd, manifest, lines.data(), lines.size());
  if (::fsync(fd) != 0)
    throw Error("file '" + manifest + "': fsync; found: " + std::strerror(errno));
  if (is_new) fsync_folder_of(manifest);
}

void require_manifest(const std::string& path) {
  const std::string manifest = manifest_of(path);
  std::error_code none;
  if (std::filesystem::exists(manifest, none))
    const Descriptor can_be_opened(manifest, O_WRONLY | O_APPEND, appending);
}

std::string read_manifest(const std::string& manifest) {
  std::ifstream in(manifest, std::ios::binary);
  std::error_code none;
  if (!in && !std::filesystem::exists(manifest, none)) return "";
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (!in.is_open() || in.bad() || !text)
    throw Error("file '" + manifest +
                "': expected to read the manifest; found: " + std::strerror(errno));
  return text.str();
}

Manifest parse_manifest(const std::string& text) {
  Manifest manifest;
  std::istringstream in(text);
  std::string line;
  while (std::getline(in, line) && !in.eof()) { // eof: no newline after it, cut off by a crash
    const auto json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) continue; // cut off by a crash, and ended by a later run
    try {
      ManifestEntry entry = entry_of(json);
      Expected& expected = manifest.files[entry.name];
      if (!complete_sums(entry, expected)) throw Error("sums of earlier records are missing");
      if (json.at("state") == "committed") expected.entries.clear(), expected.committed = true;
      expected.entries.push_back(entry);
    } catch (const std::exception&) {
      manifest.bad_lines.push_back(line);
    }
  }
  forget_left_over(manifest);
  return manifest;
}

} // namespace nunatak::io
