// The transport `thread`: a thread of each rank writes what was put, while the rank computes. No
// ranks are set apart.
//
//   put: exchange, if the layout needs one; pack -> ring -> the thread writes        close, commit:
//   handed over, as a `due` later call of this file, or of any at which it is written everywhere,
//   or finish():  the due is done, in the order of all dues
//
// The file itself is a SyncFile, so that bytes, fsync, rename and manifest are those of `sync`.
// What a due has to wait for, the fsync of the values, the thread has done before; the rank then
// agrees with the others and says so in the manifest. Only the rank calls MPI.
#pragma once

#include "io/async/servers.hpp"
#include "io/durable/sync_file.hpp"
#include "io/thread/write_thread.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace nunatak::io {

/// What a Writer needs for its files: the thread, and what was handed over to be made durable.
class Backlog {
public:
  Backlog(MPI_Comm comm, std::size_t ring_bytes, const Topology& machine, Watchdog& watchdog);

  WriteThread& thread() { return m_thread; }
  Statistics& statistics() { return m_statistics; } ///< of the files behind

  /// `file` is to be closed, or to be committed, when the jobs so far are done. Local; the same on
  /// all ranks.
  void add(std::shared_ptr<File> file, std::int64_t step, bool closes);
  // All that follow are collective, and throw on all ranks or on none.
  void settle_done();                      ///< what is written on all ranks
  void settle_of(const std::string& path); ///< all of this file, and what was handed over before it
  std::vector<ServerReport> finish();      ///< all
  std::vector<std::string> take_committed() { return std::exchange(m_committed, {}); }
  double stall_seconds() const { return m_stall; } ///< waited for the thread

private:
  struct Due {
    std::shared_ptr<File> file;
    std::int64_t step;
    bool closes;
    std::int64_t job; ///< the last one that has to be done
    double since;
  };
  void settle(std::size_t n);
  ServerReport report();

  MPI_Comm m_comm;
  int m_rank = rank_in(m_comm), m_size = size_of(m_comm);
  const Topology& m_machine;
  Watchdog& m_watchdog;
  Statistics m_statistics;
  WriteThread m_thread; ///< files wait for it when they end: it ends after them
  std::deque<Due> m_dues;
  std::vector<std::string> m_committed;
  double m_stall = 0.0, m_longest = 0.0, m_began, m_busy_before = 0.0;
};

class ThreadFile final : public File {
public:
  /// Collective. `open`: of Queued formats, of the thread of `backlog`.
  ThreadFile(MPI_Comm comm, const std::string& path, const Schema& schema, FileOptions options,
             bool makes_sums, const OpenFormat& open, const Topology& machine, Backlog& backlog,
             Statistics& total, Watchdog& watchdog);

  std::map<std::string, std::string> hints() const override { return m_behind->hints(); }

private:
  void reserve(std::int64_t /*records*/) override {}
  void write_slab(std::size_t v, std::size_t record, const Hyperslab& slab) override;
  void finish_record(std::int64_t step) override;
  void make_readable() override;
  bool can_commit_records() const override { return true; }
  void commit_records(std::int64_t step) override { hand_over(step, false); }
  void close_and_commit(std::int64_t step) override;
  Work work() const override;

  void hand_over(std::int64_t step, bool closes);

  Backlog& m_backlog;
  double m_stall = 0.0; ///< of this file, in the backlog
  std::shared_ptr<File> m_behind;
};

} // namespace nunatak::io
