#include "io/durable/recover.hpp"

#include "common/names.hpp"
#include "io/base/agree.hpp"
#include "io/base/watchdog.hpp"
#include "io/disk/classic_header.hpp"
#include "io/disk/disk.hpp"
#include "io/durable/manifest.hpp"

#include <filesystem>
#include <optional>

namespace nunatak::io {

namespace {

/// What NAME.tmp should have by the last line of NAME.
struct Left {
  SavedEntry saved;
  std::optional<ManifestEntry> committed; ///< in place of `saved`: only the rename is missing
  std::size_t records() const { return committed ? committed->records : saved.records; }
  bool has(const FoundSums& found) const {
    return committed ? found.sums == *committed->sums && found.metadata == committed->metadata
                     : digest_of(found.sums, found.schema) == saved.digest;
  }
};

/// What the manifest says of `temporary`; nothing if it knows of none. Local.
Left find_left(const std::string& path, const std::string& temporary) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(temporary, none)))
    return {};
  const Manifest manifest = parse_manifest(read_manifest(manifest_of(path)));
  const std::string name = std::filesystem::path(path).filename().string();
  const auto saved = manifest.saved.find(name);
  if (saved != manifest.saved.end()) return {saved->second, std::nullopt};
  const auto lines = manifest.files.find(name);
  if (lines == manifest.files.end()) return {};
  const ManifestEntry& last = lines->second.back();
  const bool may_be =
      last.sums && !last.grows && std::filesystem::file_size(temporary) == last.size;
  return may_be ? Left{{}, last} : Left{};
}

} // namespace

Recovered recover(MPI_Comm comm, const std::string& path) {
  const std::string temporary = path + temporary_suffix;
  const Watchdog::Scope scope(path, "recover");
  Left left;
  std::optional<Lock> lock;
  on_rank_0(comm, [&] {
    left = find_left(path, temporary);
    if (left.records() > 0) lock.emplace(path);
  });
  std::uint64_t said[] = {left.records(), left.committed.has_value() ? 1u : 0u};
  MPI_Bcast(said, 2, MPI_UINT64_T, 0, comm);
  const auto records = static_cast<std::size_t>(said[0]);
  const bool is_whole = said[1] != 0;
  if (records == 0) return {};
  try {
    if (!is_whole) on_rank_0(comm, [&] { end_after(temporary, records); });
    const FoundSums found = find_sums(comm, temporary, records);
    int same = left.has(found) ? 1 : 0; // rank 0 knows
    MPI_Bcast(&same, 1, MPI_INT, 0, comm);
    if (same == 0 && is_whole) return {}; // of a later run, which has saved nothing
    on_rank_0(comm, [&] {
      if (same == 0)
        throw Error("file '" + temporary + "': its values are not those that were saved");
      fsync_path(temporary);
      if (!is_whole) {
        ManifestEntry line{left.saved.name, std::filesystem::file_size(temporary), left.saved.step,
                           records};
        line.sums = found.sums;
        line.metadata = found.metadata;
        append_to_manifest(manifest_of(path), line_of(line));
      }
      rename_file(temporary, path);
      fsync_folder_of(path);
    });
  } catch (const Error& error) { // on all ranks
    return {0, error.what()};
  }
  return {records, ""};
}

} // namespace nunatak::io
