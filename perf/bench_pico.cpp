// bench_pico: times a PICO update and its parts, checks the results, and prints one JSON object.
//
//   mpiexec -n 2 bench_pico -i antarctica.nc -grid_dx 4km     mpiexec -n 1 bench_pico -grid_dx 16km
//
// A repetition runs an update, one with unchanged geometry, the geometry and the melt in sequence,
// so that disturbances affect all alike. A time is that of the slowest rank after a barrier; the
// warm-up is dropped. JSON and input: perf/README.md. nunatak-step counts an update on virtual
// ranks; nunatak-labels and nunatak-distance time algorithms alone.
#include "common/error.hpp"
#include "kernels/pico/melt.hpp"
#include "kernels/pico/pico.hpp"
#include "miniapp/base/paths.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/bench/sheet.hpp"
#include "miniapp/model/model.hpp"
#include "miniapp/model/report.hpp"
#include "miniapp/model/session.hpp"
#include "perf/bandwidth.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

struct Timed {
  const char* name;
  std::function<void()> run;
  std::vector<double> ms = {}; ///< slowest rank
  Traffic traffic = {};        ///< one call
};

void time_alternately(std::vector<Timed>& all, int repeat, MpiRanks& ranks) {
  for (int n = 0; n <= repeat; ++n) {
    for (Timed& t : all) {
      const Traffic before = ranks.traffic();
      World().barrier();
      const auto begin = SteadyClock::now();
      t.run();
      Kokkos::fence("bench_pico");
      const double ms = 1e3 * World().max(seconds_since(begin));
      t.traffic.collectives = ranks.traffic().collectives - before.collectives;
      t.traffic.exchanges = ranks.traffic().exchanges - before.exchanges;
      if (n > 0) t.ms.push_back(ms);
    }
  }
}

/// A hash of all fields of this rank.
std::uint64_t bits_of(const Patch& p, const PicoFields& f) {
  std::uint64_t sum = 0;
  const auto add = [&](const auto& a) { sum = 3 * sum + synthetic::fingerprint(p, a); };
  for (const auto& a :
       {f.ice_rise_mask, f.ocean_mask, f.lake_mask, f.contshelf_mask, f.shelf_mask, f.box_mask})
    add(a);
  for (const auto& a : {f.distance_gl, f.distance_cf}) add(a);
  for (const auto& a : {f.temperature, f.salinity, f.temperature_box0, f.salinity_box0,
                        f.overturning, f.melt, f.base_temperature})
    add(a);
  return sum;
}

/// `right` must hold on all ranks.
void require(bool right, const std::string& what) {
  if (World().max(right ? 0.0 : 1.0) > 0.0) throw Error("wrong result: " + what);
}

void check_melt(const MpiRanks& ranks, const Grid& grid, const PicoFields& out, double total) {
  const Patch p = ranks.patch();
  long double sums[] = {0.0L, 0.0L}; // of the melt and of its magnitude
  for_each_owned(p, [&](int j, int i) {
    sums[0] += out.melt(j, i);
    sums[1] += std::fabs(out.melt(j, i));
  });
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_LONG_DOUBLE, MPI_SUM, ranks.comm());
  const long double to_mass = static_cast<long double>(grid.dx) * grid.dy * rho_ice,
                    sum = to_mass * sums[0];
  if (!(std::fabs(sum - total) <= 1e-11L * to_mass * sums[1]))
    throw Error("wrong result: total melt is " + std::to_string(total) +
                " kg/s, the sum over cells is " + std::to_string(sum));
}

nlohmann::json to_json(const std::vector<Timed>& timed, double cells) {
  nlohmann::json json;
  for (const Timed& t : timed) {
    json[t.name] = {{"median_ms", median(t.ms)},
                    {"min_ms", *std::min_element(t.ms.begin(), t.ms.end())},
                    {"max_ms", *std::max_element(t.ms.begin(), t.ms.end())},
                    {"ns_per_cell", median(t.ms) * 1e6 / cells},
                    {"collectives", t.traffic.collectives},
                    {"exchanges", t.traffic.exchanges}};
  }
  return json;
}

