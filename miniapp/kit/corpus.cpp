// The regression kit of distance and labelling codes: a corpus of cases with answers that are
// right, and a judge of a folder of answers.
//
//   nunatak-distance -corpus cases                     cases/serpentine.nc, ..., cases/cases.json
//   nunatak-distance -check answers                    answers/serpentine.nc, ...
//
// A case is a file (y, x) of integers: `mask` (1 seed, 0 other cells of the domain, -1 outside),
// `distance` (1 at seeds, 2 at their neighbours, ...; 0 where no seed reaches, -1 outside), `label`
// (1, 2, ...; 0 outside), cell types and basins where a case has them. An answer is a file of the
// same name with one variable. The judge makes the cases anew, so that it needs no corpus. Same
// values on every machine. One process. Neighbours: flood.hpp (answers), compare.hpp (differences),
// mask_fields.hpp (seeds).
#include "common/error.hpp"
#include "common/text.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/world.hpp"
#include "miniapp/kit/flood.hpp"
#include "miniapp/kit/mask_fields.hpp"
#include "miniapp/kit/netcdf.hpp"
#include "miniapp/kit/tool.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace nunatak::kit {

namespace {

/// How a case is made: -mask, -grid_Mx, -grid_My, -seeds. Those of -sizes large begin with large_.
struct Row {
  const char* name;
  const char* mask;
  int Mx, My;
  const char *seeds, *catches;
};

const Row case_rows[] = {
    {"cell", "full", 1, 1, "corner", "a seed that counts as step 0"},
    {"row", "full", 97, 1, "left", "arrays of one row"},
    {"column", "full", 1, 97, "corner", "arrays of one column, more ranks than columns"},
    {"empty", "empty", 31, 23, "left", "a reduction over nothing, changed cells outside"},
    {"no_seed", "full", 19, 17, "near:9", "a loop that waits for a seed"},
    {"all_seeds", "full", 19, 17, "near:1", "a step from seed to seed"},
    {"full", "full", 33, 29, "corner", "off by one, diagonal steps, a side without ghosts"},
    {"periodic", "full", 21, 22, "at:1:1", "steps across the edge to the opposite side"},
    {"ties", "full", 25, 24, "boundary", "several seeds at an equal distance"},
    {"edge", "P1 9 7 110000011 110000011 000000000 001111100 000000000 110000011 110000011", 0, 0,
     "left", "shelves at the edge of the domain, joined with the opposite side"},
    {"diagonal", "checkerboard", 31, 27, "left", "neighbours by a corner"},
    {"neck",
     "P1 11 9 11111011111 11111011111 11111011111 11111111111 11111011111 11111011111 11111011111 "
     "00000000000 11111111111",
     0, 0, "corner", "a neck of one cell, cells behind a wall"},
    {"run", "P1 7 3 1000001 1011101 1110111", 0, 0, "corner",
     "a run of cells that touches several runs below: labels that depend on ranks"},
    {"basins", "P1 12 5 000000000000 011111111110 011111111110 011111111110 000000000000", 0, 0,
     "at:2:1", "a shelf split where two basins meet"},
    {"comb", "comb", 64, 48, "corner", "paths that cross subdomain boundaries often"},
    {"unreached", "percolation:0.5:7", 61, 53, "random:3:5", "marks of cells without a way"},
    {"percolation", "percolation:0.593:2", 131, 117, "random:1:40", "components of all sizes"},
    {"serpentine", "serpentine", 101, 99, "corner", "a search that stops at 2 max(Mx, My) steps"},
    {"spiral", "spiral", 95, 87, "corner", "the same in all directions, rows taken for columns"},
    {"int16_distance", "serpentine", 257, 257, "corner", "distances above 2^15 - 1"},
    {"int16_label", "checkerboard", 259, 257, "left", "more than 2^15 components"},
    {"shelves_front", "shelves:1", 160, 120, "beside:4", "errors to the front of an ice sheet"},
    {"shelves_ground", "shelves:1", 160, 120, "near:0+2", "errors to a grounding line"},
    {"shelves_rough", "shelves:5:1.0", 151, 143, "near:0+2", "ice rises, islands, ragged fronts"},
    {"large_full", "full", 1500, 1400, "corner", "errors on an open grid"},
    {"large_comb", "comb", 1000, 900, "corner", "paths that cross boundaries often"},
    {"large_percolation", "percolation:0.593:2", 1000, 1100, "random:1:400", "winding paths"},
    {"large_serpentine", "serpentine", 1025, 1023, "corner", "half a million steps"},
    {"large_spiral", "spiral", 1023, 1001, "corner", "half a million steps"},
    {"large_checkerboard", "checkerboard", 1025, 1023, "left", "half a million components"},
    {"large_shelves_front", "shelves:1", 1280, 960, "beside:4", "errors on a large ice sheet"},
    {"large_shelves_ground", "shelves:1", 1280, 960, "near:0+2", "errors on a large ice sheet"},
};

struct Case {
  std::string name, catches;
  MapGrid grid;
  std::vector<Answer::Field> fields; ///< mask, distance, label, perhaps cell_type or basins

