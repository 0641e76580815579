// nunatak-check: recomputes the PICO fields in a PISM file and compares them, for regression tests.
//
//   nunatak-check run.nc [-forcing ocean.nc] [-pism_2.3] [-picture differences.ppm]
//
// Exit status: 0 all equal, 1 some differ, 2 error. Examples: docs/howto/compare-with-pism.md.
// Neighbours: check/.
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/step_options.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/tools/check/differences.hpp"
#include "miniapp/tools/tool.hpp"

#include <algorithm>
#include <iostream>

using namespace nunatak;
using namespace nunatak::tools;

namespace {

struct CheckOptions {
  std::string input, forcing, fields, virtual_ranks, picture, json;
  bool pism_2_3 = false;
  double tolerance = 1e-9;
  PicoOptions pico;

  void add_to(OptionTable& table) {
    table.section("What is checked");
    table.add(
        text("i", input,
             "file with thk, topg, mask, basins and pico_... (or the first word, without -i)"));
    table.add(
        text("forcing", forcing, "file on the same grid with basins, theta_ocean, salinity_ocean"));
    table.add(
        text("fields", fields,
             "names of fields to compare, separated by commas (none: all that the file has)"));
    table.add(number("tolerance", tolerance, "",
                     "largest relative difference of temperature, salinity, overturning, melt", 0,
                     1));
    table.add(
        flag("pism_2.3", pism_2_3,
             "answers with two defects of PISM 2.3: labels that split, distances that saturate"));
    table.section("Parameters that the file does not have, or others than those");
    add_pico_options(table, pico);
    table.section("Ranks and output");
    table.add(text("virtual_ranks", virtual_ranks,
                   "P x Q ranks in one process, or a number: 2x2, 4 (none: those of mpiexec)"));
    table.add(text("picture", picture, "picture (PPM) of the cells that differ, in red"));
    table.add(text("report", json, "JSON file of all comparisons"));
  }

  bool wants(const std::string& field) const {
    const std::vector<std::string> names = split(fields, ',');
    return fields.empty() || std::find(names.begin(), names.end(), field) != names.end();
  }

  void check() const {
    if (input.empty()) throw Error("expected a file: nunatak-check FILE.nc, found none");
    require_one_process(virtual_ranks);
    World().on_rank_0([&] {
      check_files({{"-i", input, FileUse::read},
                   {"-forcing", forcing, FileUse::read},
                   {"-picture", picture},
                   {"-report", json}});
      require_writable("-picture", picture);
      require_writable("-report", json);
    });
    for (const std::string& name : split(fields, ',')) {
      const auto& all = pico_fields();
      const bool known =
          std::any_of(all.begin(), all.end(), [&](const PicoField& f) { return f.name == name; });
      if (!fields.empty() && name != "mask" && !known)
        throw Error("option -fields: '" + name + "' is not a field of PICO");
    }
  }
};

class Check {
public:
  Check(const CheckOptions& options, const std::set<std::string>& set)
      : m_options(options), m_file(options.input, options.forcing), m_pico(options.pico) {
    m_parameters = m_file.parameters(m_pico, set);
    const int Mx = static_cast<int>(m_file.x.size()), My = static_cast<int>(m_file.y.size());
    if (options.virtual_ranks.empty())
      m_ranks = World().ranks(Decomposition::make(Mx, My, World().size()));
    else
      m_ranks = std::make_unique<VirtualRanks>(decomposition_of(options.virtual_ranks, Mx, My));
    m_input = m_file.input(*m_ranks);
  }

  /// Compares all fields with a computation that has these defects. True if all are equal.
  bool run(PismDefects defects) {
    m_results.clear();
    m_left_out.clear();
    m_without_ocean.clear();
    m_marks.assign(m_file.x.size() * m_file.y.size(), 0.0);
    const PicoAnswer answer =
        compute_pico(*m_ranks, m_file, m_pico, m_input, m_file.ocean_source(), defects);
    m_shelves = answer.shelves;
    if (m_file.has("mask") && m_options.wants("mask"))
      m_results.push_back(compare_types(*m_ranks, m_file, m_input, m_marks));
    for (const PicoField& field : pico_fields()) {
      if (!m_options.wants(field.name)) continue;
      if (!m_file.has(field.name)) {
        m_left_out.push_back(field.name);
      } else if (field.is_water() && m_file.ocean_source() == OceanSource::none) {
        m_without_ocean.push_back(field.name);
      } else {
        m_results.push_back(
            compare_field(*m_ranks, m_file, field, answer.fields, m_options.tolerance, m_marks));
      }
    }
    if (m_results.empty())
      throw Error("file '" + m_file.path() +
                  "': expected fields of PICO (pico_shelf_mask, ...), found none");
    return std::all_of(m_results.begin(), m_results.end(),
                       [](const FieldDifference& d) { return d.different == 0; });
  }

