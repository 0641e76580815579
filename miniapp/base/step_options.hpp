// Step options that several programs share, with the same names, bounds and help.
#pragma once

#include "kernels/pico/options.hpp"
#include "kernels/ssa/preconditioners.hpp"
#include "kernels/ssa/solver.hpp"
#include "miniapp/base/option_table.hpp"

#include <cmath>
#include <string>

namespace nunatak {

/// Options of the stress balance solver. `o` must outlive the table, here and below.
inline void add_ssa_options(OptionTable& table, SsaOptions& o) {
  table.add(number("ssa_tolerance", o.tolerance, "",
                   "norm of the residual, relative to the load, at which a solve has converged",
                   1e-14, 0.1));
  table.add(
      number("ssa_max_steps", o.max_steps, "", "largest number of nonlinear steps of a solve", 1));
  table.add(choice("ssa_preconditioner", o.preconditioner, names_of(preconditioners<float>()),
                   "preconditioner (" + docs_of(preconditioners<float>()) + ")"));
  table.add(
      one_of_two("ssa_multigrid_precision", o.single_precision, "single", "double",
                 "floating-point precision of the preconditioner and of the built-in conjugate "
                 "gradients"));
  table.add(
      number("ssa_multigrid_smoothing", o.multigrid.smoothing, "",
             "degree of the Chebyshev smoother on the finest grid, also of chebyshev; one more "
             "on coarser grids",
             1, 10));
  table.add(number("ssa_multigrid_gather", o.multigrid.gather, "",
                   "unknown cells of a multigrid level up to which a single rank holds the level",
                   0));
  table.add(number(
      "ssa_multigrid_cells_per_rank", o.multigrid.share, "",
      "unknown cells per rank of a multigrid level below which fewer ranks hold the level", 0));
}

inline void add_grid_cut(OptionTable& table, std::string& cut) {
  table.add(
      choice("grid_cut", cut, "equal|ice",
             "subdomains of equal size, or with about equal numbers of icy cells along x and y"));
}

inline void add_sliding_exponent(OptionTable& table, SsaOptions& o) {
  table.add(number("sliding_q", o.till_q, "",
                   "exponent of the pseudo-plastic sliding law (0: plastic)", 0, 1));
}

inline void add_pico_options(OptionTable& table, PicoOptions& o) {
  table.add(number("pico_gamma_T", o.gamma_T, "m s-1", "turbulent heat exchange coefficient", 1e-12,
                   0.1));
  table.add(number("pico_overturning", o.overturning_coefficient, "",
                   "overturning coefficient C, m6 s-1 kg-1", 1e-6, 1e11));
  table.add(number("pico_continental_shelf_depth", o.continental_shelf_depth, "m",
                   "bed elevation that bounds the continental shelf", -HUGE_VAL, 0));
  table.add(number("pico_continental_ice_area", o.continental_ice_area, "m2",
                   "area above which grounded ice is continental, not an ice rise", 0));
  table.add(flag("pico_exclude_ice_rises", o.exclude_ice_rises,
                 "exclusion of ice rises: they have no grounding line"));
  table.add(number("pico_boxes", o.boxes, "", "number of boxes of the largest shelf", 1, 100));
}

/// Options of PICO that change its cost, not its result. `solvers`: of distances, separated by |.
inline void add_pico_methods(OptionTable& table, PicoOptions& o, const std::string& solvers) {
  table.add(choice("pico_distance", o.solver, solvers, "distance solver"));
  table.add(flag("pico_skip_unchanged", o.skip_unchanged,
                 "reuse of shelves, distances and boxes while cell types, continental shelf and "
                 "basins are unchanged"));
  table.add(flag("pico_batch", o.batch,
                 "labels, distances and sums in few collectives (no: one after another, as many "
                 "as PISM 2.3 has)"));
}

} // namespace nunatak
