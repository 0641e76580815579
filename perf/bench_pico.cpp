// bench_pico: times a PICO update and its parts, checks the results, and prints one JSON object.
//
//   mpiexec -n 2 bench_pico -i antarctica.nc -refine 2        mpiexec -n 1 bench_pico -grid_dx 16km
//
// A repetition runs an update, one with unchanged geometry, the geometry and the melt in sequence,
// so that disturbances affect all alike. A time is that of the slowest rank after a barrier; the
// warm-up is dropped. JSON and input: perf/README.md. nunatak-step counts an update on virtual
// ranks; nunatak-labels and nunatak-distance time algorithms alone.
#include "kernels/cases/continent.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/pico/fields.hpp"
#include "kernels/pico/melt.hpp"
#include "kernels/pico/pico.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/model/input.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "perf/bandwidth.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

struct Arguments {
  std::string input;
  int refine = 1, repeat = 15;
  double dx = 0.0; // m; 0: not given

  void add_to(OptionTable& table) {
    table.section("Problem");
    table.add(text("i", input, "NetCDF file with thk, topg, basins, theta_ocean, salinity_ocean"));
    table.add(number(
        "refine", refine, "",
        "points along either side of a square that replace each point of -i; 1, 2 or 4", 1, 4));
    table.add(number("grid_dx", dx, "m",
                     "spacing of the synthetic continent, without -i (0: 16 km)", 0, 500e3));
    table.add(number("repeat", repeat, "", "repetitions that count", 7));
  }
  void check() const {
    if (refine == 3) throw Error("option -refine: expected 1, 2 or 4, found 3");
    if (dx > 0.0 && dx < 100.0)
      throw Error("option -grid_dx: expected 100 m to 500 km, found " + std::to_string(dx) + " m");
    if (input.empty() && refine != 1) throw Error("option -refine needs a file (-i)");
    if (!input.empty() && dx > 0.0) throw Error("options -i and -grid_dx: expected one of them");
  }
};

struct Problem {
  Grid grid;
  std::unique_ptr<MpiRanks> ranks;
  std::vector<PicoInput> in; // for the one local rank

  explicit Problem(const Grid& g, MPI_Comm comm)
      : grid(g), ranks(std::make_unique<MpiRanks>(comm, g.decomposition)) {
    const Patch p = ranks->patch();
    in.push_back({make_array<double>("thk", p), make_array<double>("topg", p),
                  make_array<int>("mask", p), make_array<int>("basins", p),
                  make_array<double>("theta_ocean", p), make_array<double>("salinity_ocean", p)});
  }
  void complete() {
    const Patch p = ranks->patch();
    for (int j = 1; j <= p.ym; ++j) {
      for (int i = 1; i <= p.xm; ++i) in[0].mask(j, i) = cell_type(in[0].b(j, i), in[0].H(j, i));
    }
    ranks->update_ghosts({in[0].basins});
  }
};

/// The grid of the file is decomposed; then every cell, and with it every patch, is refined.
Problem from_file(const Arguments& a, const Session& session) {
  const Log silent(session.rank(), false);
  const Input input(a.input, session.comm(), silent);
  for (const char* name : {"basins", "theta_ocean", "salinity_ocean"}) {
    if (!input.gives(name))
      throw Error(a.input + ": variable '" + name + "' is missing (PICO needs it)");
  }
  Grid file;
  file.x0 = input.x().first;
  file.dx = input.x().spacing;
  file.y0 = input.y().first;
  file.dy = input.y().spacing;
  file.decomposition = Decomposition::make(input.x().points, input.y().points, session.size());
  MpiRanks ranks(session.comm(), file.decomposition);
  State state(ranks.patch());
  Forcing forcing(ranks.patch());
  input.read(Options{}, file, ranks, state, forcing); // a default run with PICO

  Grid fine = file;
  fine.dx /= a.refine;
  fine.dy /= a.refine;
  fine.decomposition.Mx *= a.refine;
  fine.decomposition.My *= a.refine;
  for (int& start : fine.decomposition.x) start *= a.refine;
  for (int& start : fine.decomposition.y) start *= a.refine;
  Problem problem(fine, session.comm());
  const PicoInput& in = problem.in[0];
  const Patch p = problem.ranks->patch();
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      const int J = (j - 1) / a.refine + 1, I = (i - 1) / a.refine + 1;
      in.H(j, i) = state.thk(J, I);
      in.b(j, i) = state.topg(J, I);
      in.basins(j, i) = forcing.basins(J, I);
      in.theta(j, i) = forcing.theta_ocean(J, I);
      in.salt(j, i) = forcing.salinity_ocean(J, I);
    }
  }
  problem.complete();
  return problem;
}

