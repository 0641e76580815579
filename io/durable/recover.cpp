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

/// The line of the saved file, if there is a file that it may be of. Local.
std::optional<SavedEntry> find_saved(const std::string& path, const std::string& temporary) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(temporary, none)))
    return std::nullopt;
  const Manifest manifest = parse_manifest(read_manifest(manifest_of(path)));
  const auto found = manifest.saved.find(std::filesystem::path(path).filename().string());
  return found == manifest.saved.end() ? std::nullopt : std::optional(found->second);
}

} // namespace

Recovered recover(MPI_Comm comm, const std::string& path) {
  const std::string temporary = path + temporary_suffix;
  const Watchdog::Scope scope(path, "recover");
  SavedEntry saved;
  std::optional<Lock> lock;
  on_rank_0(comm, [&] {
    const std::optional<SavedEntry> line = find_saved(path, temporary);
    if (!line || line->records == 0) return;
    lock.emplace(path);
    saved = *line;
  });
  std::uint64_t records = saved.records;
  MPI_Bcast(&records, 1, MPI_UINT64_T, 0, comm);
  if (records == 0) return {};
  try {
    on_rank_0(comm, [&] { end_after(temporary, records); });
    const FoundSums found = find_sums(comm, temporary, records);
    on_rank_0(comm, [&] {
      if (digest_of(found.sums, found.schema) != saved.digest)
        throw Error("file '" + temporary + "': its values are not those that were saved");
      ManifestEntry line{saved.name, std::filesystem::file_size(temporary), saved.step, records};
      line.sums = found.sums;
      line.metadata = found.metadata;
      fsync_path(temporary);
      append_to_manifest(manifest_of(path), line_of(line));
      rename_file(temporary, path);
      fsync_folder_of(path);
    });
  } catch (const Error& error) { // on all ranks
    return {0, error.what()};
  }
  return {records, ""};
}

} // namespace nunatak::io
