#include "io/durable/verify.hpp"

#include "io/agree.hpp"
#include "io/durable/durable.hpp"
#include "io/durable/sparse_checksum.hpp"
#include "io/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace nunatak::io {

namespace {

std::string in_words(std::uint64_t size, const std::string& checksum) {
  return std::to_string(size) + " bytes" + (checksum.empty() ? "" : ", " + checksum);
}

/// The first sum that is not as expected, in words; "" if all are.
std::string different_sum(const Sums& expected, const Sums& found) {
  for (const auto& [variable, sums] : expected) {
    const auto there = found.find(variable);
    if (there == found.end() || there->second.size() < sums.size())
      return "variable '" + variable + "': expected it, found less";
    const auto [one, other] = std::mismatch(sums.begin(), sums.end(), there->second.begin());
    if (one == sums.end()) continue;
    return "variable '" + variable + "'" +
           (sums.size() > 1 ? ", record " + std::to_string(one - sums.begin()) : "") +
           ": expected values with the sum " + sum_text(*one) + "; found: " + sum_text(*other);
  }
  return "";
}

/// The first of several files has the sums of all.
bool is_subfile(const ManifestEntry& entry) { return entry.files > 1 && entry.of != entry.name; }

/// What is not as it was written, first of all; "" if nothing is.
std::string difference(const ManifestEntry& expected, const FoundFile& found) {
  const std::string all = "expected " + in_words(expected.size, expected.checksum) + "; found ";
  if (!found.error.empty()) return all + found.error;
  const bool is_same = expected.size == found.size &&
                       (expected.checksum.empty() || expected.checksum == found.checksum);
  if (is_same && expected.files > 1) return ""; // do those beside it fit? see Comparison
  const bool has_sums =
      expected.sums && found.values && !is_subfile(expected) && expected.size == found.size;
  const std::string sum = has_sums ? different_sum(*expected.sums, found.values->sums) : "";
  if (!sum.empty()) return sum;
  if (!is_same) return all + in_words(found.size, expected.checksum.empty() ? "" : found.checksum);
  if (!has_sums || expected.metadata == found.values->metadata) return "";
  return "expected dimensions, variables and attributes with the checksum " + expected.metadata +
         "; found " + found.values->metadata;
}

std::string mismatch(const std::string& path, const ManifestEntry& expected,
                     const FoundFile& found) {
  return "file '" + path + "': " + difference(expected, found);
}

bool is_same(const ManifestEntry& expected, const FoundFile& found) {
  return difference(expected, found).empty();
}

/// What must be read to know whether a file is what an entry says.
Look look_at(const std::string& path, const ManifestEntry& entry) {
  Look look{path};
  if (entry.grows) look.most = entry.size;
  look.bytes = !entry.checksum.empty();
  if (entry.sums) look.records = static_cast<std::size_t>(entry.records), look.of = entry.of;
  return look;
}

/// Of files, by what was looked at; paths are names.
using Found = std::map<Look, FoundFile>;

Found read_all(MPI_Comm comm, const std::string& manifest,
               const std::map<std::string, Expected>& files) {
  Found found;
  for (const auto& [name, expected] : files) {
    for (const ManifestEntry& entry : expected.entries) found[look_at(name, entry)] = {};
  }
  std::vector<Look> looks;
  for (const auto& [look, none] : found) {
    looks.push_back(look);
    looks.back().path = beside(manifest, look.path);
    if (!look.of.empty()) looks.back().of = beside(manifest, look.of);
  }
  auto file = found.begin();
  for (FoundFile& read : read_files(comm, looks)) (file++)->second = std::move(read);
  return found;
}

/// The part of a manifest that is asked for.
Manifest select(const Manifest& all, const std::string& name) {
  if (name.empty()) return all;
  Manifest some{{}, all.sets, {}};
  for (const auto& [file, expected] : all.files) {
    const bool is_subfile = expected.entries.back().of == name;
    if (file == name || is_subfile) some.files.insert({file, expected});
  }
  std::set<std::string> with; // what was written with them
  for (const auto& [file, expected] : some.files) {
    for (const ManifestEntry& e : expected.entries) {
      if (e.files > 1) with.insert(all.sets.at(e.set).begin(), all.sets.at(e.set).end());
    }
  }
  for (const std::string& file : with) some.files.insert({file, all.files.at(file)});
  return some;
}

/// The files of a manifest beside what is there.
class Comparison {
public:
  Comparison(const std::string& path, const Manifest& manifest, const Found& found)
      : m_path(path), m_manifest(manifest), m_found(found) {}

