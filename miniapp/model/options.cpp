#include "miniapp/model/options.hpp"

#include "io/error.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/units.hpp"

#include <petscsys.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <variant>
#include <vector>

namespace nunatak {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using Member = std::variant<int Options::*, double Options::*, bool Options::*, std::string Options::*, const io::Knob*>;

struct Entry {
  std::string name;
  Member member;
  const char* unit; ///< of numbers; "" if none
  const char* doc;
  double min = -infinity, max = infinity;
  const char* words = ""; ///< allowed words, separated by |; "" for any
};

struct Group {
  const char* title;
  std::vector<Entry> entries;
};

/// The knobs of the io room.
Group knob_group() {
  Group group{"How files are written: see docs/output.md", {}};
  for (const io::Knob& knob : io::knobs()) {
    group.entries.push_back({std::string("io_") + knob.name, &knob, "", knob.doc, -infinity, infinity, knob.words});
  }
  return group;
}

// The one table of options.
std::vector<Group> make_table() {
  return {
      {"Where the run starts",
       {{"i", &Options::input, "", "NetCDF file with thk and topg, or a file written by nunatak, which continues that run"},
        {"io_read", &Options::io_read, "", "who reads it: every rank, rank 0 for all, or all together", -infinity, infinity,
         "each|serial|parallel"},
        {"init", &Options::init, "", "initial state without a file", -infinity, infinity, "dome|shelf|stream|marine"},
        {"seed", &Options::seed, "", "seed of -init marine: another number, another continent", 0}}},
      {"Grid; PETSc's options of a DMDA are heard, too: -da_processors_x, -da_grid_x, -da_refine, -dm_view, ...",
       {{"grid_Mx", &Options::Mx, "", "grid points along x (0: from the input, or 381)", 0},
        {"grid_My", &Options::My, "", "grid points along y (0: from the input, or as along x)", 0},
        {"grid_Mz", &Options::Mz, "", "vertical levels (0: from a restart file, or 31)", 0},
        {"grid_dx", &Options::dx, "m", "grid spacing (0: from the input, or from the number of points)", 0},
        {"grid_Lz", &Options::Lz, "m", "height of the column (0: from the thickest ice)", 0},
        {"grid_z_spacing", &Options::z_spacing, "", "levels finer near the bed, or equal", -infinity, infinity,
         "quadratic|equal"},
        {"grid_px", &Options::px, "", "ranks along x (0: about square patches, by PETSc's DMDA)", 0},
        {"grid_py", &Options::py, "", "ranks along y (0: the same)", 0},
        {"halo", &Options::halo, "",
         "ghost exchange: one message per neighbour for all arrays, or one array at a time through the DMDA's scatters",
         -infinity, infinity, "packed|dmda"}}},
      {"Time",
       {{"run_years", &Options::run_years, "year", "length of the run; 0: one step, then write", 0},
        {"run_steps", &Options::run_steps, "", "at most this many steps (0: no limit); without -run_years exactly this many", 0},
        {"dt_max", &Options::dt_max, "year", "longest time step", 1e-6}}},
      {"Stress balance",
       {{"stress", &Options::stress, "", "stress balance (auto: sia for dome, ssa for shelf and stream, else ssa+sia)", -infinity,
         infinity, "auto|sia|ssa|ssa+sia"},
        {"rheology", &Options::rheology, "",
         "ice softness: constant, or of its temperature (auto: isothermal for dome, shelf, stream)", -infinity, infinity,
         "auto|isothermal|paterson_budd"},
        {"softness", &Options::softness, "Pa-3 s-1", "A of isothermal ice", 1e-30},
        {"sia_e", &Options::sia_enhancement, "", "enhancement of the softness that follows from temperature, for shearing", 0.01,
         100},
        {"ssa_e", &Options::ssa_enhancement, "", "the same for stretching and sliding ice", 0.01, 100},
        {"sliding_q", &Options::sliding_q, "", "exponent of the pseudo-plastic sliding law, 0 is plastic", 0, 1},
        {"sliding_u_threshold", &Options::sliding_u_threshold, "m year-1", "threshold speed of the sliding law", 1e-3},
        {"till_phi_min", &Options::till_phi_min, "degree", "till friction angle at and below till_topg_min", 0.1, 89},
        {"till_phi_max", &Options::till_phi_max, "degree", "till friction angle at and above till_topg_max", 0.1, 89},
        {"till_topg_min", &Options::till_topg_min, "m", "bed elevation of the smallest friction angle"},
        {"till_topg_max", &Options::till_topg_max, "m", "bed elevation of the largest friction angle"},
        {"till_overburden_fraction", &Options::till_overburden_fraction, "",
         "effective pressure of a thawed till as a share of overburden", 1e-4, 1},
        {"till_subgrid", &Options::till_subgrid, "",
         "drag on the grounded part of a cell at the grounding line; false: on the whole cell if the mask says grounded"},
        {"till_frozen_below", &Options::till_frozen_below, "K",
         "the till of high beds is frozen, and carries all overburden, if this much below the melting point", 1e-3}}},
      {"Solver of the stress balance (SSA); PETSc's own options have the prefix ssa_, too: -ssa_ksp_type, -ssa_pc_type, ...",
       {{"ssa_tolerance", &Options::ssa_tolerance, "", "norm of the residual over that of the load at which a solve ends", 1e-14,
         0.1},
        {"ssa_max_steps", &Options::ssa_max_steps, "", "nonlinear steps after which a solve has failed", 1},
        {"ssa_operator", &Options::ssa_operator, "",
         "matrix for the Krylov method: rows in the order of the grid, none, PETSc's (auto: stencil, aij with -ssa_pc_type)",
         -infinity, infinity, "auto|stencil|elements|aij"},
        {"ssa_multigrid_precision", &Options::ssa_multigrid_precision, "", "of the preconditioner's numbers", -infinity, infinity,
         "single|double"},
        {"ssa_multigrid_smoothing", &Options::ssa_multigrid_smoothing, "", "degree of the Chebyshev smoother", 1, 10},
        {"ssa_multigrid_gather", &Options::ssa_multigrid_gather, "",
         "a level with at most so many unknown cells is gathered to every rank", 0},
        {"ssa_view", &Options::ssa_view, "", "print the solver in words after the first solve"},
        {"ssa_failed_file", &Options::ssa_failed_file, "", "where the state goes if a solve fails (none: nowhere)"}}},
      {"Climate where the input has none",
       {{"climatic_mass_balance", &Options::climatic_mass_balance, "kg m-2 year-1", "surface mass balance at sea level"},
        {"climatic_mass_balance_halving", &Options::climatic_mass_balance_halving, "K",
         "cooling of the surface with its elevation that halves snowfall (0: does not)", 0},
        {"ice_surface_temp", &Options::ice_surface_temp, "K", "temperature at the ice surface at sea level", 150, 273.15},
        {"ice_surface_lapse_rate", &Options::ice_surface_lapse_rate, "K km-1", "cooling of the ice surface with its elevation", 0,
         20},
        {"bheatflx", &Options::bheatflx, "W m-2", "geothermal heat flux", 0},
        {"theta_ocean", &Options::theta_ocean, "K", "ocean temperature for PICO", 200, 330},
        {"salinity_ocean", &Options::salinity_ocean, "g/kg", "ocean salinity for PICO", 0, 50},
        {"energy", &Options::energy, "", "compute the temperature of the ice (auto: on, or as the run that is continued)",
         -infinity, infinity, "auto|on|off"}}},
      {"Ocean",
       {{"ocean", &Options::ocean, "", "melt below ice shelves (auto: none for dome, shelf, stream)", -infinity, infinity,
         "auto|pico|none"},
        {"pico_gamma_T", &Options::pico_gamma_T, "m s-1", "turbulent heat exchange coefficient", 1e-12, 1},
        {"pico_overturning", &Options::pico_overturning, "", "overturning coefficient C, m6 s-1 kg-1", 1e-6, 1e12},
        {"pico_continental_shelf_depth", &Options::pico_continental_shelf_depth, "m",
         "bed elevation that bounds the continental shelf", -infinity, 0},
        {"pico_exclude_ice_rises", &Options::pico_exclude_ice_rises, "", "ice rises have no grounding line"},
        {"pico_boxes", &Options::pico_boxes, "", "number of boxes of the largest shelf", 1, 100},
        {"pico_distance", &Options::pico_distance, "", "distance solver", -infinity, infinity,
         "auto|buckets|gather|bfs|sweep|device|fsm"},
        {"pico_distance_guard", &Options::pico_distance_guard, "",
         "auto: rounds of buckets before gather takes over (-1: as many as gather would cost, 0: never)", -1, 1e9},
        {"pico_skip_unchanged", &Options::pico_skip_unchanged, "",
         "keep shelves, distances and boxes while cell types, continental shelf and basins do not change"},
        {"pico_redistribute", &Options::pico_redistribute, "",
         "let other ranks compute the melt of shelf cells (auto: if it pays)", -infinity, infinity, "off|on|auto"}}},
      {"Output",
       {{"o", &Options::output, "", "result: the model state at the end (a restart file)"},
        {"snapshot_file", &Options::snapshot_file, "", "snapshots: one file per time, <name>_<years>.nc (restart files)"},
        {"snapshot_every", &Options::snapshot_every, "year", "time between snapshots", 0},
        {"spatial_file", &Options::spatial_file, "", "maps, appended to one file"},
        {"spatial_vars", &Options::spatial_vars, "", "variables of the spatial file, separated by commas"},
        {"spatial_every", &Options::spatial_every, "year", "time between maps", 0},
        {"timeseries_file", &Options::timeseries_file, "", "scalars at every time step"},
        {"io_commit_every", &Options::io_commit_every, "",
         "a growing file is made durable after so many more records, and half as many again (0: at its end)", 0},
        {"io_order", &Options::io_order, "", "of dimensions in files: that of memory, or the one that tools want", -infinity,
         infinity, "yxz|zyx"},
        {"io_budget", &Options::io_budget, "%", "a line warns if output takes more of the time of the run (0: never)", 0, 100},
        {"dump", &Options::dump, "", "files of dump_buffer(name, array): <this><name>.nc (none: calls do nothing)"},
        {"io_trace", &Options::io_trace, "",
         "CSV of every call that the libraries make on the files written (perf/plot_trace.py)"},
        {"report", &Options::report, "", "JSON report of times, iterations, bytes, versions"},
        {"progress", &Options::progress, "",
         "progress and an estimate of the end on standard error (auto: if that is a terminal)", -infinity, infinity,
         "auto|on|off"},
        {"verbose", &Options::verbose, "", "print one line per time step and the table of times"}}},
      knob_group()};
}

const std::vector<Group>& table() {
  static const std::vector<Group> groups = make_table();
  return groups;
}

std::string text_of(const Options& options, const Entry& entry) {
  return std::visit(
      [&](auto member) -> std::string {
        if constexpr (std::is_same_v<decltype(member), const io::Knob*>) {
          return io::knob_text(options.io, *member);
        } else {
          using T = std::decay_t<decltype(options.*member)>;
          if constexpr (std::is_same_v<T, bool>) {
            return options.*member ? "true" : "false";
          } else if constexpr (std::is_same_v<T, std::string>) {
            return options.*member;
          } else {
            std::ostringstream s;
            s << options.*member;
            return s.str();
          }
        }
      },
      entry.member);
}

bool is_word_of(const std::string& word, const std::string& words) {
  return ("|" + words + "|").find("|" + word + "|") != std::string::npos;
}

std::string expected_range(const Entry& e) {
  std::ostringstream s;
  s << "expected a value";
  if (e.min > -infinity) s << " of at least " << e.min;
  if (e.max < infinity) s << (e.min > -infinity ? " and" : "") << " at most " << e.max;
  if (e.unit[0] != '\0') s << ' ' << e.unit;
  return s.str();
}

void set(Options& options, const Entry& entry, const std::string& value, bool has_value) {
  const std::string what = std::string("option -") + entry.name;
  const auto in_range = [&](double number) {
    if (!(number >= entry.min && number <= entry.max))
      throw Error(what + ": " + expected_range(entry) + ", found '" + value + "'");
  };
  if (const auto* knob = std::get_if<const io::Knob*>(&entry.member)) {
    if (!has_value && !std::holds_alternative<bool io::Options::*>((*knob)->member))
      throw Error(what + ": expected a value, found none");
    io::set_knob(options.io, **knob, has_value ? value : "yes", what);
    return;
  }
  std::visit(
      [&](auto member) {
        if constexpr (!std::is_same_v<decltype(member), const io::Knob*>) {
          using T = std::decay_t<decltype(options.*member)>;
          if constexpr (std::is_same_v<T, bool>) {
            if (!has_value || is_word_of(value, "true|yes|on|1")) {
              options.*member = true;
            } else if (is_word_of(value, "false|no|off|0")) {
              options.*member = false;
            } else {
              throw Error(what + ": expected true or false, found '" + value + "'");
            }
          } else if constexpr (std::is_same_v<T, std::string>) {
            if (!has_value || value.empty()) throw Error(what + ": expected a value, found none");
            if (entry.words[0] != '\0' && !is_word_of(value, entry.words)) {
              throw Error(what + ": expected one of " + entry.words + ", found '" + value + "'");
            }
            options.*member = value;
          } else {
            if (!has_value || value.empty()) throw Error(what + ": expected a number, found none");
            const double number = parse_quantity(value, entry.unit, what);
            in_range(number);
            if constexpr (std::is_same_v<T, int>) {
              if (number != std::floor(number) || std::fabs(number) > 2e9)
                throw Error(what + ": expected a whole number, found '" + value + "'");
            }
            options.*member = static_cast<T>(number);
          }
        }
      },
      entry.member);
}

const Entry* find(const std::string& name) {
  for (const Group& group : table()) {
    for (const Entry& entry : group.entries) {
      if (name == entry.name) return &entry;
    }
  }
  return nullptr;
}

std::string nearest(const std::string& name) {
  std::string best;
  std::size_t fewest = std::max<std::size_t>(3, name.size() / 3 + 1); // farther is no suggestion
  for (const Group& group : table()) {
    for (const Entry& entry : group.entries) {
      const std::size_t n = io::edit_distance(name, entry.name);
      if (n < fewest) fewest = n, best = entry.name;
    }
  }
  return best;
}

bool starts_with(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return name.compare(0, p.size(), p) == 0; });
}

