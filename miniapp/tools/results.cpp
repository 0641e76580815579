#include "miniapp/tools/results.hpp"

#include "miniapp/base/error.hpp"
#include "miniapp/base/world.hpp"
#include "miniapp/tools/netcdf.hpp"

#include <algorithm>
#include <iostream>
#include <limits>

namespace nunatak::tools {

std::vector<int> collect(const Ranks& ranks, const Patch& rectangle,
                         const std::vector<Array2<int>>& local) {
  std::vector<int> values(static_cast<std::size_t>(rectangle.cells()));
  for (int r = 0; r < ranks.local_size(); ++r) {
    const Patch p = ranks.patch(r);
    const Array2<int>& from = local[static_cast<std::size_t>(r)];
    for (int j = 1; j <= p.ym; ++j) {
      const std::int64_t row = p.global_j(j) - rectangle.ys,
                         first = row * rectangle.xm + p.xs - rectangle.xs;
      for (int i = 1; i <= p.xm; ++i) values[static_cast<std::size_t>(first + i - 1)] = from(j, i);
    }
  }
  return values;
}

std::optional<std::string> first_difference(const Answer& expected, const Answer& found) {
  const Patch& p = expected.rectangle;
  const auto fields = static_cast<std::int64_t>(expected.fields.size());
  constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
  std::int64_t mine = nowhere; // cell * fields + field
  std::int64_t values[2] = {std::numeric_limits<std::int64_t>::min(),
                            std::numeric_limits<std::int64_t>::min()};
  for (std::int64_t f = 0; f < fields; ++f) {
    const auto &a = expected.fields[static_cast<std::size_t>(f)].values,
               &b = found.fields[static_cast<std::size_t>(f)].values;
    const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    if (at == a.end()) continue;
    const std::int64_t n = at - a.begin(), cell = (p.ys + n / p.xm) * p.Mx + p.xs + n % p.xm;
    if (cell * fields + f >= mine) continue;
    mine = cell * fields + f;
    values[0] = *at, values[1] = *other;
  }
  const World world;
  const std::int64_t first = -world.max(-mine);
  if (first == nowhere) return std::nullopt;
  if (mine != first) values[0] = values[1] = std::numeric_limits<std::int64_t>::min();
  for (std::int64_t& value : values) value = world.max(value);
  const std::int64_t cell = first / fields;
  return found.who + " and " + expected.who +
         " differ first at j = " + std::to_string(cell / p.Mx) +
         ", i = " + std::to_string(cell % p.Mx) + " in " +
         expected.fields[static_cast<std::size_t>(first % fields)].name + ": found " +
         std::to_string(values[1]) + ", expected " + std::to_string(values[0]);
}

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
  const auto add = [&](const std::vector<Column>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
  };
  add(of_method);
  add({{"messages", "messages"},
       {"bytes", "bytes"},
       {"collectives", "collectives"},
       {"collective_bytes", "coll. bytes"}});
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
    throw Error("option -compare: expected two answers at least (-solvers, -virtual_ranks, "
                "-expect), found one");
  }
}

nlohmann::ordered_json Results::to_json() const {
  nlohmann::ordered_json json;
  json["tool"] = m_tool, json["version"] = NUNATAK_VERSION;
  json["machine"] = nunatak::to_json(m_options.ranks.machine.machine());
  json["comparisons"] = m_compared;
  json["difference"] =
      m_difference ? nlohmann::ordered_json(*m_difference) : nlohmann::ordered_json();
  json["runs"] = m_records;
  return json;
}

} // namespace nunatak::tools
