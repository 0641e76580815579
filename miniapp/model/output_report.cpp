// What output has cost, for the report and against its budget. See output.hpp.
#include "miniapp/base/server_report.hpp"
#include "miniapp/model/output.hpp"

#include "io/formats/mpi_io.hpp"

#include <cstdio>
#include <string>

namespace nunatak {

void Output::check_budget(const io::Summary& s, nlohmann::json& json) const {
  double seconds = 0.0; // means over ranks
  for (const Timers::Summary& timer : m_timers.summarise(m_ranks.comm())) {
    if (timer.name.rfind("output: ", 0) == 0) seconds += timer.mean;
  }
  double longest = seconds; // between the phases: waiting for a rank that writes, making the fields
  for (const io::Summary::Entry& phase : s.phases) longest -= phase.mean;
  const char* where = "waiting between its phases";
  for (std::size_t p = 0; p < io::n_phases; ++p) {
    if (s.phases[p].mean > longest) longest = s.phases[p].mean, where = io::phase_names[p];
  }
  const double elapsed = m_timers.elapsed(),
               percent = elapsed > 0.0 ? 100.0 * seconds / elapsed : 0.0;
  json["seconds"] = seconds;
  json["percent_of_run"] = percent;
  json["budget_percent"] = m_options.io_budget;
  if (m_options.io_budget == 0.0 || percent <= m_options.io_budget) return;
  if (elapsed < 60.0 && m_options.given.count("io_budget") == 0)
    return; // the share says nothing of a run of seconds
  char text[200];
  std::snprintf(text, sizeof text,
                "warning: output took %.2f s of %.2f s, %.0f %% of the run (budget -io_budget %g "
                "%%), most of it in %s (%.2f s)",
                seconds, elapsed, percent, m_options.io_budget, where, longest);
  m_log.line(text);
}

nlohmann::json Output::report() const {
  const io::Summary s = io::summarize(m_ranks.comm(), m_writer->statistics());
  nlohmann::json json = {
      {"mpi_io", io::mpi_io_name()},           {"files", m_files},
      {"written_bytes", s.work.written_bytes}, {"written_operations", s.work.written_operations},
      {"moved_bytes", s.work.moved_bytes},     {"messages", s.work.messages},
      {"message_bytes", s.work.message_bytes}, {"off_node_bytes", s.work.off_node_bytes}};
  for (const io::Knob& knob : io::knobs()) json[knob.name] = io::knob_text(m_options.io, knob);
  for (std::size_t p = 0; p < io::n_phases; ++p) {
    const auto& e = s.phases[p];
    json["phases"][io::phase_names[p]] = {{"min", e.min},
                                          {"mean", e.mean},
                                          {"max", e.max},
                                          {"bytes", e.bytes},
                                          {"operations", e.operations}};
  }
  json["drain_seconds"] = m_drain;
  json["servers"] = servers_record(m_writer->server_reports());
  check_budget(s, json);
  return json;
}

} // namespace nunatak