  const std::vector<int>& expected(Judged judged) const {
    return fields[judged == Judged::distance ? 1 : 2].values;
  }
};

/// A case for each rule of the seeds.
std::vector<Case> make_cases(const std::string& name, const std::string& catches, const Mask& mask,
                             const std::string& domain, const std::string& seeds) {
  MapGrid grid = mask.grid();
  for (int i = 0; i < mask.Mx && mask.x.empty(); ++i) grid.x.push_back(1e3 * i);
  for (int j = 0; j < mask.My && mask.y.empty(); ++j) grid.y.push_back(1e3 * j);
  const SeedRules rules(seeds, domain, mask);
  VirtualRanks ranks(Decomposition::make(mask.Mx, mask.My, 1));
  std::vector<Case> cases;
  for (const auto& start : rules.fields(ranks)) {
    Case c{name, catches, grid, {}};
    if (rules.names().size() > 1) c.name += "_" + std::to_string(cases.size() + 1);
    const std::vector<int> values =
        gathered<int>(ranks, [&](std::size_t, int j, int i) { return start[0](j, i); });
    c.fields = {{"mask", "1 seed, 0 other cells of the domain, -1 outside", values},
                {"distance", "steps from the seeds, which have 1; 0: no way, -1: outside",
                 flood_distances(mask.Mx, mask.My, values)},
                {"label", "connected components in raster order, 0: outside",
                 flood_labels(mask.Mx, mask.My, values)}};
    if (mask.cell_types)
      c.fields.push_back(
          {"cell_type", "0 bare land, 2 grounded, 3 floating, 4 ocean", mask.values()});
    if (name == "basins") {
      c.fields.push_back({"basins", "drainage basin", values});
      for (std::size_t n = 0; n < values.size(); ++n)
        c.fields.back().values[n] = n % grid.x.size() < grid.x.size() / 2 ? 1 : 2;
    }
    cases.push_back(std::move(c));
  }
  return cases;
}

/// Calls f for each case, one after another, so that one is in memory.
template <class F>
void for_each_case(const ToolOptions& options, const std::string& seeds, const F& f) {
  const std::vector<std::string> names =
      options.kit.names.empty() ? std::vector<std::string>() : split(options.kit.names, ',');
  std::vector<std::string> all;
  const auto wants = [&](const std::string& name) {
    all.push_back(name);
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Row& row : case_rows) {
    const bool is_large = std::string(row.name).rfind("large_", 0) == 0;
    if ((is_large && options.kit.sizes != "large") || !wants(row.name)) continue;
    const Mask mask = read_mask({"", "", row.mask, row.Mx, row.My});
    f(make_cases(row.name, row.catches, mask, "", row.seeds).front());
  }
  if (!options.mask.file.empty() || !options.mask.mask.empty()) {
    const Mask mask = read_mask(options.mask);
    for (const Case& c :
         make_cases("given", "errors on " + mask.name, mask, options.domain, seeds)) {
      if (wants(c.name)) f(c);
    }
  }
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    throw Error("option -cases: expected names of " + joined(all) + ", found '" + name + "'");
  }
}

Record summary(const Case& c) {
  const std::vector<int>&distance = c.expected(Judged::distance),
        &label = c.expected(Judged::label);
  return {{"case", c.name},
          {"Mx", c.grid.Mx},
          {"My", c.grid.My},
          {"cells", std::count_if(distance.begin(), distance.end(), [](int d) { return d >= 0; })},
          {"seeds", std::count(distance.begin(), distance.end(), 1)},
          {"no_way", std::count(distance.begin(), distance.end(), 0)},
          {"largest", *std::max_element(distance.begin(), distance.end())},
          {"components", *std::max_element(label.begin(), label.end())},
          {"catches", c.catches}};
}

