// The transport `sync`: the compute ranks write, and wait until it is done.
//
//   put -> Format        end_record: Format::wait        close: Format::close, then commit
//
// A file is written as name.nc.tmp and committed when it is closed (disk.hpp):
//
//   fsync on every node -> line in the manifest -> rename to name.nc -> fsync of the folder
//
// A format that grows in place does this at its first commit. Later ones under the final name:
//
//   fsync on every node -> number of records in the header -> fsync -> line in the manifest
//
// Subfiles are ordinary files: each has its own line, and rank 0 renames each.
#include "common/names.hpp"
#include "io/base/topology.hpp"
#include "io/disk/classic_header.hpp"
#include "io/disk/disk.hpp"
#include "io/durable/manifest.hpp"
#include "io/formats/format.hpp"
#include "io/read/nc_file.hpp"
#include "io/write/file.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <optional>

namespace nunatak::io {

namespace {

class SyncFile final : public File {
public:
  /// Collective. Creates path.tmp with `open` and writes its header. `machine` and `call_disk` must
  /// outlive it.
  SyncFile(NewFile file, const OpenFormat& open, const Topology& machine,
           const DiskCaller& call_disk)
      : File(std::move(file)), m_written(path() + ".tmp"), m_machine(machine),
        m_call_disk(call_disk) {
    together(Phase::open, [&] {
      if (m_rank == 0) take_name();
    });
    together(Phase::open, [&] { m_format = open(m_written, schema()); });
    if (m_format->expected_size(0) > 0) reserve_bytes(m_format->expected_size(0));
    together(Phase::define, [&] {
      m_format->define();
      know_file();
    });
    if (m_options.continues && m_options.kept_records > 0 && m_options.commit_every > 0 &&
        m_format->grows_in_place())
      go_on_in_place();
    reserve(0);
  }

  ~SyncFile() override { unlock(); }

  std::map<std::string, std::string> hints() const override { return m_format->hints(); }

private:
  void reserve(std::int64_t records) override {
    if (records > 0) keep_records();
    reserve_bytes(m_format->expected_size(static_cast<std::uint64_t>(records)));
  }

  void write_slabs(std::size_t v, std::size_t record, const Slabs& slabs) override {
    m_format->put(v, record, slabs);
    std::size_t elements = 0;
    for (const Hyperslab& slab : slabs) elements += slab.elements();
    start_writeback_of_enough(
        static_cast<std::int64_t>(elements * bytes_of(schema().variables[v].type)));
  }

  void finish_record(std::int64_t /*step*/) override {
    together(Phase::wait, [&] { m_format->wait(); });
  }

  bool can_commit_records() const override { return m_format->grows_in_place(); }
  void commit_records(std::int64_t step) override {
    check_complete();
    flush();
    commit(step, true);
  }

  /// Subfiles, which no run continues, and files without sums are not saved.
  void save_records(std::int64_t step) override {
    const std::vector<OutputFile> files = m_format->files();
    if (!m_sums || files.size() != 1 || files.front().owner != OutputFile::shared) return;
    check_complete();
    together(Phase::flush, [&] { m_format->save(); });
    SavedEntry saved{std::filesystem::path(path()).filename().string(), step,
                     static_cast<std::size_t>(m_records), m_digest};
    MPI_Allreduce(MPI_IN_PLACE, &saved.digest, 1, MPI_UINT64_T, MPI_SUM, m_comm);
    together(Phase::fsync, [&] {
      require_own_file();
      if (m_machine.is_first(m_rank)) fsync_output(files.front());
    });
    together(Phase::fsync, [&] {
      if (m_rank == 0) append_to_manifest(manifest_of(path()), saved_line_of(saved));
    });
  }

  void close_and_commit(std::int64_t step) override {
    keep_records();
    finish_record(step);
    check_complete();
    if (has_its_name()) {
      flush();
      release_reserved();
      commit(step, false);
      together(Phase::close, [&] { m_format->close(); });
    } else {
      together(Phase::close, [&] { m_format->close(); });
      release_reserved();
      if (!m_format->files().empty()) commit(step, false);
    }
    unlock();
  }

  Work work() const override { return m_format ? m_format->work() : Work{}; }

  /// Before anything is written: no other run writes this name, and the manifest can be appended
  /// to.
  void take_name() {
    check_name();
    m_lock.emplace(path());
    require_manifest(path());
    std::error_code none;
    m_was_cut_off = std::filesystem::exists(m_written, none);
  }

  void unlock() {
    if (m_lock) watched(Phase::close, [&] { m_lock.reset(); });
  }

  /// The file of this rank: its own, or on rank 0 the shared one. Local.
  const OutputFile* find_mine(const std::vector<OutputFile>& files) const {
    const auto mine = std::find_if(files.begin(), files.end(), [this](const OutputFile& file) {
      return m_rank == std::max(file.owner, 0);
    });
    return mine == files.end() ? nullptr : &*mine;
  }

