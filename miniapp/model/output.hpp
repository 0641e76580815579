// The files of a run, in four classes: time series (scalars at every step), spatial (chosen maps at
// intervals), snapshots (restart files at intervals) and the result (state and all diagnostics at
// the end; a restart file too). How they are written is chosen by the options -io_...: see
// io/options.hpp.
#pragma once

#include "io/writer.hpp"
#include "miniapp/base/log.hpp"
#include "miniapp/model/clock.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/options.hpp"
#include "miniapp/model/output_schema.hpp"
#include "miniapp/model/timers.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <memory>

namespace nunatak {

class Output {
public:
  /// Opens maps and time series (of these scalars). A run that continues another one continues its
  /// series, too (old_series.hpp). Collective. Throws Error naming option and file if a folder
  /// cannot be written, a spatial variable is not known, or a series cannot be continued. What is
  /// passed by reference must outlive this object.
  Output(const Options& options, Model& model, const std::vector<Scalar>& scalars,
         std::string history, Timers& timers, const Log& log);

  /// Restart fields and diagnostics of the present state: asked for if there is something to write.
  using Fields = std::function<FieldList()>;

  /// Write the maps and snapshots that are due at the time of `clock`. Collective. Throws Error
  /// naming file and variable if a variable of the spatial file is not among the fields, or, for a
  /// snapshot, one without which there is no restart.
  void write_due(const Clock& clock, const Fields& fields);
  /// The next time (s) at which write_due has something to do, later than `time`.
  double next_due(double time) const;

  /// One record of the time series, for the last step of `clock`; always the same scalars.
  /// Collective.
  void write_scalars(const Clock& clock, const std::vector<Scalar>& scalars);

  /// Write the state whose stress balance could not be solved, for inspection (-ssa_failed_file).
  /// Collective. Where that file cannot be written a line says so; nothing is thrown.
  void write_failed(const Clock& clock, const FieldList& fields);

  /// Write the result, close all files: durable on return. If there is none (no -o) and the run has
  /// not come to its end, a snapshot. Returns the name of the file that the run can be continued
  /// from, "" if there is none. Collective. Throws as write_due does for a snapshot.
  std::string finish(const Clock& clock, const Fields& fields);

  /// Seconds of the longest write of a state so far.
  double longest_write() const { return m_longest_write; }

  /// Seconds, bytes and operations of every phase, and the knobs. A line says so if output, with
  /// the waiting between its phases, took more of the run than -io_budget. Collective.
  nlohmann::json report() const;

private:
  /// A file that grows.
  struct Series {
    std::unique_ptr<io::File> file;
    std::size_t records = 0;
    double last = -HUGE_VAL; ///< time of the last record, days
  };
  Series open_series(const std::string& option, const std::string& path, io::Schema schema,
                     double longest_gap);
  bool begin_record(Series& series, double time) const;
  void write_snapshot(const Clock& clock, const FieldList& fields);
  /// Through the writer. A line says which hints have no effect, once for the same ones.
  std::unique_ptr<io::File> open(const std::string& path, const io::Schema& schema,
                                 io::FileOptions options);
  void write_state(const std::string& path, const Clock& clock, const FieldList& fields,
                   bool diagnostics);
  void log_layout(const io::File& file) const; ///< what the layout auto has chosen
  void put_record(io::File& file, std::size_t record, double time, const FieldList& fields);
  void put_field(io::File& file, std::size_t record, const Field& field);
  void tell_committed();
  void finish_writing();
  void check_budget(const io::Summary& summary, nlohmann::json& json) const;

  const Options& m_options;
  const Grid& m_grid;
  MpiRanks& m_ranks;
  Coordinates m_coordinates;
  double m_start; // s
  bool m_continues;
  std::string m_title, m_history;
  Timers& m_timers;
  const Log& m_log;
  std::unique_ptr<io::Writer> m_writer;
  std::vector<std::string> m_spatial_vars;
  Series m_spatial, m_series;
  std::string m_last_state;                                                   // its name
  double m_last_state_time = -HUGE_VAL, m_longest_write = 0.0, m_drain = 0.0; // s
  std::string m_kind; ///< of the classic file that was opened last; said where it changes
  std::string m_ignored_hints;
  std::vector<std::shared_ptr<const void>>
      m_copies; // of the fields of the last record, where the host does not reach them
  nlohmann::json m_files = nlohmann::json::array();
};

} // namespace nunatak
