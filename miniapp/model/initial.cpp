#include "miniapp/model/initial.hpp"

#include "common/error.hpp"
#include "common/text.hpp"
#include "io/durable/manifest.hpp"
#include "kernels/cases/continent.hpp"
#include "kernels/cases/exact_ssa.hpp"
#include "kernels/cases/sites.hpp"
#include "kernels/grid/balance.hpp"
#include "kernels/grid/constants.hpp"
#include "kernels/grid/elementary.hpp"
#include "kernels/grid/ranks.hpp"
#include "kernels/ice/columns.hpp"
#include "kernels/ice/geometry.hpp"
#include "miniapp/base/variables.hpp"
#include "miniapp/model/input.hpp"

#include <cmath>
#include <functional>
#include <sstream>

namespace nunatak {

namespace {

// --- states generated without a file (-init)

struct Generator {
  const char* name;
  Axis x, y;                  ///< default grid, before -grid_*
  bool square;                ///< -grid_Mx alone sets My too
  bool periodic_y, continent; ///< thermal, with an ocean, centred on the South Pole
  const char* stress;         ///< of -stress auto
  synthetic::Site (*site)(double x, double y); ///< nullptr: a continent of -seed
  /// Prescribes material, and velocities that no file keeps; may be nullptr.
  void (*complete)(const Grid&, const Patch&, Forcing&);
};

Axis centred(double half_width, int points) {
  return {-half_width, 2.0 * half_width / (points - 1), points};
}

/// Prescribes the velocity speed(gj, gi) along x where it is a number.
template <class Speed> void prescribe(const Patch& patch, Forcing& forcing, const Speed& speed) {
  forcing.fixed = make_array<int>("fixed", patch);
  forcing.u_fixed = make_array<double>("u_fixed", patch);
  forcing.v_fixed = make_array<double>("v_fixed", patch);
  const auto fixed = on_host(forcing.fixed);
  const auto u = on_host(forcing.u_fixed);
  for_each_owned(patch, [&](int j, int i) {
    const double found = speed(patch.global_j(j), patch.global_i(i));
    fixed(j, i) = std::isnan(found) ? 0 : 1;
    u(j, i) = std::isnan(found) ? 0.0 : found;
  });
  to_loops(forcing.fixed, fixed);
  to_loops(forcing.u_fixed, u);
}

/// Prescribes the exact velocity on all edges of the domain (test I).
void complete_stream(const Grid& grid, const Patch& patch, Forcing& forcing) {
  forcing.has_tauc = forcing.has_hardav = true;
  Kokkos::deep_copy(forcing.hardav, exact::TestI::B);
  const auto tauc = on_host(forcing.tauc);
  for_each_owned(patch, [&](int j, int i) {
    tauc(j, i) = synthetic::stream_yield_stress(grid.y(patch.global_j(j)));
  });
  to_loops(forcing.tauc, tauc);
  prescribe(patch, forcing, [&](int gj, int gi) {
    const bool inside = gj > 0 && gj < grid.My() - 1 && gi > 0 && gi < grid.Mx() - 1;
    return inside ? std::nan("") : exact::TestI::u(grid.y(gj));
  });
}

/// Prescribes the inflow at x = 0.
void complete_shelf(const Grid&, const Patch& patch, Forcing& forcing) {
  forcing.has_hardav = true;
  Kokkos::deep_copy(forcing.hardav, exact::VanDerVeen::B);
  prescribe(patch, forcing,
            [](int, int gi) { return gi == 0 ? exact::VanDerVeen::u0 : std::nan(""); });
}

const std::vector<Generator>& generators() {
  using namespace synthetic;
  const Axis dome_axis = centred(dome_half_width, 61),
             marine_axis = centred(marine_half_width, 381);
  const double dx = shelf_length / 200;
  static const std::vector<Generator> table = {
      {"dome", dome_axis, dome_axis, true, false, false, "sia", dome, nullptr},
      {"shelf", {0.0, dx, 201}, {0.0, dx, 11}, false, true, false, "ssa", shelf, complete_shelf},
      {"stream", centred(stream_half_width, 5), centred(stream_half_width, 61), false, false, false,
       "ssa", stream, complete_stream},
      {"marine", marine_axis, marine_axis, true, false, true, "ssa+sia", nullptr, nullptr}};
  return table;
}

/// Fills the owned cells. Forcing that the state does not define keeps its value.
void generate(const Options& options, const Grid& grid, const Patch& patch, State& state,
              Forcing& forcing) {
  const Generator& how = *io::find(generators(), options.init);
  std::function<synthetic::Site(double, double)> site = how.site;
  if (!site) {
    site = [continent = synthetic::Continent(static_cast<std::uint64_t>(options.seed))](
               double x, double y) { return continent.at(x, y); };
  }
  synthetic::set_sites(patch, state, forcing,
                       [&](int gj, int gi) { return site(grid.x(gi), grid.y(gj)); });
  if (how.complete != nullptr) how.complete(grid, patch, forcing);
}

// --- substitutes for variables that an input lacks

void set_constants(const Options& options, Forcing& forcing, const FieldList& given) {
  Kokkos::deep_copy(forcing.basins, 1);
  for (const Field& field : given) {
    const auto constant = options.constants.find(field.name);
    if (constant != options.constants.end())
      Kokkos::deep_copy(std::get<Array2<double>>(field.array), constant->second);
  }
}

/// Temperature falls linearly with elevation, and accumulation with temperature (saturation vapour
/// pressure about halves every 10 K). Owned cells and ghosts.
void set_climate(const Options& options, const Patch& patch, const State& state, Forcing& forcing,
                 bool temperature, bool balance) {
  const double T_0 = options.ice_surface_temp, lapse = options.ice_surface_lapse_rate / 1000.0;
  const double M_0 = options.climatic_mass_balance / seconds_per_year,
               halving = options.climatic_mass_balance_halving;
  const auto T = forcing.ice_surface_temp, M = forcing.climatic_mass_balance, h = state.usurf;
  for_each_cell_and_ghost(
      "climate", patch, KOKKOS_LAMBDA(int j, int i) {
        const double cooling = lapse * Kokkos::fmax(h(j, i), 0.0);
        if (temperature) T(j, i) = T_0 - cooling;
        if (balance) M(j, i) = halving > 0.0 ? M_0 * elementary::pow(2.0, -cooling / halving) : M_0;
      });
}

double thickest_ice(const Patch& patch, const Array2<double>& H) {
  return reduce_over<Largest>(
             "thickest ice", owned_cells(patch),
             KOKKOS_LAMBDA(int j, int i, Largest& t) { t.see(H(j, i)); })
      .value;
}

/// Logs what replaces the variables that the input lacks.
void log_substitutes(const Options& options, const Input& input, const Log& log) {
  const auto say = [&](const char* variable, const std::string& instead) {
    if (!input.gives(variable))
      log.line("input: no " + std::string(variable) + " in " + options.input + ": " + instead);
  };
  const auto number = [](double value) {
    std::ostringstream text;
    text << value;
    return text.str();
  };
  const auto ignored = [&](const char* variable, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (input.gives(variable) && options.given.count(name) > 0) {
        log.line("input: option -" + std::string(name) + " has no effect: " + options.input +
                 " has " + variable);
      }
    }
  };
  ignored("climatic_mass_balance", {"climatic_mass_balance", "climatic_mass_balance_halving"});
  ignored("ice_surface_temp", {"ice_surface_temp", "ice_surface_lapse_rate"});
  for (const auto& [name, value] : options.constants) ignored(name.c_str(), {name.c_str()});
  ignored("tauc", {"till_phi_min", "till_phi_max", "till_topg_min", "till_topg_max",
                   "till_overburden_fraction", "till_frozen_below"});
  ignored("hardav", {"softness", "rheology", "sia_e", "ssa_e"});
  if (options.given.count("seed") > 0)
    log.line("input: option -seed has no effect: the ice is that of " + options.input);
  say("climatic_mass_balance", number(options.climatic_mass_balance) +
                                   " kg m-2 year-1 at sea level, half of it for every " +
                                   number(options.climatic_mass_balance_halving) + " K of cooling");
  say("ice_surface_temp", number(options.ice_surface_temp) + " K at sea level, " +
                              number(options.ice_surface_lapse_rate) + " K less per km");
  for (const VariableInfo& v : constant_forcing()) {
    if (v.role == Role::forcing || options.ocean == "pico")
      say(v.name, number(options.constants.at(v.name)) + " " + v.internal_units);
  }
  say("temp", std::string(input.gives("enthalpy") ? "its enthalpy is not read; " : "") +
                  "the temperature in balance with the climate and the heat from below");
  say("tauc", "from the till model (-till_*)");
  say("hardav", options.rheology == "isothermal"
                    ? "softness " + number(options.hybrid.stress.softness) + " Pa-3 s-1"
                    : "from the temperature of the ice");
  if (options.ocean == "pico") say("basins", "all of the grid is one basin");
}

} // namespace