  /// It is kept open: another file of its name is told from it, and calls for it need no path.
  void know_file() {
    m_own.reset();
    const std::vector<OutputFile> files = m_format->files();
    if (const OutputFile* const mine = find_mine(files)) {
      m_suffix = mine->suffix;
      m_own.emplace(with_suffix(m_written, m_suffix), O_WRONLY | O_NOFOLLOW, "cannot open it");
    }
  }

  /// Error if a name (ncks -O, mv), the length or the lock is not that of this run any more. Local.
  void require_own_file() const {
    const std::string name = with_suffix(m_written, m_suffix),
                      change = m_own ? change_of(*m_own, name, m_least_size) : "";
    if (!change.empty()) {
      throw Error("file '" + name + "': it was " + change +
                  " by another program while this run writes it; " +
                  (has_its_name() ? "up to record " + std::to_string(m_saved_records) +
                                        " its values had been saved in the former file"
                                  : "nothing of it was saved"));
    }
    if (m_lock) m_lock->require_held();
  }

  /// path.tmp holds only the header of this run, to be compared with the file, and is then removed.
  void go_on_in_place() {
    Format::Reopened reopened;
    together(Phase::open, [&] {
      on_rank_0(m_comm, [&] { reopened.why_not = why_anew_of_manifest(); });
      broadcast(reopened.why_not, m_comm);
      if (reopened.why_not.empty())
        reopened = m_format->reopen(path(), static_cast<std::uint64_t>(m_options.kept_records));
    });
    if (!reopened.why_not.empty()) return begin_anew(reopened.why_not);
    together(Phase::open, [&] {
      if (m_rank != 0) return;
      std::filesystem::remove(m_written);
    });
    m_written = path();
    m_kept_size = m_least_size = reopened.size;
    m_saved_records = m_options.kept_records;
    together(Phase::open, [&] { know_file(); });
    m_reserved = m_own ? reopened.size : 0;
    begin_with_kept_records();
  }

  /// The manifest must have the sums of the kept records, and the file no other name. Local.
  std::string why_anew_of_manifest() const {
    if (std::filesystem::is_symlink(path()) || std::filesystem::hard_link_count(path()) > 1)
      return "it has several names";
    if (m_was_cut_off) return "an earlier run was killed while it replaced it";
    const Manifest manifest = parse_manifest(read_manifest(manifest_of(path())));
    const auto found = manifest.files.find(std::filesystem::path(path()).filename().string());
    if (found == manifest.files.end()) return "the manifest has no line of it";
    const ManifestEntry& line = found->second.back();
    if (line.sums.has_value() != m_sums.has_value() ||
        static_cast<std::int64_t>(line.records) < m_options.kept_records)
      return "the manifest has no sums of its records";
    return "";
  }

  /// The first commit of a continued file, which drops later records. The line comes first (a file
  /// may hold more than its line counts, not less), without sums: earlier lines have them.
  void keep_records() {
    if (!m_kept_size) return;
    together(Phase::fsync, [&] {
      if (m_rank != 0) return;
      ManifestEntry line;
      line.name = std::filesystem::path(path()).filename().string();
      line.size = *m_kept_size;
      line.records = static_cast<std::size_t>(m_options.kept_records);
      line.grows = true;
      if (m_sums) {
        line.first_record = m_sums->first_record();
        line.sums.emplace();
        line.metadata = fingerprint(schema().as_written());
      }
      append_to_manifest(manifest_of(path()), line_of(line));
      m_format->count_records();
      fsync_file(*m_own, m_call_disk);
    });
    m_kept_size.reset();
    flush();
  }

  /// Hands what the format holds to the system.
  /// Under its final name a file shows only committed records.
  void flush() {
    together(Phase::flush, [&] {
      m_format->flush_values();
      if (!has_its_name() && m_rank == 0) m_format->count_records();
    });
  }

  /// The owner of a file allocates its expected size, as far as the format can predict it.
  void reserve_bytes(std::uint64_t expected) {
    together(Phase::reserve, [&] {
      require_own_file();
      if (!m_own) know_file(); // before its definition
      if (!m_own || expected <= m_reserved) return;
      reserve_space(*m_own, m_reserved, expected);
      m_reserved = expected;
    });
  }

  /// Starts writeback after every 64 MiB of this rank, which leaves little to the final fsync.
  void start_writeback_of_enough(std::int64_t bytes) {
    constexpr std::int64_t enough = 64 << 20;
    m_unwritten += bytes;
    if (m_unwritten < enough) return;
    m_unwritten = 0;
    for (const OutputFile& file : m_format->files()) {
      if (file.owner == OutputFile::shared || file.owner == m_rank)
        start_writeback(with_suffix(m_written, file.suffix));
    }
  }

  void release_reserved() {
    together(Phase::close, [&] {
      if (m_reserved > 0) release_space(*m_own);
    });
  }

