#include "io/durable/manifest.hpp"

#include "common/names.hpp"
#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "io/base/topology.hpp"
#include "io/base/watchdog.hpp"
#include "io/data/message_bytes.hpp"
#include "io/disk/disk.hpp"
#include "io/read/source.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace nunatak::io {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* appending = "cannot append to the manifest";
constexpr int no_surprise = O_NOFOLLOW | O_NONBLOCK; // follow no link, wait for no FIFO

/// The length of an open manifest; Error if it is not a regular file.
std::size_t size_of_regular(int fd, const std::string& manifest) {
  struct stat now {};
  if (::fstat(fd, &now) != 0 || !S_ISREG(now.st_mode) ||
      static_cast<std::size_t>(now.st_size) > longest_manifest)
    throw Error("file '" + manifest +
                "': expected the manifest, a regular file of at most 1 GiB, found something else");
  return static_cast<std::size_t>(now.st_size);
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         printable(name, name.size()) == name;
}

std::size_t natural(const Json& line, const char* key) {
  const Json& number = line.at(key);
  if (!number.is_number_unsigned()) throw Error("expected a natural number");
  return number.get<std::size_t>();
}

/// Earlier versions wrote lines with the state "intent" (skipped), shared sums, CRC-32 (ignored).
ManifestEntry entry_of(const Json& line) {
  ManifestEntry e;
  e.name = line.at("name").get<std::string>();
  if (!is_plain_name(e.name)) throw Error("expected a name without a folder");
  e.size = natural(line, "size");
  if (!line.at("step").is_number_integer()) throw Error("expected a whole number");
  e.step = line.at("step").get<std::int64_t>();
  e.records = natural(line, "records");
  e.grows = line.value("grows", false);
  if (!line.contains("sums") || line.contains("files")) return e;
  if (line.contains("first_record")) e.first_record = natural(line, "first_record");
  const std::string metadata = line.value("metadata", "");
  if (metadata.rfind("schema:", 0) == 0) e.metadata = metadata; // else of an earlier version
  e.sums.emplace();
  for (const auto& [variable, texts] : line.at("sums").items()) {
    for (const Json& text : texts)
      (*e.sums)[variable].push_back(std::stoull(text.get<std::string>(), nullptr, 16));
  }
  return e;
}

SavedEntry saved_entry_of(const Json& line) {
  SavedEntry e;
  e.name = line.at("name").get<std::string>();
  if (!is_plain_name(e.name)) throw Error("expected a name without a folder");
  e.step = line.at("step").get<std::int64_t>();
  e.records = natural(line, "records");
  e.digest = std::stoull(line.at("digest").get<std::string>(), nullptr, 16);
  return e;
}

/// Put the sums of earlier records, from the line before, in front of those of this line.
void complete_sums(ManifestEntry& entry, const std::vector<ManifestEntry>& before) {
  if (!entry.sums || entry.first_record == 0) return;
  if (before.empty() || !before.back().sums) throw Error("expected a line with earlier sums");
  Sums all = *before.back().sums;
  for (auto& [variable, sums] : all) sums.resize(std::min(sums.size(), entry.first_record));
  for (const auto& [variable, sums] : *entry.sums) {
    auto& of_all = all[variable];
    if (of_all.size() < entry.first_record) throw Error("expected sums of all earlier records");
    of_all.insert(of_all.end(), sums.begin(), sums.end());
  }
  entry.sums = std::move(all);
  entry.first_record = 0;
}

} // namespace

std::string line_of(const ManifestEntry& e) {
  Json line = {{"name", e.name}, {"size", e.size}, {"step", e.step}, {"records", e.records}};
  if (e.grows) line["grows"] = true;
  if (e.sums) {
    if (e.first_record > 0) line["first_record"] = e.first_record;
    Json& sums = line["sums"] = Json::object();
    for (const auto& [variable, of_records] : *e.sums) {
      for (const std::uint64_t sum : of_records) sums[variable].push_back(sum_text(sum));
    }
    if (!e.metadata.empty()) line["metadata"] = e.metadata;
  }
  line["state"] = "committed";
  return line.dump() + "\n";
}

