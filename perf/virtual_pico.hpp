// Whole PICO updates on P virtual ranks in one process, for bench_pico.cpp (-virtual_ranks): what
// they send, and how long they would take on a machine that is described by a few numbers
// (kernels/grid/loggp.hpp). Nothing here is timed: the seconds are modelled.
#pragma once

#include "kernels/grid/virtual_ranks.hpp"
#include "kernels/pico/pico.hpp"
#include "miniapp/base/machine.hpp"
#include "miniapp/base/words.hpp"
#include "miniapp/tools/sheet.hpp"
#include "perf/pico_problem.hpp"

#include <nlohmann/json.hpp>

namespace nunatak::bench {

struct VirtualOptions {
  std::string ranks; ///< -virtual_ranks, a list; "": none
  PicoOptions pico;
  MachineOptions machine;

  void add_to(OptionTable& table) {
    table.section("Virtual ranks in one process: updates are counted, and their time is modelled, "
                  "instead of measured");
    table.add(
        text("virtual_ranks", ranks,
             "numbers of virtual ranks, a list (none: the processes of mpiexec, which are timed)"));
    table.add(word("distance", pico.solver, distance_solver_names("|"),
                   "distance solver on virtual ranks"));
    machine.add_to(table);
  }
};

/// The patch of a virtual rank, cut from the whole grid.
template <class T> Array2<T> cut(const Array2<T>& whole, const Patch& p, bool ghosts) {
  Array2<T> part = make_array<T>(whole.label(), p);
  const int ring = ghosts ? 1 : 0;
  for (int j = 1 - ring; j <= p.ym + ring; ++j) {
    for (int i = 1 - ring; i <= p.xm + ring; ++i)
      part(j, i) = whole(p.global_j(j) + 1, p.global_i(i) + 1);
  }
  return part;
}

/// A number that depends on every bit of what an update has found, whatever the decomposition.
inline std::uint64_t fingerprint(const Patch& p, const PicoFields& f) {
  using synthetic::fingerprint;
  return fingerprint(p, f.shelf_mask) + 3 * fingerprint(p, f.distance_gl) +
         5 * fingerprint(p, f.distance_cf) + 7 * fingerprint(p, f.box_mask) +
         9 * fingerprint(p, f.melt) + 11 * fingerprint(p, f.base_temperature);
}

/// Every number of ranks must give the same fields, bit for bit: an Error otherwise.
inline nlohmann::json run_virtual(const Problem& problem, VirtualOptions options) {
  options.pico.skip_unchanged = false; // every update is a whole one
  const PicoInput& whole = problem.in[0];
  const Grid& grid = problem.grid;
  const LogGP machine = options.machine.machine();
  nlohmann::json json = {{"benchmark", "virtual_pico"},
                         {"grid", {{"Mx", grid.Mx()}, {"My", grid.My()}, {"dx", grid.dx}}},
                         {"distance", options.pico.solver},
                         {"machine", to_json(machine)}};
  std::uint64_t first = 0;
  int first_size = 0;
  for (const std::string& number_of_ranks : split(options.ranks, ',')) {
    const auto size =
        static_cast<int>(whole_number(number_of_ranks, 1, 1000000, "option -virtual_ranks"));
    VirtualRanks ranks(Decomposition::make(grid.Mx(), grid.My(), size), machine);
    std::vector<PicoInput> in;
    std::vector<PicoFields> out;
    for (int r = 0; r < size; ++r) {
      const Patch p = ranks.patch(r);
      in.push_back({cut(whole.H, p, false), cut(whole.b, p, false), cut(whole.mask, p, false),
                    cut(whole.basins, p, true), cut(whole.theta, p, false),
                    cut(whole.salt, p, false)});
      out.emplace_back(p);
    }
    const PicoReport report = Pico(ranks, grid.dx, grid.dy, options.pico).update(in, out);
    Kokkos::fence("bench_pico");
    std::uint64_t print = 0;
    for (int r = 0; r < size; ++r)
      print += fingerprint(ranks.patch(r), out[static_cast<std::size_t>(r)]);
    if (first_size == 0) {
      first = print;
      first_size = size;
    }
    if (print != first)
      throw Error("wrong result: fields on " + std::to_string(size) +
                  " ranks differ from those on " + std::to_string(first_size));
    const Traffic sent = ranks.traffic();
    const VirtualClock::Path path = ranks.clock()->critical();
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
                            {"path_messages", path.messages},
                            {"path_collectives", path.collectives}});
  }
  return json;
}

} // namespace nunatak::bench
