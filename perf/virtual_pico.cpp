// virtual_pico: whole PICO updates on P virtual ranks in one process: what they send, and how long they would take on a machine
// that is described by a few numbers (kernels/grid/loggp.hpp). Nothing here is timed: the seconds are modelled. Prints one JSON
// object.
//
//   virtual_pico -i antarctica_1km.nc -ranks 1,16,256,4096 -distance sweep          (perf/upsample.py makes such a file)
//
// Every number of ranks must give the same fields, bit for bit: the program fails otherwise.
#include "kernels/grid/virtual_ranks.hpp"
#include "kernels/pico/melt.hpp"
#include "kernels/pico/pico.hpp"
#include "miniapp/base/machine.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/model/report.hpp"
#include "perf/pico_problem.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

using namespace nunatak;
using namespace nunatak::bench;

namespace {

struct Wanted {
  Arguments problem;
  std::vector<int> ranks;
  PicoOptions pico;
  MachineOptions machine;
};

/// The patch of a virtual rank, cut from the whole grid.
template <class T> Array2<T> cut(const Array2<T>& whole, const Patch& p, bool ghosts) {
  Array2<T> part = make_array<T>(whole.label(), p);
  const int ring = ghosts ? 1 : 0;
  for (int j = 1 - ring; j <= p.ym + ring; ++j) {
    for (int i = 1 - ring; i <= p.xm + ring; ++i) part(j, i) = whole(p.global_j(j) + 1, p.global_i(i) + 1);
  }
  return part;
}

/// A number that depends on every bit of every field, whatever the decomposition.
template <class T> std::uint64_t fingerprint(const Patch& p, const Array2<T>& field) {
  std::uint64_t sum = 0;
  for (int j = 1; j <= p.ym; ++j) {
    for (int i = 1; i <= p.xm; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &field(j, i), sizeof(T));
      bits = (bits ^ static_cast<std::uint64_t>(p.cell(j, i)) * 0x9E3779B97F4A7C15ULL) * 0xD6E8FEB86659FD93ULL;
      sum += bits ^ (bits >> 32);
    }
  }
  return sum;
}

std::uint64_t fingerprint(const Patch& p, const PicoFields& f) {
  return fingerprint(p, f.shelf_mask) + 3 * fingerprint(p, f.distance_gl) + 5 * fingerprint(p, f.distance_cf) +
         7 * fingerprint(p, f.box_mask) + 9 * fingerprint(p, f.melt) + 11 * fingerprint(p, f.base_temperature);
}

/// Modelled seconds of the parts, one after another, each with clocks that start at 0.
struct PartTimes {
  double geometry, distances, melt;
};

PartTimes time_parts(VirtualRanks& ranks, const Grid& grid, const PicoOptions& options, const std::vector<PicoInput>& in,
                     std::vector<PicoFields>& out) {
  const auto timed = [&](const auto& part) {
    ranks.restart_clock();
    part();
    return ranks.clock()->critical().time;
  };
  PartTimes times;
  pico::ShelfGeometry geometry(ranks, grid.dx, grid.dy, options);
  pico::ShelfMelt melt(ranks, grid.dx, grid.dy, options);
  PicoReport report;
  const pico::Shelves* shelves = nullptr;
  times.geometry = timed([&] { shelves = &geometry.update(in, out); });
  times.melt = timed([&] { melt.update(*shelves, in, out, report); });
  // the distances once more, by themselves: from the seeds that they have now
  DistanceProblem problem{DistanceFields(2)};
  problem.members = geometry.members();
  problem.maxima = [](int) { return std::vector<std::int64_t>{}; };
  for (std::size_t r = 0; r < out.size(); ++r) {
    for (std::size_t f = 0; f < 2; ++f) {
      const Array2<int>& d = f == 0 ? out[r].distance_gl : out[r].distance_cf;
      for_each_cell("start", ranks.patch(static_cast<int>(r)), [&](int j, int i) {
        problem.cells += f == 0 && d(j, i) >= 0;
        d(j, i) = std::min(d(j, i), 0) + (d(j, i) == 1);
      });
      problem.fields[f].push_back(d);
    }
  }
  problem.seeds = find_seeds(ranks, problem.fields);
  Distances distances(ranks, options.solver);
  times.distances = timed([&] { distances.solve(problem); });
  return times;
}

