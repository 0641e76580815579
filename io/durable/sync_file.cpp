// Writes through a format and makes the file durable. See sync_file.hpp.
#include "io/durable/sync_file.hpp"

#include "io/durable/found_sums.hpp"
#include "io/durable/shared_checksums.hpp"
#include "io/read/classic_header.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace nunatak::io {

SyncFile::SyncFile(MPI_Comm comm, std::string path, Schema schema, FileOptions options,
                   Checksum checksum, const OpenFormat& open, const Topology& machine,
                   Statistics& total, Watchdog& watchdog)
    : File(comm, std::move(path), std::move(schema), options, checksum == Checksum::values, total,
           watchdog),
      m_written(this->path() + ".tmp"), m_checksum(checksum), m_machine(machine) {
  on_rank_0(comm, [&] { take_name(); });
  together(Phase::open, [&] { m_format = open(m_written, this->schema()); });
  if (m_format->defined_size() > 0) reserve_bytes(m_format->defined_size());
  together(Phase::define, [&] { m_format->define(); });
  if (options.continues && options.kept_records > 0 && options.commit_every > 0 &&
      m_format->grows_in_place())
    go_on_in_place();
  reserve(0);
}

/// path.tmp, which has the header and nothing else, has shown what that would be.
void SyncFile::go_on_in_place() {
  Format::Reopened reopened;
  together(Phase::open, [&] {
    on_rank_0(comm(), [&] { reopened.why_not = why_anew_of_manifest(); });
    broadcast(reopened.why_not, comm());
    if (reopened.why_not.empty())
      reopened = m_format->reopen(path(), static_cast<std::uint64_t>(options().kept_records));
  });
  if (!reopened.why_not.empty()) return begin_anew(reopened.why_not);
  together(Phase::open, [&] {
    if (rank() != 0) return;
    if (sums()) m_metadata = metadata_checksum(contents_of(NcFile(m_written), m_written));
    std::filesystem::remove(m_written);
  });
  m_written = path();
  m_kept_size = reopened.size;
  m_reserved = my_files().empty() ? 0 : reopened.size;
  begin_with_kept_records();
}

/// The sums of the kept records must stand in its lines, and nothing else may be the same file.
/// Local.
std::string SyncFile::why_anew_of_manifest() const {
  if (m_checksum == Checksum::memory || m_checksum == Checksum::file)
    return "its checksum is one of all its bytes";
  if (std::filesystem::is_symlink(path()) || std::filesystem::hard_link_count(path()) > 1)
    return "it has several names";
  const Manifest manifest = parse_manifest(read_manifest(manifest_of(path())));
  const auto found = manifest.files.find(std::filesystem::path(path()).filename().string());
  if (found == manifest.files.end() || !found->second.committed)
    return "the manifest has no line of it";
  const ManifestEntry& entry = found->second.entries.front();
  const bool is_other =
      entry.files > 1 || entry.sums.has_value() != (m_checksum == Checksum::values);
  if (is_other || entry.records < options().kept_records)
    return "the manifest has no sums of its records";
  return "";
}

/// The first commit of a continued file: its last line is of the records that it keeps, and has no
/// sums but those before it. Then nothing needs what lies behind them.
void SyncFile::keep_records() {
  if (!m_kept_size) return;
  together(Phase::fsync, [&] {
    if (rank() != 0) return;
    ManifestEntry entry;
    entry.size = *m_kept_size, entry.records = options().kept_records, entry.grows = true;
    if (sums())
      entry.first_record = sums()->first_record(), entry.sums.emplace(),
      entry.metadata = m_metadata;
    commit_in_place({path(), path(), entry}, [&] { m_format->count_records(); });
  });
  m_kept_size.reset();
  flush();
}

void SyncFile::reserve(std::int64_t records) {
  if (records > 0) keep_records();
  reserve_bytes(m_format->expected_size(static_cast<std::uint64_t>(records)));
}

/// The rank that takes care of a file allocates what it is going to hold, as far as its format can
/// tell.
void SyncFile::reserve_bytes(std::uint64_t expected) {
  together(Phase::reserve, [&] {
    const std::vector<OutputFile> mine = my_files();
    if (mine.empty() || expected <= m_reserved) return;
    reserve_space(m_written + mine.front().suffix, m_reserved, expected);
    m_reserved = expected;
  });
}

/// Before anything is written: nobody else writes this name, and the manifest will take its line.
void SyncFile::take_name() {
  check_name();
  m_lock.emplace(path());
  require_manifest(path());
  if (m_lock->was_left()) finish_commit(path());
}

void SyncFile::write_slab(std::size_t v, std::size_t /*record*/, const Hyperslab& slab) {
  m_format->put(v, slab);
  start_writeback_of_enough(
      static_cast<std::int64_t>(slab.elements() * bytes_of(schema().variables[v].type)));
}

/// While the next values are computed, copied and moved, the disk may as well write what the system
/// has. The system is asked after every 64 MiB of this rank, so that fsync at the end finds little
/// to do.
void SyncFile::start_writeback_of_enough(std::int64_t bytes) {
  constexpr std::int64_t enough = 64 << 20;
  m_unwritten += bytes;
  if (m_unwritten < enough) return;
  m_unwritten = 0;
  for (const OutputFile& file : m_format->files()) {
    if (file.owner == OutputFile::shared || file.owner == rank())
      start_writeback(m_written + file.suffix);
  }
}

void SyncFile::finish_writes() {
  together(Phase::wait, [&] { m_format->wait(); });
}

