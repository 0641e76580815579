// The transport `sync`: the ranks that compute write, and wait until it is done.
//
//   put -> Format           end_record: Format::wait          close: Format::close, then commit
//   (durable.hpp)
//
// Writes name.nc.tmp (and what the format adds to the name), renames it when it is complete; or, if
// it grows in place (Format::grows_in_place), at its first commit.
#pragma once

#include "io/durable/durable.hpp"
#include "io/durable/lock.hpp"
#include "io/file.hpp"
#include "io/formats/format.hpp"
#include "io/layouts/topology.hpp"
#include "io/registry.hpp"

#include <optional>

namespace nunatak::io {

class SyncFile final : public File {
public:
  /// Collective. Creates path.tmp with `open` and writes its header. `machine`: its real nodes;
  /// must outlive the file.
  SyncFile(MPI_Comm comm, std::string path, Schema schema, FileOptions options, Checksum checksum,
           const OpenFormat& open, const Topology& machine, Statistics& total, Watchdog& watchdog);

  std::map<std::string, std::string> hints() const override { return m_format->hints(); }

private:
  void reserve(std::int64_t records) override;
  void write_slab(std::size_t v, std::size_t record, const Hyperslab& slab) override;
  void finish_record(std::int64_t /*step*/) override { finish_writes(); }
  void make_readable() override;
  bool can_commit_records() const override;
  bool commits_in_place() const override { return m_format->grows_in_place(); }
  void commit_records(std::int64_t step) override;
  void close_and_commit(std::int64_t step) override;
  Work work() const override { return m_format ? m_format->work() : Work{}; }

  void take_name();
  void go_on_in_place();
  std::string why_anew_of_manifest() const;
  void keep_records();
  void finish_writes(); ///< what was put is with the file system
  void flush();         ///< and can be read by other processes
  void commit_copy(std::int64_t step);
  void reserve_bytes(std::uint64_t expected);
  void start_writeback_of_enough(std::int64_t bytes);
  std::vector<OutputFile> my_files() const;
  void release_reserved();
  void copy(const std::string& to);
  void commit(const std::string& name, std::int64_t step, bool grows = false);
  std::vector<ManifestEntry> entries_of(const std::string& name);
  void add_sums(const std::string& name, std::vector<ManifestEntry>& entries);
  bool has_its_name() const { return m_written == path(); }

  std::string m_written; ///< the name under which it is written: name.nc.tmp; in place from the
                         ///< first commit on: name.nc
  Checksum m_checksum;
  std::string m_metadata;     ///< their checksum, on rank 0, from the first commit on
  std::optional<Lock> m_lock; ///< on rank 0, until it is closed
  std::unique_ptr<Format> m_format;
  std::optional<std::uint64_t>
      m_kept_size; ///< of a continued file with the records that it keeps, until they are committed
  std::uint64_t m_reserved = 0; ///< bytes of this rank's file that are allocated
  std::int64_t m_unwritten = 0; ///< bytes put since the system was last asked to write to the disk
  const Topology& m_machine;
};

} // namespace nunatak::io
