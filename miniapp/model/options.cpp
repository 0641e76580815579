#include "miniapp/model/options.hpp"

#include "common/error.hpp"
#include "io/base/agree.hpp"
#include "io/base/watchdog.hpp"
#include "io/durable/manifest.hpp"
#include "io/methods/registry.hpp"
#include "kernels/distance/distance.hpp"
#include "kernels/ice/levels.hpp"
#include "miniapp/base/io_options.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/step_options.hpp"
#include "miniapp/model/initial.hpp"
#include "miniapp/model/session.hpp"

#include <cmath>
#include <vector>

namespace nunatak {

namespace {

/// The options that -like sets, with their values.
std::vector<std::pair<std::string, std::string>> like(const std::string& name) {
  if (name == "none") return {};
  return {{"halo", "pism"},         {"ssa_solver", "pism"},
          {"till_subgrid", "no"},   {"pico_distance", name == "pism" ? "sweep" : "bfs"},
          {"pico_batch", "no"},     {"pico_skip_unchanged", "no"},
          {"io_format", "netcdf4"}, {"io_transport", "sync"}};
}

/// For -help and errors: "-halo dmda, -ssa_solver pism, ...".
std::string like_in_words(const std::string& name) {
  std::string words;
  for (const auto& [option, value] : like(name))
    words += (words.empty() ? "-" : ", -") + option + " " + value;
  return words;
}

constexpr int most_points = 1000000; // along one direction
constexpr double longest_run = 1e7;  // years

void add_start_and_grid(OptionTable& table, Options& o) {
  table.section("Where the run starts");
  table.add(text(
      "i", o.input,
      "NetCDF file with thk and topg, or a file written by nunatak, which continues that run"));
  table.add(flag("i_verify", o.i_verify,
                 "verification of that file, and of series that are continued, against the "
                 "checksums in manifest.jsonl, if there are any"));
  table.add(
      choice("io_read", o.io_read, io::reader_words(),
             "ranks that read that file: each its own block, rank 0 for all, all collectively, "
             "or one per node for the others (auto: each on a single node, else direct)"));
  table.add(choice("init", o.init, generator_words(), "initial state without a file"));
  table.add(number("seed", o.seed, "", "seed of the random continent of -init marine", 0));

  table.section("Grid; PETSc's options of a DMDA are also accepted: -da_processors_x, -da_grid_x, "
                "-da_refine, -dm_view, ...");
  table.add(
      number("grid_Mx", o.Mx, "",
             "grid points along x (0: from the input or the default of -init, 381 for marine)", 0,
             most_points));
  table.add(number(
      "grid_My", o.My, "",
      "grid points along y (0: from the input or -init, or for square cells if -grid_Mx is given)",
      0, most_points));
  table.add(number("grid_Mz", o.Mz, "", "vertical levels (0: from a restart file, or 31)", 0,
                   max_levels));
  table.add(number("grid_dx", o.dx, "m",
                   "grid spacing (0: from the input, or from the number of points)", 0, 1e7));
  table.add(
      number("grid_Lz", o.Lz, "m", "height of the column (0: from the thickest ice)", 0, 1e5));
  table.add(choice("grid_z_spacing", o.z_spacing, "quadratic|equal",
                   "spacing of the levels: finer near the bed, or equal"));
  table.add(number("grid_px", o.px, "", "ranks along x (0: chosen by PETSc's DMDA)", 0));
  table.add(number("grid_py", o.py, "", "ranks along y (0: chosen by PETSc's DMDA)", 0));
  add_grid_cut(table, o.cut);
  table.add(
      choice("halo", o.halo, "auto|packed|loops|dmda|pism",
             "ghost exchange: one message per neighbour for all arrays, packed on the host or by "
             "kernels (auto: by kernels on a GPU), or array by array through the DMDA's scatter "
             "(pism: two cells wide and periodic, as PISM's)"));
  table.add(choice("gpu_aware_mpi", o.gpu_aware_mpi, "auto|on|off",
                   "messages of -halo loops from GPU memory, or from pinned host memory (auto: as "
                   "MPI reports)"));

  table.section("Time");
  table.add(number("run_years", o.run_years, "year",
                   "length of the run (0: the initial state is evaluated once and written)", 0,
                   longest_run));
  table.add(number("run_until", o.run_until, "year",
                   "model time at which the run ends, instead of -run_years", -longest_run,
                   longest_run));
  table.add(number("run_steps", o.run_steps, "",
                   "largest number of steps (0: no limit); without -run_years the number of steps",
                   0));
  table.add(number("dt_max", o.dt_max, "year", "longest time step", 1e-6, longest_run));
  table.add(
      duration("run_wall", o.run_wall,
               "wall-clock limit (3h50m, 90min, 3:50:00): the run ends before it, writes its "
               "state and exits with status 85, as it does after SIGTERM, SIGUSR1, SIGUSR2 or "
               "SIGXCPU",
               60.0));
}

void add_ice(OptionTable& table, Options& o) {
  table.section("Stress balance");
  table.add(choice("stress", o.stress, "auto|sia|ssa|ssa+sia",
                   "stress balance (auto: sia for dome, ssa for shelf and stream, else ssa+sia)"));
  table.add(
      choice("rheology", o.rheology, "auto|isothermal|paterson_budd",
             "ice softness: constant, or a function of temperature (auto: isothermal for dome, "
             "shelf, stream)"));
  table.add(number("softness", o.hybrid.stress.softness, "Pa-3 s-1", "softness A of isothermal ice",
                   1e-30, 1e-15));
  table.add(number("sia_e", o.hybrid.stress.sia_enhancement, "",
                   "enhancement factor of the softness in the SIA, if it follows from temperature",
                   0.01, 100));
  table.add(number("ssa_e", o.hybrid.stress.ssa_enhancement, "",
                   "enhancement factor of the softness in the SSA, if it follows from temperature",
                   0.01, 100));
  add_sliding_exponent(table, o.ssa);
  table.add(number("sliding_u_threshold", o.sliding_u_threshold, "m year-1",
                   "threshold speed of the sliding law", 1e-3, 1e9));
  table.add(number("till_phi_min", o.hybrid.stress.till.phi_min, "degree",
                   "till friction angle at and below till_topg_min", 0.1, 89));
  table.add(number("till_phi_max", o.hybrid.stress.till.phi_max, "degree",
                   "till friction angle at and above till_topg_max", 0.1, 89));
  table.add(number("till_topg_min", o.hybrid.stress.till.b_min, "m",
                   "bed elevation of the smallest friction angle"));
  table.add(number("till_topg_max", o.hybrid.stress.till.b_max, "m",
                   "bed elevation of the largest friction angle"));
  table.add(number("till_overburden_fraction", o.hybrid.stress.till.overburden_fraction, "",
                   "effective pressure of a thawed till as a fraction of overburden", 1e-4, 1));
  table.add(flag(
      "till_subgrid", o.ssa.till_subgrid,
      "drag at the grounding line on the grounded part of a cell (no: on whole grounded cells)"));
  table.add(number("till_frozen_below", o.hybrid.stress.till.dT_frozen, "K",
                   "temperature below the melting point at which the till of high beds is frozen "
                   "and carries all overburden",
                   1e-3));

  table.section("Solver of the stress balance (SSA); PETSc's options with the prefix ssa_ are also "
                "accepted: -ssa_ksp_type, -ssa_pc_type, ...");
  table.add(
      choice("ssa_solver", o.ssa_solver, "auto|own|petsc|pism",
             "built-in Newton and conjugate gradients, or PETSc's SNES and KSP (auto: petsc if "
             "one of its options is given; pism: petsc with the method, tolerances and matrix of "
             "PISM's finite elements, unless others are given)"));
  add_ssa_options(table, o.ssa);
  table.add(
      flag("ssa_view", o.ssa_view, "description of the solver, printed after the first solve"));
  table.add(text("ssa_failed_file", o.ssa_failed_file, "file of the state if a solve fails"));
}

void add_forcing(OptionTable& table, Options& o) {
  table.section("Climate where the input has none");
  table.add(number("climatic_mass_balance", o.climatic_mass_balance, "kg m-2 year-1",
                   "surface mass balance at sea level", -3e5, 3e5));
  table.add(number(
      "climatic_mass_balance_halving", o.climatic_mass_balance_halving, "K",
      "cooling of the surface with elevation that halves snowfall (0: constant snowfall)", 0));
  table.add(number("ice_surface_temp", o.ice_surface_temp, "K",
                   "temperature at the ice surface at sea level", 150, 273.15));
  table.add(number("ice_surface_lapse_rate", o.ice_surface_lapse_rate, "K km-1",
                   "cooling of the ice surface with its elevation", 0, 20));
  for (const VariableInfo& v : constant_forcing())
    table.add(number(v.name, o.constants.at(v.name), v.internal_units, v.long_name, v.input->min,
                     v.input->max));
  table.add(
      choice("energy", o.energy, "auto|on|off",
             "evolution of the ice temperature (auto: on, or as in the run that is continued)"));

  table.section("Ocean");
  table.add(choice("ocean", o.ocean, "auto|pico|none",
                   "melt below ice shelves (auto: none for dome, shelf, stream)"));
  add_pico_options(table, o.pico);
  add_pico_methods(table, o.pico, names_of(distance_solvers()));
}

void add_output(OptionTable& table, Options& o) {
  table.section("Output");
  table.add(text("o", o.output, "result: the model state at the end (a restart file)"));
  table.add(text("snapshot_file", o.snapshot_file,
                 "snapshots: one file per time, <name>_<years>.nc (restart files)"));
  table.add(
      number("snapshot_every", o.snapshot_every, "year", "time between snapshots", 0, longest_run));
  table.add(text("spatial_file", o.spatial_file, "maps, appended to one file"));
  table.add(
      text("spatial_vars", o.spatial_vars, "variables of the spatial file, separated by commas"));
  table.add(number("spatial_every", o.spatial_every, "year", "time between maps", 0, longest_run));
  table.add(text("timeseries_file", o.timeseries_file, "scalars at every time step"));
  table.add(flag("overwrite", o.overwrite,
                 "replacement of write-protected files, and of the files of maps and scalars by a "
                 "restarted run (no: it continues them, or refuses to start)"));
  table.add(number("io_commit_every", o.io_commit_every, "",
                   "records after which a growing file of format direct is made durable (0, and "
                   "other formats: when it is closed; they are saved before each snapshot)",
                   0));
  table.add(choice("io_order", o.io_order, "yxz|zyx",
                   "order of dimensions in files: as in memory, or levels first (for GDAL)"));
  table.add(number("io_budget", o.io_budget, "%",
                   "percentage of the run time spent on output above which a warning is printed "
                   "(0: never; by default only in runs of a minute or more)",
                   0, 100));
  table.add(text("report", o.report, "JSON report of times, iterations, bytes, versions"));
  table.add(flag("verbose", o.verbose, "one line per time step, and the table of times"));
  add_io_options(table, o.io);
}

} // namespace

void add_model_options(OptionTable& table, Options& options) {
  table.section("A baseline");
  table.add(choice("like", options.like, "none|pism|pism2026",
                   "PISM's methods for comparison: each of these options that is not given "
                   "(pism: " +
                       like_in_words("pism") + "; pism2026: with -pico_distance bfs)"));
  add_start_and_grid(table, options);
  add_ice(table, options);
  add_forcing(table, options);
  add_output(table, options);
}

void check(const Options& o) {
  const auto need = [](bool ok, const char* message) {
    if (!ok) throw Error(message);
  };
  need(o.input.empty() || o.given.count("init") == 0,
       "options -i and -init: expected one of them, found both");
  need(o.given.count("run_years") + o.given.count("run_until") < 2,
       "options -run_years and -run_until: expected one of them, found both");
  need(o.run_years == 0.0 || o.run_years >= 1e-6,
       "option -run_years: expected 0 or at least 1e-6 year");
  need(o.run_wall == 0.0 || !o.output.empty() || !o.snapshot_file.empty(),
       "option -run_wall: expected -o or -snapshot_file as well, for the state at the end");
  need(o.Mx != 1 && o.My != 1 && o.Mz != 1,
       "options -grid_Mx, -grid_My, -grid_Mz: expected 0 or at least 2, found 1");
  need(o.hybrid.stress.till.phi_max >= o.hybrid.stress.till.phi_min,
       "options -till_phi_min and -till_phi_max: expected min <= max");
  need(o.hybrid.stress.till.b_max > o.hybrid.stress.till.b_min,
       "options -till_topg_min and -till_topg_max: expected min < max");
  need(o.snapshot_file.empty() == (o.snapshot_every == 0.0),
       "options -snapshot_file and -snapshot_every: expected both or none");
  need(o.snapshot_every == 0.0 || o.snapshot_every >= 0.001,
       "option -snapshot_every: expected at least 0.001 year (files are named by thousandths of a "
       "year)");
  io::check(o.io);
  need(o.spatial_file.empty() || o.spatial_every >= 1e-6,
       "option -spatial_every: expected at least 1e-6 year with -spatial_file");
  need(!o.spatial_file.empty() ||
           o.given.count("spatial_every") + o.given.count("spatial_vars") == 0,
       "options -spatial_every and -spatial_vars: expected -spatial_file as well");
}

/// Checks all files that the run reads and writes. On rank 0.
void check_files(const Options& o, const std::vector<std::string>& options_files) {
  std::vector<NamedFile> files = {
      {"-i", o.input, FileUse::read},
      {"-o", o.output, FileUse::netcdf, "-i"},
      {"-spatial_file", o.spatial_file, FileUse::netcdf},
      {"-timeseries_file", o.timeseries_file, FileUse::netcdf},
      {"-ssa_failed_file", o.ssa_failed_file, FileUse::netcdf, "", false},
      {"-snapshot_file", o.snapshot_file, FileUse::snapshots},
      {"-report", o.report}};
  for (const std::string& file : options_files)
    files.push_back({"-options_file", file, FileUse::read});
  check_files(files, o.overwrite);
  for (const std::string& path : {o.output, o.spatial_file, o.timeseries_file, o.snapshot_file}) {
    if (path.empty()) continue;
    io::require_path_for(o.io, path);
    io::require_manifest(path);
  }
}

bool read_options(Session& session, OptionTable& table, Options& options) {
  if (!session.read(table)) return false;
  options.given = table.names_set();
  for (const auto& [name, value] : like(options.like)) {
    if (options.given.count(name) != 0) continue;
    table.set(name, &value);
    options.set_by_like[name] = value;
  }
  if (!session.has_arguments() && options.given.empty()) {
    table.print_start();
    return false;
  }
  check(options);
  io::Watchdog::of_process().set(session.comm(), options.io.patience);
  const io::Watchdog::Scope scope(options.output, "look");
  io::on_rank_0(session.comm(), [&] { check_files(options, session.options_files()); });
  return true;
}

RunTimes run_times(const Options& o) {
  RunTimes times;
  times.maps = o.spatial_file.empty() ? 0.0 : o.spatial_every;
  times.snapshots = o.snapshot_every;
  times.years = o.run_years;
  if (o.given.count("run_until") > 0) times.until = o.run_until;
  times.steps = o.run_steps;
  return times;
}

nlohmann::json to_json(Options options) {
  OptionTable table("", "");
  add_model_options(table, options);
  return table.to_json();
}

} // namespace nunatak