Problem synthetic_continent(const Arguments& a, const Session& session) {
  const double half = synthetic::marine_half_width;
  const Axis axis = choose_axis({-half, half, 3}, 0, a.dx > 0.0 ? a.dx : 16e3);
  Grid grid;
  grid.x0 = grid.y0 = axis.first, grid.dx = grid.dy = axis.spacing;
  grid.decomposition = Decomposition::make(axis.points, axis.points, session.size());
  Problem problem(grid, session.comm());
  const PicoInput& in = problem.in[0];
  const Patch p = problem.ranks->patch();
  const synthetic::Continent continent(1);
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      const synthetic::Site s = continent.at(grid.x(p.global_i(i)), grid.y(p.global_j(j)));
      in.H(j, i) = s.H;
      in.b(j, i) = s.b;
      in.basins(j, i) = s.basin;
      in.theta(j, i) = s.theta_ocean;
      in.salt(j, i) = s.salinity_ocean;
    }
  }
  problem.complete();
  return problem;
}

struct Timed {
  const char* name;
  std::function<void()> run;
  std::vector<double> ms = {}; ///< slowest rank
  Traffic traffic = {};        ///< one call

  double least() const { return *std::min_element(ms.begin(), ms.end()); }
};

void time_alternately(std::vector<Timed>& all, int repeat, MpiRanks& ranks) {
  for (int n = 0; n <= repeat; ++n) {
    for (Timed& t : all) {
      const Traffic before = ranks.traffic();
      MPI_Barrier(ranks.comm());
      const double begin = MPI_Wtime();
      t.run();
      Kokkos::fence("bench_pico");
      double ms = 1e3 * (MPI_Wtime() - begin);
      MPI_Allreduce(MPI_IN_PLACE, &ms, 1, MPI_DOUBLE, MPI_MAX, ranks.comm());
      t.traffic.collectives = ranks.traffic().collectives - before.collectives;
      t.traffic.exchanges = ranks.traffic().exchanges - before.exchanges;
      if (n > 0) t.ms.push_back(ms);
    }
  }
}

/// The number of owned cells in which two arrays differ in any bit.
template <class T> std::int64_t different(const Patch& p, const Array2<T>& a, const Array2<T>& b) {
  std::int64_t cells = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) cells += std::memcmp(&a(j, i), &b(j, i), sizeof(T)) != 0;
  }
  return cells;
}

std::int64_t different(const Patch& p, const PicoFields& a, const PicoFields& b) {
  return different(p, a.ice_rise_mask, b.ice_rise_mask) + different(p, a.ocean_mask, b.ocean_mask) +
         different(p, a.lake_mask, b.lake_mask) + different(p, a.contshelf_mask, b.contshelf_mask) +
         different(p, a.shelf_mask, b.shelf_mask) + different(p, a.distance_gl, b.distance_gl) +
         different(p, a.distance_cf, b.distance_cf) + different(p, a.box_mask, b.box_mask) +
         different(p, a.temperature, b.temperature) + different(p, a.salinity, b.salinity) +
         different(p, a.temperature_box0, b.temperature_box0) +
         different(p, a.salinity_box0, b.salinity_box0) +
         different(p, a.overturning, b.overturning) + different(p, a.melt, b.melt) +
         different(p, a.base_temperature, b.base_temperature);
}

template <class T> T over_ranks(T value, MPI_Datatype type, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, MPI_SUM, comm);
  return value;
}

/// `cells` is this rank's number of wrong cells; it must be 0 on all ranks.
void require_none(std::int64_t cells, const std::string& what, MPI_Comm comm) {
  cells = over_ranks(cells, MPI_INT64_T, comm);
  if (cells != 0) throw Error("wrong result: " + what + " (" + std::to_string(cells) + " cells)");
}

void check_melt(const Problem& problem, const PicoFields& out, double total) {
  const Patch p = problem.ranks->patch();
  long double sum = 0.0L, size = 0.0L;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      sum += out.melt(j, i);
      size += std::fabs(out.melt(j, i));
    }
  }
  const long double to_mass = static_cast<long double>(problem.grid.dx) * problem.grid.dy * rho_ice;
  sum = to_mass * over_ranks(sum, MPI_LONG_DOUBLE, problem.ranks->comm());
  size = to_mass * over_ranks(size, MPI_LONG_DOUBLE, problem.ranks->comm());
  if (!(std::fabs(sum - total) <= 1e-11L * size))
    throw Error("wrong result: total melt is " + std::to_string(total) +
                " kg/s, the sum over cells is " + std::to_string(sum));
}

nlohmann::json to_json(const std::vector<Timed>& timed, double cells) {
  nlohmann::json json;
  for (const Timed& t : timed) {
    json[t.name] = {{"median_ms", median(t.ms)},
                    {"min_ms", t.least()},
                    {"max_ms", *std::max_element(t.ms.begin(), t.ms.end())},
                    {"ns_per_cell", median(t.ms) * 1e6 / cells},
                    {"collectives", t.traffic.collectives},
                    {"exchanges", t.traffic.exchanges}};
  }
  return json;
}

