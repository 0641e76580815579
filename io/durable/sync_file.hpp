// The transport `sync`: the compute ranks write, and wait until it is done.
//
//   put -> Format        end_record: Format::wait        close: Format::close, then commit
//
// A file is written as name.nc.tmp and committed when it is closed (durable.hpp):
//
//   fsync on every node -> line in the manifest -> rename to name.nc -> fsync of the folder
//
// A format that grows in place does this at its first commit. Later ones under the final name:
//
//   fsync on every node -> number of records in the header -> fsync -> line in the manifest
//
// Subfiles are ordinary files: each has its own line, and rank 0 renames each.
#pragma once

#include "io/durable/durable.hpp"
#include "io/durable/lock.hpp"
#include "io/durable/manifest.hpp"
#include "io/file.hpp"
#include "io/formats/format.hpp"
#include "io/topology.hpp"

#include <memory>
#include <optional>

namespace nunatak::io {

class SyncFile final : public File {
public:
  /// Collective. Creates path.tmp with `open` and writes its header. `machine` must outlive it.
  SyncFile(MPI_Comm comm, std::string path, Schema schema, FileOptions options, bool makes_sums,
           const OpenFormat& open, const Topology& machine, DiskCaller call_disk,
           Statistics& total);
  ~SyncFile() override;

  std::map<std::string, std::string> hints() const override { return m_format->hints(); }

private:
  void reserve(std::int64_t records) override;
  void write_slab(std::size_t v, std::size_t record, const Hyperslab& slab) override;
  void finish_record(std::int64_t step) override;
  bool can_commit_records() const override { return m_format->grows_in_place(); }
  void commit_records(std::int64_t step) override;
  void close_and_commit(std::int64_t step) override;
  Work work() const override { return m_format ? m_format->work() : Work{}; }

  void take_name();
  void unlock();
  void go_on_in_place();
  std::string why_anew_of_manifest() const;
  void keep_records();
  void finish_writes(); ///< hand what was put to the file system
  void flush();         ///< hand what the format holds to the system
  void reserve_bytes(std::uint64_t expected);
  void start_writeback_of_enough(std::int64_t bytes);
  std::vector<OutputFile> my_files() const;
  void release_reserved();
  void commit(std::int64_t step, bool grows);
  std::string gather_lines(std::int64_t step, bool grows);
  std::string line_of_file(const OutputFile& file, std::int64_t step, bool grows, Sums sums);
  bool has_its_name() const { return m_written == path(); }

  std::string m_written;      ///< path.tmp; in place, from the first commit on, path
  std::string m_metadata;     ///< fingerprint, on the owner of the file, from the first commit on
  std::optional<Lock> m_lock; ///< on rank 0, until the file is closed
  bool m_was_cut_off = false; ///< an earlier run has left path.tmp; on rank 0
  std::unique_ptr<Format> m_format;
  /// Size of a continued file with its kept records, until they are committed.
  std::optional<std::uint64_t> m_kept_size;
  std::uint64_t m_reserved = 0; ///< bytes of this rank's file that are allocated
  std::int64_t m_unwritten = 0; ///< bytes put since writeback was last started
  const Topology& m_machine;
  DiskCaller m_call_disk;
};

} // namespace nunatak::io