std::string generator_words() { return joined(io::names_of(generators()), "|"); }

io::ReadOptions input_options(const Options& options) {
  io::ReadOptions how;
  how.by = io::read_by(options.io_read);
  how.slab_bytes = options.io.slab_bytes();
  how.ranks_per_node = options.io.ranks_per_node;
  how.hints = options.io.hints;
  return how;
}

InitialState::InitialState(Options& options, MPI_Comm comm, const Log& log)
    : m_options(options), m_log(log) {
  if (!options.input.empty()) {
    if (options.i_verify) {
      try {
        io::require_intact(comm, options.input);
      } catch (const Error& error) {
        throw Error(std::string(error.what()) + "; -i_verify no reads it all the same");
      }
    }
    m_input = std::make_unique<Input>(options.input, comm, log, input_options(options));
  }
  const Generator& start = *io::find(generators(), m_input ? "marine" : options.init);
  OptionTable table("", ""); // knows the values
  add_model_options(table, options);
  const auto choose = [&](std::string& option, const std::string& name, const char* value) {
    if (option != "auto") return;
    option = m_input ? m_input->choice(name).value_or(value) : value; // of a restart
    const std::string values = table.values(name).substr(sizeof "auto|" - 1);
    require_one_of(values, option, options.input + ": attribute 'option_" + name + "'");
  };
  choose(options.stress, "stress", start.stress);
  choose(options.rheology, "rheology", start.continent ? "paterson_budd" : "isothermal");
  choose(options.ocean, "ocean", start.continent ? "pico" : "none");
  choose(options.energy, "energy", "on");
  if (!m_input && options.ocean == "pico" && start.periodic_y)
    throw Error("options -init " + options.init +
                " and -ocean pico: PICO needs a grid that is not periodic");
  if (!m_input) return;
  const std::string begun = m_input->choice("init").value_or("file");
  options.init = begun;
  if (const Generator* g = io::find(generators(), begun); g != nullptr && g->complete != nullptr) {
    throw Error(options.input + ": a run of -init " + begun +
                " cannot be continued: its velocities at the edge are not in the file");
  }
}