/// Nobody sees more of a file under its final name than what is committed.
void SyncFile::flush() {
  together(Phase::flush, [&] { has_its_name() ? m_format->flush_values() : m_format->flush(); });
}

void SyncFile::make_readable() {
  finish_writes();
  flush();
}

void SyncFile::close_and_commit(std::int64_t step) {
  keep_records();
  finish_writes();
  check_complete();
  if (has_its_name()) {
    flush();
    release_reserved();
    commit(m_written, step);
    together(Phase::close, [&] { m_format->close(); });
  } else {
    together(Phase::close, [&] { m_format->close(); });
    release_reserved();
    if (!m_format->files().empty()) commit(m_written, step);
  }
  m_lock.reset();
}

void SyncFile::release_reserved() {
  together(Phase::close, [&] {
    if (m_reserved > 0) release_space(m_written + my_files().front().suffix);
  });
}

/// Subfiles cannot be replaced all at once.
bool SyncFile::can_commit_records() const {
  return !m_format->files().empty() && m_format->files().front().owner == OutputFile::shared;
}

void SyncFile::commit_records(std::int64_t step) {
  check_complete();
  flush();
  if (!commits_in_place()) return commit_copy(step);
  commit(m_written, step, true);
  m_written = path();
}

void SyncFile::commit_copy(std::int64_t step) {
  const std::string copied = path() + commit_suffix;
  try {
    copy(copied);
    commit(copied, step);
  } catch (const Error&) { // on all ranks
    for (const OutputFile& file : my_files()) std::remove((copied + file.suffix).c_str());
    throw;
  }
}

/// The files that this rank takes care of: its own, and on rank 0 those that are shared.
std::vector<OutputFile> SyncFile::my_files() const {
  std::vector<OutputFile> mine;
  for (const OutputFile& file : m_format->files()) {
    if (rank() == std::max(file.owner, 0)) mine.push_back(file);
  }
  return mine;
}

void SyncFile::copy(const std::string& to) {
  Statistics copied;
  together(Phase::copy, [&] {
    for (const OutputFile& file : my_files()) {
      copied.work.written_bytes +=
          static_cast<std::int64_t>(copy_file(m_written + file.suffix, to + file.suffix));
      copied.work.written_operations += 1;
    }
  });
  copied[Phase::copy].bytes = copied.work.written_bytes;
  add(copied);
}

/// Where the format does not know what it has written, all ranks read the files once more, each its
/// share, for the checksums, while the system writes them to the disk.
std::vector<ManifestEntry> SyncFile::entries_of(const std::string& name) {
  SharedChecksums checksums(comm(), name, m_format->files());
  together(Phase::checksum, [&] {
    const std::optional<SparseChecksum> written = m_format->written();
    for (const OutputFile& file : my_files()) {
      if (!written && !m_format->grows_in_place())
        zero_padding(name + file.suffix); // else nobody wrote there
      start_writeback(name + file.suffix);
    }
    checksums.measure(written);
  });
  std::vector<ManifestEntry> entries;
  const bool are_several =
      m_format->files().size() > 1; // a crash may leave new and old ones: their bytes tell
  if (m_checksum == Checksum::memory || m_checksum == Checksum::file || (sums() && are_several)) {
    watched(Phase::checksum, [&] { checksums.share_sizes(); });
    Statistics read;
    together(Phase::checksum, [&] { read[Phase::checksum].bytes = checksums.read(); });
    add(read);
    watched(Phase::checksum, [&] { entries = checksums.gather(); });
  } else {
    entries = checksums.sizes();
  }
  if (sums()) add_sums(name, entries);
  return entries;
}

/// Of the values, and of what describes them: a file has the same metadata from its first commit
/// on. Of several files the first has the sums, of all their values, and their bytes have told what
/// describes them.
void SyncFile::add_sums(const std::string& name, std::vector<ManifestEntry>& entries) {
  Sums found;
  watched(Phase::checksum,
          [&] { found = sums()->reduce(comm(), schema(), static_cast<std::size_t>(records())); });
  together(Phase::checksum, [&] {
    if (rank() != 0) return;
    const std::string whole = name + m_format->files().front().suffix;
    if (m_metadata.empty() && entries.size() == 1)
      m_metadata = metadata_checksum(contents_of(NcFile(whole), whole));
    entries.front().first_record = sums()->first_record();
    entries.front().sums = std::move(found);
    entries.front().metadata = m_metadata;
  });
}

/// The file `name` (and its suffixes) is complete: make it durable under its final name, or in
/// place if that is its name. Every node does its fsync: on a parallel file system each has written
/// data of its own that the others cannot flush.
void SyncFile::commit(const std::string& name, std::int64_t step, bool grows) {
  const std::vector<ManifestEntry> entries = entries_of(name);
  const std::vector<OutputFile> files = m_format->files();
  together(Phase::fsync, [&] {
    for (const OutputFile& file : files) {
      const bool shared_here = file.owner == OutputFile::shared && m_machine.is_first(rank());
      if (file.owner == rank() || shared_here) fsync_path(name + file.suffix);
    }
  });
  together(Phase::fsync, [&] {
    if (rank() != 0) return;
    std::vector<Commit> commits;
    for (std::size_t f = 0; f < files.size(); ++f) {
      commits.push_back({name + files[f].suffix, path() + files[f].suffix, entries[f]});
      commits.back().entry.step = step;
      commits.back().entry.records = records();
      commits.back().entry.grows = grows;
    }
    if (name != path()) return commit_files(path(), commits);
    commit_in_place(commits.front(), [&] { m_format->count_records(); });
  });
  if (sums()) sums()->forget(static_cast<std::size_t>(records()));
}

} // namespace nunatak::io
