// A file that is being written: checks, times, and makes an error of one rank an error of all.
//
// The transports are subclasses. SyncFile (write/sync_file.cpp): the compute ranks write.
// AsyncFile (write/async_file.cpp): they send to servers. See writer.hpp for how to use a File.
#pragma once

#include "io/base/agree.hpp"
#include "io/base/watchdog.hpp"
#include "io/data/statistics.hpp"
#include "io/data/value_sums.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nunatak::io {

struct FileOptions {
  /// How a series grows: in a format that grows in place (direct) it is committed after every
  /// `commit_every` records. From the first commit on it has its final name, and its header counts
  /// the committed records, which can be read. 0, and other formats: only close() commits. None:
  /// one state, written and closed.
  std::optional<int> commit_every = {};
  /// Records of the series that this one replaces; the first commit has at least one more.
  std::int64_t kept_records = 0;
  /// These records stay in place where supported: see File::is_continued().
  bool continues = false;
  /// The sums of the values come from the clients by add_sum(), when a server writes.
  bool sums_are_given = false;
};

/// What a transport opens.
struct NewFile {
  MPI_Comm comm; ///< must outlive the file, as `total`
  std::string path;
  Schema schema;
  FileOptions options;
  bool makes_sums;   ///< of the values put
  Statistics& total; ///< also accumulates all statistics
};

/// This rank's part of a variable: dimensions as in the file, without the record dimension.
struct Block {
  Indices start, count;
  /// Distance in memory, in elements; empty: contiguous, row-major.
  Strides stride;
  Scale scale = {};       ///< of float64 values
  std::size_t offset = 0; ///< of the value at `start`, in elements, from the data given with it
};

class File {
public:
  virtual ~File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Write this rank's block; nothing if a count is 0. `data` points at the value at block.start; T
  /// is the type of the variable, or double for float32. With servers the puts of one variable and
  /// record must follow one another. `record`: no_record for a variable without.
  template <class T> void put(const std::string& variable, const Block& block, const T* data) {
    put(variable, no_record, block, data);
  }
  template <class T>
  void put(const std::string& variable, std::size_t record, const Block& block, const T* data) {
    put(variable, record, block, reinterpret_cast<const std::byte*>(data), type_of<T>());
  }
  void put(const std::string& variable, std::size_t record, const Block& block,
           const std::byte* data, Type type) {
    put_blocks(variable, record, {block}, data, type);
  }
  /// Write all blocks that this rank has of a variable and record: as many on every rank, some
  /// empty. Faster than one after the other.
  void put_blocks(const std::string& variable, std::size_t record, const std::vector<Block>& blocks,
                  const std::byte* data, Type type);

  /// Write, from rank 0, a whole variable (or record) that every rank has: coordinates, time.
  template <class T> void put_all(const std::string& variable, const std::vector<T>& values) {
    put_all(variable, no_record, values);
  }
  template <class T>
  void put_all(const std::string& variable, std::size_t record, const std::vector<T>& values) {
    put_all(variable, record, values.size(), reinterpret_cast<const std::byte*>(values.data()),
            type_of<T>());
  }

  /// Add to the sum of variable `v` (FileOptions::sums_are_given). Local.
  virtual void add_sum(std::size_t v, std::size_t record, std::uint64_t sum);

  /// All values of the record (and of variables without records) have been put. Commits if
  /// commit_every is due; if that fails, the last commit stands.
  void end_record(std::int64_t step = -1);
  /// In a series: commits all ended records now or, if commit_every is 0 or the format does not
  /// grow, saves them for recover() (durable/recover.hpp).
  void commit(std::int64_t step = -1);
  /// A digest of the values of the last record, whatever its number: 0 without a record or sums.
  /// Collective: one reduction.
  std::uint64_t digest_of_last_record() const;
  /// Every value of every variable must have been put. With transport sync durable on return.
  void close(std::int64_t step = -1);

