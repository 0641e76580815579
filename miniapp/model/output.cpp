#include "miniapp/model/output.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/base/agree.hpp"
#include "io/disk/mpi_io.hpp"
#include "io/durable/manifest.hpp"
#include "io/durable/recover.hpp"
#include "io/formats/classic.hpp"
#include "io/methods/registry.hpp"
#include "kernels/grid/constants.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/io_options.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/printed.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/variables.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

namespace nunatak {

namespace {

/// The names in a comma-separated list; blanks are ignored.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names = split(list, ',');
  for (std::string& name : names) {
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
  }
  return names;
}

/// The history attribute, padded to a multiple of 4 KiB so that it can grow in place.
std::string padded(std::string lines) {
  constexpr std::size_t block = 4096;
  lines.resize((lines.size() / block + 1) * block, ' ');
  return lines;
}

/// "s_00010.000.nc" of -snapshot_file s.nc or s.
std::string snapshot_path(std::string stem, double year) {
  if (ends_with(stem, ".nc")) stem.resize(stem.size() - 3);
  return stem + printed("_%09.3f.nc", year);
}

/// Throws Error if a snapshot of a later year is there and write-protected. On rank 0.
void check_snapshots(const std::string& option, double start_year) {
  namespace fs = std::filesystem;
  const fs::path first = snapshot_path(option, 0.0);
  const std::string stem =
      first.filename().string().substr(0, first.filename().string().rfind('_') + 1);
  const fs::path folder = first.has_parent_path() ? first.parent_path() : ".";
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.compare(0, stem.size(), stem) != 0) continue;
    const double year = std::strtod(name.c_str() + stem.size(), nullptr);
    const bool is_one = name == fs::path(snapshot_path(option, year)).filename().string();
    if (is_one && year > start_year && is_protected(entry.path().string()))
      throw Error("option -snapshot_file: cannot write '" + entry.path().string() +
                  "': the file is write-protected (-overwrite replaces it)");
  }
}

/// The block of an array in a file (y, x), (y, x, z) or, with `levels_first`, (z, y, x); `columns`:
/// it has levels.
template <class Array>
io::Block block_of(const Patch& p, bool columns, const Array& array, bool levels_first) {
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  const auto stride = [&](int n) { return static_cast<std::ptrdiff_t>(array.stride(n)); };
  io::Block block{{size(p.ys), size(p.xs)}, {size(p.ym), size(p.xm)}, {stride(0), stride(1)}};
  if (columns) {
    const auto at = levels_first ? 0 : 2;
    block.start.insert(block.start.begin() + at, 0);
    block.count.insert(block.count.begin() + at, array.extent(2));
    block.stride.insert(block.stride.begin() + at, array.extent(2) > 1 ? stride(2) : 1);
  }
  return block;
}

/// The bytes of all variables, with one record.
double bytes_of(const io::Schema& schema) {
  double bytes = 0.0;
  for (std::size_t v = 0; v < schema.variables.size(); ++v)
    bytes += static_cast<double>(io::whole_box(schema, v).elements() *
                                 io::bytes_of(schema.variables[v].type));
  return bytes;
}

} // namespace

Output::Output(const Options& options, Model& model, const std::vector<Scalar>& scalars,
               std::string history, Timers& timers, const Log& log)
    : m_options(options), m_model(model), m_grid(model.grid()), m_ranks(model.ranks()),
      m_title(model.initial().title()), m_history(std::move(history)), m_timers(timers), m_log(log),
      m_spatial_vars(names_in(options.spatial_vars)) {
  for (const std::string& name : m_spatial_vars) {
    try {
      variable_info(name);
    } catch (const Error& error) {
      throw Error(std::string("option -spatial_vars: ") + error.what());
    }
    if (!options.spatial_file.empty() && io::find(model.fields(), name) == nullptr) {
      const bool of_ocean =
          name.compare(0, 5, "pico_") == 0 || variable_info(name).role == Role::ocean;
      const std::string why =
          of_ocean ? " (expected -ocean pico, found " + options.ocean + ")" : "";
      throw Error("option -spatial_vars: " + name + " is not computed in this run" + why);
    }
  }
  io::check_schema(state_schema(options.output, model.fields(), true), options.io); // not later
  io::on_rank_0(m_ranks.comm(), [&] {
    if (options.snapshot_file.empty() || options.overwrite) return;
    check_snapshots(options.snapshot_file, model.initial().time() / seconds_per_year);
  });
  m_writer = std::make_unique<io::Writer>(m_ranks.comm(), options.io);

  Timers::Scope scope(m_timers, "output: open");
  m_spatial =
      open_series("spatial", options.spatial_file,
                  map_schema(m_grid, m_spatial_vars, m_title, m_history, options.io_order == "zyx"),
                  calendar_days(options.spatial_every * seconds_per_year));
  if (m_spatial.file && m_spatial.records == 0) put_coordinates(*m_spatial.file);
  m_series = open_series("timeseries", options.timeseries_file,
                         series_schema(scalars, m_title, m_history), 0.0);
}