/// Times of updates in passes of the triad over as many doubles as the grid has cells.
nlohmann::json to_json(const Triad& triad, const Timed& update, const Timed& kept, double cells) {
  const auto passes = [&](double ms, double GB_per_s) {
    return 1e-3 * ms / (24e-9 * cells / GB_per_s);
  };
  const double usual = triad.GB_per_s(), best = triad.best_GB_per_s();
  return {{"GB_per_s", usual},
          {"GB_per_s_max", best},
          {"passes_per_update", passes(median(update.ms), usual)},
          {"passes_per_update_best", passes(update.least(), best)},
          {"passes_with_kept_geometry", passes(median(kept.ms), usual)},
          {"passes_with_kept_geometry_best", passes(kept.least(), best)}};
}

nlohmann::json run(const Arguments& arguments, Problem& problem, const Session& session) {
  MpiRanks& ranks = *problem.ranks;
  const Grid& grid = problem.grid;
  const Patch p = ranks.patch();
  PicoOptions options;
  options.skip_unchanged = false; // computes every update in full
  Pico pico(ranks, grid.dx, grid.dy, options);
  Pico keeps(ranks, grid.dx, grid.dy, PicoOptions{}); // recomputes only what changed: here the melt
  pico::ShelfGeometry geometry(ranks, grid.dx, grid.dy, options);
  pico::ShelfMelt melt(ranks, grid.dx, grid.dy, options);
  std::vector<PicoFields> first{PicoFields(p)}, whole{PicoFields(p)}, kept{PicoFields(p)},
      in_two{PicoFields(p)};
  PicoReport report = pico.update(problem.in, first), melt_report,
             kept_report = keeps.update(problem.in, kept);
  const pico::Shelves* shelves = nullptr;
  std::vector<Timed> timed = {
      {"update", [&] { report = pico.update(problem.in, whole); }},
      {"update, geometry kept", [&] { kept_report = keeps.update(problem.in, kept); }},
      {"geometry", [&] { shelves = &geometry.update(problem.in, in_two); }},
      {"melt", [&] { melt.update(*shelves, problem.in, in_two, melt_report); }},
  };
  time_alternately(timed, arguments.repeat, ranks);
  Triad triad;
  for (int n = 0; n < arguments.repeat; ++n) triad.run();

  require_none(different(p, whole[0], first[0]), "a repeated update differs from the first",
               session.comm());
  require_none(different(p, kept[0], first[0]) + !kept_report.geometry_kept,
               "an update that should keep the geometry", session.comm());
  require_none(different(p, in_two[0], first[0]),
               "geometry and melt by themselves differ from the update", session.comm());
  check_melt(problem, first[0], report.total_melt);

  const double cells = static_cast<double>(grid.Mx()) * grid.My();
  nlohmann::json json = {
      {"benchmark", "pico"}, {"started", utc_now()}, {"repetitions", arguments.repeat}};
  json["input"] = arguments.input.empty() ? "synthetic continent" : arguments.input;
  json["grid"] = {{"Mx", grid.Mx()},
                  {"My", grid.My()},
                  {"dx", grid.dx},
                  {"dy", grid.dy},
                  {"refine", arguments.refine}};
  json["ranks"] = {{"size", session.size()},
                   {"px", grid.decomposition.px},
                   {"py", grid.decomposition.py},
                   {"execution_space", Exec::name()}};
  json["result"] = {{"shelves", report.shelves},
                    {"shelf_cells", report.shelf_cells},
                    {"largest_distance", report.d_max},
                    {"total_melt_Gt_per_year", report.total_melt * seconds_per_year / 1e12}};
  json["parts"] = to_json(timed, cells);
  json["parts"]["update"]["rounds"] = report.rounds;
  json["triad"] = to_json(triad, timed[0], timed[1], cells);
  return json;
}

} // namespace

int main(int argc, char** argv) {
  return run_program<Session>(argc, argv, "bench_pico", [&](Session& session) {
    Arguments arguments;
    OptionTable table("bench_pico: times PICO and its parts; prints JSON",
                      "mpiexec -n 2 bench_pico -grid_dx 16km");
    arguments.add_to(table);
    if (!table.read(argc, argv)) return;
    arguments.check();
    Problem problem = arguments.input.empty() ? synthetic_continent(arguments, session)
                                              : from_file(arguments, session);
    nlohmann::json json = run(arguments, problem, session);
    for (const auto& [name, value] : versions()) json["versions"][name] = value;
    if (session.rank() == 0) std::cout << json.dump(2) << std::endl;
  });
}