/// Times of updates in passes of the triad over as many doubles as the grid has cells.
nlohmann::json to_json(const Triad& triad, const Timed& update, const Timed& kept, double cells) {
  const double pass_ms = 24e-6 * cells / triad.GB_per_s();
  return {{"GB_per_s", triad.GB_per_s()},
          {"passes_per_update", median(update.ms) / pass_ms},
          {"passes_with_kept_geometry", median(kept.ms) / pass_ms}};
}

nlohmann::json run(Options options, int repeat, const Session& session) {
  if (options.Mz == 0) options.Mz = 3; // levels do not matter
  options.stress = "sia";
  options.ocean = "pico";
  const Log silent(0, false);
  Timers timers;
  Model model(options, session.comm(), timers, silent);
  MpiRanks& ranks = model.ranks();
  const Grid& grid = model.grid();
  const State& state = model.state();
  const Forcing& forcing = model.forcing();
  const std::vector<PicoInput> in{{state.thk, state.topg, state.mask, forcing.basins,
                                   forcing.theta_ocean, forcing.salinity_ocean}};
  const Patch p = ranks.patch();
  PicoOptions in_full = options.pico;
  in_full.skip_unchanged = false; // computes every update in full
  Pico pico(ranks, grid.dx, grid.dy, in_full);
  Pico keeps(ranks, grid.dx, grid.dy, options.pico); // recomputes only what changed: here the melt
  pico::ShelfGeometry geometry(ranks, grid.dx, grid.dy, in_full);
  pico::ShelfMelt melt(ranks, grid.dx, grid.dy, in_full);
  std::vector<PicoFields> first{PicoFields(p)}, whole{PicoFields(p)}, kept{PicoFields(p)},
      in_two{PicoFields(p)};
  PicoReport report = pico.update(in, first), melt_report, kept_report = keeps.update(in, kept);
  const pico::Shelves* shelves = nullptr;
  std::vector<Timed> timed = {
      {"update", [&] { report = pico.update(in, whole); }},
      {"update, geometry kept", [&] { kept_report = keeps.update(in, kept); }},
      {"geometry", [&] { shelves = &geometry.update(in, in_two); }},
      {"melt", [&] { melt.update(*shelves, in, in_two, melt_report); }},
  };
  time_alternately(timed, repeat, ranks);
  Triad triad;
  for (int n = 0; n < repeat; ++n) triad.run();

  const std::uint64_t bits = bits_of(p, first[0]);
  require(bits_of(p, whole[0]) == bits, "a repeated update differs from the first");
  require(bits_of(p, kept[0]) == bits && kept_report.geometry_kept,
          "an update that should keep the geometry");
  require(bits_of(p, in_two[0]) == bits, "geometry and melt by themselves differ from the update");
  check_melt(ranks, grid, first[0], report.total_melt);

  const double cells = static_cast<double>(grid.Mx()) * grid.My();
  nlohmann::json json = {{"benchmark", "pico"}, {"started", utc_now()}, {"repetitions", repeat}};
  json["input"] = options.input.empty() ? "-init " + options.init : options.input;
  json["grid"] = {{"Mx", grid.Mx()}, {"My", grid.My()}, {"dx", grid.dx}, {"dy", grid.dy}};
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
  return run_program<Session>(argc, argv, "bench_pico", [](Session& session) {
    Options options;
    int repeat = 15;
    OptionTable table("bench_pico: times PICO and its parts; prints JSON",
                      "mpiexec -n 2 bench_pico -grid_dx 16km");
    table.section("Benchmark; of the other options only -i, -init, -seed, -grid_... and -pico_... "
                  "are used");
    table.add(number("repeat", repeat, "", "repetitions that count", 7));
    add_model_options(table, options);
    if (!read_options(session, table, options)) return;
    nlohmann::json json = run(options, repeat, session);
    for (const auto& [name, value] : versions()) json["versions"][name] = value;
    if (session.rank() == 0) std::cout << json_text(json) << std::flush;
  });
}