/// `longest_gap`: largest interval (days) between records of one series.
Output::Series Output::open_series(const std::string& name, const std::string& path,
                                   io::Schema schema, double longest_gap) {
  Series series;
  if (path.empty()) return series;
  std::optional<OldSeries> old;
  std::string history = m_history;
  if (m_model.initial().continues() && !m_options.overwrite && m_options.io.format != "null") {
    try {
      const io::Recovered recovered = io::recover(m_ranks.comm(), path);
      if (recovered.records > 0)
        m_log.line(path + ": " + std::to_string(recovered.records) +
                   " records of a run that was killed are recovered");
      if (OldSeries::exists(path, m_ranks.comm(), recovered.why_not)) {
        if (m_options.i_verify) // otherwise a flipped bit would be copied and get a new checksum
          io::require_intact(m_ranks.comm(), path);
        old.emplace(path, schema, m_grid, calendar_days(m_model.initial().time()), longest_gap,
                    m_ranks.comm(), input_options(m_options));
        if (const std::string mark = m_model.initial().series(name); !mark.empty()) {
          series.kept = SeriesMark::of(mark);
          old->require_own(series.kept, schema, m_ranks.patch());
        } else {
          m_log.line(path + ": the state is of an earlier version and names no series");
        }
      }
    } catch (const Error& error) {
      throw Error("option -" + name + "_file: this run continues another one, but not its file '" +
                  path + "' (-overwrite replaces it): " + error.what());
    }
  }
  if (old) {
    series.records = old->records();
    series.last = old->last();
    history = old->history() + "\n" + m_history;
    m_log.line(path + ": " + std::to_string(old->records()) + " records are kept, " +
               std::to_string(old->later()) + " later ones are computed again");
  }
  series.kept.records = series.records;
  for (io::Attribute& attribute : schema.attributes) {
    if (attribute.name == "history") attribute = {"history", padded(history)};
    if (attribute.name == "title" && old && !old->title().empty())
      attribute = {"title", old->title()};
  }
  warn_of_kill(path);
  series.file = open(
      path, schema,
      {m_options.io_commit_every, static_cast<std::int64_t>(series.records), series.records > 0});
  if (series.records == 0) return series;
  if (series.file->is_continued()) {
    m_log.line(path + ": continued in place");
  } else {
    if (!series.file->why_anew().empty())
      m_log.line(path + ": written anew: " + series.file->why_anew());
    old->copy(*series.file, m_ranks.patch());
  }
  return series;
}

/// Snapshots are for runs that may be killed: says if this series would be lost then.
void Output::warn_of_kill(const std::string& path) const {
  if (m_options.snapshot_file.empty() || m_options.io.format == "null") return;
  const bool in_subfiles = io::layout_row(m_options.io).subfiles,
             in_place = io::has_features(m_options.io, io::by_runs) &&
                        m_options.io_commit_every > 0 && !in_subfiles;
  if (in_place || (!in_subfiles && io::makes_sums(m_options.io))) return;
  m_log.line(path + ": if this run is killed, no run can continue it with these records: " +
             (in_subfiles ? "they are in subfiles (-io_layout " + m_options.io.layout + ")"
                          : "they have no sums (-io_checksum none)"));
}

/// What a state says of a series at this time. Collective.
SeriesMark Output::mark_of(const Series& series) const {
  if (!series.file) return {};
  if (series.records == series.kept.records) return series.kept;
  SeriesMark mark{series.records};
  const std::uint64_t digest = series.file->digest_of_last_record();
  if (io::makes_sums(m_options.io)) mark.digest = digest;
  return mark;
}

