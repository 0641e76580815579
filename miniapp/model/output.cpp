#include "miniapp/model/output.hpp"

#include "io/agree.hpp"
#include "io/formats/mpi_io.hpp"
#include "kernels/grid/constants.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/units.hpp"
#include "miniapp/model/field_block.hpp"
#include "miniapp/model/variables.hpp"

#include <cmath>
#include <cstdio>
#include <sstream>

namespace nunatak {

namespace {

/// The names in a list separated by commas, with or without blanks.
std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> list;
  std::istringstream in(words + ",");
  for (std::string word; std::getline(in, word, ',');) {
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    list.push_back(word);
  }
  return list;
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
      m_history(std::move(history)), m_timers(timers), m_log(log), m_spatial_vars(split(options.spatial_vars)) {
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
    m_spatial =
        m_writer->open(options.spatial_file, map_schema(grid, m_spatial_vars, m_title, m_history, m_options.io_order == "zyx"),
                       {io::FileKind::append, options.io_commit_every});
    put_coordinates(*m_spatial, grid, ranks.patch());
  }
}

void Output::put_field(io::File& file, std::size_t record, const Field& field) {
  const Patch p = m_ranks.patch();
  std::visit(
      [&](const auto& array) {
        using Array = std::decay_t<decltype(array)>;
        const VariableInfo& info = variable_info(array.label());
        const io::Block block = field_block(p, info.columns, levels_of(array), m_options.io_order == "zyx");
        const auto* first = first_owned(array, p);
        if constexpr (std::is_same_v<typename Array::value_type, double>) {
          if (std::string(info.internal_units) != info.units) {
            const auto convert = unit_conversion(info.internal_units, info.units, array.label());
            const double factor = convert(1.0); // no variable's unit has an offset
            std::vector<double> scaled(array.data(), array.data() + array.span());
            for (double& v : scaled) v = v == fill_value ? v : v * factor;
            file.put(info.name, record, block, scaled.data() + (first - array.data()));
            return;
          }
        }
        file.put(info.name, record, block, first);
      },
      field);
}

void Output::put_record(io::File& file, std::size_t record, double time, const FieldList& fields) {
  file.put_all("time", record, std::vector<double>{calendar_days(time)});
  for (const io::Variable& v : file.schema().variables) {
    if (v.dimensions.size() < 3) continue; // coordinates
    const Field* field = fields.find(v.name);
    if (field == nullptr) throw Error(file.path() + ": variable '" + v.name + "' is not computed in this run");
    put_field(file, record, *field);
  }
}

void Output::write_state(const std::string& path, double time, std::int64_t step, const FieldList& restart,
                         const FieldList& fields) {
  std::vector<std::string> names;
  std::string state_names; // what a restart reads; the rest is diagnosed again
  for (const std::string& name : variable_names()) {
    if (fields.find(name) != nullptr) names.push_back(name);
    if (restart.find(name) != nullptr) state_names += (state_names.empty() ? "" : " ") + name;
  }
  io::Schema schema = map_schema(m_grid, names, m_title, m_history, m_options.io_order == "zyx");
  schema.attributes.emplace_back("model_time_seconds", time);
  schema.attributes.emplace_back("model_state_variables", state_names);
  for (const auto& [name, value] : {std::pair{"init", m_options.init},
                                    {"stress", m_options.stress},
                                    {"rheology", m_options.rheology},
                                    {"ocean", m_options.ocean},
                                    {"energy", m_options.energy}}) {
    schema.attributes.emplace_back(std::string("option_") + name, value); // "auto" of the run that continues this one
  }
  const auto file = m_writer->open(path, schema, {io::FileKind::once, 0});
  put_coordinates(*file, m_grid, m_ranks.patch());
  put_record(*file, 0, time, fields);
  file->end_record(step);
  file->close(step);
  m_files.push_back(path);
  m_log.line("wrote " + path);
}

void Output::write_due(double time, std::int64_t step, const FieldList& restart, const std::function<FieldList()>& all) {
  if (m_spatial && is_multiple(time, m_options.spatial_every)) {
    Timers::Scope scope(m_timers, "output: spatial");
    put_record(*m_spatial, m_spatial_records++, time, all());
    m_spatial->end_record(step);
  }
  if (!m_options.snapshot_file.empty() && time > m_start && is_multiple(time, m_options.snapshot_every)) {
    Timers::Scope scope(m_timers, "output: snapshot");
    std::string stem = m_options.snapshot_file;
    if (stem.size() > 3 && stem.compare(stem.size() - 3, 3, ".nc") == 0) stem.resize(stem.size() - 3);
    char years[32];
    std::snprintf(years, sizeof years, "_%09.3f.nc", time / seconds_per_year);
    write_state(stem + years, time, step, restart, restart);
  }
}

double Output::next_due(double time) const {
  double next = HUGE_VAL;
  if (m_spatial) next = std::fmin(next, next_multiple(time, m_options.spatial_every));
  if (!m_options.snapshot_file.empty()) next = std::fmin(next, next_multiple(time, m_options.snapshot_every));
  return next;
}

void Output::write_scalars(const std::vector<Scalar>& scalars, const std::vector<double>& values, double begin, double end,
                           std::int64_t step) {
  if (m_options.timeseries_file.empty()) return;
  Timers::Scope scope(m_timers, "output: time series");
  if (!m_series) {
    m_series = m_writer->open(m_options.timeseries_file, series_schema(scalars, m_title, m_history),
                              {io::FileKind::append, m_options.io_commit_every});
  }
  const std::size_t record = m_series_records++;
  m_series->put_all("time", record, std::vector<double>{calendar_days(end)});
  m_series->put_all("time_bnds", record, std::vector<double>{calendar_days(begin), calendar_days(end)});
  for (std::size_t n = 0; n < scalars.size(); ++n) m_series->put_all(scalars[n].name, record, std::vector<double>{values[n]});
  m_series->end_record(step);
}

void Output::write_failed(double time, std::int64_t step, const FieldList& restart, const FieldList& fields) {
  if (m_options.ssa_failed_file == "none") return;
  try {
    write_state(m_options.ssa_failed_file, time, step, restart, fields);
  } catch (const io::Error& error) { // why the solve failed matters more, and is still to be told
    m_log.line(std::string("-ssa_failed_file not written: ") + error.what());
  }
}

void Output::finish(double time, std::int64_t step, const FieldList& restart, const std::function<FieldList()>& all) {
  if (m_series) {
    Timers::Scope scope(m_timers, "output: time series");
    m_series->close(step);
    m_files.push_back(m_series->path());
  }
  if (m_spatial) {
    Timers::Scope scope(m_timers, "output: spatial");
    m_spatial->close(step);
    m_files.push_back(m_spatial->path());
  }
  if (!m_options.output.empty()) {
    Timers::Scope scope(m_timers, "output: result");
    write_state(m_options.output, time, step, restart, all());
  }
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