struct Given {
  std::string name, value;
  bool has_value;
};

/// All options of PETSc's database that nobody has asked for yet.
std::vector<Given> unused_options() {
  PetscInt n = 0;
  char **names = nullptr, **values = nullptr;
  NUNATAK_PETSC(PetscOptionsLeftGet(nullptr, &n, &names, &values));
  std::vector<Given> all;
  for (PetscInt k = 0; k < n; ++k) all.push_back({names[k], values[k] != nullptr ? values[k] : "", values[k] != nullptr});
  NUNATAK_PETSC(PetscOptionsLeftRestore(nullptr, &n, &names, &values));
  return all;
}

[[noreturn]] void unknown(const std::string& name) {
  const std::string candidate = nearest(name);
  throw Error("unknown option -" + name + (candidate.empty() ? "" : "; did you mean -" + candidate + "?") +
              " (-help lists all options)");
}

void check_together(const Options& o) {
  const auto need = [](bool ok, const char* message) {
    if (!ok) throw Error(message);
  };
  need(o.till_phi_max >= o.till_phi_min, "options -till_phi_min and -till_phi_max: expected min <= max");
  need(o.till_topg_max > o.till_topg_min, "options -till_topg_min and -till_topg_max: expected min < max");
  need(o.snapshot_file.empty() == (o.snapshot_every == 0.0), "options -snapshot_file and -snapshot_every: expected both or none");
  need(o.snapshot_every == 0.0 || o.snapshot_every >= 0.001,
       "option -snapshot_every: expected at least 0.001 year (files are named by thousandths of a year)");
  const std::pair<const char*, const std::string&> files[] = {
      {"-o", o.output},      {"-spatial_file", o.spatial_file}, {"-timeseries_file", o.timeseries_file},
      {"-report", o.report}, {"-io_trace", o.io_trace},         {"-i", o.input}};
  for (const auto& a : files) {
    for (const auto& b : files) {
      const bool restart_in_place =
          std::string(a.first) == "-o" && std::string(b.first) == "-i"; // written when all has been read
      if (&a < &b && !a.second.empty() && a.second == b.second && !restart_in_place) {
        throw Error(std::string("options ") + a.first + " and " + b.first + ": expected different files, found '" + a.second +
                    "' twice");
      }
    }
  }
  io::check(o.io);
  need(o.spatial_file.empty() || o.spatial_every > 0.0, "option -spatial_every: expected a positive time with -spatial_file");
}

} // namespace

