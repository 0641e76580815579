// What a run tells at its end: a table on the screen and, with -report, the same and more as JSON.
#pragma once

#include "miniapp/base/log.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/timers.hpp"

#include <nlohmann/json.hpp>

#include <mpi.h>

namespace nunatak {

/// Now, in ISO 8601.
std::string utc_now();

/// This program and every library that it runs with, name -> version.
nlohmann::json versions();

class Report {
public:
  /// Throws Error naming the file if `options.report` cannot be written: at the start of the run,
  /// not at its end.
  Report(const Options& options, const Grid& grid, MPI_Comm comm);

  /// Facts of a part of the run, under a key of their own: report.add({{"ssa", ...}}).
  void add(const nlohmann::json& facts) { m_json.update(facts); }

  /// Reduce the timers over ranks, print the table to the log and write the file. Collective.
  void finish(const Timers& timers, const Log& log);

private:
  nlohmann::json m_json;
  std::string m_path;
  MPI_Comm m_comm;
};

} // namespace nunatak