/// Begins a record at this time (days); false if the series has it, as after a restart.
bool Output::begin_record(Series& series, double time) const {
  if (!series.file || time <= series.last + same_time) return false;
  series.last = time;
  series.records += 1;
  return true;
}

std::unique_ptr<io::File> Output::open(const std::string& path, const io::Schema& schema,
                                       io::FileOptions options) {
  auto file = m_writer->open(path, schema, options);
  const std::string kind =
      io::has_features(m_options.io, io::classic) ? io::classic_kind(schema) : "";
  if (std::exchange(m_kind, kind) != kind) m_log.line(path + ": a classic file, " + kind);
  const auto hints = file->hints();
  if (hints.count("ignored") > 0 &&
      std::exchange(m_ignored_hints, hints.at("ignored")) != hints.at("ignored"))
    m_log.line("hints for MPI-IO (" + hints.at("mpi_io") +
               ") that have no effect: " + hints.at("ignored"));
  return file;
}

/// x, y, z, lat, lon, cell_area of a file of map_schema().
void Output::put_coordinates(io::File& file) {
  std::vector<double> x, y;
  for (int i = 0; i < m_grid.Mx(); ++i) x.push_back(m_grid.x(i));
  for (int j = 0; j < m_grid.My(); ++j) y.push_back(m_grid.y(j));
  file.put_all("x", x);
  file.put_all("y", y);
  if (io::find(file.schema().dimensions, "z") != nullptr) file.put_all("z", m_grid.z);
  if (!m_grid.projection) return;
  file.put_all("mapping", std::vector<int>{0});
  const Patch patch = m_ranks.patch();
  for (int j = patch.ys; m_lat.size() < static_cast<std::size_t>(patch.cells()); ++j) { // once
    for (int i = patch.xs; i < patch.xs + patch.xm; ++i) {
      const auto place = m_grid.projection->inverse(x[static_cast<std::size_t>(i)],
                                                    y[static_cast<std::size_t>(j)]);
      m_lat.push_back(place.lat);
      m_lon.push_back(place.lon);
      m_area.push_back(m_grid.dx * m_grid.dy / (place.scale * place.scale));
    }
  }
  const auto size = [](int n) { return static_cast<std::size_t>(n); };
  const io::Block block{{size(patch.ys), size(patch.xs)}, {size(patch.ym), size(patch.xm)}, {}};
  file.put("lat", block, m_lat.data());
  file.put("lon", block, m_lon.data());
  file.put("cell_area", block, m_area.data());
}

void Output::put_field(io::File& file, std::size_t record, const Field& field) {
  const Patch p = m_ranks.patch();
  const VariableInfo& info = variable_info(field.name);
  std::visit(
      [&](const auto& on_device) {
        const auto array = on_host(on_device);
        if (device_memory)
          m_copies.push_back(std::make_shared<decltype(on_host(on_device))>(array));
        io::Block block =
            block_of(p, info.kind == Kind::columns, array, m_options.io_order == "zyx");
        if (std::string(info.internal_units) != info.units) // none of these units has an offset
          block.scale = {unit_conversion(info.internal_units, info.units, field.name)(1.0),
                         fill_value};
        // from the owned cell (1, 1)
        file.put(field.name, record, block, array.data() + array.stride(0) + array.stride(1));
      },
      field.array);
}

void Output::put_record(io::File& file, std::size_t record, double time, const FieldList& fields) {
  Kokkos::fence("output: the fields are there");
  m_copies.clear();
  file.put_all("time", record, std::vector<double>{calendar_days(time)});
  for (const io::Variable& v : file.schema().variables) {
    if (v.dimensions.size() < 3) continue; // a coordinate
    const Field* field = io::find(fields, v.name);
    if (field == nullptr)
      throw Error(file.path() + ": variable '" + v.name + "' is not computed in this run");
    put_field(file, record, *field);
  }
}

/// Throws Error naming `path` if a variable that a restart needs is not among the fields.
io::Schema Output::state_schema(const std::string& path, const FieldList& fields,
                                bool diagnostics) const {
  std::vector<std::string> names;
  std::string state_names; // read by a restart; the rest is diagnosed again
  for (const VariableInfo& variable : variables()) {
    const Field* field = io::find(fields, variable.name);
    const bool restart = field != nullptr && field->restart;
    const bool needed = variable.role == Role::ocean ? m_options.ocean != "none"
                                                     : variable.role != Role::diagnostic;
    if (needed && !restart)
      throw Error(path + ": variable '" + variable.name +
                  "' is missing (expected in every file that a run can start from)");
    if (restart) state_names += (state_names.empty() ? "" : " ") + std::string(variable.name);
    if (restart || (diagnostics && field != nullptr)) names.emplace_back(variable.name);
  }
  io::Schema schema = map_schema(m_grid, names, m_title, m_history, m_options.io_order == "zyx");
  schema.attributes.emplace_back("model_state_variables", state_names);
  return schema;
}