InitialState::~InitialState() = default;

double InitialState::time() const { return m_input ? m_input->time().value_or(0.0) : 0.0; }
bool InitialState::continues() const { return m_input && m_input->time(); }
std::string InitialState::series(const std::string& name) const {
  return m_input ? m_input->series(name) : "";
}

Grid InitialState::horizontal_grid(MPI_Comm comm) const {
  const Options& o = m_options;
  Generator source = *io::find(generators(), m_input ? "marine" : o.init);
  if (m_input) {
    source.x = m_input->x();
    source.y = m_input->y();
  }
  Axis x = choose_axis(source.x, o.Mx, o.dx), y = choose_axis(source.y, o.My, o.dx);
  if (source.square && o.dx == 0.0) { // points along one axis set the spacing of both
    if (o.Mx > 0 && o.My == 0) y = choose_axis(source.y, 0, x.spacing);
    if (o.My > 0 && o.Mx == 0) x = choose_axis(source.x, 0, y.spacing);
  }
  y.periodic = source.periodic_y;
  Grid grid = make_grid(comm, x, y, o.px, o.py);
  if (o.cut == "ice") grid = recut(comm, grid, balanced(grid, comm));
  if (source.continent) grid.projection = PolarStereographic{};
  if (m_input) grid.projection = m_input->projection();
  return grid;
}

// Evaluates the thickness on equal patches, before read() does so on the balanced ones.
Decomposition InitialState::balanced(const Grid& grid, MPI_Comm comm) const {
  MpiRanks ranks(comm, grid.decomposition);
  const Patch p = ranks.patch();
  State state(p);
  Forcing forcing(p);
  if (m_input) {
    m_input->read_thickness(grid, ranks, state.thk);
  } else {
    generate(m_options, grid, p, state, forcing);
  }
  const auto thk = on_host(state.thk);
  std::vector<std::vector<std::int64_t>> icy_cells{
      std::vector<std::int64_t>(static_cast<std::size_t>(p.Mx + p.My), 0)}; // columns, then rows
  for_each_owned(p, [&](int j, int i) {
    const std::int64_t one = thk(j, i) > ice_free_thickness ? 1 : 0;
    icy_cells[0][static_cast<std::size_t>(p.global_i(i))] += one;
    icy_cells[0][static_cast<std::size_t>(p.Mx + p.global_j(j))] += one;
  });
  ranks.sum(icy_cells);
  return nunatak::balanced(grid.decomposition, icy_cells[0]);
}