  /// Every node calls fsync: on a parallel file system the others cannot flush its data.
  void commit(std::int64_t step, bool grows) {
    const std::string lines = gather_lines(step, grows);
    const std::string manifest = manifest_of(path());
    const std::vector<OutputFile> files = m_format->files();
    together(Phase::fsync, [&] {
      require_own_file();
      for (const OutputFile& file : files) {
        const bool is_shared = file.owner == OutputFile::shared && m_machine.is_first(m_rank);
        if (file.owner == m_rank || is_shared) fsync_output(file);
      }
    });
    together(Phase::fsync, [&] {
      if (m_rank != 0) return;
      if (has_its_name()) {
        m_format->count_records();
        fsync_file(*m_own, m_call_disk);
        return append_to_manifest(manifest, lines);
      }
      append_to_manifest(manifest, lines);
      for (const OutputFile& file : files)
        rename_file(with_suffix(m_written, file.suffix), path() + file.suffix);
      fsync_folder_of(path());
    });
    m_written = path();
    m_saved_records = m_records;
    if (grows) m_least_size = m_format->expected_size(static_cast<std::uint64_t>(m_records));
    if (m_sums) m_sums->forget(static_cast<std::size_t>(m_records));
  }

  void fsync_output(const OutputFile& file) {
    if (m_own && m_suffix == file.suffix) return fsync_file(*m_own, m_call_disk);
    fsync_path(with_suffix(m_written, file.suffix), m_call_disk);
  }

  /// Lines of all files, on rank 0.
  std::string gather_lines(std::int64_t step, bool grows) {
    const bool are_shared = m_format->files().front().owner == OutputFile::shared;
    Sums of_shared;
    if (m_sums && are_shared) {
      watched(Phase::checksum, [&] {
        of_shared = m_sums->reduce(m_comm, schema(), static_cast<std::size_t>(m_records));
      });
    }
    std::string lines;
    together(Phase::checksum, [&] {
      require_own_file();
      const std::vector<OutputFile> files = m_format->files();
      if (const OutputFile* const mine = find_mine(files))
        lines = line_of_file(*mine, step, grows, of_shared);
    });
    if (!are_shared) watched(Phase::checksum, [&] { lines = gather(lines, m_comm); });
    return lines;
  }

  /// `sums`: those of a shared file.
  std::string line_of_file(const OutputFile& file, std::int64_t step, bool grows, Sums sums) {
    const std::string written = with_suffix(m_written, file.suffix);
    if (!m_format->grows_in_place()) zero_padding(written); // direct leaves holes instead
    ManifestEntry line;
    line.name = std::filesystem::path(path() + file.suffix).filename().string();
    std::error_code is_gone; // found, and told, before the line is written
    line.size = std::filesystem::file_size(written, is_gone);
    line.step = step;
    line.records = static_cast<std::size_t>(m_records);
    line.grows = grows;
    if (!m_sums) return line_of(line);
    const bool is_shared = file.owner == OutputFile::shared;
    line.first_record = is_shared ? m_sums->first_record() : 0;
    line.sums = is_shared ? std::move(sums) : m_format->own_sums(line.records);
    if (m_metadata.empty())
      m_metadata = fingerprint(is_shared ? schema().as_written() : NcFile(written).schema());
    line.metadata = m_metadata;
    std::string text = line_of(line);
    // those of subfiles become half a manifest at most: longer ones have no sums
    if (is_shared || text.size() <= longest_manifest / 2 / m_format->files().size()) return text;
    line.sums.reset();
    line.metadata.clear();
    return line_of(line);
  }

  bool has_its_name() const { return m_written == path(); }

  std::string m_written;            ///< path.tmp; in place, from the first commit on, path
  std::optional<Descriptor> m_own;  ///< this rank's file
  std::string m_suffix;             ///< of its name
  std::uint64_t m_least_size = 0;   ///< of this rank's file, since the last commit
  std::int64_t m_saved_records = 0; ///< at the last commit
  std::string m_metadata;     ///< fingerprint, on the owner of the file, from the first commit on
  std::optional<Lock> m_lock; ///< on rank 0, until the file is closed
  bool m_was_cut_off = false; ///< an earlier run has left path.tmp; on rank 0
  std::unique_ptr<Format> m_format;
  /// Size of a continued file with its kept records, until they are committed.
  std::optional<std::uint64_t> m_kept_size;
  std::uint64_t m_reserved = 0; ///< bytes of this rank's file that are allocated
  std::int64_t m_unwritten = 0; ///< bytes put since writeback was last started
  const Topology& m_machine;
  const DiskCaller& m_call_disk;
};

} // namespace

std::unique_ptr<File> open_sync(NewFile file, const OpenFormat& open, const Topology& machine,
                                const DiskCaller& call_disk) {
  return std::make_unique<SyncFile>(std::move(file), open, machine, call_disk);
}

} // namespace nunatak::io
