// nunatak-check: recomputes the PICO fields in a PISM file and compares them, for regression tests.
//
//   nunatak-check run.nc [-forcing ocean.nc] [-pism_2.3]
//
// Neighbours: check_pico.hpp, pism_geometry.hpp.
#include "common/error.hpp"
#include "common/text.hpp"
#include "kernels/grid/virtual/virtual_ranks.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/step_options.hpp"
#include "miniapp/kit/check_pico.hpp"
#include "miniapp/kit/tool.hpp"

#include <algorithm>
#include <iostream>

using namespace nunatak;
using namespace nunatak::kit;

namespace {

template <class T> using PicoMap = Array2<T> PicoFields::*;

struct PicoField {
  const char *name, *unit;         ///< PISM's; unit "": a mask, compared exactly in every cell
  double scale, small;             ///< factor to `unit`; a negligible magnitude
  PicoMap<int> mask = nullptr;     ///< either this (nullptr: cell types), or
  PicoMap<double> water = nullptr; ///< this, compared in floating ice only
  bool is_water() const { return water != nullptr; }
};
using F = PicoFields;
/// All fields that a file may have. Small values of the melt, gamma / (nu lambda) times a
/// difference of two temperatures near 271 K, have the absolute error of its mean.
const PicoField pico_fields[] = {
    {"mask", "", 1.0, 0.0}, // of flotation
    {"pico_ice_rise_mask", "", 1.0, 0.0, &F::ice_rise_mask},
    {"pico_ocean_mask", "", 1.0, 0.0, &F::ocean_mask},
    {"pico_lake_mask", "", 1.0, 0.0, &F::lake_mask},
    {"pico_contshelf_mask", "", 1.0, 0.0, &F::contshelf_mask},
    {"pico_shelf_mask", "", 1.0, 0.0, &F::shelf_mask},
    {"pico_distance_gl", "", 1.0, 0.0, &F::distance_gl},
    {"pico_distance_cf", "", 1.0, 0.0, &F::distance_cf},
    {"pico_box_mask", "", 1.0, 0.0, &F::box_mask},
    {"pico_temperature_box0", "kelvin", 1.0, 0.0, nullptr, &F::temperature_box0},
    {"pico_salinity_box0", "g/kg", 1.0, 0.0, nullptr, &F::salinity_box0},
    {"pico_temperature", "kelvin", 1.0, 0.0, nullptr, &F::temperature},
    {"pico_salinity", "g/kg", 1.0, 0.0, nullptr, &F::salinity},
    {"pico_overturning", "m3 s-1", 1.0, 0.0, nullptr, &F::overturning},
    {"pico_basal_melt_rate", "m s-1", 1.0, 1e-8, nullptr, &F::melt},
    {"shelfbmassflux", "kg m-2 s-1", rho_ice, 1e-5, nullptr, &F::melt},
    {"shelfbtemp", "kelvin", 1.0, 0.0, nullptr, &F::base_temperature},
};

/// Compares masks exactly; shelves as partitions, independent of numbering; water in floating
/// ice, where |found - expected| <= tolerance (|found| + small). Collective.
FieldDifference compare_field(Ranks& ranks, const PicoFile& file, const PicoField& field,
                              const std::vector<PicoInput>& input,
                              const std::vector<PicoFields>& answer, double tolerance) {
  const GridValues found = file.read(field.name, field.unit);
  if (!field.is_water()) {
    GridValues expected = gathered(ranks, [&](std::size_t r, int j, int i) {
      return field.mask != nullptr ? (answer[r].*field.mask)(j, i)
                                   : cell_type(input[r].b(j, i), input[r].H(j, i));
    });
    if (field.mask == &PicoFields::shelf_mask) expected = with_numbers_of(expected, found);
    return compare(field.name, expected, found);
  }
  const GridValues expected = gathered(ranks, [&](std::size_t r, int j, int i) {
    return field.scale * (answer[r].*field.water)(j, i);
  });
  const GridValues where = gathered(ranks, [&](std::size_t r, int j, int i) {
    return answer[r].ice_rise_mask(j, i) == 3 ? 1.0 : 0.0; // floating ice
  });
  return compare(field.name, expected, found, where, tolerance, field.small);
}

struct CheckOptions {
  std::string input, forcing, fields, virtual_ranks, json;
  bool pism_2_3 = false;
  double tolerance = 1e-9;
  PicoOptions pico;

