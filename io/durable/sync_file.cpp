// Writes through a format and makes the file durable. See sync_file.hpp.
#include "io/durable/sync_file.hpp"

#include "io/durable/shared_checksums.hpp"
#include "io/durable/space.hpp"
#include "io/read/classic_header.hpp"
#include "io/trace/trace.hpp"

#include <algorithm>
#include <cstdio>

namespace nunatak::io {

SyncFile::SyncFile(MPI_Comm comm, std::string path, Schema schema, FileOptions options, const OpenFormat& open,
                   const Topology& machine, Statistics& total, Watchdog& watchdog)
    : File(comm, std::move(path), std::move(schema), options, total, watchdog), m_temporary(this->path() + ".tmp"),
      m_machine(machine) {
  on_rank_0(comm, [&] { take_name(); });
  trace_watch(this->path());
  together(Phase::open, [&] { m_format = open(m_temporary, this->schema()); });
  if (m_format->defined_size() > 0) reserve_bytes(m_format->defined_size());
  together(Phase::define, [&] { m_format->define(); });
  reserve(0);
}

void SyncFile::reserve(std::int64_t records) { reserve_bytes(m_format->expected_size(static_cast<std::uint64_t>(records))); }

/// The rank that takes care of a file allocates what it is going to hold, as far as its format can tell.
void SyncFile::reserve_bytes(std::uint64_t expected) {
  together(Phase::reserve, [&] {
    const std::vector<OutputFile> mine = my_files();
    if (mine.empty() || expected <= m_reserved) return;
    reserve_space(m_temporary + mine.front().suffix, m_reserved, expected);
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
  start_writeback_of_enough(static_cast<std::int64_t>(slab.elements() * bytes_of(schema().variables[v].type)));
}

/// While the next values are computed, copied and moved, the disk may as well write what the system has. The system is asked
/// after every 64 MiB of this rank, so that fsync at the end finds little to do.
void SyncFile::start_writeback_of_enough(std::int64_t bytes) {
  constexpr std::int64_t enough = 64 << 20;
  m_unwritten += bytes;
  if (m_unwritten < enough) return;
  m_unwritten = 0;
  for (const OutputFile& file : m_format->files()) {
    if (file.owner == OutputFile::shared || file.owner == rank()) start_writeback(m_temporary + file.suffix);
  }
}

void SyncFile::finish_writes() {
  together(Phase::wait, [&] { m_format->wait(); });
}

void SyncFile::flush() {
  together(Phase::flush, [&] { m_format->flush(); });
}

void SyncFile::make_readable() {
  finish_writes();
  flush();
}

void SyncFile::close_and_commit(std::int64_t step) {
  finish_writes();
  check_complete();
  together(Phase::close, [&] { m_format->close(); });
  together(Phase::close, [&] {
    if (m_reserved > 0) release_space(m_temporary + my_files().front().suffix);
  });
  if (!m_format->files().empty()) commit(m_temporary, step);
  m_lock.reset();
}

/// Subfiles cannot be replaced all at once.
bool SyncFile::can_commit_records() const {
  return !m_format->files().empty() && m_format->files().front().owner == OutputFile::shared;
}

void SyncFile::commit_records(std::int64_t step) {
  check_complete();
  flush();
  commit_copy(step);
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
      copied.work.written_bytes += static_cast<std::int64_t>(copy_file(m_temporary + file.suffix, to + file.suffix));
      copied.work.written_operations += 1;
    }
  });
  copied[Phase::copy].bytes = copied.work.written_bytes;
  add(copied);
}

/// Where the format does not know what it has written, all ranks read the files once more, each its share, for the checksums,
/// while the system writes them to the disk.
std::vector<ManifestEntry> SyncFile::checksums_of(const std::string& temporary) {
  SharedChecksums checksums(comm(), temporary, m_format->files());
  together(Phase::checksum, [&] {
    const std::optional<SparseChecksum> written = m_format->written();
    for (const OutputFile& file : my_files()) {
      if (!written) zero_padding(temporary + file.suffix);
      start_writeback(temporary + file.suffix);
    }
    checksums.measure(written);
  });
  watched(Phase::checksum, [&] { checksums.share_sizes(); });
  Statistics read;
  together(Phase::checksum, [&] { read[Phase::checksum].bytes = checksums.read(); });
  add(read);
  std::vector<ManifestEntry> entries;
  watched(Phase::checksum, [&] { entries = checksums.gather(); });
  return entries;
}

/// `temporary` (and its suffixes) is complete and closed: make it durable under its final name. Every node does its fsync: on a
/// parallel file system each has written data of its own that the others cannot flush.
void SyncFile::commit(const std::string& temporary, std::int64_t step) {
  const std::vector<ManifestEntry> entries = checksums_of(temporary);
  const std::vector<OutputFile> files = m_format->files();
  together(Phase::fsync, [&] {
    for (const OutputFile& file : files) {
      const bool shared_here = file.owner == OutputFile::shared && m_machine.is_first(rank());
      if (file.owner == rank() || shared_here) fsync_path(temporary + file.suffix);
    }
  });
  together(Phase::fsync, [&] {
    if (rank() != 0) return;
    std::vector<Commit> commits;
    for (std::size_t f = 0; f < files.size(); ++f) {
      commits.push_back({temporary + files[f].suffix, path() + files[f].suffix, entries[f]});
      commits.back().entry.step = step;
      commits.back().entry.records = records();
    }
    commit_files(path(), commits);
  });
}

} // namespace nunatak::io
