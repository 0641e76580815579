// nunatak-distance: compares distance solvers and their cost on any mask, on real or virtual ranks.
//
//   nunatak-distance -mask serpentine -seeds corner -solvers sweep,bfs -virtual_ranks 1x1,4x4
//
// Neighbours: tool.hpp, kernels/distance/distance.hpp (solvers).
#include "common/text.hpp"
#include "kernels/distance/distance.hpp"
#include "miniapp/base/program.hpp"
#include "miniapp/kit/mask_fields.hpp"
#include "miniapp/kit/tool.hpp"

#include <algorithm>
#include <set>

using namespace nunatak;
using namespace nunatak::kit;

namespace {

struct DistanceRuns : ToolOptions {
  std::string seeds, solvers; // -seeds, -solvers
  DistanceOptions fmm;        // m, -grid_dx, -grid_dy, -fmm_unit
};

/// The default is all solvers that count steps.
std::vector<DistanceSolver> chosen_solvers(const std::string& text) {
  std::vector<DistanceSolver> solvers;
  if (text.empty()) {
    for (const DistanceSolver& solver : distance_solvers()) {
      if (solver.counts_steps) solvers.push_back(solver);
    }
  } else {
    for (const std::string& word : split(text, ',')) solvers.push_back(distance_solver(word));
  }
  return solvers;
}

std::vector<std::int64_t> domain_cells(const Ranks& ranks, const DistanceFields& fields) {
  std::vector<std::int64_t> cells;
  for (int r = 0; r < ranks.local_size(); ++r) cells.push_back(cells_of_domain(ranks, fields, r));
  return cells;
}

/// True for ranks that own cells of the domain; PICO knows them before it solves.
std::vector<char> members(Ranks& ranks, const std::vector<std::int64_t>& cells) {
  std::vector<std::vector<std::int64_t>> owns;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    owns.emplace_back(static_cast<std::size_t>(ranks.decomposition().size()), 0);
    owns[r][static_cast<std::size_t>(ranks.first()) + r] = cells[r] > 0;
  }
  ranks.max(owns);
  return {owns[0].begin(), owns[0].end()};
}

/// "distance_1, steps from the seeds near:0+2: 20 seeds, largest distance 12, ..."
std::string describe(const Answer::Field& field) {
  const std::vector<int>& d = field.values;
  return field.name + ", " + field.long_name + ": " +
         std::to_string(std::count(d.begin(), d.end(), 1)) + " seeds, largest distance " +
         std::to_string(std::max(0, *std::max_element(d.begin(), d.end()))) + ", " +
         std::to_string(std::count(d.begin(), d.end(), 0)) + " cells that no seed reaches";
}

Answer answer_of(const RankSet& set, const DistanceFields& fields,
                 const std::vector<std::string>& seeds, const DistanceSolver& solver) {
  Answer answer;
  answer.who = solver.name + " on " + set.name();
  answer.metric = solver.counts_steps ? "steps" : solver.name;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const std::string name = fields.size() == 1 ? "distance" : "distance_" + std::to_string(f + 1);
    const auto steps = [&](std::size_t r, int j, int i) { return fields[f][r](j, i); };
    answer.fields.push_back(
        {name, answer.metric + " from the seeds " + seeds[f], gathered<int>(*set.ranks, steps)});
  }
  return answer;
}

void run(const DistanceRuns& options) {
  options.check();
  if (options.kit.wanted())
    return run_kit("nunatak-distance", options, options.seeds, Judged::distance);
  // 1. the problem
  const std::vector<DistanceSolver> solvers = chosen_solvers(options.solvers);
  const Mask mask = read_mask(options.mask);
  const SeedRules rules(options.seeds, options.domain, mask);

  // 2. all solvers on all sets of ranks
  Results results("nunatak-distance", options, mask);
  std::vector<std::string> heading;
  std::set<std::string> metrics; // seen so far
  for_each_rank_set(options.ranks, mask.Mx, mask.My, [&](RankSet& set) {
    const DistanceFields start = rules.fields(*set.ranks);
    const std::vector<std::int64_t> cells = domain_cells(*set.ranks, start);
    const Spread spread = spread_of(set, cells);
    // as in PICO, seeds and members are known; `maxima`: all ranks get the same report
    DistanceProblem problem{start, find_seeds(*set.ranks, start), {}, members(*set.ranks, cells)};
    problem.maxima = [](int) { return std::vector<std::int64_t>{}; };
    for (const DistanceSolver& solver : solvers) {
      Distances distances(*set.ranks, solver.name, options.fmm);
      DistanceReport report;
      const auto prepare = [&] { problem.fields = rules.fields(*set.ranks); };
      const Record measured =
          measure(set, options.repeat, prepare, [&] { report = distances.solve(problem); });
      Record record = {{"domain_cells", spread.sum},
                       {"domain_imbalance", spread.imbalance()},
                       {"solver", solver.name},
                       {"rounds", report.rounds}};
      record.update(measured);
      const Answer answer = answer_of(set, problem.fields, rules.names(), solver);
      if (results.empty()) {
        heading = {std::to_string(spread.sum) + " cells in the domain"};
        for (const Answer::Field& field : answer.fields) heading.push_back(describe(field));
      }
      results.add(record, answer);
      if (options.compare && metrics.insert(answer.metric).second) results.compare_with(answer);
    }
  });

  // 3. results
  results.report(heading, "solver, rounds", "lagged, work_max: visits, imbalance: max/mean");
}

} // namespace

int main(int argc, char** argv) {
  return run_program(argc, argv, "nunatak-distance", [&](Libraries&) {
    DistanceRuns options;
    OptionTable table(
        "nunatak-distance: distances on any mask, by several solvers, on real or virtual ranks",
        "nunatak-distance -mask serpentine -seeds corner -solvers sweep,bfs -virtual_ranks 1x1,4x4 "
        "-compare");
    options.add_to(table, "all results with the first of their kind");
    table.section("Distances");
    table.add(text("solvers", options.solvers,
                   "list (none: all that count steps) of " + docs_of(distance_solvers())));
    table.add(text("seeds", options.seeds,
                   "list, one field for each: near:VALUES, beside:VALUES, left, corner, at:J:I, "
                   "boundary, random:SEED:N, given"));
    table.add(number("grid_dx", options.fmm.dx, "m", "width of a cell, for fmm", 1e-6));
    table.add(number("grid_dy", options.fmm.dy, "m", "height of a cell, for fmm", 1e-6));
    table.add(number("fmm_unit", options.fmm.unit, "m",
                     "unit of the distances of fmm, which are whole numbers (0: -grid_dx)", 0));
    if (table.read(argc, argv)) run(options);
  });
}