  void add_to(OptionTable& table) {
    table.section("What is checked");
    table.add(text("i", input,
                   "file with thk, topg, mask, basins and pico_... (or the first argument, without "
                   "-i)"));
    table.add(
        text("forcing", forcing, "file on the same grid with basins, theta_ocean, salinity_ocean"));
    table.add(text("fields", fields,
                   "names of fields to compare, separated by commas (none: all in the file)"));
    table.add(number("tolerance", tolerance, "",
                     "largest relative difference of temperature, salinity, overturning, melt", 0,
                     1));
    table.add(flag("pism_2.3", pism_2_3,
                   "what PISM 2.3 computes on as many ranks, with its defects (docs/pism.md)"));
    table.section("Parameters, if the file does not have them or to replace its values");
    add_pico_options(table, pico);
    table.section("Ranks and output");
    table.add(text("virtual_ranks", virtual_ranks,
                   "P x Q ranks in one process, or a number: 2x2, 4 (none: those of mpiexec)"));
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
      check_files(
          {{"-i", input, FileUse::read}, {"-forcing", forcing, FileUse::read}, {"-report", json}});
    });
    for (const std::string& name : split(fields, ',')) {
      const bool known = std::any_of(std::begin(pico_fields), std::end(pico_fields),
                                     [&](const PicoField& f) { return f.name == name; });
      if (!fields.empty() && !known)
        throw Error("option -fields: '" + name + "' is not a field of PICO");
    }
  }
};

bool is_water(const std::string& field) {
  return field.find("mask") == field.npos && field.find("distance") == field.npos;
}
bool is_mixed(const std::string& field) {
  return is_water(field) && field.find("box0") == field.npos;
}

struct Parameter {
  const char *option, *pism; ///< names; PISM's begins with ocean.pico.
  double factor;             ///< from PISM's unit to that of the option
  bool (*changes)(const std::string& field);
};
const Parameter parameters[] = {
    {"pico_gamma_T", "heat_exchange_coefficent", 1.0, is_mixed},
    {"pico_overturning", "overturning_coefficent", 1.0, is_mixed},
    {"pico_continental_shelf_depth", "continental_shelf_depth", 1.0,
     [](const std::string& field) { return field == "pico_contshelf_mask" || is_water(field); }},
    {"pico_continental_ice_area", "maximum_ice_rise_area", 1e6, // km2
     [](const std::string& field) { return field != "mask"; }},
    {"pico_boxes", "number_of_boxes", 1.0,
     [](const std::string& field) { return field == "pico_box_mask" || is_mixed(field); }},
    {"pico_exclude_ice_rises", "exclude_ice_rises", 1.0,
     [](const std::string& field) { return field != "mask"; }},
};

/// Sets the parameters that are not given as options to those of the file. Returns a line about
/// each: value and origin. `assumed`: those in neither.
std::vector<std::string> take_parameters(OptionTable& table, const PicoFile& file,
                                         std::vector<const Parameter*>& assumed) {
  const std::set<std::string> given = table.names_set();
  std::vector<std::string> lines;
  for (const Parameter& p : parameters) {
    std::string origin = "option";
    if (given.count(p.option) == 0) {
      const auto [value, where] = file.parameter(p.pism, p.factor);
      origin = value.empty() ? "default" : where;
      if (!value.empty()) table.set(p.option, &value);
      if (value.empty()) assumed.push_back(&p);
    }
    lines.push_back(std::string(p.option) + " = " + table.value_text(p.option) + " (" + origin +
                    ")");
  }
  return lines;
}

/// The comparison of all fields with one computation.
struct Comparison {
  std::vector<FieldDifference> fields;
  std::vector<std::string> left_out, without_ocean;
  int shelves = 0;

  std::int64_t different() const { // fields
    return std::count_if(fields.begin(), fields.end(),
                         [](const FieldDifference& d) { return !d.wrong.empty(); });
  }
  bool all_equal() const { return different() == 0; }
};

Comparison compare(const CheckOptions& options, const PicoFile& file, Ranks& ranks,
                   const std::vector<PicoInput>& input, unsigned behaviours) {
  Comparison all;
  const PicoAnswer answer =
      compute_pico(ranks, file, options.pico, input, file.ocean_source(), behaviours);
  all.shelves = answer.shelves;
  for (const PicoField& field : pico_fields) {
    if (!options.wants(field.name)) continue;
    if (!file.has(field.name)) {
      // without a mask cell types are those of flotation: nothing is left out
      if (field.mask == nullptr && !field.is_water()) continue;
      all.left_out.push_back(field.name);
    } else if (field.is_water() && file.ocean_source() == OceanSource::none) {
      all.without_ocean.push_back(field.name);
    } else {
      all.fields.push_back(
          compare_field(ranks, file, field, input, answer.fields, options.tolerance));
    }
  }
  if (all.fields.empty())
    throw Error("file '" + file.path() +
                "': expected fields of PICO (pico_shelf_mask, ...), found none");
  for (const std::string& name : split(options.fields, ',')) { // of no names one that is empty
    const bool is_compared = std::any_of(all.fields.begin(), all.fields.end(),
                                         [&](const FieldDifference& d) { return d.name == name; });
    if (!name.empty() && !is_compared)
      throw Error("file '" + file.path() + "': expected '" + name +
                  "' (-fields) and what it needs, found a file without");
  }
  return all;
}

