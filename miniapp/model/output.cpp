#include "miniapp/model/output.hpp"

#include "io/agree.hpp"
#include "io/formats/mpi_io.hpp"
#include "kernels/grid/constants.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/model/field_block.hpp"
#include "miniapp/model/variables.hpp"

#include <cmath>
#include <cstdio>
#include <utility>

namespace nunatak {

namespace {

/// The names in a list separated by commas, with or without blanks.
std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names = split(list, ',');
  for (std::string& name : names) {
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
  }
  return names;
}

/// The first multiple of `every` years later than `time` (s).
double next_multiple(double time, double every_years) {
  const double every = every_years * seconds_per_year;
  return (std::floor(time / every * (1.0 + 1e-14) + 1e-9) + 1.0) * every;
}

bool is_multiple(double time, double every_years) {
  const double n = time / (every_years * seconds_per_year);
  return std::fabs(n - std::round(n)) < 1e-9;
}

} // namespace

Output::Output(const Options& options, const Grid& grid, MpiRanks& ranks, double start_time, std::string title,
               std::string history, Timers& timers, const Log& log)
    : m_options(options), m_grid(grid), m_ranks(ranks), m_start(start_time), m_title(std::move(title)),
      m_history(std::move(history)), m_timers(timers), m_log(log), m_spatial_vars(names_in(options.spatial_vars)) {
  io::on_rank_0(ranks.comm(), [&] {
    require_writable("-o", options.output);
    require_writable("-snapshot_file", options.snapshot_file);
    require_writable("-spatial_file", options.spatial_file);
    require_writable("-timeseries_file", options.timeseries_file);
  });
  for (const std::string& name : m_spatial_vars) {
    try {
      variable_info(name);
    } catch (const Error& error) {
      throw Error(std::string("option -spatial_vars: ") + error.what());
    }
    if (name.compare(0, 5, "pico_") == 0 && options.ocean != "pico" && !options.spatial_file.empty()) {
      throw Error("option -spatial_vars: " + name + " is not computed in this run (expected -ocean pico, found " + options.ocean +
                  ")");
    }
  }
  m_writer = io::make_writer(ranks.comm(), options.io);

  Timers::Scope scope(m_timers, "output: open");
  if (!options.spatial_file.empty()) {
    m_spatial = open(options.spatial_file, map_schema(grid, m_spatial_vars, m_title, m_history, m_options.io_order == "zyx"),
                     {io::FileKind::append, options.io_commit_every});
    put_coordinates(*m_spatial, grid, ranks.patch());
  }
}

std::unique_ptr<io::File> Output::open(const std::string& path, const io::Schema& schema, io::FileOptions options) {
  auto file = m_writer->open(path, schema, options);
  const auto hints = file->hints();
  const auto ignored = hints.find("ignored");
  if (ignored != hints.end() && std::exchange(m_ignored_hints, ignored->second) != ignored->second)
    m_log.line("hints for MPI-IO (" + hints.at("mpi_io") + ") that have no effect: " + ignored->second);
  return file;
}

void Output::put_field(io::File& file, std::size_t record, const Field& field) {
  const Patch p = m_ranks.patch();
  const VariableInfo& info = variable_info(field.name);
  std::visit(
      [&](const auto& array) {
        using Array = std::decay_t<decltype(array)>;
        const io::Block block = field_block(p, info.kind == Kind::columns, levels_of(array), m_options.io_order == "zyx");
        const auto* first = first_owned(array, p);
        if constexpr (std::is_same_v<typename Array::value_type, double>) {
          if (std::string(info.internal_units) != info.units) {
            const auto convert = unit_conversion(info.internal_units, info.units, field.name);
            const double factor = convert(1.0); // no variable's unit has an offset
            std::vector<double> scaled(array.data(), array.data() + array.span());
            for (double& v : scaled) v = v == fill_value ? v : v * factor;
            file.put(field.name, record, block, scaled.data() + (first - array.data()));
            return;
          }
        }
        file.put(field.name, record, block, first);
      },
      field.array);
}

void Output::put_record(io::File& file, std::size_t record, double time, const FieldList& fields) {
  file.put_all("time", record, std::vector<double>{calendar_days(time)});
  for (const io::Variable& v : file.schema().variables) {
    if (v.dimensions.size() < 3) continue; // coordinates
    const Field* field = find(fields, v.name);
    if (field == nullptr) throw Error(file.path() + ": variable '" + v.name + "' is not computed in this run");
    put_field(file, record, *field);
  }
}

void Output::write_state(const std::string& path, const Clock& clock, const FieldList& fields, bool diagnostics) {
  std::vector<std::string> names;
  std::string state_names; // what a restart reads; the rest is diagnosed again
  for (const VariableInfo& variable : variables()) {
    const Field* field = find(fields, variable.name);
    const bool restart = field != nullptr && field->restart;
    if (variable.role == Role::restart && !restart)
      throw Error(path + ": variable '" + variable.name + "' is missing (expected in every file that a run can start from)");
    if (restart) state_names += (state_names.empty() ? "" : " ") + std::string(variable.name);
    if (restart || (diagnostics && field != nullptr)) names.emplace_back(variable.name);
  }
  io::Schema schema = map_schema(m_grid, names, m_title, m_history, m_options.io_order == "zyx");
  schema.attributes.emplace_back("model_time_seconds", clock.time());
  schema.attributes.emplace_back("model_state_variables", state_names);
  for (const auto& [name, value] : {std::pair{"init", m_options.init},
                                    {"stress", m_options.stress},
                                    {"rheology", m_options.rheology},
                                    {"ocean", m_options.ocean},
                                    {"energy", m_options.energy}}) {
    schema.attributes.emplace_back(std::string("option_") + name, value); // "auto" of the run that continues this one
  }
  const auto file = open(path, schema, {io::FileKind::once, 0});
  put_coordinates(*file, m_grid, m_ranks.patch());
  put_record(*file, 0, clock.time(), fields);
  file->end_record(clock.steps());
  file->close(clock.steps());
  m_files.push_back(path);
  m_log.line("wrote " + path);
}