  std::vector<std::string> complaints() {
    for (const std::string& line : m_manifest.bad_lines)
      complain("file '" + m_path +
               "': expected name, size, step, records and state, found: " + line);
    for (const auto& file : m_manifest.files) {
      const std::string& name = file.first;
      const auto& entries = file.second.entries;
      if (is_absent(name) && !file.second.committed) continue;
      const auto fits = [&](const ManifestEntry& e) { return is_same(e, found(name, e)); };
      const auto is_whole = [&](const ManifestEntry& e) { return fits(e) && set_is_whole(e); };
      if (std::none_of(entries.begin(), entries.end(), fits)) {
        complain(mismatch(beside(m_path, name), entries.back(), found(name, entries.back())));
      } else if (std::none_of(entries.begin(), entries.end(), is_whole)) {
        complain("file '" + beside(m_path, name) +
                 "': expected the files that were written with it, found others beside it");
      }
      if (!is_absent(name)) open(name);
    }
    for (const auto& [name, expected] : m_manifest.files) compare_values(name, expected.entries);
    return std::move(m_complaints);
  }

private:
  void complain(const std::string& what) { m_complaints.push_back(what); }
  const FoundFile& found(const std::string& name, const ManifestEntry& e) const {
    return m_found.at(look_at(name, e));
  }
  bool is_absent(const std::string& name) const {
    std::error_code none;
    return !std::filesystem::exists(beside(m_path, name), none) && !none;
  }
  bool set_is_whole(const ManifestEntry& entry) const {
    if (entry.files == 1) return true;
    const auto& names = m_manifest.sets.at(entry.set);
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      const auto& entries = m_manifest.files.at(name).entries;
      return std::any_of(entries.begin(), entries.end(), [&](const ManifestEntry& e) {
        return e.set == entry.set && is_same(e, found(name, e));
      });
    });
  }
  /// Of several files, if this is the first one. Why they cannot be read has been told, if one is
  /// not as it was.
  void compare_values(const std::string& name, const std::vector<ManifestEntry>& entries) {
    std::string what;
    for (const ManifestEntry& e : entries) { // the last one is told
      if (e.files == 1 || !e.sums) return;
      const FoundFile& there = found(name, e);
      what = there.values           ? different_sum(*e.sums, there.values->sums)
             : m_complaints.empty() ? there.values_error
                                    : "";
      if (what.empty()) return;
    }
    const std::string text = "file '" + beside(m_path, entries.back().of) + "': " + what;
    const bool is_told =
        std::find(m_complaints.begin(), m_complaints.end(), text) != m_complaints.end();
    if (!what.empty() && !is_told) complain(text);
  }
  void open(const std::string& name) {
    const std::string path = beside(m_path, name);
    try {
      if (std::filesystem::path(path).extension() != ".json") {
        const Reader opens(path, MPI_COMM_SELF);
      }
    } catch (const Error& e) {
      complain(e.what());
    }
  }

  const std::string& m_path;
  const Manifest& m_manifest;
  const Found& m_found;
  std::vector<std::string> m_complaints;
};

} // namespace