void Output::write_state(const std::string& path, const Clock& clock, const FieldList& fields,
                         bool diagnostics) {
  io::Schema schema = state_schema(path, fields, diagnostics);
  schema.attributes.emplace_back("model_time_seconds", clock.time());
  schema.attributes.emplace_back("model_grid_spacing", std::vector<double>{m_grid.dx, m_grid.dy});
  for (const auto& [name, series] : {std::pair{"spatial", &m_spatial}, {"timeseries", &m_series}})
    schema.attributes.emplace_back("model_" + std::string(name) + "_series",
                                   mark_of(*series).text());
  for (const auto& [name, value] : {std::pair{"init", m_options.init},
                                    {"stress", m_options.stress},
                                    {"rheology", m_options.rheology},
                                    {"ocean", m_options.ocean},
                                    {"energy", m_options.energy}}) {
    schema.attributes.emplace_back(std::string("option_") + name,
                                   value); // replaces "auto" in a restart
  }
  const double begin = m_timers.elapsed();
  const auto file = open(path, schema, {});
  put_coordinates(*file);
  put_record(*file, 0, clock.time(), fields);
  file->end_record(clock.steps());
  file->close(clock.steps());
  m_files.push_back(path);
  if (m_options.io.transport == "sync") {
    m_longest_write = std::fmax(m_longest_write, m_timers.elapsed() - begin);
    m_log.line("wrote " + path);
  } else if (m_ranks.first() == 0) {
    m_handed_over[path] = begin;
  }
  if (!diagnostics && !m_options.output.empty())
    m_result_share = bytes_of(state_schema(m_options.output, fields, true)) / bytes_of(schema);
  log_committed();
  log_layout(*file);
}

/// Logs files that were committed since the last call, by output servers too.
void Output::log_committed() {
  for (const std::string& path : m_writer->take_committed()) {
    m_log.line("wrote " + path);
    const auto at = m_handed_over.find(path);
    if (at == m_handed_over.end()) continue;
    const double now = m_timers.elapsed(), begin = std::fmax(at->second, m_last_commit);
    m_longest_write = std::fmax(m_longest_write, now - begin);
    m_last_commit = now;
    m_handed_over.erase(at);
  }
}

double Output::seconds_to_save() const {
  double one = m_longest_write, first = HUGE_VAL;
  for (const auto& [path, since] : m_handed_over) first = std::fmin(first, since);
  if (!m_handed_over.empty())
    one = std::fmax(one, m_timers.elapsed() - std::fmax(first, m_last_commit));
  return (static_cast<double>(m_handed_over.size()) + m_result_share) * one;
}

void Output::log_layout(const io::File& file) const {
  const auto hints = file.hints();
  const auto layout = hints.find("layout"); // of auto; on one node mostly nothing moves
  if (layout != hints.end() && layout->second.find("; 0 variable(s) move") == std::string::npos)
    m_log.line(file.path() + ": " + layout->second);
}

void Output::write_snapshot(const Clock& clock, const FieldList& fields) {
  Timers::Scope scope(m_timers, "output: snapshot");
  m_last_state = snapshot_path(m_options.snapshot_file, clock.time() / seconds_per_year);
  m_last_state_time = clock.time();
  if (m_series.file)
    // a restart from this snapshot continues the series
    m_series.file->commit(clock.steps());
  if (m_spatial.file) m_spatial.file->commit(clock.steps());
  write_state(m_last_state, clock, fields, false);
}

void Output::write_due(const Clock& clock, const Fields& fields) {
  const double time = clock.time();
  if (m_spatial.file && clock.is_due(clock.maps()) &&
      begin_record(m_spatial, calendar_days(time))) {
    Timers::Scope scope(m_timers, "output: spatial");
    put_record(*m_spatial.file, m_spatial.records - 1, time, fields());
    m_spatial.file->end_record(clock.steps());
  }
  if (time > m_model.initial().time() && clock.is_due(clock.snapshots()))
    write_snapshot(clock, fields());
}

