// One repetition of an output method: a file is written, made durable, and read again.
//
//   |open|define|coordinates, record 0|compute|record 1|compute|...|close: fsync, rename, fsync|
//   |<------------------------- seconds, without those of compute --------------------------->|
#pragma once

#include "common/error.hpp"
#include "io/base/agree.hpp"
#include "io/data/statistics.hpp"
#include "io/read/reader.hpp"
#include "io/write/join.hpp"
#include "io/write/servers.hpp"
#include "io/write/writer.hpp"
#include "miniapp/bench/arrays.hpp"

#include <cmath>
#include <ctime>
#include <map>
#include <string>

namespace nunatak::bench {

/// Computes for the given processor time: a core that others share takes longer for it. Enters MPI
/// every millisecond, as a ghost exchange does.
inline void compute(double seconds) {
  const double parts = std::ceil(1e3 * seconds), of_part = seconds / std::fmax(parts, 1.0);
  volatile double x = 1.0; // kept by the compiler
  for (double part = 0.0; part < parts; part += 1.0) {
    const double end = static_cast<double>(std::clock()) + of_part * CLOCKS_PER_SEC;
    while (static_cast<double>(std::clock()) < end)
      for (int n = 0; n < 1000; ++n) x = x * 0.999 + 0.001;
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE);
  }
}

struct Writing {
  double seconds = 0.0;         ///< slowest rank, until the file is durable
  double visible_seconds = 0.0; ///< slowest rank, until close() returns
  double compute_seconds = 0.0; ///< slowest rank: compute and new values between records
  io::Summary summary;
  std::map<std::string, std::string> hints;
  std::vector<io::ServerReport> servers; ///< of all repetitions so far, on rank 0
};

inline double slowest(MPI_Comm comm, double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return seconds;
}

/// Writes `records` records, with `computation` seconds between them. `path` must not exist.
/// Collective.
inline Writing write_file(MPI_Comm comm, io::Writer& writer, Arrays& arrays,
                          const std::string& path, std::size_t records, double computation) {
  const io::Schema schema = schema_of(arrays.workload());
  Writing done;
  arrays.fill(0);
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  const auto file = writer.open(path, schema, {records > 1 ? std::optional<int>(0) : std::nullopt});
  for (std::size_t record = 0; record < records; ++record) {
    if (record > 0) {
      const double pause = MPI_Wtime();
      compute(computation);
      arrays.fill(record);
      MPI_Barrier(comm); // waiting for a straggler is not output either
      done.compute_seconds += MPI_Wtime() - pause;
    }
    arrays.put(*file, record);
    file->end_record(static_cast<std::int64_t>(record));
  }
  file->close(static_cast<std::int64_t>(records) - 1);
  const double visible = MPI_Wtime() - start - done.compute_seconds;
  writer.finish();
  done.seconds = slowest(comm, MPI_Wtime() - start - done.compute_seconds);
  done.visible_seconds = slowest(comm, visible);
  done.compute_seconds = slowest(comm, done.compute_seconds);
  done.summary = io::summarize(comm, file->statistics());
  done.hints = file->hints();
  done.servers = writer.server_reports();
  return done;
}

struct Reading {
  double seconds = 0.0; ///< slowest rank, including open
  io::ReadSummary summary;
  std::int64_t bytes = 0;    ///< requested by the ranks, in file types
  std::int64_t compared = 0; ///< values; 0 without `verify`
};

/// Reads what write_file() wrote, each rank its Arrays::read_boxes(). `verify` compares every value
/// (untimed): Difference on all ranks if one is wrong. Collective.
inline Reading read_file(MPI_Comm comm, const std::string& path, const io::ReadOptions& how,
                         const Arrays& arrays, std::size_t records, bool verify) {
  const std::vector<WorkloadVariable>& variables = arrays.workload().variables;
  Reading done;
  std::string difference; // the first one on this rank
  double not_reading = 0.0;
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  const io::Reader in(path, comm, how);
  const auto read = [&](std::size_t v, const Box& mine, std::size_t record) {
    const Box box = mine.in_record(variables[v].records ? record : io::no_record);
    const std::vector<double> values = in.read_block(variables[v].name, box.start, box.count);
    done.bytes += static_cast<std::int64_t>(values.size() * io::bytes_of(variables[v].type));
    if (!verify) return;
    const double pause = MPI_Wtime();
    if (difference.empty()) difference = arrays.difference(v, mine, record, values);
    done.compared += static_cast<std::int64_t>(values.size());
    MPI_Barrier(comm);
    not_reading += MPI_Wtime() - pause;
  };
  for (std::size_t record = 0; record < records; ++record) {
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (!variables[v].records && record > 0) continue;
      for (const Box& box : arrays.read_boxes(v)) read(v, box, record);
    }
  }
  done.seconds = slowest(comm, MPI_Wtime() - start - not_reading);
  done.summary = io::summarize(comm, in.statistics());
  MPI_Allreduce(MPI_IN_PLACE, &done.bytes, 1, MPI_INT64_T, MPI_SUM, comm);
  MPI_Allreduce(MPI_IN_PLACE, &done.compared, 1, MPI_INT64_T, MPI_SUM, comm);
  try {
    io::agree(comm, [&] {
      if (!difference.empty()) throw Error("file '" + path + "': " + difference);
    });
  } catch (const Error& error) {
    throw Difference(error.what());
  }
  return done;
}

/// Joins subfiles as nunatak-join does, collectively. Returns the seconds of the slowest rank.
inline double join_file(MPI_Comm comm, const std::string& path, const std::string& joined) {
  MPI_Barrier(comm);
  const double start = MPI_Wtime();
  io::join(comm, path, joined, {});
  return slowest(comm, MPI_Wtime() - start);
}

} // namespace nunatak::bench