  void report(bool equal, const std::string& remark) const {
    std::vector<Record> records;
    for (const FieldDifference& d : m_results) records.push_back(d.record(m_file));
    if (World().rank() == 0) print(std::cout, records, equal, remark);
    write_json(m_options.json, {{"file", m_file.path()},
                                {"version", NUNATAK_VERSION},
                                {"equal", equal},
                                {"remark", remark},
                                {"parameters", m_parameters},
                                {"fields", records},
                                {"not_in_the_file", m_left_out},
                                {"without_ocean", m_without_ocean}});
    write_picture(m_options.picture, *m_ranks, m_input, m_marks,
                  m_file.y.back() > m_file.y.front());
  }

private:
  void print(std::ostream& out, const std::vector<Record>& records, bool equal,
             const std::string& remark) const {
    const auto list = [&](const std::string& title, const std::vector<std::string>& names) {
      for (std::size_t n = 0; n < names.size(); ++n) out << (n == 0 ? title : ", ") << names[n];
      if (!names.empty()) out << "\n";
    };
    out << m_file.path() << ": " << m_file.x.size() << " x " << m_file.y.size() << " cells, "
        << m_shelves << " shelves\n";
    for (const std::string& line : m_parameters) out << "  " << line << "\n";
    if (m_file.ocean_source() == OceanSource::box0)
      out << "  water of box 0 is the file's (it has no theta_ocean, salinity_ocean)\n";
    out << "\n";
    print_table(out, records,
                {{"field", "field"},
                 {"compared", "cells"},
                 {"different", "different"},
                 {"largest", "largest difference"},
                 {"j", "first: j"},
                 {"i", "i"},
                 {"x_m", "x km", 1e-3},
                 {"y_m", "y km", 1e-3},
                 {"expected", "expected"},
                 {"found", "found"}});
    out << "\n";
    list("not compared, not in the file: ", m_left_out);
    list("not compared, the file has no theta_ocean and salinity_ocean, nor pico_..._box0: ",
         m_without_ocean);
    const auto different = std::count_if(m_results.begin(), m_results.end(),
                                         [](const auto& d) { return d.different > 0; });
    if (equal) out << "all equal (fields: " << m_results.size() << ")\n";
    if (!equal) out << "different: " << different << " of " << m_results.size() << " fields\n";
    if (!remark.empty()) out << remark << "\n";
    out << std::flush;
  }

  const CheckOptions& m_options;
  PicoFile m_file;
  PicoOptions m_pico;
  std::vector<std::string> m_parameters;
  std::unique_ptr<Ranks> m_ranks;
  std::vector<PicoInput> m_input;
  GridValues m_marks;
  int m_shelves = 0;
  std::vector<FieldDifference> m_results;
  std::vector<std::string> m_left_out, m_without_ocean;
};

/// States whether the defects of PISM 2.3 explain the differences.
std::string explanation(const CheckOptions& options, const std::set<std::string>& set) {
  const std::string then = "; with -pism_2.3 all fields are equal";
  Check other(options, set);
  if (other.run({false, true}))
    return "PISM 2.3's distances that saturate explain all of it" + then;
  if (other.run({true, false})) return "PISM 2.3's labels that split explain all of it" + then;
  if (other.run({true, true}))
    return "PISM 2.3's labels that split and distances that saturate explain all of it" + then;
  return "";
}

bool run(const CheckOptions& options, const std::set<std::string>& set) {
  options.check();
  Check check(options, set);
  const bool equal = check.run({options.pism_2_3, options.pism_2_3});
  check.report(equal, equal || options.pism_2_3 ? "" : explanation(options, set));
  return equal;
}

} // namespace

int main(int argc, char** argv) {
  bool equal = true;
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && !is_option(argv[1])) words.insert(words.begin() + 1, "-i");
  const int status = run_program(argc, argv, "nunatak-check", [&](Libraries&) {
    CheckOptions options;
    OptionTable table("nunatak-check: PICO's fields in a file of PISM, computed anew and compared",
                      "nunatak-check run.nc -forcing ocean.nc -picture differences.ppm");
    options.add_to(table);
    if (table.read(static_cast<int>(words.size()), words.data()))
      equal = run(options, table.names_set());
  });
  return status != 0 ? 2 : equal ? 0 : 1;
}
