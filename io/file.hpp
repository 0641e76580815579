// A file that is being written: checks what the model puts, times it, and lets the ranks agree on
// errors.
//
// A transport is a File: it writes what was put, and commits. SyncFile (durable/sync_file.hpp): the
// ranks that compute write. AsyncFile (async/async_file.hpp): they send to servers. See writer.hpp
// for how to use a File.
#pragma once

#include "io/agree.hpp"
#include "io/durable/value_sums.hpp"
#include "io/pack.hpp"
#include "io/schema.hpp"
#include "io/statistics.hpp"
#include "io/watchdog.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

enum class FileKind {
  once,   ///< one state, written and closed: snapshot, result
  append, ///< grows by records: time series, spatial series
};

struct FileOptions {
  FileKind kind = FileKind::once;
  /// append, with a format that grows in place (direct): after this many records the file is
  /// committed, and again after as many more. From the first commit on it has its final name, and
  /// its header counts the records that are committed: they can be read at any time, and survive
  /// any later crash. 0, and with all other formats: only close() commits.
  int commit_every = 0;
  /// append: the first so many records are those of the file that this one will replace: no commit
  /// before one more has been written.
  std::int64_t kept_records = 0;
  /// append: these records stay where they are, if transport and format can go on with the file:
  /// see File::is_continued().
  bool continues = false;
  /// Sums of the values come by add_sum(), from the clients, when a server writes.
  bool sums_are_given = false;
};

/// This rank's part of a variable, in the order of the file's dimensions, slowest first, without
/// the record dimension.
struct Block {
  std::vector<std::size_t> start, count;
  std::vector<std::ptrdiff_t>
      stride;       ///< distance in memory, in elements; empty: contiguous, row-major
  Scale scale = {}; ///< of float64 values
};

class File {
public:
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Write this rank's block; nullptr or a count of 0: nothing. With servers the puts of a variable
  /// and record follow one another. `data` points at the value at block.start; T is the type of the
  /// variable, or double for float32.
  template <class T> void put(const std::string& variable, const Block& block, const T* data) {
    put(variable, no_record, block, reinterpret_cast<const std::byte*>(data), type_of<T>());
  }
  template <class T>
  void put(const std::string& variable, std::size_t record, const Block& block, const T* data) {
    put(variable, record, block, reinterpret_cast<const std::byte*>(data), type_of<T>());
  }

  /// Write a whole variable (a whole record of it) that every rank knows: coordinates, time,
  /// scalars. Rank 0 writes.
  template <class T> void put_all(const std::string& variable, const std::vector<T>& values) {
    put_all(variable, no_record, values.size(), reinterpret_cast<const std::byte*>(values.data()),
            type_of<T>());
  }
  template <class T>
  void put_all(const std::string& variable, std::size_t record, const std::vector<T>& values) {
    put_all(variable, record, values.size(), reinterpret_cast<const std::byte*>(values.data()),
            type_of<T>());
  }

  /// Part of the sum of variable `v`: FileOptions::sums_are_given. Local.
  virtual void add_sum(std::size_t v, std::size_t record, std::uint64_t sum);

  /// All values of the record (and of variables without records) have been put. Commits if
  /// commit_every says so; if that fails, the last commit stands.
  void end_record(std::int64_t step = -1);
  /// The same, now, of all records that have ended, whatever their number: before a state is
  /// written from which a run may be continued. Nothing where commit_every is 0, and with formats
  /// that do not grow in place.
  void commit(std::int64_t step = -1);
  /// What has been put can be read by another process, in name.nc.tmp. Not durable. Of a file that
  /// has been committed in place (see FileOptions) others see, in name.nc, what is committed.
  void sync();
  /// Every value of every variable must have been put. Durable when it returns: fsync, rename,
  /// fsync, manifest.
  void close(std::int64_t step = -1);

  /// FileOptions::continues: the file goes on in place. It has FileOptions::kept_records records,
  /// and all variables that have no records; the next record is put behind them. What lay there is
  /// cut off when that comes, or at close(). Where it is not continued, all has to be put, and
  /// why_anew() says why, on rank 0 ("": nothing else was to be expected).
  bool is_continued() const { return m_is_continued; }
  const std::string& why_anew() const { return m_why_anew; }