nlohmann::json run(const Wanted& wanted, const Session& session) {
  if (session.size() != 1) throw Error("virtual_pico: expected one process, found " + std::to_string(session.size()));
  const Problem problem =
      wanted.problem.input.empty() ? synthetic_continent(wanted.problem, session) : from_file(wanted.problem, session);
  const PicoInput& whole = problem.in[0];
  const Grid& grid = problem.grid;
  const LogGP machine = wanted.machine.machine();
  nlohmann::json json = {{"benchmark", "virtual_pico"},
                         {"grid", {{"Mx", grid.Mx()}, {"My", grid.My()}, {"dx", grid.dx}}},
                         {"distance", wanted.pico.solver},
                         {"machine", to_json(machine)},
                         {"versions", versions()}};
  std::uint64_t first = 0;
  for (const int size : wanted.ranks) {
    VirtualRanks ranks(Decomposition::make(grid.Mx(), grid.My(), size), machine);
    std::vector<PicoInput> in;
    std::vector<PicoFields> out;
    for (int r = 0; r < size; ++r) {
      const Patch p = ranks.patch(r);
      in.push_back({cut(whole.H, p, false), cut(whole.b, p, false), cut(whole.mask, p, false), cut(whole.basins, p, true),
                    cut(whole.theta, p, false), cut(whole.salt, p, false)});
      out.emplace_back(p);
    }
    const PicoReport report = Pico(ranks, grid.dx, grid.dy, wanted.pico).update(in, out);
    std::uint64_t print = 0;
    for (int r = 0; r < size; ++r) print += fingerprint(ranks.patch(r), out[static_cast<std::size_t>(r)]);
    if (size == wanted.ranks[0]) first = print;
    if (print != first)
      throw Error("wrong result: fields on " + std::to_string(size) + " ranks differ from those on " +
                  std::to_string(wanted.ranks[0]));
    const Traffic sent = ranks.traffic();
    const VirtualClock::Path path = ranks.clock()->critical();
    const PartTimes parts = time_parts(ranks, grid, wanted.pico, in, out);
    json["runs"].push_back({{"ranks", size},
                            {"px", ranks.decomposition().px},
                            {"py", ranks.decomposition().py},
                            {"shelves", report.shelves},
                            {"shelf_cells", report.shelf_cells},
                            {"rounds", report.rounds},
                            {"exchanges", sent.exchanges},
                            {"messages", sent.messages},
                            {"bytes", sent.bytes},
                            {"collectives", sent.collectives},
                            {"collective_bytes", sent.collective_bytes},
                            {"lagged_reductions", sent.lagged},
                            {"domain_imbalance", report.domain_imbalance},
                            {"shelf_imbalance", report.shelf_imbalance},
                            {"work", sent.work},
                            {"modelled_ms", 1e3 * path.time},
                            {"modelled_work_ms", 1e3 * path.work},
                            {"modelled_geometry_ms", 1e3 * parts.geometry},
                            {"modelled_distances_ms", 1e3 * parts.distances},
                            {"modelled_melt_ms", 1e3 * parts.melt},
                            {"path_messages", path.messages},
                            {"path_collectives", path.collectives}});
  }
  return json;
}

} // namespace

int main(int argc, char** argv) {
  return run_program<Session>(argc, argv, "virtual_pico", [&](Session& session) {
    Wanted wanted;
    std::string ranks = "1,4,16,64";
    OptionTable table("virtual_pico: counts what PICO sends on virtual ranks, and models its time; prints JSON",
                      "virtual_pico -dx 16km -ranks 1,16,256,4096 -distance sweep");
    wanted.problem.add_to(table);
    table.section("Virtual ranks; one process only");
    table.add(text("ranks", ranks, "numbers of virtual ranks, a list"));
    table.add(word("distance", wanted.pico.solver, distance_solver_names("|"), "distance solver"));
    wanted.machine.add_to(table);
    if (!table.read(argc, argv)) return;
    wanted.problem.check();
    for (const std::string& number_of_ranks : split(ranks, ',')) {
      wanted.ranks.push_back(static_cast<int>(whole_number(number_of_ranks, 1, 1000000, "option -ranks")));
    }
    wanted.pico.skip_unchanged = false;
    std::cout << run(wanted, session).dump(2) << std::endl;
  });
}
