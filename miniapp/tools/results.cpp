#include "miniapp/tools/results.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/base/world.hpp"
#include "miniapp/tools/netcdf.hpp"

#include <iostream>

namespace nunatak::tools {

void Results::add(const Record& measured, const Answer& answer) {
  if (m_records.empty()) {
    write_answer(m_options.output, m_mask, answer);
    if (!m_options.expect.empty()) compare_with(read_answer(m_options.expect, answer));
  }
  for (const Answer& reference : m_references) {
    if (!reference.metric.empty() && reference.metric != answer.metric) continue;
    const std::optional<std::string> difference = first_difference(reference, answer);
    m_compared += 1;
    if (!m_difference) m_difference = difference;
  }
  Record record;
  record["mask"] = m_mask.name;
  record["Mx"] = m_mask.Mx, record["My"] = m_mask.My;
  record.update(measured);
  m_records.push_back(record);
}

void Results::report(const std::vector<std::string>& heading, const std::vector<Column>& of_method,
                     const std::vector<Column>& of_work) const {
  std::vector<Column> columns = {{"ranks", "ranks"}, {"px", "P"}, {"py", "Q"}};
  const auto add = [&](const std::vector<Column>& more) { columns.insert(columns.end(), more.begin(), more.end()); };
  add(of_method);
  add({{"messages", "messages"}, {"bytes", "bytes"}, {"collectives", "collectives"}, {"collective_bytes", "coll. bytes"}});
  add(of_work);
  add({{"path_messages", "path msgs"},
       {"path_collectives", "path coll."},
       {"loggp_work_s", "work us", 1e6},
       {"loggp_s", "LogGP us", 1e6},
       {"wall_s", "wall ms", 1e3},
       {"wall_min_s", "min", 1e3},
       {"wall_max_s", "max", 1e3}});
  const bool compares = m_options.compare || !m_options.expect.empty();
  if (World().rank() == 0) {
    std::cout << m_mask.name << ": " << m_mask.Mx << " x " << m_mask.My << " cells\n";
    for (const std::string& line : heading) std::cout << line << "\n";
    std::cout << "\n";
    print_table(std::cout, m_records, columns);
    if (compares && !m_difference) std::cout << "\nall equal (comparisons: " << m_compared << ")\n";
    std::cout << std::flush;
  }
  write_json(m_options.json, to_json());
  write_csv(m_options.csv, m_records, m_options.csv_append);
  if (m_difference) throw Error(*m_difference);
  if (compares && m_compared == 0) {
    throw Error("option -compare: expected two answers at least (-solvers, -virtual_ranks, -expect), found one");
  }
}

nlohmann::ordered_json Results::to_json() const {
  nlohmann::ordered_json json;
  json["tool"] = m_tool, json["version"] = NUNATAK_VERSION;
  json["machine"] = nunatak::to_json(m_options.machine.machine());
  json["comparisons"] = m_compared;
  json["difference"] = m_difference ? nlohmann::ordered_json(*m_difference) : nlohmann::ordered_json();
  json["runs"] = m_records;
  return json;
}

} // namespace nunatak::tools
