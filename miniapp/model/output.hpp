// The files of a run: time series (scalars at every step), spatial (selected maps at intervals),
// snapshots (restart files at intervals), and the result (final state and all diagnostics, also a
// restart file). Options -io_... choose how they are written: see io/methods/method.hpp.
#pragma once

#include "io/write/writer.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/log.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/old_series.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/output_schema.hpp"
#include "miniapp/model/timers.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <memory>

namespace nunatak {

class Output {
public:
  /// Opens spatial file and time series; a restart continues its series (old_series.hpp).
  /// Collective. Throws Error naming option and file: unknown spatial variable, a
  /// series that cannot be continued. References must outlive this object.
  Output(const Options& options, Model& model, const std::vector<Scalar>& scalars,
         std::string history, Timers& timers, const Log& log);

  /// Restart fields and diagnostics of the present state; called only if a write is due.
  using Fields = std::function<FieldList()>;

  /// Writes maps and snapshots due at the time of `clock`. Collective. Throws Error naming file and
  /// variable if a spatial variable, or one that a restart needs, is not among the fields.
  void write_due(const Clock& clock, const Fields& fields);

  /// Appends a record for the last step of `clock`; always the same scalars. Collective.
  void write_scalars(const Clock& clock, const std::vector<Scalar>& scalars);

  /// Writes the state of a failed solve (-ssa_failed_file); only logs errors. Collective.
  void write_failed(const Clock& clock, const FieldList& fields);

  /// Writes the result and closes all files, durably. Without -o a run that ends early writes a
  /// snapshot. Returns the file to continue from, or "". Collective. Throws as write_due().
  std::string finish(const Clock& clock, const Fields& fields);

  /// The signal that output servers have received, on rank 0, and what they have committed.
  io::Request request() {
    const io::Request request = m_writer->request();
    log_committed();
    return request;
  }
  /// Seconds that the result would take, by its bytes and the longest write of a state so far. With
  /// servers, on rank 0, those that wait are written before it.
  double seconds_to_save() const;

  /// Seconds, bytes and operations per phase, and the io options. Logs a warning if output exceeded
  /// -io_budget. Collective.
  nlohmann::json report() const;

private:
  struct Series {
    std::unique_ptr<io::File> file;
    std::size_t records = 0;
    double last = -HUGE_VAL; ///< time of the last record, days
    SeriesMark kept;         ///< what the state says of the records that are kept
  };
  /// `name`: of the option, without _file.
  Series open_series(const std::string& name, const std::string& path, io::Schema schema,
                     double longest_gap);
  void warn_of_kill(const std::string& path) const;
  SeriesMark mark_of(const Series& series) const;
  io::Schema state_schema(const std::string& path, const FieldList& fields, bool diagnostics) const;
  bool begin_record(Series& series, double time) const;
  void write_snapshot(const Clock& clock, const FieldList& fields);
  /// Opens a file through the writer and logs, once, hints without effect.
  std::unique_ptr<io::File> open(const std::string& path, const io::Schema& schema,
                                 io::FileOptions options);
  void write_state(const std::string& path, const Clock& clock, const FieldList& fields,
                   bool diagnostics);
  void log_layout(const io::File& file) const; ///< logs the choice of -io_layout auto
  void put_coordinates(io::File& file);
  void put_record(io::File& file, std::size_t record, double time, const FieldList& fields);
  void put_field(io::File& file, std::size_t record, const Field& field);
  void log_committed();
  void finish_writing();
  void check_budget(nlohmann::json& json) const;

  const Options& m_options;
  const Model& m_model;
  const Grid& m_grid;
  MpiRanks& m_ranks;
  std::string m_title, m_history;
  std::vector<double> m_lat, m_lon, m_area; ///< of the patch; computed for the first file and kept
  Timers& m_timers;
  const Log& m_log;
  std::unique_ptr<io::Writer> m_writer;
  std::vector<std::string> m_spatial_vars;
  Series m_spatial, m_series;
  // name of the last snapshot or result
  std::string m_last_state;
  double m_last_state_time = -HUGE_VAL, m_longest_write = 0.0, m_drain = 0.0; // s
  double m_last_commit = 0.0;                  ///< by servers: when, s
  double m_result_share = 1.0;                 ///< bytes of the result over those of a snapshot
  std::map<std::string, double> m_handed_over; ///< states at servers, on rank 0: since when, s
  std::string m_kind; ///< kind of the last classic file; logged when it changes
  std::string m_ignored_hints;
  // host copies of device fields of the last record
  std::vector<std::shared_ptr<const void>> m_copies;
  nlohmann::json m_files = nlohmann::json::array();
};

} // namespace nunatak