std::string saved_line_of(const SavedEntry& e) {
  return Json{{"name", e.name},
              {"step", e.step},
              {"records", e.records},
              {"digest", sum_text(e.digest)},
              {"state", "saved"}}
             .dump() +
         "\n";
}

/// Ends a line that an earlier crash cut off.
void append_to_manifest(const std::string& manifest, const std::string& lines) {
  const Descriptor fd(manifest, O_RDWR | O_CREAT | O_APPEND | no_surprise, appending);
  size_of_regular(fd, manifest);
  wait_for_lock(fd, manifest);
  const std::size_t size = size_of_regular(fd, manifest);
  char last = '\n';
  if (size > 0 && ::pread(fd, &last, 1, static_cast<off_t>(size - 1)) != 1) last = '\0';
  const std::string text = (last == '\n' ? "" : "\n") + lines;
  write_all(fd, manifest, text.data(), text.size());
  if (retried([&] { return ::fsync(fd); }) != 0)
    throw Error("file '" + manifest + "': fsync failed: " + std::strerror(errno));
  if (size == 0) fsync_folder_of(manifest);
}

void require_manifest(const std::string& path) {
  const std::string manifest = manifest_of(path);
  std::error_code none;
  if (!std::filesystem::exists(std::filesystem::symlink_status(manifest, none))) return;
  const Descriptor fd(manifest, O_RDWR | O_APPEND | no_surprise, appending);
  size_of_regular(fd, manifest);
}

std::string read_manifest(const std::string& manifest) {
  std::error_code none;
  if (!std::filesystem::exists(std::filesystem::symlink_status(manifest, none))) return "";
  const std::string what = "cannot read the manifest";
  const Descriptor fd(manifest, O_RDONLY | no_surprise, what);
  std::string text(size_of_regular(fd, manifest), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = retried([&] {
      return ::pread(fd, text.data() + done, text.size() - done, static_cast<off_t>(done));
    });
    if (n < 0) throw Error("file '" + manifest + "': " + what + ": " + std::strerror(errno));
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  text.resize(done);
  return text;
}

Manifest parse_manifest(const std::string& text) {
  Manifest manifest;
  std::istringstream in(text);
  std::string line;
  while (std::getline(in, line) && !in.eof()) { // eof: no newline, cut off by a crash
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) continue; // cut off by a crash, and ended by a later run
    try {
      const std::string state = json.at("state");
      if (state == "intent") continue;
      if (state == "saved") {
        const SavedEntry saved = saved_entry_of(json);
        manifest.saved[saved.name] = saved;
        continue;
      }
      if (state != "committed") throw Error("expected the state committed");
      ManifestEntry entry = entry_of(json);
      manifest.saved.erase(entry.name);
      std::vector<ManifestEntry>& lines = manifest.files[entry.name];
      complete_sums(entry, lines);
      if (lines.size() == 2) lines.erase(lines.begin());
      lines.push_back(std::move(entry));
    } catch (const std::exception&) {
      manifest.bad_lines.push_back(printable(line));
    }
  }
  const auto has_no_line = [](const auto& file) { return file.second.empty(); };
  for (auto file = manifest.files.begin(); file != manifest.files.end();)
    file = has_no_line(*file) ? manifest.files.erase(file) : std::next(file);
  return manifest;
}