  const std::string& path() const { return m_path; }
  const Schema& schema() const { return m_schema; }
  const Statistics& statistics() const { return m_statistics; }
  /// Of MPI-IO, see Format::hints().
  virtual std::map<std::string, std::string> hints() const = 0;

protected:
  /// Checks the schema; the transport checks the name, where it writes. `total` gets all
  /// statistics, too. `comm`, `total` and `watchdog` must outlive the file. `makes_sums`: of the
  /// values that are put.
  File(MPI_Comm comm, std::string path, Schema schema, FileOptions options, bool makes_sums,
       Statistics& total, Watchdog& watchdog);

  /// Run f on all ranks and add its time to `phase`; an error of one rank, or one kept since an
  /// earlier put, is an error of all.
  template <class F> void together(Phase phase, const F& f) {
    timed(phase, [&] { m_error.keep(f); });
    watched(phase, [&] { agree(m_comm, [&] { m_error.rethrow(); }); });
  }
  /// Run f, which communicates in this phase, under the watchdog.
  template <class F> void watched(Phase phase, const F& f) {
    m_watchdog.watch(m_path, phase_names[static_cast<std::size_t>(phase)], f);
  }
  /// The same without agreement: what another rank does is not waited for.
  template <class F> void timed(Phase phase, const F& f);
  const KeptError& error() const { return m_error; }
  void add(const Statistics& step);

  MPI_Comm comm() const { return m_comm; }
  int rank() const { return m_rank; }
  std::int64_t records() const { return m_records; } ///< begun, the same on all ranks

  void begin_with_kept_records(); ///< they have been put, and ended, and are committed
  void begin_anew(const std::string& why) { m_why_anew = why; }
  const FileOptions& options() const { return m_options; }

  /// Of this rank; none if they are not wanted.
  std::optional<ValueSums>& sums() { return m_sums; }
  const std::optional<ValueSums>& sums() const { return m_sums; }

  void check_name() const;     ///< what rename would refuse at the end of the run is an error now
  void check_complete() const; ///< every value of every variable has been put; collective

private:
  // What a transport does. All but write_slab and work are collective and throw on all ranks or on
  // none.
  virtual void
  reserve(std::int64_t records) = 0; ///< room for so many records is there, or an error of all
  /// The record is that of the put, of which a rank with an empty slab knows nothing else. May
  /// throw on some ranks.
  virtual void write_slab(std::size_t v, std::size_t record, const Hyperslab& slab) = 0;
  virtual void finish_record(std::int64_t step) = 0;  ///< all values of a record have been put
  virtual void make_readable() = 0;                   ///< what was put, for other processes
  virtual bool can_commit_records() const = 0;        ///< before close()
  virtual bool is_time_to_commit() const;             ///< when a record has ended: see FileOptions
  virtual void commit_records(std::int64_t step) = 0; ///< all that have ended
  virtual void close_and_commit(std::int64_t step) = 0;
  virtual Work work() const = 0; ///< of this rank so far

  void put(const std::string& variable, std::size_t record, const Block& block,
           const std::byte* data, Type type);
  void put_all(const std::string& variable, std::size_t record, std::size_t size,
               const std::byte* data, Type type);
  std::size_t variable_number(const std::string& name) const;
  std::int64_t elements_of(const Variable& variable) const;
  void check_put(const Variable& variable, std::size_t record, Type type) const;
  Hyperslab make_slab(std::size_t v, std::size_t record, const Block& block, const std::byte* data,
                      Type type) const;
  [[noreturn]] void fail(const std::string& what) const;
  void add_time(Phase phase, double start);

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm);
  std::string m_path;
  Schema m_schema;
  FileOptions m_options;
  std::optional<ValueSums> m_sums;
  std::vector<std::int64_t> m_put; ///< elements of each variable that this rank has put
  std::int64_t m_records = 0, m_ended = 0,
               m_committed; ///< records begun, ended, and ended at the last commit
  KeptError m_error;        ///< the first one of this rank that the others do not know yet
  bool m_closed = false, m_is_continued = false;
  std::string m_why_anew;
  Work m_work; ///< at the end of the last step
  Statistics m_statistics;
  Statistics& m_total; ///< the writer's
  Watchdog& m_watchdog;
};

template <class F> void File::timed(Phase phase, const F& f) {
  const double start = MPI_Wtime();
  watched(phase, f);
  add_time(phase, start);
}

} // namespace nunatak::io