void Output::write_scalars(const Clock& clock, const std::vector<Scalar>& scalars) {
  const double begin = calendar_days(clock.step_begin()), end = calendar_days(clock.time());
  if (!begin_record(m_series, end)) return;
  Timers::Scope scope(m_timers, "output: time series");
  const std::size_t record = m_series.records - 1;
  m_series.file->put_all("time", record, std::vector<double>{end});
  m_series.file->put_all("time_bnds", record, std::vector<double>{begin, end});
  for (const Scalar& scalar : scalars)
    m_series.file->put_all(scalar.name, record, std::vector<double>{scalar.value});
  m_series.file->end_record(clock.steps());
}

void Output::write_failed(const Clock& clock, const FieldList& fields) {
  if (m_options.ssa_failed_file.empty()) return;
  try {
    write_state(m_options.ssa_failed_file, clock, fields, true);
    finish_writing();
    // the solver's error matters more and is still to be reported
  } catch (const Error& error) {
    m_log.line(std::string("-ssa_failed_file not written: ") + error.what());
  }
}

std::string Output::finish(const Clock& clock, const Fields& fields) {
  const auto close = [&](const char* timer, const std::unique_ptr<io::File>& file) {
    if (!file) return;
    Timers::Scope scope(m_timers, timer);
    file->close(clock.steps());
    m_files.push_back(file->path());
    log_layout(*file);
  };
  // Series first: if the run is killed in between, it continues from an older snapshot.
  close("output: time series", m_series.file);
  close("output: spatial", m_spatial.file);
  if (!m_options.output.empty()) {
    Timers::Scope scope(m_timers, "output: result");
    m_last_state = m_options.output;
    m_last_state_time = clock.time();
    write_state(m_options.output, clock, fields(), true);
  } else if (!m_options.snapshot_file.empty() && !clock.finished() &&
             m_last_state_time != clock.time()) {
    write_snapshot(clock, fields());
  }
  finish_writing();
  return m_last_state;
}

/// Returns when everything written is durable.
void Output::finish_writing() {
  Timers::Scope scope(m_timers, "output: drain");
  const double begin = m_timers.elapsed();
  m_writer->finish();
  m_drain = m_timers.elapsed() - begin;
  log_committed();
}

void Output::check_budget(nlohmann::json& json) const {
  double seconds = 0.0; // means over ranks
  for (const Timers::Summary& timer : m_timers.summarise(m_ranks.comm())) {
    if (timer.name.rfind("output: ", 0) == 0) seconds += timer.time.mean;
  }
  const double elapsed = m_timers.elapsed(),
               percent = elapsed > 0.0 ? 100.0 * seconds / elapsed : 0.0;
  json["seconds"] = seconds;
  json["percent_of_run"] = percent;
  json["budget_percent"] = m_options.io_budget;
  if (m_options.io_budget == 0.0 || percent <= m_options.io_budget) return;
  if (elapsed < 60.0 && m_options.given.count("io_budget") == 0) return; // runs of seconds
  m_log.line(
      printed("warning: output took %.2f s of %.2f s, %.0f %% of the run (budget -io_budget %g %%)",
              seconds, elapsed, percent, m_options.io_budget));
}

nlohmann::json Output::report() const {
  const io::Summary s = io::summarize(m_ranks.comm(), m_writer->statistics());
  nlohmann::json json = {
      {"mpi_io", io::mpi_io_name()},           {"files", m_files},
      {"written_bytes", s.work.written_bytes}, {"written_operations", s.work.written_operations},
      {"moved_bytes", s.work.moved_bytes},     {"messages", s.work.messages},
      {"message_bytes", s.work.message_bytes}, {"off_node_bytes", s.work.off_node_bytes}};
  for (const auto& [name, text] : io::texts_of(m_options.io)) json[name] = text;
  for (std::size_t p = 0; p < io::n_phases; ++p) {
    nlohmann::json& phase = json["phases"][io::phase_names[p]] = min_mean_max(s.phases[p]);
    phase.update({{"bytes", s.phases[p].bytes}, {"operations", s.phases[p].operations}});
  }
  json["drain_seconds"] = m_drain;
  json["servers"] = servers_record(m_writer->server_reports());
  check_budget(json);
  return json;
}

} // namespace nunatak