/// Variables are cut into pieces of at most 16 MiB, dealt round-robin to the readers.
FoundSums find_sums(MPI_Comm comm, const std::string& path, std::size_t records) {
  constexpr std::size_t piece_bytes = 16 << 20, pieces_between = 64;
  const Watchdog::Scope scope(path, "checksum");
  const int rank = rank_in(comm);
  std::unique_ptr<ReadSource> source;
  const auto open = [&]() -> ReadSource& {
    if (!source) source = open_source(ReadBy::each, path, MPI_COMM_SELF, {});
    return *source;
  };
  Schema schema;
  on_rank_0(comm, [&] {
    schema = open().schema();
    schema.require_written_types(path);
  });
  broadcast_value(schema, comm);
  records = std::min(records, schema.records());
  const Topology machine = make_topology(comm, 0);
  const std::vector<int> readers =
      machine.n_nodes == 1 ? machine.ranks_by_node().front() : aggregators(machine, 1);
  std::vector<std::uint64_t> sums; // all records of the first variable, then of the next
  std::size_t n = 0;               // pieces so far
  Buffer buffer;
  KeptError error;
  const auto add_piece = [&](std::size_t v, std::size_t record, const Box& box) {
    const Type type = schema.variables[v].type;
    if (readers[n % readers.size()] == rank && !error.is_set()) {
      error.keep([&] {
        std::byte* const values = buffer.of_size(box.elements() * bytes_of(type));
        open().read(v, box.in_record(record), type, values);
        sums.back() += summed({row_major(box, values, type)}, type, schema.record_shape(v),
                              [](const Slabs&) {});
      });
    }
    if (++n % (pieces_between * readers.size()) != 0) return;
    MPI_Barrier(comm);
    Watchdog::of_process().advance(); // of ranks that do not read, too
  };
  const auto sums_of = [&](std::size_t v) {
    return schema.has_records(schema.variables[v]) ? records : 1;
  };
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const bool has_records = schema.has_records(schema.variables[v]);
    const std::vector<Box> pieces =
        cut(whole_box(schema, v), piece_bytes / bytes_of(schema.variables[v].type));
    for (std::size_t record = 0; record < sums_of(v); ++record) {
      sums.push_back(0);
      for (const Box& box : pieces) add_piece(v, has_records ? record : no_record, box);
    }
  }
  agree(comm, [&] { error.rethrow(); });
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM,
                comm);
  FoundSums found{{}, fingerprint(schema), schema};
  auto next = sums.begin();
  for (std::size_t v = 0; v < schema.variables.size(); ++v) {
    const auto end = next + static_cast<std::ptrdiff_t>(sums_of(v));
    found.sums[schema.variables[v].name].assign(next, end);
    next = end;
  }
  return found;
}

