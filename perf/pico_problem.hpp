// What bench_pico works on: its arguments, and the input of PICO on one patch per process, from a
// file or from the synthetic continent (kernels/cases/continent.hpp). Neighbour: bench_pico.cpp.
#pragma once

#include "kernels/cases/continent.hpp"
#include "kernels/ice/geometry.hpp"
#include "kernels/pico/fields.hpp"
#include "miniapp/base/error.hpp"
#include "miniapp/base/option_table.hpp"
#include "miniapp/model/input.hpp"
#include "miniapp/model/session.hpp"

#include <memory>

namespace nunatak::bench {

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
  std::vector<PicoInput> in; // of the one local rank

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

/// The grid of the file cut into patches; then every cell, and with it every patch, is refined.
inline Problem from_file(const Arguments& a, const Session& session) {
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
  input.read(file, ranks, state, forcing);

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

inline Problem synthetic_continent(const Arguments& a, const Session& session) {
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

} // namespace nunatak::bench
