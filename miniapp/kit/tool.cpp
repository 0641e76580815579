#include "miniapp/kit/tool.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/world.hpp"
#include "miniapp/kit/netcdf.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace nunatak::kit {

namespace {

/// Writes the mask and the answer. Collective.
void write_answer(const std::string& path, const Mask& mask, const Answer& answer) {
  std::vector<Answer::Field> fields = {
      {mask.cell_types ? "mask" : "values", mask.name, mask.values()}};
  fields.insert(fields.end(), answer.fields.begin(), answer.fields.end());
  write_fields(path, mask.grid(), fields,
               {{"Conventions", "CF-1.8"}, {"title", mask.name}, {"source", answer.who}});
}

/// The fields of `like` in a file, where they may have other names, a list. Collective.
Answer read_answer(const std::string& path, const std::string& names, const MapGrid& grid,
                   const Answer& like) {
  Answer answer = like;
  answer.who = "the file '" + path + "'";
  answer.metric = "";
  if (!names.empty()) {
    const std::vector<std::string> words = split(names, ',');
    if (words.size() != like.fields.size())
      throw Error("option -expect_variable: expected names of " +
                  std::to_string(like.fields.size()) + " variables, found '" + names + "'");
    for (std::size_t f = 0; f < words.size(); ++f) answer.fields[f].name = words[f];
  }
  for (Answer::Field& field : answer.fields) {
    const GridValues values = read_field(path, field.name, grid);
    std::transform(values.begin(), values.end(), field.values.begin(), [](double v) {
      // no int: a value that never compares equal
      return std::fabs(v) < largest_int && v == std::rint(v) ? static_cast<int>(v) : -largest_int;
    });
  }
  return answer;
}

} // namespace

void KitOptions::add_to(OptionTable& table) {
  table.section("Regression kit: a corpus of cases, and a judge of answers");
  table.add(text("corpus", corpus, "folder to write cases with expected answers into"));
  table.add(text("check", answers, "folder of answers to judge; status 1 if one differs"));
  table.add(text("expect_variable", variable, "name of the variable in -check or -expect"));
  table.add(choice("sizes", sizes, "small|large", "extent of the corpus"));
  table.add(text("cases", names, "names of the cases to use, separated by commas (none: all)"));
}

void ToolOptions::add_to(OptionTable& table, const std::string& compared_with) {
  mask.add_to(table);
  table.add(
      text("domain", domain, "mask values of the domain: 0+2 (none: 3 for cell types, else 1)"));
  table.section("Ranks");
  ranks.add_to(table);
  table.section("Checks and output");
  table.add(
      flag("compare", compare, "comparison of " + compared_with + "; status 1 if they differ"));
  table.add(text("expect", expect,
                 "file of an earlier -o to compare with; status 1 if the results differ"));
  table.add(number("repeat", repeat, "", "timed runs, after a warm-up if more than 1", 1));
  table.add(text("o", output, "NetCDF file of the mask and the result"));
  table.add(text("report", report, "JSON file of all counts and times"));
  kit.add_to(table);
}

void ToolOptions::check() const {
  if (!output.empty()) require_netcdf("option -o");
  if (!expect.empty()) require_netcdf("option -expect");
  World().on_rank_0([&] {
    std::vector<NamedFile> files = {{"-i", mask.file, FileUse::read},
                                    {"-expect", expect, FileUse::read},
                                    {"-machine", ranks.machine.file, FileUse::read},
                                    {"-o", output, FileUse::netcdf},
                                    {"-report", report}};
    if (std::filesystem::is_directory(kit.answers))
      for (const auto& answer : std::filesystem::directory_iterator(kit.answers))
        files.push_back({"-check", answer.path().string(), FileUse::read});
    check_files(files);
  });
  ranks.check();
}

void Results::add(const Record& measured, const Answer& answer) {
  if (m_records.empty()) {
    if (!m_options.output.empty()) write_answer(m_options.output, m_mask, answer);
    if (!m_options.expect.empty())
      compare_with(read_answer(m_options.expect, m_options.kit.variable, m_mask.grid(), answer));
  }
  for (const Answer& reference : m_references) {
    if (!reference.metric.empty() && reference.metric != answer.metric) continue;
    m_compared += 1;
    if (m_difference) continue;
    m_fields.clear();
    for (std::size_t f = 0; f < answer.fields.size(); ++f) {
      const Answer::Field& expected = reference.fields[f];
      const FieldDifference d = compare(expected.name, expected.values, answer.fields[f].values);
      m_fields.push_back(d);
      if (d.wrong.empty() || m_difference) continue;
      m_difference = answer.who + " and " + reference.who + " differ in " + d.name + ", first in " +
                     located(d.wrong[0], m_mask.grid());
    }
  }
  Record record = {{"mask", m_mask.name}, {"Mx", m_mask.Mx}, {"My", m_mask.My}};
  record.update(measured);
  m_records.push_back(record);
}

void Results::report(const std::vector<std::string>& heading, const std::string& of_method,
                     const std::string& of_work) const {
  const bool compares = m_options.compare || !m_options.expect.empty();
  if (World().rank() == 0) {
    std::cout << m_mask.name << ": " << m_mask.Mx << " x " << m_mask.My << " cells\n";
    for (const std::string& line : heading) std::cout << line << "\n";
    std::cout << "\n";
    print_table(
        std::cout, m_records,
        "ranks, px: P, py: Q, " + of_method +
            ", messages, bytes, collectives, "
            "collective_bytes: coll. bytes, " +
            of_work +
            ", path_messages: path msgs, "
            "path_collectives: path coll., loggp_work_s*1e6: work us, loggp_s*1e6: LogGP us, "
            "wall_s*1e3: wall ms, wall_min_s*1e3: min, wall_max_s*1e3: max");
    if (compares && !m_difference) std::cout << "\nall equal (comparisons: " << m_compared << ")\n";
    if (m_difference) {
      std::cout << "\n";
      print_differences(std::cout, m_fields, m_mask.grid());
    }
    std::cout << std::flush;
  }
  write_json(m_options.report, {{"tool", m_tool},
                                {"version", NUNATAK_VERSION},
                                {"machine", to_json(m_options.ranks.machine.machine())},
                                {"comparisons", m_compared},
                                {"difference", m_difference ? Record(*m_difference) : Record()},
                                {"runs", m_records}});
  if (m_difference) throw Difference(*m_difference);
  if (compares && m_compared == 0) {
    throw Error("option -compare: expected at least two results (-solvers, -virtual_ranks, "
                "-expect), found one");
  }
}

} // namespace nunatak::kit