namespace {

using Lines = std::vector<ManifestEntry>;

/// A file as rank 0 finds it.
struct Found {
  std::uint64_t size = 0;
  int error = 0;              ///< errno
  bool has_temporary = false; ///< NAME.tmp exists: the rename for the last line may be missing
};

Found look_at(MPI_Comm comm, const std::string& path) {
  Found found;
  if (rank_in(comm) == 0) {
    std::error_code error;
    std::error_code none;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    found = {error ? 0 : size, error.value(), std::filesystem::exists(path + ".tmp", none)};
  }
  MPI_Bcast(&found, static_cast<int>(sizeof found), MPI_BYTE, 0, comm);
  return found;
}

/// The first sum that differs, as text; "" if none does.
std::string different_sum(const Sums& expected, const Sums& found) {
  for (const auto& [variable, sums] : expected) {
    const std::string what = "variable '" + printable(variable) + "'";
    const auto there = found.find(variable);
    if (there == found.end() || there->second.size() < sums.size())
      return what + ": records are missing; written: " + std::to_string(sums.size());
    const auto [one, other] = std::mismatch(sums.begin(), sums.end(), there->second.begin());
    if (one == sums.end()) continue;
    return what + (sums.size() > 1 ? ", record " + std::to_string(one - sums.begin()) : "") +
           ": expected values with the sum " + sum_text(*one) + "; found: " + sum_text(*other);
  }
  return "";
}

/// How a file differs from a line; "" if it does not.
std::string difference(MPI_Comm comm, const std::string& path, const Found& found,
                       const ManifestEntry& line) {
  const std::string size = "expected " + std::to_string(line.size) + " bytes; found ";
  if (found.error != 0) return size + std::strerror(found.error);
  if (found.size < line.size || (found.size > line.size && !line.grows))
    return size + std::to_string(found.size) + " bytes";
  if (!line.sums) return "";
  FoundSums values;
  try {
    values = find_sums(comm, path, line.records);
  } catch (const Error& e) { // on all ranks
    const std::string what = e.what(), own = "file '" + path + "': ";
    return what.rfind(own, 0) == 0 ? what.substr(own.size()) : what;
  }
  const std::string different = different_sum(*line.sums, values.sums);
  if (!different.empty() || line.metadata.empty() || line.metadata == values.metadata)
    return different;
  return "expected dimensions, variables and attributes with the fingerprint " + line.metadata +
         "; found: " + values.metadata;
}

/// How a file differs from its last line or, without its rename, the one before. Collective.
std::string complaint_of(MPI_Comm comm, const std::string& path, const Lines& lines,
                         const Found& found) {
  if (found.has_temporary && found.error == ENOENT && lines.size() == 1) return "";
  const std::string complaint = difference(comm, path, found, lines.back());
  if (complaint.empty() || !found.has_temporary || lines.size() == 1) return complaint;
  return difference(comm, path, found, lines.front()).empty() ? "" : complaint;
}

Manifest parsed(MPI_Comm comm, const std::string& manifest) {
  std::string text;
  on_rank_0(comm, [&] { text = read_manifest(manifest); });
  broadcast(text, comm);
  return parse_manifest(text);
}

} // namespace

Verification verify(MPI_Comm comm, const std::string& manifest, const std::string& name) {
  const Watchdog::Scope scope(manifest, "verify");
  on_rank_0(comm, [&] {
    if (!std::filesystem::exists(manifest))
      throw Error("file '" + manifest + "': no such manifest, with which files are compared");
  });
  const Manifest expected = parsed(comm, manifest);
  Verification result;
  for (const std::string& line : expected.bad_lines) {
    result.complaints.push_back("file '" + manifest +
                                "': expected name, size, step, records and state, found: " + line);
  }
  for (const auto& [file, lines] : expected.files) {
    if (!name.empty() && file != name && !is_subfile_of(file, name)) continue;
    const std::string path = (std::filesystem::path(manifest).parent_path() / file).string();
    const Found found = look_at(comm, path);
    const std::string complaint = complaint_of(comm, path, lines, found);
    result.files += 1;
    result.bytes += found.size;
    if (!complaint.empty())
      result.complaints.push_back("file '" + printable(path) + "': " + complaint);
  }
  return result;
}

void require_intact(MPI_Comm comm, const std::string& path, bool subfiles) {
  std::string real;
  const Watchdog::Scope scope(path, "verify");
  on_rank_0(comm, [&] {
    std::error_code none;
    real = std::filesystem::weakly_canonical(path, none).string(); // of links: the target
  });
  broadcast(real, comm);
  if (real.empty()) return;
  const std::filesystem::path folder = std::filesystem::path(real).parent_path();
  const std::string name = std::filesystem::path(real).filename().string();
  for (const auto& [file, lines] : parsed(comm, manifest_of(real)).files) {
    if (subfiles ? !is_subfile_of(file, name) : file != name) continue;
    const std::string its_path = (folder / file).string();
    const Found found = look_at(comm, its_path);
    if (found.error == ENOENT) continue; // its reader says so
    const std::string complaint = complaint_of(comm, its_path, lines, found);
    if (complaint.empty()) continue;
    throw Error("file '" + (subfiles ? its_path : path) + "': " + complaint +
                ": it was changed after it was written, says '" + manifest_of(real) + "'");
  }
}

} // namespace nunatak::io
