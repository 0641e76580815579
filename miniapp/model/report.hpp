// The final report of a run: a table on the screen and, with -report, JSON with more detail.
#pragma once

#include "miniapp/base/log.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/timers.hpp"

#include <nlohmann/json.hpp>

#include <mpi.h>

namespace nunatak {

/// The current time in ISO 8601.
std::string utc_now();

class Report {
public:
  /// Throws Error naming the file at once if `options.report` cannot be written.
  Report(const Options& options, const Grid& grid, MPI_Comm comm);

  /// Adds facts of a part of the run under their own key: report.add({{"ssa", ...}}).
  void add(const nlohmann::json& facts) { m_json.update(facts); }

  /// Reduces the timers over ranks, prints the table to the log and writes the file. Collective.
  void finish(const Timers& timers, const Log& log);

private:
  nlohmann::json m_json;
  std::string m_path;
  MPI_Comm m_comm;
};

} // namespace nunatak