/// A restart with PICO of a run without an ocean: its file lacks the water.
void InitialState::require_ocean() const {
  if (!continues() || m_options.ocean != "pico") return;
  for (const VariableInfo& v : constant_forcing()) {
    const std::string name = v.name;
    if (v.role != Role::ocean || m_input->gives(name) || m_options.given.count(name) > 0) continue;
    throw Error(m_options.input + ": variable '" + name + "' is missing: expected it, or option -" +
                name + ", for -ocean pico; the run that wrote the file had no ocean");
  }
}

bool InitialState::has(const std::string& field) const {
  return variable_info(field).role != Role::ocean || m_options.ocean != "none" ||
         (m_input ? m_found.count(field) > 0 : io::find(generators(), m_options.init)->continent);
}

void InitialState::read(Grid& grid, MpiRanks& ranks, State& state, Forcing& forcing) {
  const Patch patch = ranks.patch();
  const FieldList given = given_fields(state, forcing);
  set_constants(m_options, forcing, given);
  if (m_input) {
    require_ocean();
    m_found = m_input->read(m_options, grid, ranks, given);
    forcing.has_tauc = m_found.count("tauc") > 0;
    forcing.has_hardav = m_found.count("hardav") > 0;
    log_substitutes(m_options, *m_input, m_log);
  } else {
    generate(m_options, grid, patch, state, forcing);
    std::vector<std::string> climate{"climatic_mass_balance", "climatic_mass_balance_halving",
                                     "ice_surface_temp", "ice_surface_lapse_rate"};
    for (const auto& [name, value] : m_options.constants) climate.push_back(name);
    for (const std::string& name : climate) {
      if (m_options.given.count(name) > 0)
        m_log.line("init: option -" + name + " has no effect: -init " + m_options.init +
                   " has its own climate");
    }
  }
  std::vector<Ghosted> all = ghosts_of(given);
  if (forcing.fixed.data() != nullptr)
    all.insert(all.end(), {forcing.fixed, forcing.u_fixed, forcing.v_fixed});
  ranks.update_ghosts(all);
  state.update_surface();
  if (m_input)
    set_climate(m_options, patch, state, forcing, !m_input->gives("ice_surface_temp"),
                !m_input->gives("climatic_mass_balance"));

  choose_levels(grid, ranks, state);
  state.temp = make_columns<double>("temp", patch, grid.Mz());
  if (m_input && m_input->has_temperature()) {
    m_input->read_temperature(grid, ranks, state.temp);
  } else {
    const auto accumulation = make_array<double>("accumulation", patch);
    in_metres_of_ice(patch, forcing.climatic_mass_balance, accumulation);
    initial_temperature(patch, levels_at(grid.z), state.thk, state.mask, forcing.ice_surface_temp,
                        accumulation, forcing.bheatflx, state.temp);
  }
  ranks.update_ghosts({state.temp});
}

void InitialState::choose_levels(Grid& grid, MpiRanks& ranks, const State& state) const {
  std::vector<std::vector<double>> largest{{thickest_ice(ranks.patch(), state.thk)}};
  max_over_ranks(ranks, largest);
  const double thickest = largest[0][0];

  if (m_input && m_options.Mz == 0 && m_options.Lz == 0.0) grid.z = m_input->levels();
  if (!grid.z.empty() && m_options.given.count("grid_z_spacing") > 0)
    m_log.line("input: option -grid_z_spacing has no effect: " + m_options.input +
               " has levels (-grid_Mz makes others)");
  if (grid.z.empty()) {
    const double Lz = m_options.Lz > 0.0 ? m_options.Lz : height_of_levels(thickest);
    const LevelSpacing spacing =
        m_options.z_spacing == "equal" ? LevelSpacing::equal : LevelSpacing::quadratic;
    grid.z = make_levels(Lz, m_options.Mz > 0 ? m_options.Mz : 31, spacing).z_host;
  }
  if (grid.Mz() > max_levels)
    throw Error(m_options.input + ": coordinate 'z' of temp: expected at most " +
                std::to_string(max_levels) + " levels, found " + std::to_string(grid.Mz()) +
                " (-grid_Mz makes others)");
  if (thickest > grid.Lz()) {
    throw Error((m_options.Lz > 0.0 ? "option -grid_Lz" : m_options.input + ": coordinate 'z'") +
                ": expected at least the thickness of the thickest ice, " +
                std::to_string(thickest) + " m, found " + std::to_string(grid.Lz()) + " m");
  }
}

nlohmann::json InitialState::report() const {
  return m_input ? m_input->report() : nlohmann::json{{"init", m_options.init}};
}

std::string InitialState::title() const {
  return m_input ? "nunatak run from " + m_options.input.substr(m_options.input.rfind('/') + 1)
                 : "nunatak run from the synthetic state '" + m_options.init + "'";
}

} // namespace nunatak
