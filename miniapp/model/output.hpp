// The files of a run, in four classes: time series (scalars at every step), spatial (chosen maps at intervals), snapshots
// (restart files at intervals) and the result (state and all diagnostics at the end; a restart file too). How they are written is
// chosen by the options -io_...: see io/options.hpp.
#pragma once

#include "io/writer.hpp"
#include "miniapp/base/log.hpp"
#include "miniapp/base/mpi_ranks.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/field.hpp"
#include "miniapp/model/grid.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/output_schema.hpp"
#include "miniapp/model/timers.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>

namespace nunatak {

class Output {
public:
  /// Collective. Throws Error naming option and file if a folder cannot be written or a spatial variable is not known.
  Output(const Options& options, const Grid& grid, MpiRanks& ranks, double start_time, std::string title, std::string history,
         Timers& timers, const Log& log);

  /// Write the maps and snapshots that are due at the time of `clock`. `fields()`: restart fields and diagnostics, asked for if
  /// something is due. Collective. Throws Error naming file and variable if a variable of the spatial file is not among them, or,
  /// for a snapshot, one without which there is no restart.
  void write_due(const Clock& clock, const std::function<FieldList()>& fields);
  /// The next time (s) at which write_due has something to do, later than `time`.
  double next_due(double time) const;

  /// One record of the time series, for the last step of `clock`; the same scalars at every call. Collective.
  void write_scalars(const Clock& clock, const std::vector<Scalar>& scalars);

  /// Write the state whose stress balance could not be solved, for inspection (-ssa_failed_file). Collective.
  /// Where that file cannot be written a line says so; nothing is thrown.
  void write_failed(const Clock& clock, const FieldList& fields);

  /// Write the result, close all files: durable on return. Collective. Throws as write_due does for a snapshot.
  void finish(const Clock& clock, const std::function<FieldList()>& fields);

  /// Seconds, bytes and operations of every phase, and the knobs. A line says so if output took more of the `elapsed` seconds of
  /// the run than -io_budget. Collective.
  nlohmann::json report(double elapsed) const;

private:
  /// Through the writer. A line says which hints have no effect, once for the same ones.
  std::unique_ptr<io::File> open(const std::string& path, const io::Schema& schema, io::FileOptions options);
  void write_state(const std::string& path, const Clock& clock, const FieldList& fields, bool diagnostics);
  void put_record(io::File& file, std::size_t record, double time, const FieldList& fields);
  void put_field(io::File& file, std::size_t record, const Field& field);
  void check_budget(const io::Summary& summary, double elapsed, nlohmann::json& json) const;

  const Options& m_options;
  const Grid& m_grid;
  MpiRanks& m_ranks;
  double m_start;
  std::string m_title, m_history;
  Timers& m_timers;
  const Log& m_log;
  std::unique_ptr<io::Writer> m_writer;
  std::vector<std::string> m_spatial_vars;
  std::unique_ptr<io::File> m_spatial, m_series;
  std::size_t m_spatial_records = 0, m_series_records = 0;
  std::string m_ignored_hints;
  nlohmann::json m_files = nlohmann::json::array();
};

} // namespace nunatak