/// What else is to be said: parameters that are assumed, basins that are rounded, PISM's behaviours
/// that explain the differences. `with(behaviours)`: another comparison.
template <class With>
std::vector<std::string>
remarks(const Comparison& all, const std::vector<const Parameter*>& assumed,
        const OptionTable& table, std::int64_t rounded, bool pism_2_3, const With& with) {
  std::vector<std::string> lines;
  if (rounded > 0)
    lines.push_back("basins: " + std::to_string(rounded) +
                    " cells have no whole number and are rounded, as in PISM");
  for (const Parameter* p : assumed) {
    const auto changed = std::count_if(all.fields.begin(), all.fields.end(), [&](const auto& d) {
      return !d.wrong.empty() && p->changes(d.name);
    });
    if (changed > 0)
      lines.push_back(std::string(p->option) +
                      " is not in the file: " + table.value_text(p->option) + " assumed; " +
                      std::to_string(changed) + " fields that depend on it differ");
  }
  if (all.all_equal() || pism_2_3) return lines;
  unsigned needed = all_of_pism;
  const std::int64_t left = with(needed).different();
  if (left >= all.different()) return lines;
  std::vector<std::string> words;
  for (const auto& [behaviour, text] : pism_behaviours) {
    if (with(needed & ~behaviour).different() > left)
      words.emplace_back(text);
    else
      needed &= ~behaviour;
  }
  lines.push_back("PISM 2.3's " + joined(words) +
                  (left == 0 ? " explain all of it; with -pism_2.3 all fields are equal"
                             : " explain a part; with -pism_2.3 fewer fields differ (" +
                                   std::to_string(left) +
                                   "); labels depend on the ranks of PISM's run (-virtual_ranks)"));
  return lines;
}

void print(const PicoFile& file, const std::vector<std::string>& lines, const Comparison& all,
           const std::vector<std::string>& remarks) {
  const auto list = [](const std::string& title, const std::vector<std::string>& names) {
    if (!names.empty()) std::cout << title << joined(names) << "\n";
  };
  std::cout << file.path() << ": " << file.grid().Mx << " x " << file.grid().My << " cells, "
            << all.shelves << " shelves\n";
  for (const std::string& line : lines) std::cout << "  " << line << "\n";
  if (file.ocean_source() == OceanSource::box0)
    std::cout << "  water of box 0 is the file's (it has no theta_ocean, salinity_ocean)\n";
  if (!file.has("mask"))
    std::cout << "  cell types follow from thk and topg (the file has no mask)\n";
  std::cout << "\n";
  print_differences(std::cout, all.fields, file.grid());
  std::cout << "\n";
  list("not compared, not in the file: ", all.left_out);
  list("not compared, the file has no theta_ocean and salinity_ocean, nor pico_..._box0: ",
       all.without_ocean);
  if (all.all_equal())
    std::cout << "all equal (fields: " << all.fields.size() << ")\n";
  else
    std::cout << "different: " << all.different() << " of " << all.fields.size() << " fields\n";
  for (const std::string& line : remarks) std::cout << line << "\n";
  std::cout << std::flush;
}

bool run(const CheckOptions& options, OptionTable& table) {
  options.check();
  const PicoFile file(options.input, options.forcing);
  std::vector<const Parameter*> assumed;
  const std::vector<std::string> lines = take_parameters(table, file, assumed);
  const int Mx = file.grid().Mx, My = file.grid().My;
  std::unique_ptr<Ranks> ranks;
  if (options.virtual_ranks.empty()) {
    ranks = World().ranks(Decomposition::make(Mx, My, World().size()));
  } else {
    ranks = std::make_unique<VirtualRanks>(decomposition_of(options.virtual_ranks, Mx, My));
  }
  std::int64_t rounded = 0;
  const std::vector<PicoInput> input = file.input(*ranks, rounded);
  const auto with = [&](unsigned behaviours) {
    return compare(options, file, *ranks, input, behaviours);
  };
  const Comparison all = with(options.pism_2_3 ? unsigned{all_of_pism} : 0);
  const std::vector<std::string> said =
      remarks(all, assumed, table, rounded, options.pism_2_3, with);

  std::vector<Record> records;
  for (const FieldDifference& d : all.fields) records.push_back(d.record(file.grid()));
  if (World().rank() == 0) print(file, lines, all, said);
  write_json(options.json, {{"file", file.path()},
                            {"version", NUNATAK_VERSION},
                            {"equal", all.all_equal()},
                            {"remarks", said},
                            {"parameters", lines},
                            {"fields", records},
                            {"not_in_the_file", all.left_out},
                            {"without_ocean", all.without_ocean}});
  return all.all_equal();
}

} // namespace

int main(int argc, char** argv) {
  std::vector<const char*> words(argv, argv + argc);
  if (argc > 1 && !is_option(argv[1])) words.insert(words.begin() + 1, "-i");
  return run_program(argc, argv, "nunatak-check", [&](Libraries&) {
    CheckOptions options;
    OptionTable table("nunatak-check: recomputes PICO's fields in a file of PISM and compares them",
                      "nunatak-check run.nc -forcing ocean.nc");
    options.add_to(table);
    if (!table.read(static_cast<int>(words.size()), words.data())) return 0;
    return run(options, table) ? 0 : exit_differs;
  });
}