void Output::write_due(const Clock& clock, const std::function<FieldList()>& fields) {
  const double time = clock.time();
  if (m_spatial && is_multiple(time, m_options.spatial_every)) {
    Timers::Scope scope(m_timers, "output: spatial");
    put_record(*m_spatial, m_spatial_records++, time, fields());
    m_spatial->end_record(clock.steps());
  }
  if (!m_options.snapshot_file.empty() && time > m_start && is_multiple(time, m_options.snapshot_every)) {
    Timers::Scope scope(m_timers, "output: snapshot");
    std::string stem = m_options.snapshot_file;
    if (stem.size() > 3 && stem.compare(stem.size() - 3, 3, ".nc") == 0) stem.resize(stem.size() - 3);
    char years[32];
    std::snprintf(years, sizeof years, "_%09.3f.nc", time / seconds_per_year);
    write_state(stem + years, clock, fields(), false);
  }
}

double Output::next_due(double time) const {
  double next = HUGE_VAL;
  if (m_spatial) next = std::fmin(next, next_multiple(time, m_options.spatial_every));
  if (!m_options.snapshot_file.empty()) next = std::fmin(next, next_multiple(time, m_options.snapshot_every));
  return next;
}

void Output::write_scalars(const Clock& clock, const std::vector<Scalar>& scalars) {
  if (m_options.timeseries_file.empty()) return;
  Timers::Scope scope(m_timers, "output: time series");
  if (!m_series) {
    m_series = open(m_options.timeseries_file, series_schema(scalars, m_title, m_history),
                    {io::FileKind::append, m_options.io_commit_every});
  }
  const std::size_t record = m_series_records++;
  const double begin = calendar_days(clock.step_begin()), end = calendar_days(clock.time());
  m_series->put_all("time", record, std::vector<double>{end});
  m_series->put_all("time_bnds", record, std::vector<double>{begin, end});
  for (const Scalar& scalar : scalars) m_series->put_all(scalar.name, record, std::vector<double>{scalar.value});
  m_series->end_record(clock.steps());
}

void Output::write_failed(const Clock& clock, const FieldList& fields) {
  if (m_options.ssa_failed_file == "none") return;
  try {
    write_state(m_options.ssa_failed_file, clock, fields, true);
  } catch (const io::Error& error) { // why the solve failed matters more, and is still to be reported
    m_log.line(std::string("-ssa_failed_file not written: ") + error.what());
  }
}

void Output::finish(const Clock& clock, const std::function<FieldList()>& fields) {
  const auto close = [&](const char* timer, io::File* file) {
    if (file == nullptr) return;
    Timers::Scope scope(m_timers, timer);
    file->close(clock.steps());
    m_files.push_back(file->path());
  };
  close("output: time series", m_series.get());
  close("output: spatial", m_spatial.get());
  if (m_options.output.empty()) return;
  Timers::Scope scope(m_timers, "output: result");
  write_state(m_options.output, clock, fields(), true);
}

void Output::check_budget(const io::Summary& s, double elapsed, nlohmann::json& json) const {
  double seconds = 0.0; // means over ranks
  std::size_t longest = 0;
  for (std::size_t p = 0; p < io::n_phases; ++p) {
    seconds += s.phases[p].mean;
    if (s.phases[p].mean > s.phases[longest].mean) longest = p;
  }
  const double percent = elapsed > 0.0 ? 100.0 * seconds / elapsed : 0.0;
  json["percent_of_run"] = percent;
  json["budget_percent"] = m_options.io_budget;
  if (m_options.io_budget == 0.0 || percent <= m_options.io_budget) return;
  if (elapsed < 60.0 && m_options.given.count("io_budget") == 0) return; // the share says nothing of a run of seconds
  char text[200];
  std::snprintf(text, sizeof text,
                "warning: output took %.2f s of %.2f s, %.0f %% of the run (budget -io_budget %g %%), most of it in %s (%.2f s)",
                seconds, elapsed, percent, m_options.io_budget, io::phase_names[longest], s.phases[longest].mean);
  m_log.line(text);
}

nlohmann::json Output::report(double elapsed) const {
  const io::Summary s = io::summarize(m_ranks.comm(), m_writer->statistics());
  nlohmann::json json = {{"mpi_io", io::mpi_io_name()},           {"files", m_files},
                         {"written_bytes", s.work.written_bytes}, {"written_operations", s.work.written_operations},
                         {"moved_bytes", s.work.moved_bytes},     {"messages", s.work.messages},
                         {"message_bytes", s.work.message_bytes}, {"off_node_bytes", s.work.off_node_bytes}};
  for (const io::Knob& knob : io::knobs()) json[knob.name] = io::knob_text(m_options.io, knob);
  for (std::size_t p = 0; p < io::n_phases; ++p) {
    const auto& e = s.phases[p];
    json["phases"][io::phase_names[p]] = {
        {"min", e.min}, {"mean", e.mean}, {"max", e.max}, {"bytes", e.bytes}, {"operations", e.operations}};
  }
  check_budget(s, elapsed, json);
  return json;
}

} // namespace nunatak
