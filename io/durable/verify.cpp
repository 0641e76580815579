#include "io/durable/verify.hpp"

#include "io/agree.hpp"
#include "io/durable/manifest.hpp"
#include "io/layouts/split_files.hpp"
#include "io/watchdog.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace nunatak::io {

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
      return what + ": expected " + std::to_string(sums.size()) + " record(s) of it, found less";
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
    return e.what();
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

std::string in_words(const std::string& path, const std::string& complaint) {
  const std::string file = "file '" + printable(path) + "': ";
  return complaint.rfind(file, 0) == 0 ? complaint : file + complaint;
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
    const std::string path = beside(manifest, file);
    const Found found = look_at(comm, path);
    const std::string complaint = complaint_of(comm, path, lines, found);
    result.files += 1;
    result.bytes += found.size;
    if (!complaint.empty()) result.complaints.push_back(in_words(path, complaint));
  }
  return result;
}

std::vector<std::string> verify_manifest(const std::string& manifest) {
  try {
    return verify(MPI_COMM_SELF, manifest).complaints;
  } catch (const Error& e) {
    return {e.what()};
  }
}

void require_intact(MPI_Comm comm, const std::string& path) {
  std::string real;
  const Watchdog::Scope scope(path, "verify");
  on_rank_0(comm, [&] {
    std::error_code none;
    real = std::filesystem::canonical(path, none).string(); // of links: the target
  });
  broadcast(real, comm);
  if (real.empty()) return;
  const Manifest manifest = parsed(comm, manifest_of(real));
  const auto lines = manifest.files.find(std::filesystem::path(real).filename().string());
  if (lines == manifest.files.end()) return;
  const std::string complaint = complaint_of(comm, real, lines->second, look_at(comm, real));
  if (complaint.empty()) return;
  const std::string own = "file '" + real + "': ";
  const bool names_it = complaint.rfind(own, 0) == 0;
  throw Error("file '" + path + "': " + (names_it ? complaint.substr(own.size()) : complaint) +
              ": it was changed after it was written, says '" + manifest_of(real) + "'");
}

} // namespace nunatak::io