void write_corpus(const ToolOptions& options, const std::string& seeds) {
  const std::string& folder = options.kit.corpus;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder))
    throw Error("option -corpus: expected a folder that can be created, found '" + folder +
                "': " + error.message());
  if (lies_in(options.mask.file, folder))
    throw Error("option -corpus: expected a folder without the file of -i, found '" +
                options.mask.file + "' there");
  std::vector<Record> records;
  for_each_case(options, seeds, [&](const Case& c) {
    write_fields(folder + "/" + c.name + ".nc", c.grid, c.fields,
                 {{"Conventions", "CF-1.8"}, {"title", c.name}, {"catches", c.catches}});
    records.push_back(summary(c));
  });
  write_json(folder + "/cases.json", records);
  std::cout << records.size() << " cases in " << folder << "\n";
}

/// A row of the table; "text" says what is wrong and is "" if the answer is equal.
Record judge(const KitOptions& options, const std::string& variable, const Case& c, Judged judged) {
  Record record = {{"case", c.name}, {"Mx", c.grid.Mx}, {"My", c.grid.My}, {"text", ""}};
  const std::vector<int>& whole = c.expected(judged);
  GridValues expected(whole.begin(), whole.end()), found;
  try {
    found = read_field(options.answers + "/" + c.name + ".nc", variable, c.grid);
  } catch (const Error& error) {
    record["result"] = "no answer";
    record["text"] = error.what() + std::string("\n");
    return record;
  }
  if (judged == Judged::label) expected = with_numbers_of(expected, found);
  const FieldDifference d = compare(variable, expected, found);
  record.update(d.record(c.grid));
  record["result"] = d.wrong.empty() ? "equal" : "differs";
  if (!d.wrong.empty()) record["text"] = details(d, c.grid, "  ");
  return record;
}

void check_answers(const std::string& tool, const ToolOptions& options, const std::string& seeds,
                   Judged judged) {
  const KitOptions& kit = options.kit;
  if (!std::filesystem::is_directory(kit.answers))
    throw Error("option -check: expected a folder of answers, found none of the name '" +
                kit.answers + "'");
  const std::string usual = judged == Judged::distance ? "distance" : "label",
                    variable = kit.variable.empty() ? usual : kit.variable;
  std::vector<Record> records;
  std::string texts;
  std::vector<std::string> differing;
  int missing = 0;
  for_each_case(options, seeds, [&](const Case& c) {
    records.push_back(judge(kit, variable, c, judged));
    const std::string result = records.back()["result"], text = records.back()["text"];
    if (result == "equal") return;
    if (result == "differs")
      differing.push_back(c.name);
    else
      missing += 1;
    texts += "\n" + c.name + ", which catches " + c.catches + "\n" + text;
  });
  print_table(std::cout, records,
              "case, Mx, My, result, different: wrong cells, largest: largest difference");
  const int all = static_cast<int>(records.size()), different = static_cast<int>(differing.size());
  std::cout << texts << "\n"
            << all << " cases: " << all - different - missing << " equal, " << different
            << " differ, " << missing << " without an answer\n"
            << std::flush;
  write_json(options.report, {{"tool", tool}, {"version", NUNATAK_VERSION}, {"cases", records}});
  const std::string of_all = " of " + std::to_string(all) + " cases";
  if (missing > 0)
    throw Error(std::to_string(missing) + of_all + ": expected an answer, found none");
  if (different > 0)
    throw Difference(std::to_string(different) + of_all + " differ: " + joined(differing));
}

} // namespace

void run_kit(const std::string& tool, const ToolOptions& options, const std::string& seeds,
             Judged judged) {
  const bool writes = !options.kit.corpus.empty();
  const std::string option = writes ? "option -corpus" : "option -check";
  require_netcdf(option);
  if (World().size() > 1)
    throw Error(option + ": expected one process, found " + std::to_string(World().size()));
  if (writes && !options.kit.answers.empty())
    throw Error("options -corpus and -check: expected one of them, found both");
  if (writes) return write_corpus(options, seeds);
  check_answers(tool, options, seeds, judged);
}

} // namespace nunatak::kit
