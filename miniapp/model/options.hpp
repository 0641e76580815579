// The options of nunatak: a struct of values, and a table that names them (options.cpp). Parameters
// of a part of the step are members of `hybrid` and need only a row in the table.
//
// Options come from the command line, a file (options_file.hpp) or PETSC_OPTIONS. Others with the
// prefix ssa_ go to the PETSc solver of the stress balance (-ssa_ksp_type, -ssa_pc_type, ...),
// those with da_ or dm_ to the DMDA (-da_grid_x, -dm_view). Anything else is an error.
#pragma once

#include "io/methods/method.hpp"
#include "kernels/step/hybrid.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/variables.hpp"
#include "miniapp/model/clock.hpp"

#include <map>
#include <set>
#include <string>

namespace nunatak {

class Session;

struct Options {
  // initial state
  std::string input; // -i
  bool i_verify = true;
  std::string io_read = "auto";
  std::string init = "marine";
  int seed = 1;
  // grid
  int Mx = 0, My = 0, Mz = 0;
  double dx = 0.0; // m
  double Lz = 0.0; // m
  std::string z_spacing = "quadratic";
  int px = 0, py = 0;
  std::string cut = "equal";
  std::string halo = "auto";
  std::string gpu_aware_mpi = "auto";
  // time
  double run_years = 0.0; // a
  double run_until = 0.0; // a; overrides run_years
  int run_steps = 0;
  double run_wall = 0.0; // s; 0: no limit
  double dt_max = 1.0;   // a
  // stress balance
  std::string stress = "auto";
  std::string rheology = "auto";
  HybridOptions hybrid; // completed by hybrid_options() (model.cpp)
  SsaOptions ssa;       // completed by ssa_options()
  std::string ssa_solver = "auto";
  bool ssa_view = false;
  std::string ssa_failed_file = "ssa_failed.nc";
  double sliding_u_threshold = 100.0; // m/a
  // climate for an input without one
  double climatic_mass_balance = 300.0;        // kg m-2 a-1, at sea level
  double climatic_mass_balance_halving = 10.0; // K
  double ice_surface_temp = 250.15;            // K, at sea level
  double ice_surface_lapse_rate = 9.0;         // K km-1
  std::map<std::string, double> constants;     // of constant_forcing(), by name
  std::string energy = "auto";
  // ocean
  std::string ocean = "auto";
  PicoOptions pico;
  // output
  std::string output; // -o
  std::string snapshot_file;
  double snapshot_every = 0.0; // a
  std::string spatial_file;
  std::string spatial_vars = "thk,usurf,mask,velsurf_mag";
  double spatial_every = 1.0; // a
  std::string timeseries_file;
  io::Options io; // -io_<name>
  bool overwrite = false;
  int io_commit_every = 10;
  std::string io_order = "yxz";
  double io_budget = 10.0; // percent
  std::string report;
  bool verbose = true;

  std::string like = "none";
  std::map<std::string, std::string> set_by_like; ///< options and their values
  std::set<std::string> given;                    ///< options that the user has set

  Options() {
    for (const VariableInfo& v : constant_forcing()) constants[v.name] = *v.input->constant;
  }
};

/// Rows for all options, bound to `options`, which must outlive the table.
void add_model_options(OptionTable& table, Options& options);

/// Sets `options` and other rows, and checks them. False after -help or -version, and without any
/// option, after which rank 0 prints what to type. Throws Error.
bool read_options(Session& session, OptionTable& table, Options& options);

/// When the run ends, and when it writes.
RunTimes run_times(const Options& options);

/// All options with their values, for the report.
nlohmann::json to_json(Options options);

} // namespace nunatak