Options read_options() {
  Options options;
  for (const Given& given : unused_options()) {
    const Entry* entry = find(given.name);
    if (entry == nullptr) {
      if (starts_with(given.name, {"ssa_", "da_", "dm_"})) continue;              // PETSc's, see check_petsc_options
      if (given.name == "options_left" || given.name == "options_view") continue; // PETSc's own, looked at when it ends
      unknown(given.name);
    }
    PetscBool is_set = PETSC_FALSE;
    NUNATAK_PETSC(PetscOptionsHasName(nullptr, nullptr, ("-" + given.name).c_str(), &is_set)); // marks it as used
    set(options, *entry, given.value, given.has_value);
    options.given.insert(entry->name);
  }
  if (options.given.count("i") + options.given.count("init") == 2)
    throw Error("options -i and -init: expected one of them, found both");
  check_together(options);
  return options;
}

void check_petsc_options(const std::vector<std::string>& prefixes, const std::string& user) {
  for (const Given& given : unused_options()) {
    if (starts_with(given.name, prefixes))
      throw Error("unknown option -" + given.name + ": " + user + " does not use it (-help lists the model's options)");
  }
}

void print_help(std::ostream& out) {
  const Options defaults;
  out << "nunatak: a mini-app of an ice sheet model (hybrid SSA/SIA step, PICO, parallel output)\n\n"
         "  mpiexec -n 4 nunatak -init marine -grid_dx 16km -run_years 10 -o result.nc\n\n"
         "Numbers with a unit may be given in any unit that converts: -grid_dx 16km. -options_file reads options from a file\n"
         "(YAML if its name ends in .yaml or .yml). Options that start with ssa_ go to PETSc: -ssa_ksp_type cg -ssa_pc_type "
         "gamg.\n";
  for (const Group& group : table()) {
    out << "\n" << group.title << "\n";
    for (const Entry& entry : group.entries) {
      const std::string value = text_of(defaults, entry);
      std::string right = value.empty() ? "none" : value;
      if (entry.unit[0] != '\0') right += std::string(" ") + entry.unit;
      out << "  -" << std::left << std::setw(31) << entry.name << std::setw(20) << right << "  " << entry.doc;
      if (entry.words[0] != '\0') out << ": " << entry.words;
      out << "\n";
    }
  }
}

nlohmann::json to_json(const Options& options) {
  nlohmann::json json;
  for (const Group& group : table()) {
    for (const Entry& entry : group.entries) {
      std::visit(
          [&](auto member) {
            if constexpr (std::is_same_v<decltype(member), const io::Knob*>) {
              json[entry.name] = io::knob_text(options.io, *member);
            } else {
              json[entry.name] = options.*member;
            }
          },
          entry.member);
    }
  }
  return json;
}

} // namespace nunatak
