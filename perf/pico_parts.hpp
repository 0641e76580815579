// Parts of PICO's geometry by themselves, for bench_pico.cpp: codes and segments, labels,
// distances. The same masks, codes and seeds as in kernels/pico/geometry.hpp, which keeps its own
// to itself; they are rebuilt from the result of an update.
#pragma once

#include "kernels/pico/geometry.hpp"
#include "perf/pico_problem.hpp"

#include <map>
#include <numeric>

namespace nunatak::bench {

/// The two batches of labels and the two distances as PICO poses them, taken from the result of an
/// update.
struct Parts {
  Parts(Problem& problem, const PicoFields& out)
      : ranks(*problem.ranks), codes(make_array<Code>("codes", ranks.patch())), first(1), last(1),
        labels(ranks), distances(2), start(2), seeds(2, std::vector<std::vector<int>>(1)) {
    const Patch p = ranks.patch();
    cut(problem);
    last[0] = first[0] = segments;
    last[0].for_each([&](int j, int, int i, Segment& s) {
      s = {s.end(),
           static_cast<Code>(s.code() | (out.ice_rise_mask(j, i) == 2) * pico::is_continent |
                             (out.ocean_mask(j, i) == 2) * pico::is_open |
                             out.lake_mask(j, i) * pico::is_lake)};
    });
    for (std::size_t f = 0; f < 2; ++f) {
      const Array2<int>& solved = f == 0 ? out.distance_gl : out.distance_cf;
      start[f] = make_array<int>("start", p);
      distances[f].push_back(make_array<int>("distance", p));
      for (int j = 1; j <= p.ym; ++j) {
        for (int i = 1; i <= p.xm; ++i) {
          domain_cells += f == 0 && solved(j, i) >= 0;
          start[f](j, i) = std::min(solved(j, i), 0) + (solved(j, i) == 1);
          if (solved(j, i) == 1) seeds[f][0].push_back(j * (p.xm + 2) + i);
        }
      }
    }
    const auto size = static_cast<std::size_t>(ranks.decomposition().size());
    const std::vector<std::int64_t> cells =
        ranks.gather_all({{domain_cells}}, std::vector<int>(size, 1));
    for (const std::int64_t n : cells) members.push_back(n > 0);
    domain_cells = std::accumulate(cells.begin(), cells.end(), std::int64_t{0});
  }

  void cut(const Problem& problem) {
    const PicoOptions standard;
    const PicoInput& in = problem.in[0];
    inputs.read(ranks.patch(), in, standard, codes);
    find_segments(ranks.patch(), codes, segments);
  }
  void label() {
    using namespace pico;
    const std::vector<LabelMask> of_cells = {
        {[](Code c) { return ice_rise(c); }},
        {[](Code c) { return (c & is_ocean) != 0; }},
        {[](Code c) { return (c & (is_floating | is_ocean)) != 0; }}};
    const std::vector<LabelMask> of_shelves = {
        {[](Code c) { return (c & is_floating) != 0 || ice_rise(c); },
         [](Code c) { return std::int64_t{2} * shelf_ice(c); }, true},
        {[](Code c) { return (c & is_shallow) != 0 || continent(c); },
         [](Code c) { return std::int64_t{4} * continent(c); }}};
    std::vector<std::vector<std::int64_t>> nothing(1);
    open_ocean = labels.update(first, of_cells, nothing)[1].largest().cells();
    labels.update(last, of_shelves, nothing);
  }
  void reset() {
    for (std::size_t f = 0; f < 2; ++f) Kokkos::deep_copy(distances[f][0], start[f]);
  }
  void solve(const std::string& solver) {
    Distances& solves = solvers.try_emplace(solver, ranks, solver).first->second;
    rounds[solver] = solves.solve({distances, seeds, {}, members, domain_cells}).rounds;
  }

  MpiRanks& ranks;
  pico::LastInput inputs;
  Array2<Code> codes;
  Segments segments;
  std::vector<Segments> first, last; // with the codes before and after the first batch of labels
  Labels labels;
  DistanceFields distances;
  std::vector<Array2<int>> start;
  DistanceSeeds seeds;
  std::int64_t open_ocean = 0;
  std::vector<char> members; // ranks that own cells of the domain
  std::int64_t domain_cells = 0;
  std::map<std::string, Distances> solvers;
  std::map<std::string, int> rounds;
};

} // namespace nunatak::bench