  /// With FileOptions::continues: the file grows on in place. It has FileOptions::kept_records
  /// records and all variables without records; what lies behind is cut off. If false, everything
  /// has to be put again, and why_anew() gives the reason on rank 0 ("" if there is none).
  bool is_continued() const { return m_is_continued; }
  const std::string& why_anew() const { return m_why_anew; }

  const std::string& path() const { return m_path; }
  const Schema& schema() const { return m_schema; }
  const Statistics& statistics() const { return m_statistics; }
  virtual std::map<std::string, std::string> hints() const = 0;

protected:
  explicit File(NewFile file); ///< checks the schema; the transport checks the name

  /// Run f on all ranks and add its time to `phase`; its errors, and those kept, are of all.
  template <class F> void together(Phase phase, const F& f) {
    timed(phase, [&] { m_error.keep(f); });
    watched(phase, [&] { agree(m_comm, [&] { m_error.rethrow(); }); });
  }
  /// Run f under the watchdog.
  template <class F> void watched(Phase phase, const F& f) {
    io::watched(m_path, phase_names[static_cast<std::size_t>(phase)], f);
  }
  /// Like together() without agreement: no rank waits for another.
  template <class F> void timed(Phase phase, const F& f);
  void add(const Statistics& step);

  void begin_with_kept_records(); ///< they have been put, ended and committed
  void begin_anew(const std::string& why) { m_why_anew = why; }

  void check_name() const;     ///< refuse now what rename would refuse at the end of the run
  void check_complete() const; ///< every value of every variable has been put; collective

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm);
  FileOptions m_options;
  KeptError m_error;               ///< the first of this rank that the others do not know yet
  std::optional<ValueSums> m_sums; ///< of this rank's values; none if they are not wanted
  std::int64_t m_records = 0;      ///< begun, the same on all ranks
  std::uint64_t m_digest = 0;      ///< this rank's part, of all values

private:
  // What a transport does. All except write_slabs and work are collective and throw on all ranks.
  virtual void reserve(std::int64_t records) = 0; ///< allocate space for this many records
  /// May throw on some ranks.
  virtual void write_slabs(std::size_t v, std::size_t record, const Slabs& slabs) = 0;
  virtual void finish_record(std::int64_t step) = 0;  ///< all values of a record have been put
  virtual bool can_commit_records() const = 0;        ///< before close()
  virtual bool is_time_to_commit() const;             ///< when a record has ended: see FileOptions
  virtual void commit_records(std::int64_t step) = 0; ///< all that have ended
  virtual void save_records(std::int64_t step) = 0;   ///< the same, in path.tmp
  virtual void close_and_commit(std::int64_t step) = 0;
  virtual Work work() const = 0; ///< of this rank so far

  bool grows() const;
  void put_all(const std::string& variable, std::size_t record, std::size_t size,
               const std::byte* data, Type type);
  std::size_t variable_number(const std::string& name);
  std::int64_t elements_of(const Variable& variable) const;
  void check_put(const Variable& variable, std::size_t record, Type type) const;
  Hyperslab make_slab(const Variable& variable, const Indices& shape, const Block& block,
                      const std::byte* data, Type type) const;
  [[noreturn]] void fail(const std::string& what) const;
  void add_time(Phase phase, double start);

  std::string m_path;
  Schema m_schema;
  std::vector<std::int64_t> m_put;       ///< elements of each variable that this rank has put
  std::int64_t m_ended = 0, m_committed; ///< records ended, and ended at the last commit
  std::uint64_t m_last_digest = 0;       ///< this rank's part, of the last record
  bool m_closed = false, m_is_continued = false;
  std::string m_why_anew;
  Work m_work; ///< at the end of the last step
  Statistics m_statistics;
  Statistics& m_total; ///< the writer's
};

template <class F> void File::timed(Phase phase, const F& f) {
  const double start = MPI_Wtime();
  watched(phase, f);
  add_time(phase, start);
}

} // namespace nunatak::io