std::vector<FoundFile> read_files(MPI_Comm comm, const std::vector<Look>& looks) {
  constexpr std::uint64_t piece = 16 << 20;
  const int rank = rank_in(comm), ranks = size_of(comm);
  std::vector<FoundFile> files(looks.size());
  std::vector<std::uint64_t> sizes(looks.size(), 0);
  std::vector<int> errors(looks.size(), 0); // errno
  const auto error_of = [](const std::error_code& code) { return code ? code.value() : 0; };
  for (std::size_t f = 0; rank == 0 && f < looks.size(); ++f) {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(looks[f].path, error);
    errors[f] = error_of(error),
    sizes[f] = error ? 0 : std::min<std::uint64_t>(size, looks[f].most);
  }
  MPI_Bcast(sizes.data(), static_cast<int>(sizes.size()), MPI_UINT64_T, 0, comm);
  MPI_Bcast(errors.data(), static_cast<int>(errors.size()), MPI_INT, 0, comm);

  std::vector<std::uint32_t> sums; // of each file: this rank's part of its checksum
  std::size_t n = 0;               // pieces so far, of all files: ranks take them in turn
  for (std::size_t f = 0; f < looks.size(); ++f) {
    SparseChecksum found;
    for (std::uint64_t begin = 0; looks[f].bytes && begin < sizes[f]; begin += piece) {
      if (n++ % static_cast<std::size_t>(ranks) != static_cast<std::size_t>(rank)) continue;
      const std::uint64_t end = std::min(sizes[f], begin + piece);
      errno = 0;
      try {
        found.add_checksum(begin, end - begin, checksum_range(looks[f].path, begin, end));
      } catch (const Error&) {
        errors[f] = errno != 0 ? errno : EIO;
      }
    }
    sums.push_back(found.part_of_file(sizes[f]));
  }
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT32_T, MPI_BXOR,
                comm);
  MPI_Allreduce(MPI_IN_PLACE, errors.data(), static_cast<int>(errors.size()), MPI_INT, MPI_MAX,
                comm);

  for (std::size_t f = 0; f < looks.size(); ++f) {
    files[f] = {sizes[f], checksum_text(checksum_of_parts(sums[f], sizes[f]))};
    if (errors[f] != 0) files[f].error = std::strerror(errors[f]);
    if (errors[f] != 0 || !looks[f].records) continue;
    try {
      files[f].values = find_sums(comm, looks[f].path, *looks[f].records, looks[f].of);
    } catch (const Error& e) { // of all ranks
      const bool of_subfiles = !looks[f].of.empty() && looks[f].of != looks[f].path;
      (of_subfiles ? files[f].values_error : files[f].error) = e.what();
    }
  }
  return files;
}

Verification verify(MPI_Comm comm, const std::string& manifest, const std::string& name) {
  std::string text;
  on_rank_0(comm, [&] {
    if (!std::filesystem::exists(manifest))
      throw Error("file '" + manifest + "': no such manifest, with which files are compared");
    text = read_manifest(manifest);
  });
  broadcast(text, comm);
  const Manifest expected = select(parse_manifest(text), name);
  const Found found = read_all(comm, manifest, expected.files);
  Verification result;
  result.files = expected.files.size();
  for (const auto& file : found) result.bytes += file.second.size;
  if (rank_in(comm) == 0) result.complaints = Comparison(manifest, expected, found).complaints();
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
  std::string text, real;
  on_rank_0(comm, [&] {
    std::error_code none;
    real = std::filesystem::canonical(path, none).string(); // of links: where the file is
    if (!none) text = read_manifest(manifest_of(real));
  });
  broadcast(text, comm);
  broadcast(real, comm);
  const Manifest manifest = parse_manifest(text);
  const std::string name = std::filesystem::path(real).filename().string();
  const auto expected = manifest.files.find(name);
  if (expected == manifest.files.end()) return;
  const Found all = read_all(comm, manifest_of(real), {*expected});
  const auto found = [&](const ManifestEntry& e) { return all.at(look_at(name, e)); };
  const auto& entries = expected->second.entries;
  if (std::any_of(entries.begin(), entries.end(),
                  [&](const ManifestEntry& e) { return is_same(e, found(e)); }))
    return;
  throw Error(mismatch(path, entries.back(), found(entries.back())) +
              ": it was changed after it was written, says '" + manifest_of(real) + "'");
}

} // namespace nunatak::io
