#include "io/thread/thread_file.hpp"

#include "io/durable/durable.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sys/resource.h>

namespace nunatak::io {

Backlog::Backlog(MPI_Comm comm, std::size_t ring_bytes, const Topology& machine, Watchdog& watchdog)
    : m_comm(comm), m_machine(machine), m_watchdog(watchdog), m_thread(ring_bytes),
      m_began(MPI_Wtime()) {}

/// The thread begins the way to the disk, so that the rank finds little to do. Not if a due of this
/// file waits: then nothing was put since, and the rank may rename the file at any time.
void Backlog::add(std::shared_ptr<File> file, std::int64_t step, bool closes) {
  std::int64_t job = m_thread.added();
  const bool has_due =
      std::any_of(m_dues.begin(), m_dues.end(), [&](const Due& due) { return due.file == file; });
  if (m_machine.is_first(m_rank) && !has_due) {
    job = m_thread.add([path = file->path()] {
      for (const std::string& name :
           {path + ".tmp", path}) { // until its first commit it has the one, then the other
        if (std::filesystem::exists(name)) return fsync_path(name);
      }
    });
  }
  m_dues.push_back({std::move(file), step, closes, job, MPI_Wtime()});
}

void Backlog::settle(std::size_t n) {
  for (; n > 0; --n) {
    const Due due = std::move(m_dues.front());
    m_dues.pop_front();
    const double start = MPI_Wtime();
    m_watchdog.watch(due.file->path(), "post", [&] { // what the thread does
      m_thread.wait_for(due.job);
      m_stall += MPI_Wtime() - start;
      agree(m_comm, [&] { m_thread.rethrow(); });
    });
    if (!due.closes) {
      due.file->commit(due.step);
      continue;
    }
    due.file->close(due.step);
    m_committed.push_back(due.file->path());
    m_longest = std::max(m_longest, MPI_Wtime() - due.since);
  }
}

void Backlog::settle_done() {
  if (m_dues.empty()) return;
  const std::int64_t done = m_thread.done();
  auto n = static_cast<int>(
      std::count_if(m_dues.begin(), m_dues.end(), [&](const Due& due) { return due.job <= done; }));
  MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MIN, m_comm);
  settle(static_cast<std::size_t>(n));
}

void Backlog::settle_of(const std::string& path) {
  const auto last = std::find_if(m_dues.rbegin(), m_dues.rend(),
                                 [&](const Due& due) { return due.file->path() == path; });
  settle(static_cast<std::size_t>(m_dues.rend() - last));
}

std::vector<ServerReport> Backlog::finish() {
  settle(m_dues.size());
  m_thread.wait_for(m_thread.added());
  agree(m_comm, [&] { m_thread.rethrow(); });
  return {report()};
}

/// As of a group of servers, one on each rank. What the files behind call `post` is copying here:
/// the thread's time stands for it.
ServerReport Backlog::report() {
  const double busy = m_thread.busy_seconds(), now = MPI_Wtime();
  Statistics written = m_statistics;
  written[Phase::post].seconds = busy;
  written[Phase::stall] = written[Phase::exchange] = {};
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  ServerReport report;
  report.servers = m_size;
  report.summary = summarize(m_comm, written);
  const auto shared = over_ranks(
      m_comm, {1.0 - (busy - m_busy_before) / (now - m_began), 1024.0 * usage.ru_maxrss});
  report.idle_share = shared[0].mean;
  report.peak_bytes = static_cast<std::int64_t>(shared[1].max);
  report.handover_seconds = m_longest;
  m_busy_before = busy, m_began = now;
  return report;
}

namespace {

/// The file behind commits when it is told to.
FileOptions told_when(FileOptions options) {
  if (options.commit_every > 0) options.commit_every = std::numeric_limits<int>::max();
  return options;
}

} // namespace

ThreadFile::ThreadFile(MPI_Comm comm, const std::string& path, const Schema& schema,
                       FileOptions options, bool makes_sums, const OpenFormat& open,
                       const Topology& machine, Backlog& backlog, Statistics& total,
                       Watchdog& watchdog)
    : File(comm, path, schema, options, false, total, watchdog), m_backlog(backlog) {
  together(Phase::open, [&] {
    backlog.settle_of(path); // one of the same name, perhaps
    backlog.settle_done();
    m_behind = std::make_shared<SyncFile>(comm, path, schema, told_when(options), makes_sums, open,
                                          machine, backlog.statistics(), watchdog);
  });
  m_behind->is_continued() ? begin_with_kept_records() : begin_anew(m_behind->why_anew());
}

/// A file with a due gets no more values until that is done: so it is, before the first put of the
/// next record.
void ThreadFile::write_slab(std::size_t v, std::size_t record, const Hyperslab& slab) {
  const double before = m_backlog.stall_seconds();
  m_backlog.settle_of(path());
  m_stall += m_backlog.stall_seconds() - before;
  const Variable& variable = schema().variables[v];
  const std::ptrdiff_t lead = record == no_record ? 0 : 1;
  Block block;
  if (slab.elements() > 0) {
    block.start.assign(slab.start.begin() + lead, slab.start.end());
    block.count.assign(slab.count.begin() + lead, slab.count.end());
    block.stride.assign(slab.stride.begin() + lead, slab.stride.end());
    block.scale = slab.scale;
  }
  with_type(slab.elements() > 0 ? slab.type : variable.type, [&](auto zero) {
    using T = decltype(zero);
    m_behind->put(variable.name, record, block,
                  slab.elements() > 0 ? reinterpret_cast<const T*>(slab.data) : nullptr);
  });
}

void ThreadFile::finish_record(std::int64_t step) {
  together(Phase::wait, [&] {
    m_behind->end_record(step);
    m_backlog.settle_done();
  });
}

void ThreadFile::make_readable() {
  together(Phase::flush, [&] {
    m_backlog.settle_of(path());
    m_behind->sync();
  });
}

void ThreadFile::close_and_commit(std::int64_t step) {
  together(Phase::close, [&] { m_behind->end_record(step); }); // what a layout still has
  hand_over(step, true);
}

void ThreadFile::hand_over(std::int64_t step, bool closes) {
  m_backlog.add(m_behind, step, closes);
}

/// What the rank sees: the thread's part stands in the report of the threads.
Work ThreadFile::work() const {
  Work work = m_behind ? m_behind->statistics().work : Work{};
  work.written_bytes = work.written_operations = work.moved_bytes = 0;
  work.stall_seconds += m_stall;
  return work;
}

} // namespace nunatak::io
